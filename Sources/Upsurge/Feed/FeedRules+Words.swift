import UpsurgeInput

extension FeedRules {
  /// The refusal of a delivery whose fields are not those of the feed.
  /// - Parameters:
  ///   - options: those of the load, whose key no record can do without.
  ///   - isStream: whether it can be read only once.
  func refusal(
    of gone: [String], in table: String, options: LoadOptions, isStream: Bool = false
  ) -> UpsurgeError {
    let (list, isOne) = (Self.list(gone), gone.count == 1)
    let what =
      "the feed of table \(table.escapedForTerminal) lacks \(isOne ? "a column" : "columns") that its last accepted delivery had: "
      + list
    let lost = gone.map { Self.column(of: $0, options: options) }.first { column in
      options.rules.key.contains { SQLName.isSame($0, column) }
    }
    if let lost {
      return UpsurgeError(
        .guardRefused, "\(what); no record has a row without it",
        hint: "deliver it again; where it has another name now, \(.rename, "NEW=\(lost)".quotedForShell) with \(.acceptChange)")
    }
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
