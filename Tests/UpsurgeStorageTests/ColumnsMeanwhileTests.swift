import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Other programs change the table while records that were read for it are on their way.
@Suite("Columns that change meanwhile") struct ColumnsMeanwhileTests {
  private let database = TemporaryDatabase()
  private static let definition = "CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)"

  private static let changes = [
    "ALTER TABLE t RENAME TO o; CREATE TABLE t(k INTEGER PRIMARY KEY, v INTEGER); INSERT INTO t SELECT * FROM o; DROP TABLE o",
    "ALTER TABLE t DROP COLUMN v; ALTER TABLE t ADD COLUMN v TEXT COLLATE NOCASE",
    "DROP TABLE t; CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT) STRICT", "DROP TABLE t",
  ]
  private static let additions = [
    "ALTER TABLE t ADD COLUMN w DEFAULT 7", "CREATE TABLE u(a)", "CREATE INDEX i ON t(v)",
    "UPDATE t SET v = 'x'",
    "DROP TABLE t; CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    "DROP TABLE t; CREATE TABLE t(w, v TEXT, k INTEGER PRIMARY KEY)",
  ]

  private func writer(_ connection: Connection, _ maker: BatchMaker) throws -> TableWriter {
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var settings = WriterSettings()
    settings.commitEvery.records = 2
    return try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, key: ["k"], columns: maker.columns),
      sourceNames: ["in.csv"], settings: settings)
  }

  @Test("Records are not stored by what the columns were", arguments: changes, [true, false])
  func harmful(sql: String, isFirst: Bool) throws {
    let connection = try database.open(Self.definition)
    let other = try database.open("SELECT 1")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker)
    if !isFirst {
      var batch = maker.batch([[.integer(1), .text("1")], [.integer(2), .text("2")]])
      try writer.write(&batch)
    }
    try other.execute(sql)
    var next = maker.batch([[.integer(3), .text("3")], [.integer(4), .text("4")]])
    expectChanged { try writer.write(&next) }
    writer.rollback()
    if sql.hasSuffix("DROP TABLE t") { return }
    #expect(try other.integer("SELECT count(*) FROM t WHERE k > 2") == 0)
    // Who reads the table as it is stores them.
    let again = try self.writer(connection, maker)
    var last = maker.batch([[.integer(3), .text("3")], [.integer(4), .text("4")]])
    try again.write(&last)
    try again.finish()
    #expect(try other.integer("SELECT count(*) FROM t WHERE k > 2") == 2)
  }

  @Test("What leaves the columns as they are ends no load", arguments: additions, [true, false])
  func harmless(sql: String, isFirst: Bool) throws {
    let connection = try database.open(Self.definition)
    let other = try database.open("SELECT 1")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker)
    if !isFirst {
      var batch = maker.batch([[.integer(1), .text("a")], [.integer(2), .text("b")]])
      try writer.write(&batch)
    }
    try other.execute(sql)
    for first in [3, 5] {
      var next = maker.batch([
        [.integer(Int64(first)), .text("c")], [.integer(Int64(first + 1)), .text("d")],
      ])
      try writer.write(&next)
    }
    try writer.finish()
    #expect(try other.integer("SELECT count(*) FROM t WHERE k > 2 AND v IN ('c', 'd')") == 4)
  }

  @Test("A transaction that somebody else has begun for the records is looked at too", arguments: changes)
  func begun(sql: String) throws {
    let connection = try database.open(Self.definition)
    let other = try database.open("SELECT 1")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker)
    try other.execute(sql)
    try connection.beginWriting()
    var next = maker.batch([[.integer(3), .text("3")], [.integer(4), .text("4")]])
    expectChanged { try writer.write(&next) }
  }

  @Test("So is the table of the next file", arguments: changes)
  func nextFile(sql: String) throws {
    let connection = try database.open(Self.definition)
    let other = try database.open("SELECT 1")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker)
    var batch = maker.batch([[.integer(1), .text("1")], [.integer(2), .text("2")]])
    try writer.write(&batch)
    try other.execute(sql)
    expectChanged { try writer.setColumns([maker.columns[0]]) }
  }

  @Test("It is also looked at when the table changes behind the plan of the next file", arguments: changes)
  func behindPlan(sql: String) throws {
    let connection = try database.open(Self.definition)
    let other = try database.open("SELECT 1")
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker)
    try writer.setColumns([maker.columns[1], maker.columns[0]])
    try other.execute(sql)
    var next = maker.batch([[.text("3"), .integer(3)], [.text("4"), .integer(4)]])
    expectChanged { try writer.write(&next) }
  }

  @Test(
    "A column that another load has added is taken as it is, where it is the same",
    arguments: ["TEXT", "INTEGER"])
  func added(type: String) throws {
    let connection = try database.open(Self.definition)
    let other = try database.open("SELECT 1")
    var maker = BatchMaker(["k", "v"])
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var settings = WriterSettings()
    settings.addsColumns = true
    settings.commitEvery.records = 1
    let writer = try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, key: ["k"], columns: maker.columns),
      sourceNames: ["in.csv"], settings: settings)
    var batch = maker.batch([[.integer(1), .text("1")]])
    try writer.write(&batch)
    try other.execute("ALTER TABLE t ADD COLUMN z \(type)")
    let columns =
      maker.columns
      + ["y", "z"].map {
        ColumnTarget(name: $0, affinity: .text, spellingPolicy: .warn)
      }
    guard type == "TEXT" else { return expectChanged { try writer.setColumns(columns) } }
    try writer.setColumns(columns)
    var wide = BatchMaker(["k", "v", "y", "z"])
    var next = wide.batch([[.integer(2), .text("2"), .text("02"), .text("002")]])
    try writer.write(&next)
    try writer.finish()
    #expect(try other.text("SELECT group_concat(name) FROM pragma_table_info('t')") == "k,v,z,y")
    #expect(try other.text("SELECT y || z FROM t WHERE k = 2") == "02002")
  }

  @Test("What one connection has seen says nothing to the next, whatever its handle is")
  func connections() throws {
    var first: Connection? = try database.open(Self.definition)
    let seen = try #require(try first.flatMap { try TableSchema.read($0, table: "t") }?.moment.dataVersion)
    first = nil
    let second = try database.open("SELECT 1")
    #expect(try TableSchema.read(second, table: "t")?.moment.dataVersion != seen)
  }

  private func expectChanged(
    _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: UpsurgeError.self, sourceLocation: sourceLocation) { try body() }
    #expect(
      error?.code == .database && error?.message.contains("columns of table t") == true,
      "\(error?.description ?? "")", sourceLocation: sourceLocation)
  }
}
