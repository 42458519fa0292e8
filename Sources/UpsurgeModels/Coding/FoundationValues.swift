import Foundation
import UpsurgeRecords
import UpsurgeState

extension Data: ColumnValue {
  public static var storage: StorageClass { .blob }
  public static func encode(_ value: Data, into row: inout RowEncoder) {
    value.withUnsafeBytes { row.append($0) }
  }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Data {
    Data(try row.decodeBytes())
  }
}

/// Text, as `absoluteString` is.
extension URL: ColumnValue {
  public static var storage: StorageClass { .text }
  public static func encode(_ value: URL, into row: inout RowEncoder) { row.append(value.absoluteString) }
  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> URL {
    guard let value = URL(string: try row.decodeText()) else { throw row.invalid("a URL") }
    return value
  }
}

/// Text in lower case, as `uuid()` makes it; ``Bytes`` and ``Uppercased`` are other codings.
extension UUID: ColumnValue {
  public static var storage: StorageClass { .text }
  public static var newKeySQL: String? { KeyMigration.newUUID }

  public static func encode(_ value: UUID, into row: inout RowEncoder) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
      value.write(to: text, letters: UInt8(ascii: "a"))
      row.appendText(UnsafeBufferPointer(text))
    }
  }

  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> UUID {
    guard let value = UUID(uuidString: try row.decodeText()) else { throw row.invalid("a UUID") }
    return value
  }

  /// Text in upper case, as `uuidString` is.
  public enum Uppercased: SingleColumnCoding {
    public static var storage: StorageClass { .text }
    public static var newKeySQL: String? { "upper(\(KeyMigration.newUUID))" }

    public static func encode(_ value: UUID, into row: inout RowEncoder) {
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
        value.write(to: text, letters: UInt8(ascii: "A"))
        row.appendText(UnsafeBufferPointer(text))
      }
    }

    public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> UUID {
      try UUID.decode(from: &row)
    }
  }

  /// A blob of 16 bytes.
  public enum Bytes: SingleColumnCoding {
    public static var storage: StorageClass { .blob }
    public static var newKeySQL: String? { "randomblob(16)" }

    public static func encode(_ value: UUID, into row: inout RowEncoder) {
      withUnsafeBytes(of: value.uuid) { row.append($0) }
    }

    public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> UUID {
      let bytes = try row.decodeBytes()
      guard bytes.count == 16 else { throw row.invalid("a UUID of 16 bytes") }
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
  }

  /// Writes the 36 characters; `letters` is `a` or `A`.
  private func write(to text: UnsafeMutableBufferPointer<UInt8>, letters: UInt8) {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : letters + value - 10 }
    withUnsafeBytes(of: uuid) { bytes in
      var at = 0
      for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[at] = UInt8(ascii: "-")
          at += 1
        }
        text[at] = digit(byte >> 4)
        text[at + 1] = digit(byte & 15)
        at += 2
      }
    }
  }
}

/// A value as JSON text: `@Column(as: JSON<[String]>.self) var tags: [String]`.
///
/// Keys are sorted, so that equal values are equal texts and leave a row unchanged.
public enum JSON<Value: Codable & Sendable>: SingleColumnCoding {
  public static var storage: StorageClass { .text }

  /// A row with a value that JSON cannot express, such as a number that is not finite, is rejected.
  public static func encode(_ value: Value, into row: inout RowEncoder) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      let text = try encoder.encode(value)
      text.withUnsafeBytes { bytes in bytes.withMemoryRebound(to: UInt8.self) { row.appendText($0) } }
    } catch {
      row.refuse("JSON cannot express this value of \(Value.self)\(error.encodingReason)")
      row.appendNull()
    }
  }

  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Value {
    let text = try row.decodeText()
    guard let value = try? JSONDecoder().decode(Value.self, from: Data(text.utf8)) else {
      throw row.invalid("JSON of \(Value.self)")
    }
    return value
  }
}

extension Error {
  /// `, at a.b: reason`, of what could not be encoded.
  fileprivate var encodingReason: String {
    guard let error = self as? EncodingError, case .invalidValue(_, let context) = error else {
      return ": \(self)"
    }
    let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(
      separator: ".")
    return (path.isEmpty ? ": " : ", at \(path): ") + context.debugDescription
  }
}
