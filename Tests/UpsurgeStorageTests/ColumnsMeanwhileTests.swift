import TestSupport
import Testing
import UpsurgeRecords

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
  ]

  private func writer(_ connection: Connection, _ maker: BatchMaker) throws -> TableWriter {
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var settings = WriterSettings()
    settings.commitEveryRecords = 2
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
    let error = #expect(throws: UpsurgeError.self) { try writer.write(&next) }
    #expect(
      error?.code == .database && error?.message.contains("columns of table t") == true,
      "\(error?.description ?? "")")
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
}
