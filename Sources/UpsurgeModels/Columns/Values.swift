import Foundation
import UpsurgeRecords
import UpsurgeSQLite

// The values that SQLite itself knows, and those that fit one of them without loss.

extension Int64: ColumnValue {
  public static var storage: StorageClass { .integer }
  public static func encode(_ value: Int64, into row: inout RowEncoder) { row.append(value) }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Int64 {
    try row.decodeInteger()
  }
}

extension SingleColumnCoding where Self: FixedWidthInteger, Value == Self {
  public static var storage: StorageClass { .integer }

  /// A row with a number that SQLite has no integer for is rejected.
  public static func encode(_ value: Self, into row: inout RowEncoder) {
    if let number = Int64(exactly: value) {
      row.append(number)
    } else {
      row.refuse("\(value) is no integer of 64 bits with a sign, which SQLite has")
      row.appendNull()
    }
  }

  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Self {
    guard let value = Self(exactly: try row.decodeInteger()) else {
      throw row.invalid("an integer of \(Self.min) to \(Self.max)")
    }
    return value
  }
}

extension Int: ColumnValue {}
extension Int32: ColumnValue {}
extension Int16: ColumnValue {}
extension Int8: ColumnValue {}
extension UInt32: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt8: ColumnValue {}
extension UInt64: ColumnValue {}
extension UInt: ColumnValue {}

extension Double: ColumnValue {
  public static var storage: StorageClass { .real }
  /// A row with a number that is not one (NaN), which SQLite has NULL for, is rejected.
  public static func encode(_ value: Double, into row: inout RowEncoder) {
    if value.isNaN { row.refuse("NaN, which is not a number, cannot be stored: SQLite has NULL for it") }
    row.append(value)
  }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Double {
    try row.decodeNumber()
  }
}

extension Float: ColumnValue {
  public static var storage: StorageClass { .real }
  public static func encode(_ value: Float, into row: inout RowEncoder) {
    Double.encode(Double(value), into: &row)
  }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Float {
    Float(try row.decodeNumber())
  }
}

/// 1 and 0.
extension Bool: ColumnValue {
  public static var storage: StorageClass { .integer }
  public static func encode(_ value: Bool, into row: inout RowEncoder) { row.append(value ? Int64(1) : 0) }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Bool {
    try row.decodeInteger() != 0
  }
}

extension String: ColumnValue {
  public static var storage: StorageClass { .text }
  public static func encode(_ value: String, into row: inout RowEncoder) { row.append(value) }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> String {
    try row.decodeText()
  }
}

/// Bytes are a blob; an array of anything else needs a coding, such as ``JSON``.
extension Array: ColumnCoding, SingleColumnCoding, ColumnValue where Element == UInt8 {
  public typealias Value = [UInt8]
  public static var storage: StorageClass { .blob }
  public static func encode(_ value: [UInt8], into row: inout RowEncoder) { row.append(value) }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> [UInt8] {
    try row.decodeBytes()
  }
}

/// Any value, in a column of type ANY that may be NULL.
extension SQLValue: ColumnValue {
  public static var storage: StorageClass { .any }

  public static func define(_ column: ColumnDefinition, in columns: inout [ColumnDefinition]) {
    var column = column
    column.storage = storage
    column.isNullable = true
    columns.append(column)
  }

  public static func encode(_ value: SQLValue, into row: inout RowEncoder) { row.append(value) }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> SQLValue { row.decode() }
}

/// An enum with raw values stores them: `enum Status: String, ColumnValue { case open, done }`.
extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
  public static var storage: StorageClass { RawValue.storage }

  /// As of the raw value, where that is stored as it is.
  public static var newKeySQL: String? {
    guard storage == RawValue.storage, let sql = RawValue.newKeySQL else { return nil }
    guard let rawValue = SampleKey.value(of: RawValue.self) else { return sql }
    // What an `encode` of the type's own makes of keys is seen of one; a type that does not take it could not be read.
    guard let key = Self(rawValue: rawValue), let stored = try? storedValue(key),
      let rawStored = try? RawValue.storedValue(rawValue), stored == rawStored
    else { return nil }
    return sql
  }

  public static func encode(_ value: Self, into row: inout RowEncoder) {
    RawValue.encode(value.rawValue, into: &row)
  }

  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Self {
    guard let value = Self(rawValue: try RawValue.decode(from: &row)) else {
      throw row.invalid("a value of \(Self.self)")
    }
    return value
  }
}

/// A key that a table may have made.
private enum SampleKey {
  /// Of version 4, with letters, whose case codings may change.
  static let uuid = UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0x4A, 0, 0xAB, 0, 0, 0, 0, 0, 0, 0))

  /// The key as a value of a type, which may wrap another; nil where that is no UUID.
  static func value<Value>(of type: Value.Type) -> Value? {
    func wrapped<Wrapper: RawRepresentable>(_ type: Wrapper.Type) -> Wrapper? {
      value(of: Wrapper.RawValue.self).flatMap(Wrapper.init)
    }
    if let key = uuid as? Value { return key }
    return (type as? any RawRepresentable.Type).flatMap { wrapped($0) as? Value }
  }
}
