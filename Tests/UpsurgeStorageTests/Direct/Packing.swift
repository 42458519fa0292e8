import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Rows that go into a new table without SQLite, and what has come of it.
struct Packing {
  /// With the table `t`.
  var create: String
  var columns: [String]
  var pageByteCount = 4096
  var batchSize = 1000
  var mode = WriteMode.insert
  /// Memory for keys in no order.
  var sortByteCount = 0

  init(_ create: String, _ columns: [String], pageByteCount: Int = 4096, batchSize: Int = 1000) {
    self.create = create
    self.columns = columns
    self.pageByteCount = pageByteCount
    self.batchSize = batchSize
  }

  struct Unsupported: Error, CustomStringConvertible { var description: String }

  func layout(_ image: ImageFile) throws -> DirectLayout {
    let connection = try image.connect(pageByteCount: pageByteCount)
    try connection.execute(create)
    guard let schema = try TableSchema.read(connection, table: "t") else {
      throw Unsupported(description: "no t")
    }
    let plan = try UpsertPlan(schema: schema, mode: mode, columns: BatchMaker(columns).columns)
    switch try DirectLayout.read(plan, on: connection) {
    case .fits(let layout): return layout
    case .unsupported(let reason): throw Unsupported(description: reason.text)
    }
  }

  /// Packs rows until a batch is refused, stores the rest through SQLite as a load would, and hands the file over.
  /// - Returns: how many rows were packed, and why it was not all of them; the file is not handed over where it turned out
  ///   at the end that a key came twice.
  @discardableResult
  func run(_ rows: [[Value]], into database: TemporaryDatabase) throws -> (
    count: Int, refusal: DirectRefusal?, spilledByteCount: Int
  ) {
    let image = try ImageFile.make(for: database.path)
    let layout = try layout(image)
    var table = try DirectTable(layout, image: image, sortByteCount: sortByteCount)
    var maker = BatchMaker(columns)
    maker.sizes = .init(arenaByteCount: arenaByteCount(rows), cellCount: 1 << 16, recordCount: 1 << 14)
    var at = 0
    while at < rows.count {
      let end = min(at + batchSize, rows.count)
      let batch = maker.batch(Array(rows[at..<end]))
      if try !table.append(batch) { break }
      at = end
    }
    let spilled = table.spilledByteCount
    if try !table.finish() { return (0, table.refusal, spilled) }
    #expect(table.rowCount == at)
    if at < rows.count { try storeRest(Array(rows[at...]), image) }
    try image.handOver(isSynced: false)
    return (at, table.refusal, spilled)
  }

  private func storeRest(_ rows: [[Value]], _ image: ImageFile) throws {
    let connection = try image.connect()
    _ = try load(connection, "t", columns, rows, mode: mode, cut: cut(rows))
  }

  private func cut(_ rows: [[Value]]) -> Cut {
    Cut(batchSize: batchSize, rowsPerStatement: 1, arenaByteCount: arenaByteCount(rows))
  }

  private func arenaByteCount(_ rows: [[Value]]) -> Int {
    let largest = rows.map { row in row.reduce(0) { $0 + $1.byteCount } }.max() ?? 0
    return max(1 << 20, largest * min(batchSize, max(rows.count, 1)) + 4096)
  }

  /// Stores the rows by single-row statements.
  func store(_ rows: [[Value]], into database: TemporaryDatabase) throws {
    let connection = try database.open(create)
    _ = try load(connection, "t", columns, rows, mode: mode, cut: cut(rows))
  }

  /// Packs rows, and compares with what SQLite makes of them.
  /// - Returns: how many rows were packed.
  @discardableResult
  func check(_ rows: [[Value]], order: String = "rowid", _ comment: String = "") throws -> Int {
    let (packed, stored) = (TemporaryDatabase(), TemporaryDatabase())
    let count = try run(rows, into: packed).count
    try store(rows, into: stored)
    try expectSame(packed, stored, order: order, "\(create) \(pageByteCount) \(comment)")
    return count
  }
}

/// Whether two databases hold the same rows, in the same bytes, and the first is sound and can be written.
func expectSame(_ packed: TemporaryDatabase, _ stored: TemporaryDatabase, order: String, _ comment: String)
  throws
{
  let connection = try Connection(path: packed.path, createIfMissing: false)
  try connection.execute("ATTACH '\(stored.path)' AS s")
  // SQLite 3.40 takes the wrong columns of some WITHOUT ROWID tables for NULL, in its own database as well.
  let check = try connection.rows("PRAGMA main.integrity_check")
  #expect(try check == connection.rows("PRAGMA s.integrity_check"), "\(comment)")
  let columns = try connection.rows("SELECT name FROM pragma_table_info('t')").map { $0[0] }
  // SQLite's results have no more than 2,000 columns.
  for start in stride(from: 0, to: columns.count, by: 500) {
    var terms = "typeof(\(order)), \(order)"
    for case .text(let name) in columns[start..<min(start + 500, columns.count)] {
      terms += ", typeof(\"\(name)\"), quote(\"\(name)\")"
    }
    let rows = { (schema: String) in
      try connection.rows("SELECT \(terms) FROM \(schema).t ORDER BY \(order)")
    }
    let isSame = try rows("main") == rows("s")
    #expect(isSame, "\(comment)")
  }
  for index in try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 't'") {
    guard case .text(let name) = index[0] else { continue }
    let count = "SELECT count(*) FROM main.t INDEXED BY \"\(name)\" WHERE 1"
    #expect(try connection.integer(count) == connection.integer("SELECT count(*) FROM s.t"), "\(comment)")
  }
  // Where SQLite can tell: the records are as long as its own.
  let payload = { (schema: String) in
    try? connection.rows(
      "SELECT name, sum(payload) FROM dbstat('\(schema)') WHERE name LIKE '%t%' AND name NOT LIKE 'sqlite_schema' GROUP BY 1"
    )
  }
  #expect(payload("main") == payload("s"), "\(comment)")
}

/// Changes a table in many ways.
func exercise(_ database: TemporaryDatabase, _ comment: String) throws {
  let connection = try Connection(path: database.path, createIfMissing: false)
  let count = try connection.integer("SELECT count(*) FROM t") ?? 0
  try connection.execute(
    """
    PRAGMA journal_mode=WAL; CREATE TABLE more AS SELECT * FROM t; DELETE FROM t WHERE (abs(random()) % 3) = 0;
    INSERT OR IGNORE INTO t SELECT * FROM more; DELETE FROM t; INSERT INTO t SELECT * FROM more;
    """)
  #expect(try connection.integer("SELECT count(*) FROM t") == count, "\(comment)")
  #expect(try connection.text("PRAGMA integrity_check") == "ok", "\(comment)")
  try connection.execute("VACUUM")
  #expect(try connection.text("PRAGMA integrity_check") == "ok", "\(comment)")
}

extension Value {
  /// Bytes of a text or BLOB, and room for a number.
  var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count + 1
    case .blob(let bytes): bytes.count + 1
    default: 32
    }
  }
}
