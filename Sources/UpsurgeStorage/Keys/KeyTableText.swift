import UpsurgeRecords

/// The CREATE TABLE of a table whose keys become UUIDs.
struct KeyTableText {
  /// What a column that changes is to be.
  struct Change {
    /// Whether the column was the rowid, which is never NULL.
    var wasRowid: Bool
    /// What a new row gets; nil where the column refers to another table.
    var defaultValue: String?
    /// The UUID of an integer that is a default.
    var uuid: (Int64) -> String
  }

  private static let typeEnds: Set<String> = [
    "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES",
    "GENERATED", "AS",
  ]
  private static let constraints: Set<String> = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]

  /// The text for a table of another name.
  /// - Parameter changes: by folded names of columns.
  /// - Returns: nil where not all of the columns were found.
  static func edited(_ sql: String, name: String, changes: [String: Change]) throws(UpsurgeError) -> String? {
    let tokens = SQLScanner.tokens(of: sql)
    guard let open = tokens.firstIndex(where: { $0.isMark("(") }), open > 0 else { return nil }
    var edits = SQLEdits(sql)
    edits.replace(tokens[open - 1].range, by: try SQLName.quote(name))
    var found: Set<String> = []
    for part in parts(tokens[(open + 1)...]) {
      guard let first = part.first else { continue }
      for token in part where token.isWord("AUTOINCREMENT") { edits.replace(token.range, by: "") }
      let isConstraint = first.kind == .word && constraints.contains(first.text.uppercased())
      guard !isConstraint, let change = changes[SQLName.folded(first.text)] else { continue }
      found.insert(SQLName.folded(first.text))
      try edit(part, change, &edits)
    }
    return found.count == changes.count ? edits.text : nil
  }

  /// What stands between the commas, up to the closing parenthesis.
  private static func parts(_ tokens: ArraySlice<SQLScanner.Token>) -> [[SQLScanner.Token]] {
    var parts: [[SQLScanner.Token]] = [[]]
    var depth = 0
    for token in tokens {
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      if depth < 0 { break }
      if depth == 0 && token.isMark(",") { parts.append([]) } else { parts[parts.count - 1].append(token) }
    }
    return parts
  }

  private static func edit(
    _ part: [SQLScanner.Token], _ change: Change, _ edits: inout SQLEdits
  ) throws(UpsurgeError) {
    var index = 1
    var depth = 0
    while index < part.count {
      let token = part[index]
      if depth == 0, token.kind == .word, typeEnds.contains(token.text.uppercased()) { break }
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      index += 1
    }
    if index == 1 {
      edits.insert(" TEXT", at: part[0].range.upperBound)
    } else {
      edits.replace(part[1].range.lowerBound..<part[index - 1].range.upperBound, by: "TEXT")
    }
    let rest = part[index...]
    let isNotNull = zip(rest, rest.dropFirst()).contains { $0.isWord("NOT") && $1.isWord("NULL") }
    var more = change.wasRowid && !isNotNull ? " NOT NULL" : ""
    if let place = rest.firstIndex(where: { $0.isWord("DEFAULT") }), place + 1 < part.count {
      if let number = Int64(part[place + 1].text), part[place + 1].kind == .word {
        edits.replace(part[place + 1].range, by: try SQLName.literal(change.uuid(number)))
      }
    } else if let value = change.defaultValue {
      more += " DEFAULT (\(value))"
    }
    if !more.isEmpty, let end = part.last?.range.upperBound { edits.insert(more, at: end) }
  }
}

/// Triggers and FTS tables that name rows by an integer key.
enum KeyTriggerText {
  /// The text of a trigger in which full-text tables are told of rows by their rowid, as their key is no integer any more:
  /// `new.id` becomes `new.rowid` in statements that name such a table.
  /// - Parameters:
  ///   - key: the column that was the rowid.
  ///   - searchTables: folded names.
  static func edited(_ sql: String, key: String, searchTables: Set<String>) -> String {
    let tokens = SQLScanner.tokens(of: sql)
    guard let begin = tokens.firstIndex(where: { $0.isWord("BEGIN") }) else { return sql }
    var edits = SQLEdits(sql)
    for statement in tokens[(begin + 1)...].split(whereSeparator: { $0.isMark(";") }) {
      let namesSearch = statement.contains {
        $0.kind != .literal && $0.kind != .mark && searchTables.contains(SQLName.folded($0.text))
      }
      guard namesSearch else { continue }
      let places = statement.indices.dropLast(2)
      for place in places
      where (statement[place].isWord("new") || statement[place].isWord("old"))
        && statement[place + 1].isMark(".") && SQLName.isSame(statement[place + 2].text, key)
      {
        edits.replace(statement[place + 2].range, by: "rowid")
      }
    }
    return edits.text
  }

  /// The text of an FTS5 table that finds the rows of its content by their rowid; nil where it does so already.
  static func editedSearchTable(_ sql: String, key: String) -> String? {
    let tokens = SQLScanner.tokens(of: sql)
    let place = tokens.indices.dropLast(2).first {
      tokens[$0].isWord("content_rowid") && tokens[$0 + 1].isMark("=")
        && SQLName.isSame(tokens[$0 + 2].text, key)
    }
    guard let place else { return nil }
    var edits = SQLEdits(sql)
    edits.replace(tokens[place + 2].range, by: "rowid")
    return edits.text
  }
}
