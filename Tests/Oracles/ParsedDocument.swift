import UpsurgeRecords

/// What a parser made of a document, in a form that can be compared and printed.
package struct ParsedDocument: Equatable {
  /// A stored record.
  package struct Record: Equatable, CustomStringConvertible {
    /// nil is NULL.
    package var fields: [[UInt8]?]
    package var number: UInt64
    package var line: UInt64
    package var byte: UInt64
    package var byteCount: Int

    package var description: String {
      let texts = fields.map { $0.map { String(decoding: $0, as: UTF8.self).debugDescription } ?? "NULL" }
      return "#\(number) line \(line) byte \(byte)+\(byteCount): \(texts.joined(separator: " | "))"
    }
  }

  /// A rejected record.
  package struct Rejection: Equatable, CustomStringConvertible {
    package var code: String
    package var number: UInt64
    package var line: UInt64
    package var byte: UInt64
    package var column: String?
    package var raw: [UInt8]

    package var description: String {
      "#\(number) line \(line) byte \(byte) \(code) \(column ?? "-"): "
        + String(decoding: raw, as: UTF8.self).debugDescription
    }
  }

  /// A warning with how often and where it came first.
  package struct Warning: Equatable {
    package var code: String
    package var column: String?
    package var count: UInt64
    package var firstLine: UInt64?
    package var firstByte: UInt64?
    package var firstRecord: UInt64?
  }

  /// In input order.
  package var records: [Record] = []
  /// In input order.
  package var rejections: [Rejection] = []
  /// Sorted by code and column.
  package var warnings: [Warning] = []

  /// The records' fields as text; NULL is nil.
  package var rows: [[String?]] {
    records.map { $0.fields.map { $0.map { String(decoding: $0, as: UTF8.self) } } }
  }

  mutating func sortWarnings() {
    warnings.sort { ($0.code, $0.column ?? "") < ($1.code, $1.column ?? "") }
  }
}
