import UpsurgeRecords

/// Changes of an SQL text at places of its tokens.
struct SQLEdits {
  private let bytes: [UInt8]
  private var edits: [(range: Range<Int>, text: String)] = []

  init(_ sql: String) { bytes = Array(sql.utf8) }

  mutating func replace(_ range: Range<Int>, by text: String) { edits.append((range, text)) }
  mutating func insert(_ text: String, at place: Int) { edits.append((place..<place, text)) }

  /// The changed text.
  var text: String {
    var result: [UInt8] = []
    var at = 0
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      result += bytes[at..<edit.range.lowerBound]
      result += edit.text.utf8
      at = edit.range.upperBound
    }
    result += bytes[at...]
    return String(decoding: result, as: UTF8.self)
  }
}
