/// Names and texts as both SQLite and PostgreSQL take them.
extension String {
  /// A name in double quotes.
  var quotedAsName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }

  /// A text in single quotes.
  var quotedAsText: String { "'" + replacing("'", with: "''") + "'" }
}

extension [String] {
  /// Names in double quotes, with commas.
  var quotedAsNames: String { map(\.quotedAsName).joined(separator: ", ") }
}
