import Foundation
import TestSupport
import Testing

@testable import UpsurgeModels

/// Columns of the same types that are stored in several ways.
@Table struct Shift: Equatable {
  let id: Int
  var start: Date
  @Column(as: Date.UnixTime.self) var end: Date
  @Column(as: Date.UnixTime.self) var until: Date?
  var worker: UUID
  @Column(as: UUID.Bytes.self) var chief: UUID?
  @Column(as: JSON<Bool>.self) var isPaid = true
}

@Suite("Reading models back") struct QueryTests {
  let scratch = Scratch()
  private let players = [
    Player(id: 1, name: "Ann", highScore: 5, team: "x"), Player(id: 2, name: "Bob", highScore: 9),
    Player(id: 3, name: "Cid", highScore: 5, team: "y"),
    Player(id: 4, name: "it's \"4\"", highScore: -1, team: "x"),
  ]

  private func open() async throws -> UpsurgeModels.Database {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.createTable(Player.self)
    try await database.insert(players)
    return database
  }

  @Test("Conditions, order and limits") func queries() async throws {
    let database = try await open()
    func ids(_ query: Query<Player>) async throws -> [Int] { try await database.fetchAll(query).map(\.id) }
    #expect(try await database.fetchAll(Player.all.order(by: \.id)) == players)
    #expect(try await ids(Player.where { $0.highScore > 4 && $0.team != nil }.order(by: \.id)) == [1, 3])
    #expect(try await ids(Player.where { $0.team == nil }) == [2])
    #expect(try await ids(Player.where { $0.team == "x" || $0.name == "Bob" }.order(by: \.id)) == [1, 2, 4])
    #expect(try await ids(Player.where { !($0.team == "x") }.order(by: \.id)) == [2, 3])
    #expect(try await ids(Player.where { $0.id.isIn([2, 4, 9]) }.where { $0.highScore < 0 }) == [4])
    #expect(try await ids(Player.where { $0.id.isIn([]) }) == [])
    #expect(try await ids(Player.where { $0.highScore.isBetween(0, and: 5) }.order(by: \.id)) == [1, 3])
    #expect(try await ids(Player.where { $0.name.isLike("%\"4\"") }) == [4])
    #expect(try await ids(Player.where { $0.highScore + 1 == 6 }.order(by: \.id)) == [1, 3])
    #expect(try await ids(Player.where { ($0.team ?? "none") == "none" }) == [2])
    #expect(
      try await ids(Player.order { [$0.highScore.descending(), $0.name.ascending()] }) == [2, 1, 3, 4])
    #expect(try await ids(Player.order(by: \.id).limit(2, offset: 1)) == [2, 3])
    #expect(try await database.count(Player.where { $0.team == "x" }) == 2)
    #expect(try await database.count(Player.all.limit(3)) == 3)
    #expect(try await database.fetchOne(Player.order(by: \.name).limit(1))?.name == "Ann")
    #expect(try await database.fetchOne(Player.where { $0.id == 7 }) == nil)
    #expect(try await database.find(Player.self, key: 3)?.name == "Cid")
    #expect(try await database.find(Player.self, key: 30) == nil)
  }

  @Test("Values instead of models") func selected() async throws {
    let database = try await open()
    #expect(try await database.fetchAll(Player.order(by: \.id).select { $0.team }) == ["x", nil, "y", "x"])
    #expect(try await database.fetchOne(Player.all.select { $0.highScore.maximum() }) == .some(9))
    #expect(
      try await database.fetchOne(Player.where { $0.id > 9 }.select { $0.highScore.minimum() }) == .some(nil))
    #expect(try await database.fetchOne(Player.all.select { $0.team.count() }) == 3)
    #expect(
      try await database.fetchAll(Player.order(by: \.id).select { SQLExpression<Int>("length(\($0.name))") })
        == [3, 3, 3, 8])
  }

  @Test("Values are found by how their column stores them") func codings() async throws {
    let database = try UpsurgeModels.Database(scratch.file("b.db"))
    try await database.createTable(Kinds.self)
    let id = UUID()
    let row = Kinds(
      key: id, bytes: id, upper: id, small: 1, ratio: 0.5, blob: [1], data: Data([2]),
      createdAt: Date(timeIntervalSince1970: 7),
      seenAt: Date(timeIntervalSince1970: 1.5), dueAt: Date(timeIntervalSince1970: 9), tags: ["a"],
      status: .done, default: 1,
      any: .real(1.5))
    try await database.insert([row])
    #expect(try await database.find(Kinds.self, key: id) == row)
    let found = try await database.fetchAll(
      Kinds.where {
        $0.bytes == id && $0.upper == id && $0.seenAt == Date(timeIntervalSince1970: 1.5)
          && $0.status == .done
          && $0.createdAt < Date(timeIntervalSince1970: 8) && $0.tags == ["a"] && $0.default == 1
          && $0.blob == [1]
      })
    #expect(found == [row])
    #expect(try await database.fetchAll(Kinds.all.select { $0.seenAt }) == [Date(timeIntervalSince1970: 1.5)])
    #expect(
      try await database.fetchOne(Kinds.all.select { $0.seenAt.maximum() })
        == .some(Date(timeIntervalSince1970: 1.5)))
    #expect(
      try await database.fetchOne(Kinds.all.select { $0.dueAt.minimum() })
        == .some(Date(timeIntervalSince1970: 9)))
    try await database.upsert(
      [row], merge: { row, _ in row.set(\.dueAt, to: Date(timeIntervalSince1970: 11)) })
    #expect(try await database.fetchOne(Kinds.all)?.dueAt == Date(timeIntervalSince1970: 11))
  }

  @Test("Groups are one value in a condition") func groups() async throws {
    let database = try UpsurgeModels.Database(scratch.file("b.db"))
    try await database.createTable(Note.self)
    let notes = (1...3).map {
      Note(
        id: $0, timestamps: Timestamps(createdAt: $0, updatedAt: $0 == 2 ? nil : 5), review: nil,
        attachment: $0 == 1 ? .link("a") : nil)
    }
    try await database.insert(notes)
    #expect(
      try await database.fetchAll(Note.where { $0.timestamps == Timestamps(createdAt: 2, updatedAt: nil) })
        == [notes[1]])
    #expect(try await database.fetchAll(Note.where { $0.attachment.link == "a" }) == [notes[0]])
    #expect(
      try await database.count(Note.where { $0.timestamps != Timestamps(createdAt: 2, updatedAt: nil) }) == 2)
    // None of an optional group is NULL in all its columns.
    #expect(try await database.fetchAll(Note.where { $0.attachment != nil }) == [notes[0]])
    #expect(try await database.count(Note.where { $0.attachment == nil && $0.review == nil }) == 2)
    let attachment = notes[0].attachment
    #expect(try await database.fetchAll(Note.where { $0.attachment == attachment }) == [notes[0]])
  }

  @Test("SQL of one's own binds values, and finds columns by name") func raw() async throws {
    let database = try await open()
    let name = "it's \"4\""
    #expect(
      try await database.fetchAll(
        Player.self, sql: "SELECT 1 AS other, team, HIGH_SCORE, name, id FROM players WHERE name = \(name)")
        == [players[3]])
    #expect(
      try await database.fetchAll(Int.self, sql: "SELECT count(*) FROM \(identifier: "players")") == [4])
    #expect(
      try await database.fetchAll(String?.self, sql: "SELECT team FROM players ORDER BY id") == [
        "x", nil, "y", "x",
      ])
    try await database.execute("UPDATE players SET team = \("z'; --") WHERE id IN (\(1), \(2))")
    #expect(try await database.count(Player.where { $0.team == "z'; --" }) == 2)
    for sql: SQLText in ["SELECT id, name, team FROM players", "SELECT *, 1 AS name FROM players"] {
      await #expect(throws: UpsurgeError.self) { try await database.fetchAll(Player.self, sql: sql) }
    }
    // What reads cannot write.
    await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(Int.self, sql: "DELETE FROM players RETURNING id")
    }
    #expect(try await database.count(Player.all) == 4)
  }

  @Test("Rows are read as they are asked for, and stay those of one moment") func streamed() async throws {
    let database = try await open()
    try await database.insert((10..<2_010).map { Player(id: $0, name: "\($0)") })
    var ids: [Int] = []
    for try await player in database.rows(Player.order(by: \.id)) {
      if ids.isEmpty { try await database.execute("DELETE FROM players WHERE id > 1000") }
      ids.append(player.id)
    }
    #expect(ids == [1, 2, 3, 4] + Array(10..<2_010))
    #expect(try await database.count(Player.all) == 4 + 991)
    // A reader that stops early keeps no transaction open: the log can be taken into the database, once its thread has ended.
    for try await _ in database.rows(Player.all) { break }
    let plain = TestSupport.Database(scratch.file("a.db"))
    #expect(
      try plain.rows("PRAGMA busy_timeout=20000; PRAGMA wal_checkpoint(TRUNCATE)") == ["20000", "0|0|0"])
  }

  @Test("What is committed is seen at once, also inside a loop over rows") func besideRows() async throws {
    let database = try await open()
    var count = 0
    for try await _ in database.rows(Player.order(by: \.id)) {
      count += 1
      try await database.upsert([Player(id: 100 + count, name: "new")])
      #expect(try await database.find(Player.self, key: 100 + count) != nil)
    }
    #expect(count == 4)
    #expect(try await database.count(Player.all) == 8)
  }

  @Test("A list of values is looked up in an index, and has an answer for NULL") func lists() async throws {
    let database = try await open()
    func ids(_ query: Query<Player>) async throws -> [Int] {
      try await database.fetchAll(query.order(by: \.id)).map(\.id)
    }
    #expect(try await ids(Player.where { $0.team.isIn(["x"]) }) == [1, 4])
    #expect(try await ids(Player.where { !$0.team.isIn(["x"]) }) == [2, 3])
    #expect(try await ids(Player.where { $0.team.isIn([nil, "x"]) }) == [1, 2, 4])
    #expect(try await ids(Player.where { !$0.team.isIn([nil, "x"]) }) == [3])
    #expect(try await ids(Player.where { $0.team.isIn([nil]) }) == [2])
    #expect(try await ids(Player.where { !$0.team.isIn([]) }) == [1, 2, 3, 4])
    let sql = try Player.where { $0.id.isIn([1, 2]) }.sql.spelled()
    let plan = try TestSupport.Database(scratch.file("a.db")).rows("EXPLAIN QUERY PLAN \(sql)")
    #expect(plan.contains { $0.contains("INTEGER PRIMARY KEY") }, "\(plan)")
  }

  @Test("SQL of one's own keeps to itself in a larger condition") func parentheses() async throws {
    let database = try await open()
    let either = Player.where { SQLExpression<Bool>("\($0.id) = 1 OR \($0.id) = 2") }
    #expect(try await database.fetchAll(either.where { $0.name == "Bob" }).map(\.id) == [2])
    #expect(
      try await database.count(Player.where { !SQLExpression<Bool>("\($0.id) = 1 OR \($0.id) = 2") }) == 2)
    #expect(
      try await database.fetchAll(Player.where { $0.team.isIn([nil, "y"]) }.order(by: \.id)).map(\.id) == [
        2, 3,
      ])
    #expect(
      try await database.fetchAll(Player.where { !$0.team.isIn(["y"]) }.order(by: \.id)).map(\.id) == [
        1, 2, 4,
      ])
  }

  @Test("A transaction that SQL leaves open is rolled back, and several statements take no values")
  func scripts() async throws {
    let database = try await open()
    await #expect(throws: UpsurgeError.self) {
      try await database.execute("BEGIN; DELETE FROM players; INSERT INTO nowhere VALUES (1); COMMIT")
    }
    await #expect(throws: UpsurgeError.self) { try await database.execute("BEGIN; DELETE FROM players") }
    try await database.upsert([Player(id: 9, name: "n")])
    #expect(try await database.count(Player.all) == 5)
    await #expect(throws: UpsurgeError.self) {
      try await database.execute("DELETE FROM players WHERE id = \(9); DELETE FROM players")
    }
    await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(Int.self, sql: "SELECT 1; SELECT 2")
    }
    try await database.execute("DELETE FROM players WHERE id = \(9); -- the last one\n ;")
    #expect(try await database.count(Player.all) == 4)
    try await database.execute("BEGIN; DELETE FROM players; COMMIT")
    #expect(try await database.count(Player.all) == 0)
  }

  @Test("A read that is cancelled ends, also one that waits for its turn") func cancelled() async throws {
    let database = try await open()
    let long: SQLText = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    let running = Task { try await database.fetchAll(Int.self, sql: long) }
    let waiting = Task { try await database.fetchAll(Int.self, sql: "SELECT 1") }
    try await Task.sleep(for: .milliseconds(50))
    waiting.cancel()
    await #expect(throws: UpsurgeError.self) { try await waiting.value }
    running.cancel()
    await #expect(throws: UpsurgeError.self) { try await running.value }
    #expect(try await database.fetchAll(Int.self, sql: "SELECT 2") == [2])
  }

  @Test("Parameters that are no values put into the SQL are refused: they would be NULL") func parameters()
    async throws
  {
    let database = try await open()
    for sql: SQLText in [
      "UPDATE players SET team = ?", "UPDATE players SET team = :team WHERE id = \(1)",
      "UPDATE players SET team = ? WHERE id = \(1)",
    ] {
      do {
        try await database.execute(sql)
        Issue.record("it ran")
      } catch {
        #expect(error.code == .usage && error.message.hasPrefix("the SQL has parameters of its own"))
      }
    }
    await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(Int.self, sql: "SELECT id FROM players WHERE id = ? OR id = \(2)")
    }
    #expect(try await database.fetchAll(Player.order(by: \.id)) == players)
  }

  @Test("What is made of many rows is made of those within the limit") func limits() async throws {
    let database = try await open()
    let some = Player.order(by: \.highScore).limit(3)
    #expect(try await database.fetchOne(some.select { $0.id.count() }) == 3)
    #expect(try await database.fetchOne(some.select { $0.highScore.maximum() }) == .some(5))
    #expect(try await database.fetchOne(some.select { $0.highScore.minimum() }) == .some(-1))
    #expect(try await database.fetchOne(some.select { $0.id.count() * 2 }) == 6)
    #expect(try await database.fetchOne(Player.all.limit(9, offset: 3).select { $0.id.count() }) == 1)
    #expect(try await database.fetchOne(some.select { $0.highScore.maximum() ?? 0 }) == 5)
    #expect(try await database.fetchOne(some.select { $0.id.count() + 1 > 4 }) == false)
    #expect(try await database.fetchAll(some.limit(2).select { $0.id }) == [4, 1])
    #expect(try await database.count(Player.where { $0.team.isLike("X") }) == 2)
    #expect(try await database.count(Player.where { !$0.team.isLike("X") }) == 2)
  }

  @Test("Only with a journal") func durability() {
    var configuration = UpsurgeModels.Database.Configuration()
    configuration.durability = .off
    #expect(throws: UpsurgeError.self) {
      try UpsurgeModels.Database(scratch.file("c.db"), configuration: configuration)
    }
  }

  @Test("A row that a model cannot be is said") func mismatch() async throws {
    let database = try UpsurgeModels.Database(scratch.file("b.db"))
    try await database.execute("CREATE TABLE players(id INTEGER PRIMARY KEY, name, high_score, team)")
    try await database.execute("INSERT INTO players VALUES (1, NULL, 1, 'a')")
    do {
      _ = try await database.fetchAll(Player.all)
      Issue.record("the row was read")
    } catch {
      #expect(error.message == "the column name holds NULL, and a text was expected")
    }
  }

  @Test("A database in memory is one database") func memory() async throws {
    let database = try UpsurgeModels.Database(":memory:")
    try await database.createTable(Player.self)
    try await database.upsert(players)
    #expect(try await database.count(Player.all) == 4)
  }

  @Test("Columns that store a value in several ways are neither compared nor mixed") func mixedCodings()
    async throws
  {
    let database = try UpsurgeModels.Database(scratch.file("c.db"))
    try await database.execute(
      "CREATE TABLE shifts(id INTEGER PRIMARY KEY, start, end, until, worker, chief, isPaid)")
    let day = Date(timeIntervalSince1970: 1_700_000_000)
    let one = Shift(id: 1, start: day, end: day, until: day + 1, worker: UUID())
    try await database.insert([one])
    let refused: [@Sendable (Shift.TableColumns) -> SQLExpression<Bool>] = [
      { $0.start == $0.end }, { $0.start < $0.end }, { max($0.start, $0.end) == day },
      { ($0.until ?? $0.start) == day }, { $0.end > SQLExpression.value(day) },
      { $0.isPaid && $0.id == 1 }, { $0.id == 1 || $0.isPaid }, { !$0.isPaid }, { $0.isPaid },
    ]
    for (index, condition) in refused.enumerated() {
      let error = await #expect(throws: UpsurgeError.self, "\(index)") {
        try await database.fetchAll(Shift.where(condition))
      }
      #expect(error?.code == .usage, "\(index): \(error?.description ?? "")")
    }
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.upsert([one], merge: { row, excluded in row.end = excluded.start })
    }
    #expect(
      error?.code == .usage && error?.message.contains("Date.UnixTime") == true, "\(error?.description ?? "")"
    )
    await #expect(throws: UpsurgeError.self) {
      try await database.upsert([one], when: { row, excluded in row.end < excluded.start })
    }
    // SQL of one's own says how it stores.
    #expect(
      try await database.count(
        Shift.where { $0.end > SQLExpression("unixepoch(\($0.start)) - 1", as: Date.UnixTime.self) }) == 1)
    #expect(
      try await database.fetchAll(
        Shift.all.select { SQLExpression("unixepoch(\($0.start))", as: Date.UnixTime.self) }) == [day])
    // In one way they are, nullable or not.
    #expect(try await database.count(Shift.where { ($0.until ?? $0.end) > $0.end }) == 1)
    #expect(try await database.count(Shift.where { max($0.until, $0.end) > day && $0.isPaid == true }) == 1)
    var later = one
    later.end = day + 5
    let ledger = try await database.upsert(
      [later], merge: { row, excluded in row.until = max(row.until, excluded.end) })
    #expect(ledger.updated == 1)
    #expect(try await database.fetchAll(Shift.all.select { $0.until }) == [day + 5])
  }

  @Test("Sums, means, and aggregates of one's own are those of the rows within the limit") func aggregates()
    async throws
  {
    let database = try await open()
    let two = Player.order(by: \.id).limit(2)
    #expect(try await database.fetchOne(two.select { $0.highScore.sum() }) == 14)
    #expect(try await database.fetchOne(Player.all.select { $0.highScore.sum() }) == 18)
    #expect(try await database.fetchOne(two.select { $0.highScore.average() }) == 7)
    #expect(
      try await database.fetchOne(Player.where { $0.id > 9 }.select { $0.highScore.sum() }) == .some(nil))
    #expect(
      try await database.fetchOne(
        two.select { SQLExpression<String>(aggregate: "group_concat(\($0.name), '+')") }) == "Ann+Bob")
    try await database.createTable(Tally.self)
    try await database.insert([Tally(id: 1, total: 4), Tally(id: 2, total: nil), Tally(id: 3, total: 8)])
    #expect(try await database.fetchOne(Tally.all.select { $0.total.sum() }) == 12)
    #expect(try await database.fetchOne(Tally.all.select { $0.total.average() }) == 6)
    #expect(try await database.fetchOne(Tally.order(by: \.id).limit(2).select { $0.total.average() }) == 4)
  }

  @Test("Numbers that are stored as others are summed, and neither multiplied nor averaged")
  func storedAsOthers()
    async throws
  {
    let database = try await open()
    try await database.createTable(Fare.self)
    try await database.insert([Fare(id: 1, price: 1.5, tip: nil), Fare(id: 2, price: 2.5, tip: 0.25)])
    #expect(try await database.fetchOne(Fare.all.select { $0.price.sum() }) == 4)
    #expect(try await database.count(Fare.where { $0.price + 1 == 2.5 }) == 1)
    for mean in [Fare.all.select { $0.price.average() }, Fare.all.select { $0.tip.average() }] {
      let error = await #expect(throws: UpsurgeError.self) { try await database.fetchAll(mean) }
      #expect(
        error?.code == .usage && error?.message.contains("Cents") == true, "\(error?.description ?? "")")
    }
    for condition in [Fare.where { $0.price * 2 > 3 }, Fare.where { $0.tip * $0.tip > 0.1 }] {
      let error = await #expect(throws: UpsurgeError.self) { try await database.count(condition) }
      #expect(error?.code == .usage, "\(error?.description ?? "")")
    }
    try await database.createTable(Invoice.self)
    try await database.insert([Invoice(id: 1, price: 1.5), Invoice(id: 2, price: 2.5, tip: 0.25)])
    #expect(try await database.fetchOne(Invoice.all.select { $0.price.sum() }) == 4)
    for mean in [Invoice.all.select { $0.price.average() }, Invoice.all.select { $0.tip.average() }] {
      let error = await #expect(throws: UpsurgeError.self) { try await database.fetchAll(mean) }
      #expect(error?.code == .usage && error?.message.contains("Decimal") == true)
    }
    for condition in [Invoice.where { $0.price * 2 > 3 }, Invoice.where { $0.tip * $0.tip > 0 }] {
      await #expect(throws: UpsurgeError.self) { try await database.count(condition) }
    }
  }

  @Test("The larger of a text and a value is that of the column's collation, nullable or not")
  func collations()
    async throws
  {
    let database = try await open()
    try await database.execute(
      "CREATE TABLE errands(id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE, list TEXT, deletedAt TEXT COLLATE NOCASE)"
    )
    try await database.insert([Errand(id: 1, title: "a", list: "", deletedAt: "a")])
    try await database.insert([Errand(id: 2, title: "a", list: "")])
    let pairs = Errand.order(by: \.id)
    #expect(try await database.fetchAll(pairs.select { max($0.title, "B") }) == ["B", "B"])
    #expect(try await database.fetchAll(pairs.select { max($0.deletedAt, "B") }) == ["B", "B"])
    #expect(try await database.fetchAll(pairs.select { min($0.deletedAt, "B") }) == ["a", "B"])
  }

  @Test("SQL that writes is not read") func writingReads() async throws {
    for path in [scratch.file("w.db"), ":memory:"] {
      let database = try UpsurgeModels.Database(path)
      try await database.createTable(Player.self)
      try await database.insert([Player(id: 1, name: "Ann")])
      let error = await #expect(throws: UpsurgeError.self) {
        try await database.fetchAll(
          Player.self, sql: "UPDATE players SET name = \("x") WHERE id = 1 RETURNING *")
      }
      #expect(error?.code == .usage && error?.hint?.contains("execute") == true)
      #expect(try await database.find(Player.self, key: 1)?.name == "Ann")
      #expect(try await database.fetchAll(String.self, sql: "  pragma journal_mode").count == 1)
      let plan = try await database.fetchAll(
        Plan.self, sql: "EXPLAIN QUERY PLAN DELETE FROM players WHERE id = 1")
      #expect(plan.count == 1)
    }
  }

  @Test("A table that is not what its model says is to be looked at") func otherTable() async throws {
    let database = try await open()
    try await database.execute("ALTER TABLE players DROP COLUMN team")
    for read in [
      { _ = try await database.fetchAll(Player.all) }, { _ = try await database.fetchOne(Player.all) },
      { for try await _ in database.rows(Player.all) {} },
    ] as [@Sendable () async throws -> Void] {
      let error = await #expect(throws: UpsurgeError.self) { try await read() }
      #expect(error?.hint?.contains("checkTable(Player.self)") == true, "\(error?.description ?? "")")
    }
  }
}

@Selection struct Plan {
  var id: Int
  var parent: Int
  var notused: Int
  var detail: String
}
