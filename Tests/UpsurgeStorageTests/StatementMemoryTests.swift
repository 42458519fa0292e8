import CSQLite
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// What compiled statements take stays within the memory that is given to them, as SQLite measures it.
@Suite struct StatementMemoryTests {
  private static func columns(_ count: Int) -> String { (0..<count).map { "c\($0)" }.joined(separator: ", ") }

  /// A table with a trigger for each column: every statement that sets the column holds its body.
  private static func audited(_ count: Int) -> String {
    "CREATE TABLE t(id INTEGER PRIMARY KEY, \(columns(count))); CREATE TABLE audit(id, old, new);"
      + (0..<count).map {
        "CREATE TRIGGER a\($0) AFTER UPDATE OF c\($0) ON t BEGIN INSERT INTO audit VALUES(new.id, old.c\($0), new.c\($0)); END;"
      }.joined()
  }

  private func cache(
    _ connection: Connection, columns: Int, memory: Int = 16 << 20
  ) throws -> (cache: StatementCache, plan: UpsertPlan) {
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let plan = try UpsertPlan(
      schema: schema, key: ["id"], columns: BatchMaker(["id"] + (0..<columns).map { "c\($0)" }).columns)
    var settings = WriterSettings()
    settings.statements.memory.byteCount = memory
    return (
      StatementCache(connection: connection, plan: plan, settings: settings, allowsAbort: true), plan
    )
  }

  /// The key and every column but some.
  private func shape(_ number: Int, of plan: UpsertPlan) -> SlotShape {
    var shape = SlotShape(full: plan.slots.count)
    for bit in 0..<12 where number >> bit & 1 != 0 { shape.remove(1 + bit) }
    return shape
  }

  private func measured(_ cache: StatementCache) -> Int {
    cache.shapes.values.reduce(0) { sum, statements in
      statements.handles.reduce(sum) { sum, handle in sum + (handle.map(StatementCache.byteCount(of:)) ?? 0) }
        + statements.byKey.values.reduce(0) { $0 + StatementCache.byteCount(of: $1) }
    }
  }

  @Test("All statements of a table with triggers", arguments: [16 << 20, 64 << 20])
  func bound(_ memory: Int) throws {
    let connection = try TemporaryDatabase().open(Self.audited(120))
    let (cache, plan) = try cache(connection, columns: 120, memory: memory)
    let limit = StatementMemory(byteCount: memory).cacheByteCount
    var most = 0
    for number in 0..<200 {
      let statements = cache.statements(for: shape(number, of: plan))
      _ = try cache.handle(statements, step: statements.rowCounts.count - 1)
      _ = try cache.handle(statements, .update(0))
      let measured = measured(cache)
      #expect(measured == cache.byteCount)
      #expect(measured <= limit)
      most = max(most, measured)
    }
    #expect(most > limit * 3 / 4, "the room is used")
    cache.removeStatements()
    #expect(measured(cache) == 0 && cache.byteCount == 0)
  }

  @Test("Shapes that take turns do not drive each other out before they come again")
  func turns() throws {
    let connection = try TemporaryDatabase().open(Self.audited(120))
    let (full, plan) = try cache(connection, columns: 120)
    for number in 0..<100 {
      let statements = full.statements(for: shape(number, of: plan))
      _ = try full.handle(statements, step: statements.rowCounts.count - 1)
    }
    let placeCount = full.shapes.count
    #expect(placeCount < 100)
    let (turning, _) = try cache(connection, columns: 120)
    var kept = 0
    for round in 0..<20 {
      for number in 0..<placeCount + 2 {
        let statements = turning.statements(for: shape(number, of: plan))
        let step = statements.rowCounts.count - 1
        if round > 0 && statements.handles[step] != nil { kept += 1 }
        _ = try turning.handle(statements, step: step)
      }
    }
    // None would be, if always the oldest went.
    #expect(kept > 19 * placeCount / 8, "\(kept) of \(19 * (placeCount + 2)) were there")
  }

  @Test(
    "Large rows go alone, others as ever", arguments: [(6, 64), (60, 64), (500, 8), (1001, 1), (1998, 1)])
  func rowsOfAStatement(_ columns: Int, _ most: Int) throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, \(Self.columns(columns)))")
    let (cache, plan) = try cache(connection, columns: columns)
    #expect(cache.statements(for: SlotShape(full: plan.slots.count)).rowCounts.first == most)
  }

  @Test("A statement that the memory has no room for is refused before anything is written")
  func tooLarge() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, \(Self.columns(1990)))")
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let rules = UpsertRules(target: .columns(["id"]), merge: Merge(.min))
    let plan = try UpsertPlan(
      schema: schema, rules: rules, columns: BatchMaker(["id"] + (0..<1990).map { "c\($0)" }).columns)
    var settings = WriterSettings()
    settings.statements.memory.byteCount = 16 << 20
    let error = #expect(throws: UpsurgeError.self) {
      _ = try TableWriter(connection: connection, plan: plan, sourceNames: ["in.csv"], settings: settings)
    }
    #expect(error?.code == .usage)
    #expect(error?.message == "the statement for 1991 columns of table t takes 24 MiB to compile")
    #expect(error?.hint == "--memory 34MiB is enough for it; --columns A,B loads fewer of them")
    settings.statements.memory.byteCount = 34 << 20
    _ = try TableWriter(connection: connection, plan: plan, sourceNames: ["in.csv"], settings: settings)
  }

  @Test("So is one that is longer than SQLite takes")
  func tooLong() throws {
    let names = (0..<1990).map { "a_column_with_a_name_of_some_length_as_exports_have_them_\($0)" }
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, \(names.joined(separator: ", ")))")
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let plan = try UpsertPlan(schema: schema, key: ["id"], columns: BatchMaker(["id"] + names).columns)
    sqlite3_limit(connection.handle, SQLITE_LIMIT_SQL_LENGTH, 1_000_000)
    let error = #expect(throws: UpsurgeError.self) {
      _ = try TableWriter(connection: connection, plan: plan, sourceNames: ["in.csv"])
    }
    let length = try plan.insertSQL(shape: SlotShape(full: 1991), rowCount: 1, .numbered).utf8.count
    #expect(
      error?.message
        == "the statement for 1991 columns of table t is \(length) bytes long, and SQLite takes 1000000")
    #expect(error?.hint == "--columns A,B loads fewer of them")
  }

  @Test("What is needed is enough", arguments: [9 << 20, 16 << 20, 17 << 20 + 1, 40 << 20])
  func needed(_ byteCount: Int) {
    let memory = StatementMemory(byteCount: StatementMemory.needed(for: byteCount) << 20)
    #expect(memory.compileByteCount >= byteCount)
    #expect(
      StatementMemory(byteCount: memory.byteCount - 1 << 20).compileByteCount < byteCount
        || memory.byteCount == 16 << 20)
  }

  @Test(
    "What a record lacks is NULL to rules that leave the row's value then",
    arguments: [MergeRule.coalesce, .keep, .min, .max, .sum])
  func shapeless(_ rule: MergeRule) throws {
    var random = SeededGenerator(seed: 11)
    let rows: [[Value]] = (0..<400).map { _ in
      [.integer(Int64.random(in: 0..<60, using: &random))]
        + (0..<8).map { _ in
          Bool.random(using: &random) ? .absent : .integer(Int64.random(in: -9..<9, using: &random))
        }
    }
    var tables: [[String]] = []
    var shapeCount = 0
    for isNull in [false, true] {
      let database = TemporaryDatabase()
      let connection = try database.open("CREATE TABLE t(id INTEGER PRIMARY KEY, \(Self.columns(8)))")
      let schema = try #require(try TableSchema.read(connection, table: "t"))
      var maker = BatchMaker(["id"] + (0..<8).map { "c\($0)" })
      let rules = UpsertRules(target: .columns(["id"]), merge: Merge(rule))
      var settings = WriterSettings()
      settings.statements.readyShapeCount = 0
      let writer = try TableWriter(
        connection: connection, plan: UpsertPlan(schema: schema, rules: rules, columns: maker.columns),
        sourceNames: ["in.csv"], settings: settings)
      var batch = maker.batch(rows.map { $0.map { isNull && $0 == .absent ? .null : $0 } })
      try writer.write(&batch)
      if !isNull { shapeCount = writer.statements.shapes.count }
      try writer.finish()
      tables.append(
        [writer.ledger.text]
          + (try Database(database.path).rows("SELECT id, \(Self.columns(8)) FROM t ORDER BY id")))
    }
    #expect(shapeCount == 1)
    #expect(tables[0] == tables[1])
  }
}
