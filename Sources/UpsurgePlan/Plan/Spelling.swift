/// How a statement spells what it is given, and whether it counts.
package struct Spelling {
  /// The value of a present slot, by row and by place among the present slots: a parameter, or a literal.
  package var value: (_ row: Int, _ place: Int) -> String
  /// Whether the terms that count outcomes (see `WriteNotes`) are part of the statement.
  package var isCounted: Bool

  package init(isCounted: Bool, value: @escaping (_ row: Int, _ place: Int) -> String) {
    self.value = value
    self.isCounted = isCounted
  }

  /// `?`, in row and slot order.
  package static var parameters: Spelling { Spelling(isCounted: true) { _, _ in "?" } }
  /// `?1`, `?2` …, by place: each may stand in several places.
  package static var numbered: Spelling { Spelling(isCounted: true) { _, place in "?\(place + 1)" } }
}

/// The terms that count, as SQL.
enum Note {
  case conflict, difference, update

  /// A comparison that is true whatever `subject` says, and counts how often it is asked.
  func sql(_ subject: String) -> String {
    let name =
      switch self {
      case .conflict: "upsurge_note_conflict"
      case .difference: "upsurge_note_difference"
      case .update: "upsurge_note_update"
      }
    return "\(subject) = '' COLLATE \(name)"
  }
}
