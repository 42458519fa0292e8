import TestSupport
import Testing

@testable import UpsurgeModels

@Suite("What became of each row") struct ReturningTests {
  let scratch = Scratch()

  private func open() async throws -> (UpsurgeModels.Database, TestSupport.Database) {
    let database = try UpsurgeModels.Database(scratch.file("a.db"))
    try await database.createTable(Player.self)
    try await database.execute("CREATE UNIQUE INDEX i ON players(name)")
    return (database, TestSupport.Database(scratch.file("a.db")))
  }

  @Test("Keys of drafts, in their order, over many batches") func keys() async throws {
    let (database, plain) = try await open()
    try await database.insert([Player(id: 7, name: "n5", highScore: 1), Player(id: 9, name: "n6")])
    let drafts = (1...9_000).map { Player.Draft(name: "n\($0)") }
    var rows: [Returned<Int>] = []
    for try await row in try database.upsert(drafts, on: \.name, returning: \.id) { rows.append(row) }
    #expect(rows.map(\.number) == Array(1...9_000))
    let isRight =
      try rows.map { $0.value ?? 0 }
      == (1...9_000).map { number in
        Int(try plain.rows("SELECT id FROM players WHERE name = 'n\(number)'")[0]) ?? -1
      }
    #expect(isRight)
    #expect(
      rows[4].outcome == .updated && rows[4].value == 7 && rows[5].outcome == .unchanged && rows[5].value == 9
    )
    #expect(rows[6].outcome == .inserted)
  }

  @Test("All at once, committed") func all() async throws {
    let (database, _) = try await open()
    let keys = try await database.insert(
      [Player.Draft(name: "a"), Player.Draft(name: "b")], returning: \.id
    ).all()
    #expect(keys.map(\.value) == [1, 2] && keys.map(\.number) == [1, 2])
    #expect(try await database.count(Player.all) == 2)
  }

  @Test("Models as they are then") func models() async throws {
    let (database, _) = try await open()
    try await database.insert([Player(id: 1, name: "a", highScore: 5)])
    var rows: [Player?] = []
    let call = try database.upsert(
      [Player.Draft(name: "a", highScore: 3), Player.Draft(name: "b")], on: \.name,
      merge: { row, excluded in row.highScore = max(row.highScore, excluded.highScore) },
      returning: Player.self)
    for try await row in call { rows.append(row.value) }
    #expect(rows == [Player(id: 1, name: "a", highScore: 5), Player(id: 2, name: "b")])
  }

  @Test("Rejects are told in their place, or end the call and take it back") func rejects() async throws {
    let (database, plain) = try await open()
    let players = [Player(id: 1, name: "a"), Player(id: 2, name: "a"), Player(id: 3, name: "b")]
    var options = BulkOptions()
    options.onError = .reject
    var outcomes: [Outcome] = []
    for try await row in try database.upsert(players, options: options, returning: \.id) {
      outcomes.append(row.outcome)
      #expect(
        (row.reject != nil) == (row.outcome == .rejected) && (row.value == nil) == (row.outcome == .rejected))
    }
    #expect(outcomes == [.inserted, .rejected, .inserted])
    try await database.execute("DELETE FROM players")
    await #expect(throws: UpsurgeError.self) {
      for try await _ in try database.upsert(players, returning: \.id) {}
    }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["0"])
  }

  @Test("Every call says what became of each") func modes() async throws {
    let (database, _) = try await open()
    func gathered<Rows, Value>(_ rows: ReturningRows<Rows, Value>) async throws -> [(Outcome, Value?)] {
      var found: [(Outcome, Value?)] = []
      for try await row in rows { found.append((row.outcome, row.value)) }
      return found
    }
    let one = [Player(id: 1, name: "a", highScore: 5), Player(id: 2, name: "b")]
    let inserted = try await gathered(database.insert(one, returning: \.name))
    #expect(inserted.map(\.0) == [.inserted, .inserted] && inserted.map(\.1) == ["a", "b"])
    let drafts = [Player.Draft(name: "b", highScore: 9), Player.Draft(name: "c")]
    let ignored = try await gathered(database.insertOrIgnore(drafts, on: \.name, returning: Player.self))
    #expect(ignored.map(\.0) == [.ignored, .inserted])
    #expect(ignored.map(\.1) == [Player(id: 2, name: "b"), Player(id: 3, name: "c")])
    let updated = try await gathered(
      database.update(drafts + [Player.Draft(name: "d")], on: \.name, returning: \.highScore))
    #expect(updated.map(\.0) == [.updated, .unchanged, .ignored] && updated.map(\.1) == [9, 0, nil])
    let deleted = try await gathered(database.delete(one, returning: Player.self))
    #expect(deleted.map(\.0) == [.deleted, .deleted])
    #expect(deleted.map(\.1) == [one[0], Player(id: 2, name: "b", highScore: 9)])
    #expect(throws: UpsurgeError.self) { try database.insert(one, returning: \.name.lowercased) }
  }

  @Test("A loop that is left, at whatever row, takes all of it back", arguments: [1, 3, 6_000, 20_000])
  func leaving(_ count: Int) async throws {
    let (database, plain) = try await open()
    let players = (1...count).map { Player(id: $0, name: "\($0)") }
    for last in Set([1, count / 2 + 1, count]) {
      for try await row in try database.upsert(players, returning: \.id) where row.number == last { break }
      // The next call waits until it is taken back.
      try await database.execute("SELECT 1")
      #expect(try plain.rows("SELECT count(*) FROM players") == ["0"], "left at row \(last)")
    }
    for try await _ in try database.upsert(players, returning: \.id) {}
    #expect(try plain.rows("SELECT count(*) FROM players") == ["\(count)"])
    for try await _ in try database.upsert([Player](), returning: \.id) { Issue.record("a row") }
  }

  @Test("A task that is cancelled takes all of it back, and never ends as if it had seen all rows")
  func cancelling() async throws {
    let (database, plain) = try await open()
    let endless = Task {
      for try await _ in try database.upsert(
        (2...).lazy.map { Player(id: $0, name: "\($0)") }, returning: \.id)
      {}
    }
    try await Task.sleep(for: .milliseconds(100))
    endless.cancel()
    await #expect(throws: CancellationError.self) { try await endless.value }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["0"])
    for row in [1, 9_999, 10_000] {
      let task = Task {
        var count = 0
        for try await _ in try database.upsert(
          (1...10_000).map { Player(id: $0, name: "\($0)") }, returning: \.id)
        {
          count += 1
          if count == row { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try plain.rows("SELECT count(*) FROM players") == ["0"], "cancelled at row \(row)")
    }
  }

  @Test("A loop's body that uses the database is told so; it may read a file, and write others")
  func bodies() async throws {
    let (database, plain) = try await open()
    let memory = try UpsurgeModels.Database(":memory:")
    try await memory.createTable(Player.self)
    let players = [Player(id: 1, name: "a"), Player(id: 2, name: "b")]
    for try await _ in try database.upsert(players, returning: \.id) {
      await #expect(throws: UpsurgeError.self) { try await database.execute("DELETE FROM players") }
      await #expect(throws: UpsurgeError.self) { try await database.upsert(players) }
      await #expect(throws: UpsurgeError.self) {
        for try await _ in try database.delete(players, returning: \.id) {}
      }
      #expect(try await database.count(Player.all) == 0)
      try await memory.upsert(players)
    }
    for try await _ in try memory.upsert(players, returning: \.id) {
      await #expect(throws: UpsurgeError.self) { try await memory.count(Player.all) }
    }
    // Behind the loop, and beside one that goes on.
    #expect(try await database.upsert(players).unchanged == 2)
    #expect(try await memory.count(Player.all) == 2)
    let iterator = try database.upsert(players, returning: \.id).makeAsyncIterator()
    _ = try await iterator.next()
    let other = Task { try await database.upsert([Player(id: 3, name: "c")]) }
    while try await iterator.next() != nil {}
    #expect(try await other.value.inserted == 1)
    #expect(try plain.rows("SELECT count(*) FROM players") == ["3"])
  }

  private struct Failure: Error {}

  /// Rows that come one after the other, then the error.
  private func coming(_ players: [Player], _ error: Failure? = nil) -> AsyncThrowingStream<Player, any Error>
  {
    AsyncThrowingStream { stream in
      for player in players { stream.yield(player) }
      stream.finish(throwing: error)
    }
  }

  @Test("Rows that come one after the other are said of as others are", arguments: [0, 1, 9_000])
  func asynchronous(_ count: Int) async throws {
    let (database, plain) = try await open()
    let players = (0..<count).map { Player(id: $0 + 1, name: "\($0)") }
    let inserted = try await database.insert(coming(players), returning: \.name).all()
    #expect(inserted.map(\.value) == players.map(\.name) && inserted.allSatisfy { $0.outcome == .inserted })
    #expect(inserted.map(\.number) == players.indices.map { UInt64($0) + 1 })
    #expect(try plain.rows("SELECT count(*) FROM players") == ["\(count)"])
    let upserted = try await database.upsert(
      coming(players), on: \.name, merge: { row, _ in row.highScore += 1 }, returning: Player.self
    ).all()
    #expect(upserted.allSatisfy { $0.outcome == .updated && $0.value?.highScore == 1 })
    let updated = try await database.update(coming(players), returning: \.highScore).all()
    #expect(updated.allSatisfy { $0.outcome == .updated && $0.value == 0 })
    let ignored = try await database.insertOrIgnore(coming(players), returning: \.id).all()
    #expect(ignored.map(\.value) == players.map(\.id) && ignored.allSatisfy { $0.outcome == .ignored })
    let deleted = try await database.delete(coming(players), returning: Player.self).all()
    #expect(deleted.map(\.value) == players)
  }

  @Test("What rows throw ends the loop and takes all of it back", arguments: [0, 1, 9_000, 30_000])
  func failing(_ count: Int) async throws {
    let (database, plain) = try await open()
    let players = (0..<count).map { Player(id: $0 + 1, name: "\($0)") }
    let iterator = try database.upsert(coming(players, Failure()), returning: \.id).makeAsyncIterator()
    await #expect(throws: Failure.self) { while try await iterator.next() != nil {} }
    #expect(try await iterator.next() == nil)
    #expect(try await database.count(Player.all) == 0)
    #expect(try plain.rows("SELECT count(*) FROM players") == ["0"])
  }

  @Test("Rows that use the database that stores them end the loop; so does cancelling the task")
  func ending() async throws {
    let (database, plain) = try await open()
    let rows = AsyncStream<Int> { stream in
      for id in 1...10 { stream.yield(id) }
      stream.finish()
    }.map { id in
      try await database.execute("DELETE FROM players")
      return Player(id: id, name: "a")
    }
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.upsert(rows, returning: \.id).all()
    }
    #expect(error?.code == .usage)
    let task = Task {
      let (endless, source) = AsyncStream.makeStream(of: Player.self)
      source.yield(Player(id: 1, name: "a"))
      _ = try await database.upsert(endless, returning: \.id).all()
    }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try plain.rows("SELECT count(*) FROM players") == ["0"])
    #expect(try await database.upsert([Player(id: 1, name: "a")]).inserted == 1)
  }

  @Test("What became of a row is said once, also where the end of the transaction decides") func late()
    async throws
  {
    let (database, _) = try await open()
    try await database.execute(
      """
      CREATE TABLE errands(id INTEGER PRIMARY KEY, title TEXT NOT NULL, list TEXT NOT NULL, deletedAt TEXT,
        FOREIGN KEY (list) REFERENCES players(name) DEFERRABLE INITIALLY DEFERRED)
      """)
    try await database.insert([Player(id: 1, name: "a")])
    var options = BulkOptions()
    options.onError = .reject
    let rows = [Errand(id: 1, title: "x", list: "a"), Errand(id: 2, title: "y", list: "b")]
    let all = try await database.insert(rows, options: options, returning: \.id).all()
    #expect(all.map(\.number) == [1, 2] && all.map(\.outcome) == [.inserted, .rejected])
  }

  @Test("Rows that come later may depend on what became of those before") func depending() async throws {
    let (database, _) = try await open()
    let (rows, source) = AsyncStream.makeStream(of: Player.self)
    for id in 1...40_000 { source.yield(Player(id: id, name: "\(id)")) }
    var isFirst = true
    for try await _ in try database.insert(rows, returning: \.id) where isFirst {
      isFirst = false
      source.yield(Player(id: 100_000, name: "last"))
      source.finish()
    }
    #expect(!isFirst)
    #expect(try await database.count(Player.all) == 40_001)
  }
}
