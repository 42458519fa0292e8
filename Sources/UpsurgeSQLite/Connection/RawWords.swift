import UpsurgeRecords

/// What SQLite's own messages mean for who loads records, where they speak of a statement that nobody has written.
enum RawWords {
  /// - Returns: nil for a message that says enough.
  static func meant(by said: String) -> (said: Wording, remedy: Wording?)? {
    switch said {
    case "virtual tables may not be altered":
      return ("the table is a virtual one, which takes no further columns", columnsHint)
    case "Cannot add a column to a view":
      return ("the table is a view, which takes no further columns", columnsHint)
    default: break
    }
    if let name = rest(of: said, after: "no such table: ") {
      return (
        "a view, a trigger, a foreign key or SQL of the options names a table that is not there: \(name)",
        "make that table, or correct what names it; upsurge inspect DB shows views and triggers"
      )
    }
    if let name = rest(of: said, after: "no such module: ") {
      return (
        "a virtual table needs the module \(name), which this SQLite does not have",
        "use a program that brings the module, or another table"
      )
    }
    return nil
  }

  private static let columnsHint: Wording = "\(.columns, "A,B") loads only the columns named"

  private static func rest(of said: String, after start: String) -> String? {
    said.hasPrefix(start) ? String(said.dropFirst(start.count)).escapedForTerminal : nil
  }
}
