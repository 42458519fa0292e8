import UpsurgeSQLite


/// A column of the model that says which rows are gone.
struct SnapshotMark: Sendable {
  var index: Int
  var name: String
  /// What it has in a row that is there, beside NULL, 0 and an empty text.
  var there: SQLValue?

  func isThere(_ value: SQLValue) -> Bool { value == there || SnapshotMark.saysThere(value) }

  /// Whether a value says of a row that it is there, whatever the column.
  static func saysThere(_ value: SQLValue) -> Bool {
    switch value {
    case .null, .integer(0), .text(""), .text("0"): true
    case .real(let number): number == 0
    default: false
    }
  }
}
