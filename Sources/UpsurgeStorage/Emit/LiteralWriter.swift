import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Writes values as SQL literals that mean exactly the same value to any SQLite.
///
///     9223372036854775807   0.1   9e999   'it''s'   CAST(x'610062' AS TEXT)   x'00ff'
///
/// SQLite cuts SQL at a NUL, so text with NUL stands as bytes. SQLite rounds the last digit of a few decimal numbers
/// in another way than IEEE 754 asks, and not the same way in all versions. Those stand as an integer divided or
/// multiplied by powers of two, which is exact everywhere.
final class LiteralWriter {
  /// How the database stores text, which decides what `CAST(x'..' AS TEXT)` means.
  enum TextEncoding: String {
    case utf8 = "UTF-8"
    case utf16le = "UTF-16le"
    case utf16be = "UTF-16be"
  }

  private let encoding: TextEncoding
  private let reader: Statement

  /// - Parameter encoding: that of the database the statements are for.
  init(encoding: TextEncoding = .utf8) throws(UpsurgeError) {
    self.encoding = encoding
    reader = try Connection(path: ":memory:", createIfMissing: true).prepare("SELECT CAST(?1 AS REAL)")
  }

  func append(_ cell: Cell, of batch: borrowing Batch, to sql: inout [UInt8]) throws(UpsurgeError) {
    switch cell.kind {
    case .absent, .null: sql += Array("NULL".utf8)
    case .integer: sql += Array(String(Int64(bitPattern: cell.payload)).utf8)
    case .real: try appendReal(Double(bitPattern: cell.payload), to: &sql)
    case .text: appendText(batch.bytes(of: cell), to: &sql)
    case .blob: LiteralWriter.appendBlob(batch.bytes(of: cell), to: &sql)
    }
  }

  // MARK: - Numbers

  func appendReal(_ value: Double, to sql: inout [UInt8]) throws(UpsurgeError) {
    if value.isNaN {
      // SQLite stores NaN as NULL.
      sql += Array("NULL".utf8)
    } else if value.isInfinite {
      sql += Array((value < 0 ? "-9e999" : "9e999").utf8)
    } else {
      let shortest = "\(value)"
      let isExact = try read(shortest).bitPattern == value.bitPattern || value == 0
      sql += Array((isExact ? shortest : LiteralWriter.scaled(value)).utf8)
    }
  }

  /// What SQLite reads a number as.
  private func read(_ text: String) throws(UpsurgeError) -> Double {
    defer { reader.reset() }
    try reader.bind(text, at: 1)
    guard try reader.step(), case .real(let value) = SQLValue(reader.handle, column: 0) else { return .nan }
    return value
  }

  /// `(CAST(-4503599627370497 AS REAL)/1024.0)`: the digits as an integer, and powers of two up to 2^62. Each step
  /// but the last stays in the range of normal numbers, and the last one's result is the value itself.
  static func scaled(_ value: Double) -> String {
    let isSubnormal = value.exponentBitPattern == 0
    let digits = Int64(value.significandBitPattern | (isSubnormal ? 0 : 1 << 52))
    var exponent = Int(isSubnormal ? 1 : value.exponentBitPattern) - 1075
    var text = "CAST(\(value < 0 ? "-" : "")\(digits) AS REAL)"
    while exponent != 0 {
      let step = min(abs(exponent), 62)
      text += "\(exponent < 0 ? "/" : "*")CAST(\(Int64(1) << Int64(step)) AS REAL)"
      exponent += exponent < 0 ? step : -step
    }
    return "(\(text))"
  }

  // MARK: - Bytes

  private func appendText(_ bytes: UnsafeBufferPointer<UInt8>, to sql: inout [UInt8]) {
    if bytes.contains(0) { return appendCast(bytes, to: &sql) }
    let quote = UInt8(ascii: "'")
    sql.append(quote)
    var rest = bytes[...]
    while let cut = rest.firstIndex(of: quote) {
      sql += rest[...cut]
      sql.append(quote)
      rest = rest[(cut + 1)...]
    }
    sql += rest
    sql.append(quote)
  }

  private func appendCast(_ bytes: UnsafeBufferPointer<UInt8>, to sql: inout [UInt8]) {
    sql += Array("CAST(".utf8)
    if encoding == .utf8 {
      LiteralWriter.appendBlob(bytes, to: &sql)
    } else {
      let stored = String(decoding: bytes, as: UTF8.self).utf16.flatMap { unit -> [UInt8] in
        let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
        return encoding == .utf16le ? [low, high] : [high, low]
      }
      LiteralWriter.appendBlob(stored, to: &sql)
    }
    sql += Array(" AS TEXT)".utf8)
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func appendBlob(_ bytes: some Collection<UInt8>, to sql: inout [UInt8]) {
    sql.append(UInt8(ascii: "x"))
    sql.append(UInt8(ascii: "'"))
    for byte in bytes {
      sql.append(digits[Int(byte >> 4)])
      sql.append(digits[Int(byte & 15)])
    }
    sql.append(UInt8(ascii: "'"))
  }
}
