import CSQLite
import UpsurgeRecords

/// Where the rows of a table are found again, when one of them is too large to be given as a whole.
struct TablePlace {
  /// As it is called, and quoted.
  let table: String
  let quotedTable: String
  /// What the rowid is called.
  let rowid: String
  /// Whether texts are stored as they are written.
  let isUTF8: Bool
  /// The smallest rowid of the rows that come; nil after the largest one that there can be.
  private(set) var next: Int64? = .min

  var isAtEnd: Bool { next == nil }

  /// nil for what has no rowids that name its rows.
  init?(_ schema: TableSchema, on connection: Connection) throws(UpsurgeError) {
    guard schema.kind == .table, let rowid = schema.rowidName else { return nil }
    table = schema.name
    quotedTable = try SQLName.quote(schema.name)
    self.rowid = rowid
    let encoding = try connection.prepare("PRAGMA main.encoding")
    isUTF8 = try encoding.step() && encoding.text(at: 0) == "UTF-8"
  }

  /// Says that a row is done.
  mutating func pass(_ rowid: Int64) { next = rowid == .max ? nil : rowid + 1 }

  /// The rowid of the row that comes; nil without one.
  func rowid(on connection: Connection) throws(UpsurgeError) -> Int64? {
    guard let next else { return nil }
    let statement = try connection.prepare(
      "SELECT \(rowid) FROM main.\(quotedTable) WHERE \(rowid) >= ?1 ORDER BY \(rowid) LIMIT 1")
    try statement.bind(next, at: 1)
    return try statement.step() ? statement.integer(at: 0) : nil
  }

  /// A statement at one value of a row.
  /// - Throws: `database` with SQLITE_TOOBIG where it is too large.
  func value(
    of column: String, inRow rowid: Int64, on connection: Connection
  ) throws(UpsurgeError) -> Statement {
    try statement("\(SQLName.quote(column))", rowid, on: connection)
  }

  /// Whether a value is a text; that is known without reading it.
  func isText(_ column: String, inRow rowid: Int64, on connection: Connection) throws(UpsurgeError) -> Bool {
    try statement("typeof(\(SQLName.quote(column)))", rowid, on: connection).text(at: 0) == "text"
  }

  private func statement(
    _ term: String, _ rowid: Int64, on connection: Connection
  ) throws(UpsurgeError) -> Statement {
    let statement = try connection.prepare(
      "SELECT \(term) FROM main.\(quotedTable) WHERE \(self.rowid) = ?1")
    try statement.bind(rowid, at: 1)
    guard try statement.step() else {
      throw UpsurgeError(.database, "row \(rowid) of table \(table.escapedForTerminal) is gone")
    }
    return statement
  }
}

/// A text or BLOB that is read slice by slice (https://sqlite.org/c3ref/blob_open.html), so that it is never in memory as a
/// whole.
final class LargeValue {
  let isText: Bool
  let byteCount: Int
  private let blob: OpaquePointer
  private let connection: Connection
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  /// nil for what can be had as a whole only: a text of a database in UTF-16, and a column that is computed.
  init?(
    _ column: String, of place: TablePlace, row: Int64, on connection: Connection
  ) throws(UpsurgeError) {
    var opened: OpaquePointer?
    let code = sqlite3_blob_open(connection.handle, "main", place.table, column, row, 0, &opened)
    guard code == SQLITE_OK, let opened else {
      sqlite3_blob_close(opened)
      if ResultCode.primary(code) == SQLITE_ERROR { return nil }
      throw connection.failure(code, sql: "sqlite3_blob_open")
    }
    let isText: Bool
    do throws(UpsurgeError) {
      isText = try place.isText(column, inRow: row, on: connection)
    } catch {
      sqlite3_blob_close(opened)
      throw error
    }
    if isText && !place.isUTF8 {
      sqlite3_blob_close(opened)
      return nil
    }
    self.isText = isText
    self.connection = connection
    blob = opened
    byteCount = Int(sqlite3_blob_bytes(opened))
  }

  deinit {
    sqlite3_blob_close(blob)
    memory.deallocate()
  }

  /// Some bytes of it, good until the next ones are read.
  func read(_ range: Range<Int>) throws(UpsurgeError) -> UnsafeRawBufferPointer {
    if memory.count < range.count {
      memory.deallocate()
      memory = .allocate(byteCount: range.count, alignment: 1)
    }
    let code = sqlite3_blob_read(blob, memory.baseAddress, Int32(range.count), Int32(range.lowerBound))
    try connection.check(code, sql: "sqlite3_blob_read")
    return UnsafeRawBufferPointer(rebasing: memory[..<range.count])
  }
}
