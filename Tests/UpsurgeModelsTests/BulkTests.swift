import Foundation
import TestSupport
import Testing

@testable import UpsurgeModels

/// Many models a call, judged by a plain connection.
@Table struct Measure: Equatable {
  let id: Int
  @Column(as: JSON<[Double]>.self) var values: [Double]
  var count: UInt64
  var mask: UInt64?
}

@Suite("Bulk calls") struct BulkTests {
  let scratch = Scratch()

  private func open<Model: UpsurgeModels.Table>(
    _ model: Model.Type, _ configuration: UpsurgeModels.Database.Configuration = .init(), sql: String = ""
  ) async throws -> (UpsurgeModels.Database, TestSupport.Database) {
    let database = try UpsurgeModels.Database(scratch.file("a.db"), configuration: configuration)
    try await database.execute("\(raw: Model.createTableSQL); \(raw: sql)")
    return (database, TestSupport.Database(scratch.file("a.db")))
  }

  private func book(_ id: Int, _ title: String?, count: Int = 0, at: Int = 0) -> Book {
    Book(libraryID: 1, remoteID: "b\(id)", title: title, count: count, updatedAt: at)
  }

  @Test("By default the primary key says which row is meant, and rows that say the same are not touched")
  func upsert() async throws {
    let (database, plain) = try await open(Book.self)
    try await database.insert([book(1, "a"), book(2, "b")])
    let ledger = try await database.upsert([book(1, "a"), book(2, "x"), book(3, nil)])
    #expect(ledger.inserted == 1 && ledger.updated == 1 && ledger.unchanged == 1 && ledger.isBalanced)
    #expect(try plain.rows("SELECT remote_id, title FROM books") == ["'b1'|'a'", "'b2'|'x'", "'b3'|NULL"])
    #expect(
      try await database.update([book(3, "c"), book(4, "d")], on: \.libraryID, \.remoteID).ignored == 1)
    #expect(try await database.insertOrIgnore([book(3, "y"), book(5, "e")]).ignored == 1)
    #expect(try await database.delete([book(1, nil), book(9, nil)]).deleted == 1)
    #expect(try plain.rows("SELECT remote_id, title FROM books") == ["'b2'|'x'", "'b3'|'c'", "'b5'|'e'"])
  }

  @Test("Merge closures are SQL over the row and the record") func merge() async throws {
    let (database, plain) = try await open(Book.self)
    try await database.insert([book(1, "a", count: 3, at: 5), book(2, nil, count: 1, at: 7)])
    let ledger = try await database.upsert(
      [book(1, nil, count: 2, at: 9), book(2, "it's", count: 5, at: 1), book(3, "n", count: 1)],
      on: \.remoteID, \.libraryID,
      merge: { row, excluded in
        row.title = excluded.title ?? row.title
        row.count += excluded.count
        row.updatedAt = max(row.updatedAt, excluded.updatedAt)
      })
    #expect(ledger.updated == 2 && ledger.inserted == 1)
    #expect(
      try plain.rows("SELECT remote_id, title, count, updatedAt FROM books")
        == ["'b1'|'a'|5|9", "'b2'|'it''s'|6|7", "'b3'|'n'|1|0"].map { $0.replacing("''s", with: "'s") })
    // Columns that are not set stay, and values are spelled as SQL.
    try await database.upsert(
      [book(1, "z", count: 9, at: 9)], merge: { row, _ in row.title = .value("o'clock \"sharp\"") })
    #expect(
      try plain.rows("SELECT title, count FROM books WHERE remote_id = 'b1'") == ["'o'clock \"sharp\"'|5"])
  }

  @Test("Columns that may be NULL are counted up, and keep the larger value") func mergedNulls() async throws
  {
    let (database, _) = try await open(Tally.self)
    let rows = [Tally(id: 1, total: 5), Tally(id: 2), Tally(id: 3, total: 2), Tally(id: 4)]
    try await database.insert(rows)
    let given = [Tally(id: 1), Tally(id: 2, total: 7), Tally(id: 3, total: 3), Tally(id: 4)]
    func totals() async throws -> [Int?] { try await database.fetchAll(Tally.order(by: \.id)).map(\.total) }
    try await database.upsert(given, merge: { row, excluded in row.total = max(row.total, excluded.total) })
    #expect(try await totals() == [5, 7, 3, nil])
    try await database.upsert(given, merge: { row, excluded in row.total = min(row.total, excluded.total) })
    #expect(try await totals() == [5, 7, 3, nil])
    try await database.upsert(
      given, merge: { row, excluded in row.total = (row.total ?? 0) + (excluded.total ?? 0) })
    #expect(try await totals() == [5, 14, 6, 0])
    try await database.upsert(given, merge: { row, excluded in row.total = row.total * excluded.total })
    #expect(try await totals() == [nil, 98, 18, nil])
    // With a value that never is NULL.
    try await database.upsert(given, merge: { row, excluded in row.total = max(row.total, excluded.id) })
    #expect(try await totals() == [1, 98, 18, 4])
    try await database.upsert(given, merge: { row, excluded in row.total = min(excluded.total, excluded.id) })
    #expect(try await totals() == [1, 2, 3, 4])
  }

  @Test("Drafts are merged by another key than the primary one") func mergedDrafts() async throws {
    let (database, plain) = try await open(Player.self, sql: "CREATE UNIQUE INDEX i ON players(name)")
    try await database.insert([
      Player(id: 3, name: "a", highScore: 4), Player(id: 5, name: "b", highScore: 9),
    ])
    let drafts = [
      Player.Draft(name: "a", highScore: 7), Player.Draft(name: "b", highScore: 7), Player.Draft(name: "c"),
    ]
    try await database.upsert(
      drafts, on: \.name, merge: { row, excluded in row.highScore = max(row.highScore, excluded.highScore) })
    #expect(try plain.rows("SELECT * FROM players") == ["3|'a'|7|NULL", "5|'b'|9|NULL", "6|'c'|0|NULL"])
    try await database.upsert(drafts, on: \.name)
    #expect(try plain.rows("SELECT * FROM players") == ["3|'a'|7|NULL", "5|'b'|7|NULL", "6|'c'|0|NULL"])
  }

  @Test("Last-write-wins takes ties, and conditions keep rows as they are") func conditions() async throws {
    let (database, plain) = try await open(Book.self)
    try await database.insert([book(1, "a", at: 5), book(2, "b", at: 5), book(3, "c", at: 5)])
    let ledger = try await database.upsert(
      [book(1, "x", at: 4), book(2, "x", at: 5), book(3, "x", at: 6)], newer: \.updatedAt)
    #expect(ledger.stale == 1 && ledger.updated == 2)
    #expect(try plain.rows("SELECT title FROM books") == ["'a'", "'x'", "'x'"])
    try await database.upsert(
      [book(1, "y", at: 4), book(2, "y", at: 5)],
      when: { row, excluded in row.updatedAt > excluded.updatedAt })
    #expect(try plain.rows("SELECT title FROM books") == ["'y'", "'x'", "'x'"])
  }

  @Test("Columns of groups are set one by one, and together") func mergedGroups() async throws {
    let (database, plain) = try await open(Note.self)
    func note(_ created: Int, _ updated: Int?) -> Note {
      Note(
        id: 1, timestamps: Timestamps(createdAt: created, updatedAt: updated), review: nil,
        attachment: .link("x"))
    }
    try await database.insert([note(1, nil)])
    try await database.upsert(
      [note(5, 6)],
      merge: { row, excluded in row.set(\.timestamps.updatedAt, to: excluded.timestamps.updatedAt) })
    #expect(try plain.rows("SELECT createdAt, updatedAt FROM notes") == ["1|6"])
    try await database.upsert(
      [note(7, nil)], merge: { row, excluded in row.timestamps = excluded.timestamps })
    #expect(try plain.rows("SELECT createdAt, updatedAt, link FROM notes") == ["7|NULL|'x'"])
    try await database.upsert([note(0, 0)], merge: { row, _ in row.set(\.timestamps.createdAt, to: 9) })
    #expect(try plain.rows("SELECT createdAt, updatedAt FROM notes") == ["9|NULL"])
  }

  @Test("A table that is there is left as it is, where that is wanted") func tableThatExists() async throws {
    let (database, _) = try await open(Player.self)
    await #expect(throws: UpsurgeError.self) { try await database.createTable(Player.self) }
    try await database.insert([Player(id: 1, name: "a")])
    try await database.createTable(Player.self, ifNotExists: true)
    #expect(try await database.count(Player.all) == 1)
  }

  @Test("Every call takes rows that come one after the other") func asynchronousCalls() async throws {
    let (database, plain) = try await open(Player.self)
    func rows(_ ids: ClosedRange<Int>, _ score: Int = 0) -> AsyncStream<Player> {
      AsyncStream { stream in
        for id in ids { stream.yield(Player(id: id, name: "n\(id)", highScore: score)) }
        stream.finish()
      }
    }
    #expect(try await database.insert(rows(1...3)).inserted == 3)
    #expect(try await database.insertOrIgnore(rows(2...4)).ignored == 2)
    #expect(try await database.update(rows(4...9, 5)).updated == 1)
    #expect(try await database.delete(rows(1...1)).deleted == 1)
    var guards = SweepGuards()
    guards.maximumDeletes = .percent(100)
    let result = try await database.mirror(rows(3...5), sweeping: .hard, guards: guards)
    #expect(result.ledger.swept == 1 && result.ledger.inserted == 1 && result.ledger.updated == 1)
    #expect(try plain.rows("SELECT id FROM players ORDER BY id") == ["3", "4", "5"])
    let broken = AsyncThrowingStream<Player, any Error> { stream in
      stream.yield(Player(id: 3, name: "n3"))
      stream.finish(throwing: CancellationError())
    }
    await #expect(throws: CancellationError.self) {
      try await database.mirror(broken, sweeping: .hard, guards: guards)
    }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["3"])
  }

  @Test("A partial unique index is named by its columns and condition") func partialIndex() async throws {
    let (database, plain) = try await open(
      Player.self, sql: "CREATE UNIQUE INDEX active ON players(name) WHERE team IS NOT NULL")
    try await database.insert([Player(id: 1, name: "a", team: "t"), Player(id: 2, name: "a", team: nil)])
    try await database.upsert(
      [Player.Draft(name: "a", highScore: 5, team: "t")], on: \.name, where: { $0.team != nil })
    #expect(try plain.rows("SELECT * FROM players") == ["1|'a'|5|'t'", "2|'a'|0|NULL"])
    await #expect(throws: UpsurgeError.self) {
      try await database.upsert([Player.Draft(name: "a")], on: \.name, where: { $0.team == nil })
    }
  }

  @Test("A row that cannot be stored takes all of them back, or goes to who wants it") func errors()
    async throws
  {
    let (database, plain) = try await open(Player.self, sql: "CREATE UNIQUE INDEX i ON players(name)")
    let rows = (1...9_000).map { Player(id: $0, name: $0 == 8_000 ? "n5" : "n\($0)") }
    do {
      try await database.insert(rows)
      Issue.record("the rows were stored")
    } catch let error as UpsurgeError {
      #expect(error.code == .badInput && error.position?.record == 8_000, "\(error)")
    }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["0"])
    let rejects = Guarded<[Reject]>([])
    var options = BulkOptions()
    options.onError = .reject
    options.onReject = { reject in rejects.withLock { $0.append(reject) } }
    let ledger = try await database.insert(rows, options: options)
    #expect(ledger.inserted == 8_999 && ledger.rejected == 1 && ledger.isBalanced)
    #expect(rejects.withLock { $0.map(\.position.record) } == [8_000])
    // The thread goes on after an error.
    options.commitEvery = 100
    options.onError = .stop
    await #expect(throws: UpsurgeError.self) {
      try await database.insert([Player.Draft(name: "p")] + [Player.Draft(name: "n1")], options: options)
    }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["8999"])
  }

  @Test("Rows of any size, in any number, are those that went in", arguments: [0, 1, 5_000])
  func sizes(_ count: Int) async throws {
    var configuration = UpsurgeModels.Database.Configuration()
    configuration.memory = .mebibytes(8)
    let (database, plain) = try await open(Player.self, configuration)
    var random = SeededGenerator(seed: UInt64(count))
    let rows = (0..<count).map { index in
      let length = index % 997 == 1 ? 700_000 : Int.random(in: 0...300, using: &random)
      return Player(
        id: index, name: String(repeating: "ä", count: length / 2), team: length % 3 == 0 ? nil : "t")
    }
    #expect(try await database.upsert(rows).inserted == UInt64(count))
    let stored = try plain.rows("SELECT id, length(name), team FROM players")
    #expect(stored == rows.map { "\($0.id)|\($0.name.count)|\($0.team.map { "'\($0)'" } ?? "NULL")" })
    if count > 0 {
      await #expect(throws: UpsurgeError.self) {
        try await database.upsert([Player(id: -1, name: String(repeating: "x", count: 3 << 20))])
      }
    }
  }

  private struct Failure: Error {}

  @Test("An asynchronous sequence is stored; what it throws takes all of it back") func asynchronous()
    async throws
  {
    let (database, plain) = try await open(Player.self)
    let rows = AsyncThrowingStream<Player, any Error> { continuation in
      for id in 1...10_000 { continuation.yield(Player(id: id, name: "\(id)")) }
      continuation.finish()
    }
    #expect(try await database.upsert(rows).inserted == 10_000)
    let broken = AsyncThrowingStream<Player, any Error> { continuation in
      for id in 10_001...20_000 { continuation.yield(Player(id: id, name: "\(id)")) }
      continuation.finish(throwing: Failure())
    }
    await #expect(throws: Failure.self) { try await database.upsert(broken) }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["10000"])
  }

  @Test("A cancelled call takes all of its rows back, and the next one goes on") func cancelled() async throws
  {
    let (database, plain) = try await open(Player.self)
    let task = Task {
      try await database.upsert((1...).lazy.map { Player(id: $0, name: "\($0)") })
    }
    try await Task.sleep(for: .milliseconds(100))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["0"])
    #expect(try await database.upsert([Player(id: 1, name: "a")]).inserted == 1)
  }

  @Test("A call that waits for its turn is cancelled at once") func cancelledWhileWaiting() async throws {
    let (database, plain) = try await open(Player.self)
    let (stream, source) = AsyncStream.makeStream(of: Player.self)
    let first = Task { try await database.upsert(stream) }
    try await Task.sleep(for: .milliseconds(50))
    let second = Task { try await database.upsert([Player(id: 1, name: "a")]) }
    try await Task.sleep(for: .milliseconds(50))
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    source.yield(Player(id: 2, name: "b"))
    source.finish()
    #expect(try await first.value.inserted == 1)
    #expect(try plain.rows("SELECT id FROM players") == ["2"])
  }

  @Test("Rows that use the database that stores them are refused, not waited for") func circles() async throws
  {
    let (database, plain) = try await open(Player.self)
    let rows = AsyncStream<Int> { source in
      source.yield(1)
      source.finish()
    }.map { id in
      try await database.execute("DELETE FROM players")
      return Player(id: id, name: "a")
    }
    await #expect(throws: UpsurgeError.self) { try await database.upsert(rows) }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["0"])
    let memory = try UpsurgeModels.Database(":memory:")
    try await memory.createTable(Player.self)
    try await memory.insert([Player(id: 1, name: "a")])
    await #expect(throws: UpsurgeError.self) { try await memory.upsert(memory.rows(Player.all)) }
    // Another's rows, or those of a file, which are read beside, are taken.
    try await database.insert([Player(id: 1, name: "b"), Player(id: 2, name: "c")])
    #expect(try await memory.upsert(database.rows(Player.all)).updated == 1)
    #expect(try await database.upsert(database.rows(Player.all)).unchanged == 2)
  }

  @Test("A task that is made while rows are given is free when the call has ended") func made() async throws {
    let (database, _) = try await open(Player.self)
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    let tasks = Guarded<[Task<Int, any Error>]>([])
    let rows = AsyncStream<Player> { stream in
      stream.yield(Player(id: 1, name: "a"))
      stream.finish()
    }.map { row in
      let task = Task {
        for await _ in ended {}
        return try await database.count(Player.all)
      }
      tasks.withLock { $0.append(task) }
      return row
    }
    try await database.upsert(rows)
    end.finish()
    let made = tasks.withLock { $0 }
    #expect(made.count == 1)
    for task in made { #expect(try await task.value == 1) }
  }

  @Test("Calls from many tasks are done one after the other") func tasks() async throws {
    let (database, plain) = try await open(Player.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          try await database.upsert((0..<2_000).map { Player(id: task * 2_000 + $0, name: "\(task)") })
        }
      }
      try await group.waitForAll()
    }
    #expect(try plain.rows("SELECT count(*), count(DISTINCT name) FROM players") == ["32000|16"])
  }

  @Test("A table that is not there, and a key that is none, are said") func usage() async throws {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    await #expect(throws: UpsurgeError.self) { try await database.upsert([Player(id: 1, name: "a")]) }
    try await database.createTable(Player.self)
    await #expect(throws: UpsurgeError.self) {
      try await database.upsert([Player(id: 1, name: "a")], on: \.name)
    }
    await #expect(throws: UpsurgeError.self) {
      try await database.upsert([Player(id: 1, name: "a")], on: \.self)
    }
    #expect(try await database.count(Player.all) == 0)
  }

  @Test("What a call says and could not mean is refused, not passed over") func contradictions() async throws
  {
    let (database, plain) = try await open(
      Player.self, sql: "CREATE UNIQUE INDEX i ON players(name) WHERE team = 'x'")
    try await database.insert([Player(id: 1, name: "a", team: "x")])
    let player = [Player(id: 1, name: "b", highScore: 2, team: "x")]
    func expectRefusal(_ message: String, _ call: () async throws -> Ledger) async {
      let error = await #expect(throws: UpsurgeError.self) { _ = try await call() }
      #expect(error?.code == .usage && error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
    await expectRefusal("where: is the condition of a partial index") {
      try await database.upsert(player, where: { $0.team == "x" })
    }
    var options = BulkOptions()
    options.key = .any
    await expectRefusal("a call that names its key has options with a key too") {
      try await database.upsert(player, on: \.id, options: options)
    }
    for merge: @Sendable (inout RowUpdates<Player>, Player.TableColumns) -> Void in [
      { row, excluded in row.set(\.name.lowercased, to: excluded.name) },
      { row, _ in row.set(\.name.lowercased, to: "b") },
    ] {
      await expectRefusal("merge: sets what is no column of Player") {
        try await database.upsert(player, merge: merge)
      }
    }
    #expect(try plain.rows("SELECT name, high_score FROM players") == ["'a'|0"])
    #expect(try await database.upsert(player, options: options).updated == 1)
  }

  @Test("A value that its column cannot express is a reject, and the old one stays") func inexpressible()
    async throws
  {
    let (database, _) = try await open(Measure.self)
    let good = (1...5_000).map { Measure(id: $0, values: [1, 2], count: 3) }
    try await database.insert(good)
    var bad = good
    bad[0].values = [1, .nan]
    bad[4_998].count = .max
    bad[4_999].values = [5]
    await #expect(throws: UpsurgeError.self) { try await database.upsert(bad) }
    #expect(try await database.fetchAll(Measure.order(by: \.id)) == good)
    let rejects = Guarded<[Reject]>([])
    var options = BulkOptions()
    options.onError = .reject
    options.onReject = { reject in rejects.withLock { $0.append(reject) } }
    let ledger = try await database.upsert(bad, options: options)
    #expect(ledger.rejected == 2 && ledger.updated == 1 && ledger.unchanged == 4_997 && ledger.isBalanced)
    let found = rejects.withLock { $0 }
    #expect(found.map(\.position.record) == [1, 4_999] && found.allSatisfy { $0.code == .badValue })
    #expect(found[0].reason.contains("JSON") && found[1].reason.contains("18446744073709551615"))
    #expect(try await database.fetchAll(Measure.where { $0.id.isIn([1, 4_999]) }) == [good[0], good[4_998]])
    let outcomes = try await database.upsert(bad, options: options, returning: \.id).all()
    #expect(outcomes.filter { $0.reject?.code == .badValue }.map(\.number) == [1, 4_999])
    #expect(outcomes.map(\.number) == Array(1...5_000))
    // All rows, of several batches.
    let none = try await database.insert(
      (1...9_000).lazy.map { Measure(id: -$0, values: [.infinity], count: 0) }, options: options)
    #expect(none.rejected == 9_000 && none.isBalanced)
    // A merge that would set it.
    await #expect(throws: UpsurgeError.self) {
      try await database.upsert(good, merge: { row, _ in row.set(\.values, to: [.nan]) })
    }
    // Nor is it NULL in SQL, or equal to NULL.
    await #expect(throws: UpsurgeError.self) {
      try await database.execute("UPDATE measures SET mask = \(UInt64.max)")
    }
    for query in [
      Measure.where { $0.mask == .max }, Measure.where { $0.mask.isIn([1, .max]) },
      Measure.where { $0.values == [.nan] },
    ] {
      await #expect(throws: UpsurgeError.self) { try await database.count(query) }
    }
    #expect(try await database.count(Measure.where { $0.mask.isIn([1, nil]) }) == 5_000)
    // Nor is NaN.
    let error = #expect(throws: UpsurgeError.self) { try Double.storedValue(.nan) }
    #expect(error?.message == "NaN, which is not a number, cannot be stored: SQLite has NULL for it")
    #expect(throws: UpsurgeError.self) { try Float.storedValue(.nan) }
    #expect(try Double.storedValue(-.infinity) == .real(-.infinity))
  }

  @Test("A row is as large as the call allows") func maximumRowSize() async throws {
    let (database, _) = try await open(Player.self)
    var options = BulkOptions()
    options.maximumRowSize = .kibibytes(1)
    let large = [Player(id: 1, name: String(repeating: "x", count: 2_000))]
    await #expect(throws: UpsurgeError.self) { try await database.upsert(large, options: options) }
    options.maximumRowSize = .mebibytes(20)
    let larger = [Player(id: 1, name: String(repeating: "x", count: 17 << 20))]
    await #expect(throws: UpsurgeError.self) { try await database.upsert(larger) }
    #expect(try await database.upsert(larger, options: options).inserted == 1)
  }

  @Test("An error of storing ends a slow source at its next row") func slowSource() async throws {
    let (database, _) = try await open(Player.self)
    let (rows, source) = AsyncStream.makeStream(of: Player.self)
    let given = Guarded(0)
    let call = Task { try await database.insert(rows) }
    // A batch that is full, with a row twice.
    for id in 1...40_000 { source.yield(Player(id: max(id, 2), name: "p\(id)")) }
    let feeder = Task {
      var id = 40_000
      while !Task.isCancelled {
        id += 1
        source.yield(Player(id: id, name: "p\(id)"))
        given.withLock { $0 += 1 }
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    await #expect(throws: UpsurgeError.self) { try await call.value }
    feeder.cancel()
    // Five seconds: a machine that is at work with something else may be slow, too.
    #expect(given.withLock { $0 } < 1_000)
    source.finish()
  }

  @Test("Columns are set to values, and compared with them") func mergedValues() async throws {
    let (database, plain) = try await open(Tally.self)
    try await database.insert([Tally(id: 1, total: 3), Tally(id: 2, total: nil)])
    let rows = [Tally(id: 1, total: 4), Tally(id: 2, total: 9)]
    func totals() throws -> [String] { try plain.rows("SELECT total FROM tallies ORDER BY id") }
    try await database.upsert(rows, merge: { row, _ in row.total = max(row.total, 2) })
    #expect(try totals() == ["3", "2"])
    try await database.upsert(rows, merge: { row, excluded in row.total = min(excluded.total, 5) })
    #expect(try totals() == ["4", "5"])
    try await database.upsert(rows, merge: { row, excluded in row.total = max(excluded.id, row.total) })
    #expect(try totals() == ["4", "5"])
    try await database.upsert(rows, merge: { row, excluded in row.total = min(excluded.id, row.total) })
    #expect(try totals() == ["1", "2"])
    try await database.upsert(
      rows, merge: { row, excluded in row.total = max(excluded.id, 2) + min(row.id, 1) })
    #expect(try totals() == ["3", "3"])
    try await database.upsert(rows, merge: { row, _ in row.set(\.total, to: 7) })
    #expect(try totals() == ["7", "7"])
    try await database.upsert(rows, merge: { row, _ in row.set(\.total, to: nil) })
    #expect(try totals() == ["NULL", "NULL"])
  }

  @Test("Texts are put in front of columns, and behind them") func mergedTexts() async throws {
    let (database, plain) = try await open(Player.self)
    try await database.insert([Player(id: 1, name: "b")])
    try await database.upsert(
      [Player(id: 1, name: "c")], merge: { row, excluded in row.name = "a" + row.name + excluded.name + "'d" }
    )
    #expect(try plain.rows("SELECT name FROM players") == ["'abc'd'"])
  }

  @Test("A commit after no row is none", arguments: [0, -1]) func commits(_ count: Int) async throws {
    let (database, _) = try await open(Tally.self)
    var options = BulkOptions()
    options.commitEvery = count
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.upsert([Tally(id: 1)], options: options)
    }
    #expect(error?.code == .usage)
  }
}
