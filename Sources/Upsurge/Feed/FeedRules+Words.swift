import UpsurgeInput

extension FeedRules {
  /// The refusal of a delivery whose fields are not those of the feed.
  /// - Parameter isStream: whether it can be read only once.
  func refusal(of gone: [String], in table: String, isStream: Bool = false) -> UpsurgeError {
    let (list, isOne) = (Self.list(gone), gone.count == 1)
    let what =
      "the feed of table \(table.escapedForTerminal) lacks \(isOne ? "a column" : "columns") that its last accepted delivery had: "
      + list
    if isStream {
      return UpsurgeError(
        .guardRefused,
        "\(what); to store NULL there all of it is to be read twice, and it can be read only once",
        hint: "\(.columnsGone, "keep"), or \(.acceptChange), takes it with the old values, which an UPDATE can clear; "
          + "a feed that is a file, a URL or exec:COMMAND can be read twice"
      )
    }
    return UpsurgeError(
      .guardRefused,
      "\(what); rows would keep their old values there for good",
      hint:
        "\(.acceptChange) goes on without \(isOne ? "it" : "them"); \(.columnsGone, "keep") does so whenever a column goes, and "
        + "\(.columnsGone, "null") stores NULL there")
  }

  /// What is said where it is taken all the same.
  func note(on gone: [String], in table: String) -> RunNote {
    let (list, isOne) = (Self.list(gone), gone.count == 1)
    let start =
      "the feed of table \(table.escapedForTerminal) no longer has the column\(isOne ? "" : "s") \(list): "
    switch policy {
    case .null: return RunNote(.warning, start + "NULL is stored there")
    case .accept, .keep, .refuse:
      return RunNote(.warning, start + "rows keep \(isOne ? "its" : "their") old values")
    }
  }

  /// What is said of changes none of which has a field; that is no sign that it is gone.
  static func note(onChangesWithout fields: [String]) -> RunNote {
    RunNote(.info, "no record of this delivery has \(list(fields)); rows keep the values that they have")
  }

  private static func list(_ fields: [String]) -> String {
    let rest = fields.count > 20 ? ", and \(fields.count - 20) more" : ""
    return (fields.prefix(20).joined(separator: ", ") + rest).escapedForTerminal
  }
}
