import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

@Suite struct ColumnTests {
  private func writer(_ connection: Connection, _ maker: BatchMaker, addsColumns: Bool) throws -> TableWriter
  {
    guard let schema = try TableSchema.read(connection, table: "t") else {
      throw TransactionTests.MissingTable()
    }
    var settings = WriterSettings()
    settings.addsColumns = addsColumns
    return try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, columns: maker.columns),
      sourceNames: ["in.json"],
      settings: settings)
  }

  @Test(arguments: ["", " STRICT"]) func columnsAppearOnTheWay(_ option: String) throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)\(option)")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker, addsColumns: true)
    var first = maker.batch([[1, "a"], [2, "b"]])
    try writer.write(&first)
    maker.columns.append(ColumnTarget(name: "n\"ew", affinity: .integer, spellingPolicy: .warn))
    maker.columns.append(ColumnTarget(name: "any", affinity: .none, spellingPolicy: .warn))
    var second = maker.batch([
      [1, "a", 7, .absent], [3, .absent, .absent, "x"], [2, "b", .absent, .absent],
    ])
    second.newColumns = Array(maker.columns.suffix(2))
    try writer.write(&second)
    try writer.finish()
    #expect(writer.ledger.text == "read 5 inserted 3 updated 1 unchanged 1")
    #expect(
      try connection.rows("SELECT * FROM t") == [[1, "a", 7, nil], [2, "b", nil, nil], [3, nil, nil, "x"]])
    #expect(writer.warnings.entries.map(\.column) == ["n\"ew", "any"])
    #expect(writer.warnings.entries.map(\.first.record) == [3, 3])
    #expect(writer.warnings.entries.map(\.code) == [.columnAdded, .columnAdded])
  }

  @Test func aFrozenTableRefusesNewColumns() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker, addsColumns: false)
    var first = maker.batch([[1, "a"]])
    try writer.write(&first)
    maker.columns.append(ColumnTarget(name: "w", affinity: .integer, spellingPolicy: .warn))
    var second = maker.batch([[2, "a", 7]])
    second.newColumns = Array(maker.columns.suffix(1))
    do throws(UpsurgeError) {
      try writer.write(&second)
      Issue.record("the column was added")
    } catch {
      #expect(
        error.description == """
          table t has no column w
            at in.json, line 3, record 2, byte 4
            fix: --alter adds it; --columns A,B loads only the columns named
          """)
      #expect(error.code == .guardRefused)
    }
    #expect(writer.ledger.read == 0)
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func theNextFileHasOtherColumns() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT, w TEXT DEFAULT 'dw')")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker, addsColumns: false)
    var first = maker.batch([[1, "a"]])
    try writer.write(&first)
    maker.columns = BatchMaker(["w", "k"]).columns
    try writer.setColumns(maker.columns)
    var second = maker.batch([["b", 1], ["c", 2]])
    try writer.write(&second)
    try writer.finish()
    #expect(try connection.rows("SELECT * FROM t") == [[1, "a", "b"], [2, nil, "c"]])
    #expect(writer.ledger.text == "read 3 inserted 2 updated 1")
  }

  /// More shapes than the statement cache keeps.
  @Test(arguments: [WriteMode.upsert, .insert]) func everyShapeKeepsItsMeaning(_ mode: WriteMode)
    throws
  {
    let database = TemporaryDatabase()
    let names = (0..<12).map { "c\($0)" }
    let connection = try database.open(
      "CREATE TABLE t(k INTEGER PRIMARY KEY, \(names.map { "\($0) DEFAULT 'd'" }.joined(separator: ", ")))")
    var random = SeededGenerator(seed: 11)
    var model: [Int64: [Value]] = [:]
    var rows: [[Value]] = []
    for index in 0..<6000 {
      let key = mode == .upsert ? Int64.random(in: 0..<500, using: &random) : Int64(index)
      let values: [Value] = names.map { _ in Bool.random(using: &random) ? .absent : .integer(Int64(index)) }
      let old = model[key] ?? names.map { _ in "d" }
      model[key] = zip(old, values).map { $1 == .absent ? $0 : $1 }
      rows.append([.integer(key)] + values)
    }
    let (writer, _) = try load(connection, "t", ["k"] + names, rows, mode: mode, cut: Cut(batchSize: 1700))
    #expect(writer.ledger.inserted == UInt64(model.count))
    let expected = model.sorted { $0.key < $1.key }.map { [.integer($0.key)] + $0.value }
    #expect(try connection.rows("SELECT * FROM t ORDER BY k") == expected)
  }

  @Test func aRecordThatSaysNothingTakesTheDefaults() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v DEFAULT 'd')")
    let (writer, _) = try load(
      connection, "t", ["k", "v"], [[.absent, .absent], [nil, 1], [.absent, 2], [1, .absent]], mode: .upsert)
    #expect(try connection.rows("SELECT * FROM t") == [[1, "d"], [2, 1], [3, 2]])
    #expect(writer.ledger.text == "read 4 inserted 3 unchanged 1")
  }

  @Test func aDefaultThatIsAnExpressionIsTakenRowByRow() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v DEFAULT (random()))")
    let rows = (0..<200).map { [Value.integer(Int64($0)), .absent] }
    _ = try load(connection, "t", ["k", "v"], rows, mode: .insert)
    #expect(try connection.integer("SELECT count(DISTINCT v) FROM t") == 200)
  }

  /// SQLite takes no expression deeper than 1,000; each column adds one or two conditions.
  @Test(arguments: ["INT", ""]) func asManyColumnsAsATableMayHave(type: String) throws {
    let names = (0..<1500).map { "c\($0)" }
    let columns = names.dropFirst().map { "\($0) \(type)" }.joined(separator: ", ")
    let connection = try TemporaryDatabase().open("CREATE TABLE t(c0 INTEGER PRIMARY KEY, \(columns))")
    func row(_ key: Int64, changing index: Int? = nil) -> [Value] {
      (0..<1500).map { $0 == 0 ? .integer(key) : .integer($0 == index ? -1 : Int64($0)) }
    }
    _ = try load(connection, "t", names, [row(1), row(2), row(3), row(4)])
    let again = [row(1), row(2, changing: 1), row(3, changing: 1499), row(4, changing: 700), row(5)]
    let (writer, rejects) = try load(connection, "t", names, again)
    #expect(rejects.isEmpty)
    #expect(writer.ledger.text == "read 5 inserted 1 updated 3 unchanged 1")
  }
}
