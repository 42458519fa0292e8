import Foundation
import TestSupport
import Testing

@testable import UpsurgeModels

@Table struct Errand: Equatable {
  let id: Int
  var title: String
  var list: String
  var deletedAt: String?
}

@Table struct Marked: Equatable {
  let id: Int
  var gone = false
  var goneAt: Date?
  @Column(as: Date.UnixTime.self) var goneNumber: Date?
  @Column(as: Date.Seconds.self) var goneSecond: Date?
}

@Table struct Answered: Equatable {
  let id: Int
  @Column(as: JSON<Bool>.self) var isGone = false
}

/// A model whose table has a mark that it does not know, and a time that says which of two is the newer one.
@Table struct Pupil: Equatable {
  let id: Int
  var name: String
  var updatedAt = 0
}

enum Presence: String, ColumnValue { case here, gone }

/// Columns that cannot say both that a row is there and that it is gone.
@Table struct Unmarkable: Equatable {
  let id: Int
  @Column(primaryKey: true) var code: String
  var email = ""
  var goneAt: Date = Date(timeIntervalSince1970: 0)
  var presence: Presence = .here
  var page: URL?
  @Column(as: UUID.Bytes.self) var token: UUID?
  @Column(as: JSON<[String]>.self) var tags: [String] = []
  var blob: [UInt8]?
}

/// Columns of further kinds that can.
@Table struct Markable: Equatable {
  let id: Int
  var note = ""
  var count = 0
  var share = 0.0
  var any: SQLValue = .null
}

struct Absence: RawRepresentable, ColumnValue, Hashable { let rawValue: Bool }
struct Moment: RawRepresentable, ColumnValue, Hashable { let rawValue: Date }
enum Mood: Int, ColumnValue { case here, gone }

/// Columns of types that wrap others.
@Table struct Wrapped: Equatable {
  let id: Int
  var absence: Absence = Absence(rawValue: false)
  var leftAt: Moment?
  var mood: Mood = .here
}

@Table struct Stop: Equatable {
  @Column(primaryKey: true) var line: String = "A"
  @Column(primaryKey: true) var number: Int
  var name = ""
}

@Table struct Email: Equatable {
  let id: Int
  var email: String
}

@Table struct Ticket: Equatable {
  var id = 0
  var email: String
}

@Table struct Leaver: Equatable {
  let id: Int
  var gone = false
  var updatedAt = 0
}

@Table struct Member: Equatable {
  let id: Int
  var email: String
  var visits = 0
  var updatedAt = 0
}

@Suite("Mirroring models") struct MirrorTests {
  let scratch = Scratch()

  private func open(_ rows: [Player]) async throws -> (UpsurgeModels.Database, TestSupport.Database) {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.createTable(Player.self)
    try await database.insert(rows)
    return (database, TestSupport.Database(scratch.file("a.db")))
  }

  private func players(_ ids: some Sequence<Int>, team: String? = nil) -> [Player] {
    ids.map { Player(id: $0, name: "p\($0)", team: team) }
  }

  @Test("Rows come, change, stay and go, and equal ones are not written") func hard() async throws {
    let (database, plain) = try await open(players(1...1_000))
    var rows = players(51...1_010)
    rows[0].name = "x"
    let result = try await database.mirror(rows, sweeping: .hard)
    #expect(result.refusal == nil)
    #expect(result.ledger.inserted == 10 && result.ledger.updated == 1 && result.ledger.unchanged == 949)
    #expect(result.ledger.swept == 50 && result.ledger.isBalanced)
    #expect(try await database.fetchAll(Player.order(by: \.id)) == rows)
    let again = try await database.mirror(rows, sweeping: .hard)
    #expect(again.ledger.unchanged == 960 && again.ledger.swept == 0)
    #expect(try plain.rows("SELECT count(*) FROM players") == ["960"])
  }

  @Test("Triggers know a mirror from a change that is made here; it is never committed in between")
  func options() async throws {
    let (database, plain) = try await open(players(1...3))
    try await database.execute("CREATE TABLE changes(id)")
    try await database.createTemporaryTrigger(
      "log", .after, .update(of: ["name"]), on: Player.self, when: { _, _ in !isSynchronizing }
    ) { old, _ in "INSERT INTO changes VALUES (\(old.id));" }
    var options = BulkOptions()
    options.isSynchronizing = true
    options.onError = .reject
    var rows = players(1...3)
    rows[0].name = "x"
    let result = try await database.mirror(rows, sweeping: .hard, options: options)
    #expect(result.ledger.updated == 1)
    #expect(try plain.rows("SELECT count(*) FROM changes") == ["0"])
    rows[1].name = "y"
    _ = try await database.mirror(rows, sweeping: .hard)
    #expect(try plain.rows("SELECT id FROM changes") == ["2"])
    options.commitEvery = 1
    await #expect(throws: UpsurgeError.self) {
      try await database.mirror(rows, sweeping: .hard, options: options)
    }
  }

  @Test("A snapshot that was cut off takes no row, an empty one neither, until that is allowed") func guards()
    async throws
  {
    let (database, plain) = try await open(players(1...100))
    let cut = try await database.mirror(players(1...50), sweeping: .hard)
    #expect(cut.refusal?.code == .guardRefused && cut.ledger.swept == 0)
    let empty = try await database.mirror([Player](), sweeping: .hard)
    #expect(empty.refusal?.code == .guardRefused)
    #expect(try plain.rows("SELECT count(*) FROM players") == ["100"])
    var guards = SweepGuards()
    guards.maximumDeletes = .percent(100)
    #expect(try await database.mirror(players(1...50), sweeping: .hard, guards: guards).ledger.swept == 50)
    guards.allowsEmpty = true
    #expect(try await database.mirror([Player](), sweeping: .hard, guards: guards).ledger.swept == 50)
    guards.expectedCount = 3
    #expect(try await database.mirror(players(1...2), sweeping: .hard, guards: guards).refusal != nil)
  }

  @Test("A snapshot that was refused stays refused, and its rows go with the next one that passes")
  func again() async throws {
    let (database, _) = try await open([])
    #expect(try await database.mirror(players(1...10), sweeping: .hard).ledger.inserted == 10)
    for _ in 0..<3 {
      let result = try await database.mirror(players(101...300), sweeping: .hard)
      #expect(
        result.refusal?.message.contains("10 of 10 rows") == true && result.ledger.swept == 0,
        "\(result.refusal?.message ?? "")")
    }
    let passed = try await database.mirror(players(1...10), sweeping: .hard)
    #expect(passed.refusal == nil && passed.ledger.swept == 200)
  }

  @Test("Only rows in scope go, and none outside of it comes") func scope() async throws {
    let (database, plain) = try await open(players(1...20, team: "x") + players(21...40, team: "it's"))
    let result = try await database.mirror(
      players(21...39, team: "it's"), sweeping: .hard, scope: { $0.team == "it's" })
    #expect(result.ledger.swept == 1 && result.refusal == nil)
    await #expect(throws: UpsurgeError.self) {
      try await database.mirror(players(1...20, team: "x"), sweeping: .hard, scope: { $0.team == "it's" })
    }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["39"])
  }

  @Test("Soft sweeps mark rows; those that come back are unmarked") func soft() async throws {
    let database = try UpsurgeModels.Database(scratch.file("b.db"))
    try await database.createTable(Errand.self)
    let tasks = (1...20).map { Errand(id: $0, title: "t\($0)", list: "a") }
    try await database.insert(tasks)
    let result = try await database.mirror(tasks.dropLast(), sweeping: .soft(\.deletedAt))
    #expect(result.ledger.swept == 1 && result.refusal == nil)
    #expect(try await database.fetchAll(Errand.where { $0.deletedAt != nil }.select { $0.id }) == [20])
    let back = try await database.mirror(tasks, sweeping: .soft(\.deletedAt))
    #expect(back.ledger.updated == 1 && back.ledger.swept == 0)
    #expect(try await database.fetchAll(Errand.order(by: \.id)) == tasks)
  }

  @Test("What cannot be stored, and what is cancelled, leaves the table as it was") func failures()
    async throws
  {
    let (database, _) = try await open(players(1...100))
    try await database.execute("CREATE UNIQUE INDEX i ON players(name)")
    await #expect(throws: UpsurgeError.self) {
      try await database.mirror(players(1...99) + [Player(id: 200, name: "p1")], sweeping: .hard)
    }
    let task = Task {
      try await database.mirror((1...).lazy.map { Player(id: $0, name: "n\($0)") }, sweeping: .hard)
    }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await database.fetchAll(Player.order(by: \.id)) == players(1...100))
  }

  @Test("Rows that are gone are marked as the column's coding stores it, and stay equal to what is read")
  func marks() async throws {
    let database = try UpsurgeModels.Database(scratch.file("c.db"))
    let sweeps: [Sweep<Marked>] = [
      .soft(\.gone), .soft(\.goneAt), .soft(\.goneNumber), .soft(\.goneSecond), .soft(column: "GONEAT"),
    ]
    let rows = (1...20).map { Marked(id: $0) }
    for sweep in sweeps {
      try await database.execute("DROP TABLE IF EXISTS markeds")
      try await database.createTable(Marked.self)
      try await database.insert(rows)
      let before = Date()
      #expect(try await database.mirror(rows.dropLast(), sweeping: sweep).ledger.swept == 1)
      let swept = try #require(try await database.fetchOne(Marked.where { $0.id == 20 }))
      let times = [swept.goneAt, swept.goneNumber, swept.goneSecond].compactMap { $0 }
      #expect(swept.gone ? times.isEmpty : times.count == 1)
      for time in times { #expect(abs(time.timeIntervalSince(before)) < 60) }
      #expect(try await database.upsert([swept]).unchanged == 1)
      #expect(try await database.mirror(rows, sweeping: sweep).ledger.updated == 1)
      #expect(try await database.fetchAll(Marked.order(by: \.id)) == rows)
    }
  }

  @Test(
    "Rows are merged, by another key too; those that stay as they are are there all the same")
  func merging() async throws {
    let database = try UpsurgeModels.Database(scratch.file("d.db"))
    try await database.createTable(Member.self)
    try await database.execute("CREATE UNIQUE INDEX i ON members(email)")
    let old = (1...20).map { Member(id: $0, email: "e\($0)", visits: 1, updatedAt: 5) }
    try await database.insert(old)
    var rows = old.dropLast().map { Member(id: $0.id + 100, email: $0.email, visits: 2, updatedAt: 6) }
    rows[0].updatedAt = 4
    let result = try await database.mirror(
      rows, on: \.email, newer: \.updatedAt,
      merge: { row, excluded in
        row.visits += excluded.visits
        row.updatedAt = excluded.updatedAt
      }, sweeping: .hard)
    #expect(result.ledger.updated == 18 && result.ledger.stale == 1 && result.ledger.swept == 1)
    let stored = try await database.fetchAll(Member.order(by: \.id))
    #expect(stored.map(\.id) == Array(1...19))
    #expect(stored.map(\.visits) == [1] + Array(repeating: 3, count: 18))
  }

  @Test("Rows without the key that tells them are no part of a snapshot: each call would insert them anew")
  func drafts() async throws {
    let database = try UpsurgeModels.Database(scratch.file("e.db"))
    try await database.createTable(Parcel.self)
    let old = (0..<20).map { Parcel(id: UUID(), label: "\($0)") }
    try await database.insert(old)
    let drafts = old.map { Parcel.Draft(id: $0.id, label: $0.label) } + [Parcel.Draft(label: "n")]
    var options = BulkOptions()
    for sweep in [Sweep<Parcel>.hard, .none] {
      options.onError = .stop
      let error = await #expect(throws: UpsurgeError.self) {
        try await database.mirror(drafts, sweeping: sweep, options: options)
      }
      #expect(
        error?.message.contains("id") == true && error?.position?.record == 21, "\(error?.description ?? "")")
      options.onError = .reject
      let result = try await database.mirror(drafts, sweeping: sweep, options: options)
      #expect(result.ledger.unchanged == 20 && result.ledger.rejected == 1 && result.ledger.isBalanced)
    }
    #expect(try await database.count(Parcel.all) == 20)
    // By another key they are told; the table makes the one that is missing.
    try await database.execute("CREATE UNIQUE INDEX i ON parcels(label)")
    let result = try await database.mirror(drafts.dropFirst(), on: \.label, sweeping: .hard)
    #expect(result.ledger.inserted == 1 && result.ledger.swept == 1 && result.refusal == nil)
    #expect(
      try await database.mirror(drafts.dropFirst(), on: \.label, sweeping: .hard).ledger.unchanged == 20)
  }

  @Test("Rows are marked in a column that is neither a number nor a time") func answers() async throws {
    let database = try UpsurgeModels.Database(scratch.file("f.db"))
    try await database.createTable(Answered.self)
    let rows = (1...20).map { Answered(id: $0) }
    try await database.insert(rows)
    #expect(try await database.mirror(rows.dropLast(), sweeping: .soft(\.isGone)).ledger.swept == 1)
    #expect(
      try await database.fetchAll(Answered.where { $0.isGone == true }) == [Answered(id: 20, isGone: true)])
    #expect(try await database.mirror(rows.dropLast(), sweeping: .soft(\.isGone)).ledger.swept == 0)
    #expect(try await database.mirror(rows, sweeping: .soft(\.isGone)).ledger.updated == 1)
    #expect(try await database.fetchAll(Answered.order(by: \.id)) == rows)
  }

  @Test("A mark that the model does not know is taken back with the row, and that is a change")
  func hiddenMark() async throws {
    let database = try UpsurgeModels.Database(scratch.file("g.db"))
    try await database.createTable(Pupil.self)
    try await database.execute("ALTER TABLE pupils ADD COLUMN deleted_at TEXT")
    let rows = (1...20).map { Pupil(id: $0, name: "p\($0)", updatedAt: 5) }
    try await database.insert(rows)
    let sweep = Sweep<Pupil>.soft(column: "deleted_at")
    #expect(try await database.mirror(rows.dropLast(), sweeping: sweep).ledger.swept == 1)
    let gone = try await database.fetchAll(
      Int.self, sql: "SELECT id FROM pupils WHERE deleted_at IS NOT NULL")
    #expect(gone == [20])
    let back = try await database.mirror(rows, sweeping: sweep).ledger
    #expect(back.updated == 1 && back.unchanged == 19)
    #expect(try await database.mirror(rows, sweeping: sweep).ledger.unchanged == 20)
    #expect(
      try await database.fetchAll(Int.self, sql: "SELECT count(*) FROM pupils WHERE deleted_at IS NULL")
        == [20])
    // Also of one that is stale otherwise.
    #expect(try await database.mirror(rows.dropLast(), sweeping: sweep).ledger.swept == 1)
    let older = rows.map { Pupil(id: $0.id, name: "x", updatedAt: 4) }
    #expect(try await database.mirror(older, newer: \.updatedAt, sweeping: sweep).ledger.stale == 20)
    #expect(
      try await database.fetchAll(Int.self, sql: "SELECT count(*) FROM pupils WHERE deleted_at IS NULL")
        == [20])
    #expect(try await database.fetchAll(Pupil.order(by: \.id)) == rows)
  }

  @Test("A row of the snapshot that says itself that it is gone is rejected, whatever the column")
  func contradictions() async throws {
    let database = try UpsurgeModels.Database(scratch.file("h.db"))
    let sweeps: [(Sweep<Marked>, (inout Marked) -> Void)] = [
      (.soft(\.gone), { $0.gone = true }), (.soft(\.goneAt), { $0.goneAt = Date() }),
      (.soft(\.goneNumber), { $0.goneNumber = Date(timeIntervalSince1970: 1) }),
      (.soft(column: "gonesecond"), { $0.goneSecond = Date() }),
    ]
    for (sweep, mark) in sweeps {
      try await database.execute("DROP TABLE IF EXISTS markeds")
      try await database.createTable(Marked.self)
      var rows = (1...20).map { Marked(id: $0) }
      try await database.insert(rows)
      mark(&rows[4])
      let error = await #expect(throws: UpsurgeError.self) {
        try await database.mirror(rows, sweeping: sweep)
      }
      #expect(error?.code == .badInput && error?.position?.record == 5, "\(error?.description ?? "")")
      #expect(error?.message.contains("gone") == true, "\(error?.description ?? "")")
      var options = BulkOptions()
      options.onError = .reject
      let result = try await database.mirror(rows.dropLast(), sweeping: sweep, options: options)
      #expect(result.ledger.rejected == 1 && result.ledger.unchanged == 18 && result.ledger.isBalanced)
      #expect(result.refusal?.message.contains("1 of 19 rows of the call were rejected") == true)
      #expect(result.refusal?.hint?.contains("onReject") == true && result.ledger.swept == 0)
      let there = rows.filter { $0.id != 5 }
      #expect(try await database.mirror(there, sweeping: sweep).ledger.swept == 1)
      #expect(try await database.mirror(there, sweeping: sweep).ledger.unchanged == 19)
    }
  }

  @Test("A column that cannot say both that a row is there and that it is gone is refused")
  func unmarkable() async throws {
    let database = try UpsurgeModels.Database(scratch.file("i.db"))
    try await database.createTable(Unmarkable.self)
    try await database.execute("CREATE UNIQUE INDEX i ON unmarkables(email)")
    let rows = (1...20).map { Unmarkable(id: $0, code: "c\($0)", email: "e\($0)") }
    try await database.insert(rows)
    let sweeps: [Sweep<Unmarkable>] = [
      .soft(\.code), .soft(\.email), .soft(\.goneAt), .soft(\.presence), .soft(\.page), .soft(\.token),
      .soft(\.tags), .soft(\.blob), .soft(\.code.lowercased),
    ]
    for sweep in sweeps {
      let error = await #expect(throws: UpsurgeError.self, "\(sweep)") {
        try await database.mirror(rows.dropLast(), on: \.email, sweeping: sweep)
      }
      #expect(error?.code == .usage && error?.hint != nil, "\(sweep): \(error?.description ?? "")")
    }
    #expect(try await database.fetchAll(Unmarkable.order(by: \.id)) == rows)
  }

  @Test("Texts, numbers and columns of any type are marks") func kindsOfMarks() async throws {
    let database = try UpsurgeModels.Database(scratch.file("j.db"))
    let rows = (1...20).map { Markable(id: $0) }
    let sweeps: [Sweep<Markable>] = [
      .soft(\.note), .soft(\.count), .soft(\.share), .soft(column: "any"),
    ]
    for sweep in sweeps {
      try await database.execute("DROP TABLE IF EXISTS markables")
      try await database.createTable(Markable.self)
      try await database.insert(rows)
      #expect(try await database.mirror(rows.dropLast(), sweeping: sweep).ledger.swept == 1)
      let swept = try #require(try await database.fetchOne(Markable.where { $0.id == 20 }))
      #expect(swept != rows[19])
      #expect(try await database.mirror(rows, sweeping: sweep).ledger.updated == 1)
      #expect(try await database.fetchAll(Markable.order(by: \.id)) == rows)
    }
  }

  @Test("Types that wrap a truth, a time or a number are marks as what they wrap") func wrappedMarks()
    async throws
  {
    let database = try UpsurgeModels.Database(scratch.file("k.db"))
    let rows = (1...20).map { Wrapped(id: $0) }
    for sweep in [Sweep<Wrapped>.soft(\.absence), .soft(\.leftAt), .soft(\.mood)] {
      try await database.execute("DROP TABLE IF EXISTS wrappeds")
      try await database.createTable(Wrapped.self)
      try await database.insert(rows)
      #expect(try await database.mirror(rows.dropLast(), sweeping: sweep).ledger.swept == 1)
      let swept = try #require(try await database.fetchOne(Wrapped.where { $0.id == 20 }))
      #expect(swept.absence.rawValue || swept.leftAt != nil || swept.mood == .gone)
      #expect(try await database.mirror(rows, sweeping: sweep).ledger.updated == 1)
      #expect(try await database.fetchAll(Wrapped.order(by: \.id)) == rows)
    }
  }

  @Test("A row without a part of its primary key is none of a mirror, unless another key is named for it")
  func keysOfDrafts() async throws {
    let database = try UpsurgeModels.Database(scratch.file("l.db"))
    try await database.createTable(Member.self)
    let old = (1...20).map { Member.Draft(id: $0, email: "e\($0)") }
    try await database.insert(old)
    let rows = old + [Member.Draft(email: "n")]
    var options = BulkOptions()
    options.onError = .reject
    options.key = .firstOf([.primaryKey, .columns(["ID"])])
    #expect(try await database.mirror(rows, sweeping: .none, options: options).ledger.rejected == 1)
    for key in [ConflictTarget.any, .columns(["rowid"]), .columns(["ROWID"]), .columns(["_rowid_"])] {
      options.key = key
      #expect(try await database.mirror(rows, sweeping: .none, options: options).ledger.rejected == 1)
    }
    options.key = .primaryKey
    #expect(try await database.mirror(rows, on: \.id, sweeping: .none, options: options).ledger.rejected == 1)
    #expect(try await database.count(Member.all) == 20)
    try await database.execute("CREATE UNIQUE INDEX e ON members(email)")
    let drafts = rows.map { Member.Draft(email: $0.email) }
    for key in [ConflictTarget.index("e"), .columns(["email"])] {
      options.key = key
      let result = try await database.mirror(drafts, sweeping: .none, options: options)
      #expect(result.ledger.inserted + result.ledger.unchanged == 21)
    }
    #expect(try await database.count(Member.all) == 21)
    options.key = .index("sqlite_autoindex_emails_1")
    try await database.execute("CREATE TABLE emails(id INTEGER PRIMARY KEY, email TEXT UNIQUE)")
    for inserted: UInt64 in [1, 0] {
      let result = try await database.mirror([Email.Draft(email: "a")], sweeping: .none, options: options)
      #expect(result.ledger.inserted == inserted && result.ledger.rejected == 0)
    }
    options.key = .primaryKey
    // The table makes another key for each row.
    try await database.execute(
      """
      CREATE TABLE stops(line TEXT DEFAULT (hex(randomblob(4))), number INTEGER, name TEXT, PRIMARY KEY(line, number));
      CREATE TABLE tickets(id INTEGER PRIMARY KEY, email TEXT)
      """)
    let stops = [Stop.Draft(number: 1), Stop.Draft(line: "B", number: 1)]
    for inserted: UInt64 in [1, 0] {
      let result = try await database.mirror(stops, sweeping: .hard, options: options)
      #expect(result.ledger.inserted == inserted && result.ledger.rejected == 1)
      // There is nothing to sweep before the first.
      if inserted == 0 {
        #expect(
          result.refusal?.message.contains("1 of 2 rows of the call were rejected, or have no key") == true,
          "\(result.refusal?.description ?? "")")
        #expect(result.refusal?.hint?.contains("give each its key") == true)
      }
    }
    let tickets = [Ticket.Draft(email: "a"), Ticket.Draft(id: 7, email: "b")]
    for sweep in [Sweep<Ticket>.none, .hard] {
      #expect(try await database.mirror(tickets, sweeping: sweep, options: options).ledger.rejected == 1)
      #expect(try await database.fetchAll(Ticket.all) == [Ticket(id: 7, email: "b")])
    }
  }

  @Test("A column of the key's expression is no mark") func expressionKeys() async throws {
    let database = try UpsurgeModels.Database(scratch.file("m.db"))
    try await database.createTable(Member.self)
    try await database.execute("CREATE UNIQUE INDEX i ON members(lower(email))")
    let rows = (1...20).map { Member(id: $0, email: "e\($0)") }
    try await database.insert(rows)
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.mirror(rows.dropLast(), on: \.email.lowercased, sweeping: .soft(\.email))
    }
    #expect(error?.code == .usage && error?.hint != nil, "\(error?.description ?? "")")
    #expect(try await database.fetchAll(Member.order(by: \.id)) == rows)
  }

  @Test("What a row that comes back has in the column can be read by the model") func readableRevival()
    async throws
  {
    let database = try UpsurgeModels.Database(scratch.file("n.db"))
    try await database.execute(
      "CREATE TABLE leavers(id INTEGER PRIMARY KEY, gone INTEGER, updatedAt INTEGER)")
    let rows = (1...20).map { Leaver(id: $0, updatedAt: 5) }
    try await database.insert(rows)
    #expect(try await database.mirror(rows.dropLast(), sweeping: .soft(\.gone)).ledger.swept == 1)
    let older = rows.map { Leaver(id: $0.id, updatedAt: 4) }
    let result = try await database.mirror(older, newer: \.updatedAt, sweeping: .soft(\.gone))
    #expect(result.ledger.stale == 20)
    #expect(try await database.fetchAll(Leaver.order(by: \.id)) == rows)
    // So it is where no other row is there.
    var guards = SweepGuards()
    guards.allowsEmpty = true
    guards.maximumDeletes = .percent(100)
    let empty = try await database.mirror([Leaver](), sweeping: .soft(\.gone), guards: guards)
    #expect(empty.ledger.swept == 20 && empty.refusal == nil)
    #expect(try await database.mirror(older, newer: \.updatedAt, sweeping: .soft(\.gone)).ledger.stale == 20)
    #expect(try await database.fetchAll(Leaver.order(by: \.id)) == rows)
  }
}
