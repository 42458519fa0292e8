import CSQLite
import UpsurgeRecords

/// The rows of a SELECT as lines of JSON, from which exactly the same values come back.
///
///     {"id":9007199254740993,"price":1.0,"name":"Ann","note":null,"photo":{"$base64":true,"encoded":"AQI="}}
///
/// A number with a point or an exponent is REAL, any other INTEGER; `9e999` is infinity. A BLOB is an object,
/// as sqlite-utils spells it.
/// Belongs to the connection's thread.
package final class RowText {
  private let statement: Statement
  /// `{"id":`, `,"name":`: what stands in front of each value.
  private let keys: [[UInt8]]
  private let names: [String]
  /// With the types that their table declares; empty for what is computed.
  package let columns: [(name: String, declaredType: String)]
  private var rowCount: UInt64 = 0
  private let valueByteLimit: Int

  /// Begins a read transaction, in which the SELECT is compiled and run: what it gives is one state of the database.
  /// - Parameter valueByteLimit: larger values, and rows of them, are an error.
  /// - Throws: `usage` for what is no SELECT, or gives two columns of one name; `database`.
  package init(_ sql: String, on connection: Connection, valueByteLimit: Int) throws(UpsurgeError) {
    let tokens = SQLScanner.tokens(of: sql)
    if let mark = tokens.firstIndex(where: { $0.isMark(";") }), mark < tokens.count - 1 {
      throw UpsurgeError(
        .usage, "a query is one SELECT, and this is more", snippet: sql.escapedForTerminal,
        hint: "leave out what stands behind the ;")
    }
    self.valueByteLimit = valueByteLimit
    sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, Int32(clamping: valueByteLimit))
    try connection.execute("BEGIN")
    let statement = try connection.prepare(sql)
    let count = sqlite3_column_count(statement.handle)
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
    keys = names.enumerated().map { index, name in
      var text = JSONText()
      text.string(name)
      return [UInt8(ascii: index == 0 ? "{" : ",")] + text.bytes + [UInt8(ascii: ":")]
    }
  }

  /// Writes all rows, each with a line end.
  /// - Parameter send: takes the text in pieces, whose borders may lie anywhere; false ends it.
  /// - Throws: what reading the database throws; of a row that is too large, with its number.
  package func write(to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    var piece: [UInt8] = []
    piece.reserveCapacity(2 * Self.pieceByteCount)
    while try step() {
      rowCount += 1
      for column in keys.indices {
        piece += keys[column]
        guard try append(Int32(column), to: &piece, send) else { return }
      }
      piece += [UInt8(ascii: "}"), 0x0A]
      if piece.count >= Self.pieceByteCount, !flush(&piece, send) { return }
    }
    _ = piece.isEmpty || send(piece)
  }

  private func step() throws(UpsurgeError) -> Bool {
    do throws(UpsurgeError) {
      return try statement.step()
    } catch {
      guard error.isTooLarge else { throw error }
      var named = error
      named.message =
        "row \(rowCount + 1) is larger than the \(Words.bytes(Double(valueByteLimit))) that a record may have: "
        + error.message
      throw named
    }
  }

  /// A multiple of 3, so that the pieces of a BLOB join to one base64 text.
  private static let pieceByteCount = 48 << 10

  private func flush(_ piece: inout [UInt8], _ send: ([UInt8]) -> Bool) -> Bool {
    defer { piece.removeAll(keepingCapacity: true) }
    return send(piece)
  }

  /// - Returns: whether the rest is wanted.
  private func append(
    _ column: Int32, to piece: inout [UInt8], _ send: ([UInt8]) -> Bool
  ) throws(UpsurgeError) -> Bool {
    let handle = statement.handle
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: Self.append(sqlite3_column_int64(handle, column), to: &piece)
    case SQLITE_FLOAT:
      let value = sqlite3_column_double(handle, column)
      piece += (value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999").utf8
    case SQLITE_TEXT:
      let start = sqlite3_column_text(handle, column)
      let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
      piece.append(UInt8(ascii: "\""))
      for slice in Self.slices(of: text.count) {
        Self.append(text: UnsafeBufferPointer(rebasing: text[slice]), to: &piece)
        if slice.upperBound < text.count, !flush(&piece, send) { return false }
      }
      piece.append(UInt8(ascii: "\""))
    case SQLITE_BLOB:
      let start = sqlite3_column_blob(handle, column)
      let blob = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
      piece += #"{"$base64":true,"encoded":""#.utf8
      for slice in Self.slices(of: blob.count) {
        piece += Base64.encode(Array(blob[slice])).utf8
        if slice.upperBound < blob.count, !flush(&piece, send) { return false }
      }
      piece += "\"}".utf8
    default: piece += "null".utf8
    }
    return true
  }

  /// The parts of a value that are written at once.
  private static func slices(of byteCount: Int) -> [Range<Int>] {
    stride(from: 0, to: byteCount, by: pieceByteCount).map { $0..<min($0 + pieceByteCount, byteCount) }
  }

  private static func append(_ value: Int64, to piece: inout [UInt8]) {
    if value < 0 { piece.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = piece.count
    repeat {
      piece.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    piece[start...].reverse()
  }

  /// Most texts hold nothing that must be escaped.
  private static func append(text: UnsafeBufferPointer<UInt8>, to piece: inout [UInt8]) {
    let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    if isPlain { return piece.append(contentsOf: text) }
    var json = JSONText()
    json.string(bytes: text)
    piece += json.bytes.dropFirst().dropLast()
  }
}
