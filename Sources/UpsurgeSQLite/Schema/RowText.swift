import CSQLite
import UpsurgeRecords

/// The rows of a SELECT as lines of JSON, from which exactly the same values come back: see `RowLine`. A row that is too large
/// for a record is written, too: who reads it says so, and goes on. Belongs to the connection's thread.
package final class RowText {
  let statement: Statement
  /// `{"id":`, `,"name":`: what precedes each value.
  private let keys: [[UInt8]]
  let names: [String]
  /// With the types that their table declares; empty for what is computed.
  package let columns: [(name: String, declaredType: String)]
  private var rowCount: UInt64 = 0
  private let valueByteLimit: Int
  /// Where the rows of a table are; nil for what a query gives, whose rows cannot be found again.
  private var place: TablePlace?

  /// One row of those that are written.
  private enum Row {
    /// The statement is at it.
    case whole
    /// SQLite does not give it as a whole.
    case tooLarge(rowid: Int64)
  }

  /// Begins a read transaction, unless one is open, in which the SELECT is compiled and run: what it gives is one state of the database.
  /// - Parameter valueByteLimit: larger values, and rows of them, are an error of a query.
  /// - Throws: `usage` for what is no SELECT, or gives two columns of one name; `database`.
  package convenience init(
    _ sql: String, on connection: Connection, valueByteLimit: Int
  ) throws(UpsurgeError) {
    let tokens = SQLScanner.tokens(of: sql)
    if let mark = tokens.firstIndex(where: { $0.isMark(";") }), mark < tokens.count - 1 {
      throw UpsurgeError(
        .usage, "a query is one SELECT, and this is more", snippet: sql.escapedForTerminal,
        hint: "leave out what comes after the ;")
    }
    try self.init(compiling: sql, columnsBehind: 0, on: connection, valueByteLimit: valueByteLimit)
  }

  /// Reads all rows of a table, in the order of its rowids. A row that SQLite cannot give as a whole is written piece by
  /// piece. A view, a virtual table and a table without rowids are read as a query.
  /// - Throws: `database`.
  package convenience init(
    table: TableSchema, on connection: Connection, valueByteLimit: Int
  ) throws(UpsurgeError) {
    let name = try SQLName.quote(table.name)
    guard let place = try TablePlace(table, on: connection) else {
      try self.init("SELECT * FROM main.\(name)", on: connection, valueByteLimit: valueByteLimit)
      return
    }
    let rowid = place.rowid
    try self.init(
      compiling: "SELECT *, \(rowid) FROM main.\(name) WHERE \(rowid) >= ?1 ORDER BY \(rowid)",
      columnsBehind: 1, on: connection, valueByteLimit: valueByteLimit)
    try statement.bind(Int64.min, at: 1)
    self.place = place
  }

  /// - Parameter columnsBehind: so many of the columns are none of the rows'.
  private init(
    compiling sql: String, columnsBehind: Int32, on connection: Connection, valueByteLimit: Int
  ) throws(UpsurgeError) {
    self.valueByteLimit = valueByteLimit
    sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, Int32(clamping: valueByteLimit))
    if connection.isInAutocommit { try connection.execute("BEGIN") }
    let statement = try connection.prepare(sql)
    let count = sqlite3_column_count(statement.handle) - columnsBehind
    guard count > 0, sqlite3_stmt_readonly(statement.handle) != 0 else {
      throw UpsurgeError(
        .usage, "a query must be a SELECT, which changes nothing", snippet: sql.escapedForTerminal)
    }
    self.statement = statement
    names = (0..<count).map { column in
      sqlite3_column_name(statement.handle, column).map { String(cString: $0) } ?? ""
    }
    columns = names.enumerated().map { index, name in
      let type = sqlite3_column_decltype(statement.handle, Int32(index)).map { String(cString: $0) }
      return (name, type ?? "")
    }
    var seen: Set<String> = []
    for name in names where !seen.insert(SQLName.folded(name)).inserted {
      throw UpsurgeError(
        .usage, "the query gives two columns the name \(name.escapedForTerminal)",
        snippet: sql.escapedForTerminal,
        hint: "give one of them another name: SELECT a AS b")
    }
    keys = RowLine.keys(names)
  }

  /// Writes all rows, each with a line end.
  /// - Parameter send: takes the text in pieces, whose borders may lie anywhere; false ends it.
  /// - Throws: what reading the database throws; of a row that is too large, with its number.
  package func write(to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    var piece: [UInt8] = []
    piece.reserveCapacity(2 * Self.pieceByteCount)
    while let row = try next() {
      rowCount += 1
      for column in keys.indices {
        piece += keys[column]
        switch row {
        case .whole:
          guard try append(Int32(column), of: statement, to: &piece, send) else { return }
        case .tooLarge(let rowid):
          guard try append(names[column], ofRow: rowid, to: &piece, send) else { return }
        }
      }
      piece += RowLine.end
      if piece.count >= Self.pieceByteCount, !flush(&piece, send) { return }
    }
    _ = piece.isEmpty || send(piece)
  }

  private func next() throws(UpsurgeError) -> Row? {
    if place?.isAtEnd == true { return nil }
    do throws(UpsurgeError) {
      guard try statement.step() else { return nil }
      place?.pass(statement.integer(at: Int32(keys.count)))
      return .whole
    } catch {
      guard error.isTooLarge else { throw error }
      if let rowid = try place?.rowid(on: statement.connection) {
        place?.pass(rowid)
        statement.reset()
        if let next = place?.next { try statement.bind(next, at: 1) }
        return .tooLarge(rowid: rowid)
      }
      throw named(error, row: rowCount + 1)
    }
  }

  private func named(_ error: UpsurgeError, row: UInt64) -> UpsurgeError {
    var named = error
    named.message =
      "row \(row) is larger than the \(Words.bytes(Double(valueByteLimit))) that a record may have: "
      + error.message
    return named
  }

  /// A multiple of 3, so that the pieces of a BLOB join to one base64 text.
  private static let pieceByteCount = 48 << 10

  private func flush(_ piece: inout [UInt8], _ send: ([UInt8]) -> Bool) -> Bool {
    defer { piece.removeAll(keepingCapacity: true) }
    return send(piece)
  }

  /// Writes a value of the row that a statement is at.
  /// - Returns: whether the rest is wanted.
  private func append(
    _ column: Int32, of statement: Statement, to piece: inout [UInt8], _ send: ([UInt8]) -> Bool
  ) throws(UpsurgeError) -> Bool {
    let handle = statement.handle
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: RowLine.append(sqlite3_column_int64(handle, column), to: &piece)
    case SQLITE_FLOAT: RowLine.append(sqlite3_column_double(handle, column), to: &piece)
    case SQLITE_TEXT:
      let start = UnsafeRawPointer(sqlite3_column_text(handle, column))
      let text = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
      return try append(isText: true, text.count, to: &piece, send) {
        UnsafeRawBufferPointer(rebasing: text[$0])
      }
    case SQLITE_BLOB:
      let start = sqlite3_column_blob(handle, column)
      let blob = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
      return try append(isText: false, blob.count, to: &piece, send) {
        UnsafeRawBufferPointer(rebasing: blob[$0])
      }
    default: piece += RowLine.null
    }
    return true
  }

  /// Writes a value of a row that SQLite does not give as a whole.
  /// - Returns: whether the rest is wanted.
  private func append(
    _ name: String, ofRow rowid: Int64, to piece: inout [UInt8], _ send: ([UInt8]) -> Bool
  ) throws(UpsurgeError) -> Bool {
    guard let place else { return false }
    do throws(UpsurgeError) {
      let value = try place.value(of: name, inRow: rowid, on: statement.connection)
      return try append(0, of: value, to: &piece, send)
    } catch {
      guard error.isTooLarge else { throw error }
      guard let value = try LargeValue(name, of: place, row: rowid, on: statement.connection) else {
        throw named(error, row: rowCount)
      }
      return try append(isText: value.isText, value.byteCount, to: &piece, send) {
        (range) throws(UpsurgeError) in try value.read(range)
      }
    }
  }

  /// Writes a text or BLOB slice by slice.
  /// - Parameter slice: the bytes of one, good until the next one is asked for.
  /// - Returns: whether the rest is wanted.
  private func append(
    isText: Bool, _ byteCount: Int, to piece: inout [UInt8], _ send: ([UInt8]) -> Bool,
    slice: (Range<Int>) throws(UpsurgeError) -> UnsafeRawBufferPointer
  ) throws(UpsurgeError) -> Bool {
    piece += isText ? [UInt8(ascii: "\"")] : RowLine.blobStart
    for range in Self.slices(of: byteCount) {
      let bytes = try slice(range)
      if isText { RowLine.append(text: bytes, to: &piece) } else { piece += Base64.encode(Array(bytes)).utf8 }
      if range.upperBound < byteCount, !flush(&piece, send) { return false }
    }
    piece += isText ? [UInt8(ascii: "\"")] : RowLine.blobEnd
    return true
  }

  /// The parts of a value that are written at once.
  private static func slices(of byteCount: Int) -> [Range<Int>] {
    stride(from: 0, to: byteCount, by: pieceByteCount).map { $0..<min($0 + pieceByteCount, byteCount) }
  }
}
