import UpsurgeRecords

/// What a parser made of a document, in a form that can be compared and printed.
struct ParsedDocument: Equatable {
  struct Record: Equatable, CustomStringConvertible {
    /// nil is NULL.
    var fields: [[UInt8]?]
    var number: UInt64
    var line: UInt64
    var byte: UInt64
    var byteCount: Int

    var description: String {
      let texts = fields.map { $0.map { String(decoding: $0, as: UTF8.self).debugDescription } ?? "NULL" }
      return "#\(number) line \(line) byte \(byte)+\(byteCount): \(texts.joined(separator: " | "))"
    }
  }

  struct Rejection: Equatable, CustomStringConvertible {
    var code: String
    var number: UInt64
    var line: UInt64
    var byte: UInt64
    var column: String?
    var raw: [UInt8]

    var description: String {
      "#\(number) line \(line) byte \(byte) \(code) \(column ?? "-"): "
        + String(decoding: raw, as: UTF8.self).debugDescription
    }
  }

  struct Warning: Equatable {
    var code: String
    var column: String?
    var count: UInt64
    var firstLine: UInt64?
    var firstByte: UInt64?
    var firstRecord: UInt64?
  }

  var records: [Record] = []
  var rejections: [Rejection] = []
  /// Sorted by code and column.
  var warnings: [Warning] = []

  /// The records' fields as text; NULL is nil.
  var rows: [[String?]] {
    records.map { $0.fields.map { $0.map { String(decoding: $0, as: UTF8.self) } } }
  }

  mutating func sortWarnings() {
    warnings.sort { ($0.code, $0.column ?? "") < ($1.code, $1.column ?? "") }
  }
}
