import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Gives the columns of a row one after the other; valid while the row is the current one.
public struct RowDecoder {
  /// Where the values lie.
  enum Source {
    /// SQLite's statement, which stands on a row, and where the columns are in it; nil where they are in their order.
    case statement(OpaquePointer, [Int32]?)
    case values([SQLValue])
  }

  private let source: Source
  /// Names of the columns, for messages.
  private let names: [String]
  private var next: Int

  init(_ source: Source, names: [String], from first: Int = 0) {
    self.source = source
    self.names = names
    next = first
  }

  /// - Parameter names: of the columns, in their order.
  package init(_ values: [SQLValue], names: [String]) { self.init(.values(values), names: names) }

  /// Takes the next column.
  public mutating func decode() -> SQLValue {
    defer { next += 1 }
    return value(next)
  }

  /// Takes an integer.
  /// - Throws: `badInput` for any other value.
  public mutating func decodeInteger() throws(UpsurgeError) -> Int64 {
    if case .statement(let handle, nil) = source, sqlite3_column_type(handle, Int32(next)) == SQLITE_INTEGER {
      defer { next += 1 }
      return sqlite3_column_int64(handle, Int32(next))
    }
    if case .integer(let number) = value(next) {
      next += 1
      return number
    }
    throw mismatch("an integer")
  }

  /// Takes a number; an integer is one, too.
  /// - Throws: `badInput` for any other value.
  public mutating func decodeNumber() throws(UpsurgeError) -> Double {
    switch value(next) {
    case .real(let number):
      next += 1
      return number
    case .integer(let number):
      next += 1
      return Double(number)
    default: throw mismatch("a number")
    }
  }

  /// Takes a text.
  /// - Throws: `badInput` for any other value.
  public mutating func decodeText() throws(UpsurgeError) -> String {
    guard case .text(let text) = value(next) else { throw mismatch("a text") }
    next += 1
    return text
  }

  /// Takes a blob.
  /// - Throws: `badInput` for any other value.
  public mutating func decodeBytes() throws(UpsurgeError) -> [UInt8] {
    guard case .blob(let bytes) = value(next) else { throw mismatch("a blob") }
    next += 1
    return bytes
  }

  /// Steps over `count` columns when all of them are NULL.
  public mutating func skipNulls(_ count: Int) -> Bool {
    for column in next..<next + count {
      if case .statement(let handle, let places) = source {
        let place = places?[column] ?? Int32(column)
        if sqlite3_column_type(handle, place) != SQLITE_NULL { return false }
      } else if value(column) != .null {
        return false
      }
    }
    next += count
    return true
  }

  /// The error for a value that was just taken and cannot be what it should be.
  /// - Parameter what: what it should be, with its article: `a date`.
  public func invalid(_ what: String) -> UpsurgeError {
    mismatch(
      what, at: next - 1,
      hint: "the type never stores such a value: correct the row, or give the property another type or coding")
  }

  private func mismatch(_ what: String) -> UpsurgeError {
    mismatch(
      what, at: next,
      hint: value(next) == .null
        ? "make the property an optional, as the column may be NULL"
        : "give the property the type that the column has")
  }

  private func mismatch(_ what: String, at column: Int, hint: String) -> UpsurgeError {
    let name = names.indices.contains(column) ? names[column] : "\(column + 1)"
    // Functions name their arguments.
    let place = name.hasPrefix("argument ") ? name : "the column \(name)"
    return UpsurgeError(
      .badInput,
      "\(place.escapedForTerminal) holds \(RowDecoder.shown(value(column))), and \(what) was expected",
      hint: hint)
  }

  /// A value as messages show it.
  private static func shown(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): "the integer \(number)"
    case .real(let number): "the number \(number)"
    case .text(let text): "the text \(String(text.prefix(60)).escapedForTerminal)"
    case .blob(let bytes): "a blob of \(bytes.count) bytes"
    }
  }

  private func value(_ column: Int) -> SQLValue {
    switch source {
    case .values(let values): values[column]
    case .statement(let handle, let places): SQLValue(handle, column: places?[column] ?? Int32(column))
    }
  }
}
