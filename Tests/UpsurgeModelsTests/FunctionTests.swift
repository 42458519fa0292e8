import TestSupport
import Testing

@testable import UpsurgeModels

/// What a program adds to its connections.
@Suite("Models: functions, triggers, views") struct FunctionTests {
  let scratch = Scratch()

  private func open(_ path: String? = nil) async throws -> UpsurgeModels.Database {
    let database = try UpsurgeModels.Database(path ?? scratch.file("a.db"))
    try await database.createTable(Player.self)
    return database
  }

  struct Failure: Error, CustomStringConvertible { var description: String { "the moon is full" } }

  @Test("Functions are typed, on the writer, the readers and the cursors", arguments: [true, false])
  func functions(_ isInMemory: Bool) async throws {
    let database = try await open(isInMemory ? ":memory:" : nil)
    try await database.addFunction("twice", isDeterministic: true) { (value: Int) in value * 2 }
    try await database.addFunction("joined") { (left: String?, right: [UInt8], last: Double) -> String? in
      left.map { "\($0)\(right)\(last)" }
    }
    try await database.addFunction("answer") { () -> Int in 42 }
    try await database.insert([Player(id: 1, name: "a", highScore: 3)])
    try await database.execute("UPDATE players SET high_score = twice(high_score) + answer()")
    #expect(
      try await database.fetchAll(Player.where { SQLExpression("twice(\($0.highScore)) = 96") }).count == 1)
    for try await player in database.rows(Player.where { SQLExpression("twice(\($0.highScore)) = 96") }) {
      #expect(player.highScore == 48)
    }
    #expect(
      try await database.fetchAll(
        String?.self, sql: "SELECT joined('x', x'01', 2) UNION ALL SELECT joined(NULL, x'', 0.5)")
        == ["x[1]2.0", nil])
    // What is no number is NULL, as of SQLite's own.
    try await database.addFunction("root") { (value: Double) -> Double? in value.squareRoot() }
    try await database.addAggregate("mean", from: (0.0, 0)) { (state: inout (Double, Int), value: Double) in
      state = (state.0 + value, state.1 + 1)
    } result: {
      $0.0 / Double($0.1)
    }
    #expect(
      try await database.fetchAll(
        Double?.self, sql: "SELECT root(-1) UNION ALL SELECT mean(id) FROM players WHERE id > 9") == [
          nil, nil,
        ])
    // Indexes may call what is deterministic.
    try await database.execute("CREATE INDEX i ON players(twice(high_score))")
    try await database.upsert([Player(id: 2, name: "b", highScore: 5)])
    #expect(
      try await database.fetchAll(Int.self, sql: "SELECT twice(high_score) FROM players ORDER BY 1") == [
        10, 96,
      ])
  }

  @Test("What a function throws, or cannot take, is the statement's error") func errors() async throws {
    let database = try await open()
    try await database.addFunction("fails") { (value: Int) throws -> Int in throw Failure() }
    let thrown = await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(Int.self, sql: "SELECT fails(1)")
    }
    #expect(thrown?.message.contains("the moon is full") == true)
    let mistyped = await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(Int.self, sql: "SELECT fails('x')")
    }
    #expect(
      mistyped?.message.contains("argument 1 of fails holds the text x, and an integer was expected") == true)
    await #expect(throws: UpsurgeError.self) {
      try await database.addFunction("uuid") { () -> Int in 1 }
    }
    // A row that a trigger's function refuses is a reject.
    try await database.createTemporaryTrigger("t", .before, .insert, on: Player.self) { _, new in
      "SELECT fails(\(new.id))"
    }
    var options = BulkOptions()
    options.onError = .reject
    #expect(try await database.insert([Player(id: 1, name: "a")], options: options).rejected == 1)
  }

  @Test("A function takes and gives single values, and no group of columns") func groups() async throws {
    let database = try await open()
    let refused = await #expect(throws: UpsurgeError.self) {
      try await database.addFunction("area") { (name: String, picture: Picture?) -> Int in 1 }
    }
    #expect(refused?.code == .usage && refused?.message == "argument 2 of the function area is 2 columns")
    let result = await #expect(throws: UpsurgeError.self) {
      try await database.addAggregate("last", from: Picture?.none) { (_: inout Picture?, _: Int) in
      } result: {
        $0
      }
    }
    #expect(result?.message == "the result of the function last is 2 columns")
  }

  @Test("Aggregates have a state for each group") func aggregates() async throws {
    let database = try await open()
    try await database.addAggregate("longest", from: "") { (state: inout String, name: String) in
      if name.count > state.count { state = name }
    } result: {
      $0
    }
    try await database.addAggregate("fails", from: 0) { (_: inout Int, _: Int) in
      throw Failure()
    } result: {
      $0
    }
    try await database.insert([
      Player(id: 1, name: "a", team: "x"), Player(id: 2, name: "bbb", team: "x"), Player(id: 3, name: "cc"),
    ])
    #expect(
      try await database.fetchAll(
        String.self, sql: "SELECT longest(name) FROM players GROUP BY team ORDER BY 1")
        == ["bbb", "cc"])
    #expect(
      try await database.fetchAll(String.self, sql: "SELECT longest(name) FROM players WHERE id > 9") == [""])
    let error = await #expect(throws: UpsurgeError.self) {
      try await database.fetchAll(Int.self, sql: "SELECT fails(id) FROM players")
    }
    #expect(error?.message.contains("the moon is full") == true)
  }

  @Test("A trigger knows a sync from a change that is made here") func triggers() async throws {
    let database = try await open()
    try await database.execute("CREATE TABLE changes(text TEXT)")
    try await database.createTemporaryTrigger(
      "log", .after, .update(of: ["high_score"]), on: Player.self,
      when: { old, new in !isSynchronizing && old.highScore < new.highScore }
    ) { old, new in
      "INSERT INTO changes VALUES (\(old.name) || \("'s score: ") || \(new.highScore));"
    }
    try await database.insert([Player(id: 1, name: "a")])
    try await database.upsert([Player(id: 1, name: "a", highScore: 2)])
    var sync = BulkOptions()
    sync.isSynchronizing = true
    try await database.upsert([Player(id: 1, name: "a", highScore: 5)], options: sync)
    try await database.upsert([Player(id: 1, name: "a", highScore: 4)])
    try await database.upsert([Player(id: 1, name: "a", highScore: 7)])
    #expect(
      try await database.fetchAll(String.self, sql: "SELECT text FROM changes") == [
        "a's score: 2", "a's score: 7",
      ])
    try await database.dropTemporaryTrigger("log")
    try await database.upsert([Player(id: 1, name: "a", highScore: 9)])
    #expect(try await database.fetchAll(Int.self, sql: "SELECT count(*) FROM changes") == [2])
    // Nobody else sees it.
    #expect(
      try TestSupport.Database(scratch.file("a.db")).rows(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger'") == [])
  }

  @Table("best") struct Best: Equatable {
    let id: Int
    var name: String
  }

  @Test("A temporary view is read like a table", arguments: [true, false]) func views(_ isInMemory: Bool)
    async throws
  {
    let database = try await open(isInMemory ? ":memory:" : nil)
    try await database.insert((1...600).map { Player(id: $0, name: "p\($0)", highScore: $0) })
    try await database.createTemporaryView("best", as: "SELECT id, name FROM players WHERE high_score > \(2)")
    #expect(try await database.count(Best.all) == 598)
    try await database.createTemporaryView(
      "best", as: "SELECT id, name FROM players WHERE high_score > \(599)")
    #expect(try await database.fetchAll(Best.all) == [Best(id: 600, name: "p600")])
    for try await best in database.rows(Best.all) { #expect(best.id == 600) }
  }
}
