import UpsurgeRecords
import UpsurgeSQLite

/// What triggers and full-text tables say of rows by a key that was the rowid.
enum KeyTriggerText {
  /// Where a statement about a full-text table gives a column of the changed row as the rowid there: `rowid = old.id`, or
  /// the value of `rowid` in an INSERT.
  /// - Parameter searchTables: folded names.
  /// - Returns: the tokens of the columns' names.
  static func rowidPlaces(in sql: String, searchTables: Set<String>) -> [SQLScanner.Token] {
    let tokens = SQLScanner.tokens(of: sql)
    guard let begin = tokens.firstIndex(where: { $0.isWord("BEGIN") }) else { return [] }
    return tokens[(begin + 1)...].split(whereSeparator: { $0.isMark(";") }).flatMap { statement in
      let namesSearch = statement.contains {
        $0.kind != .literal && $0.kind != .mark && searchTables.contains(SQLName.folded($0.text))
      }
      return namesSearch ? comparedPlaces(statement) + insertedPlaces(statement) : []
    }
  }

  /// The text of a trigger in which these columns have another name.
  static func edited(_ sql: String, _ places: [SQLScanner.Token], rowid: String) -> String {
    var edits = SQLEdits(sql)
    for place in places { edits.replace(place.range, by: rowid) }
    return edits.text
  }

  private static func isRowid(_ token: SQLScanner.Token) -> Bool {
    token.kind == .word && ["rowid", "docid", "_rowid_", "oid"].contains(token.text.lowercased())
  }

  /// The column's name in `new.x` or `old.x`, where nothing else is there.
  private static func column(_ tokens: ArraySlice<SQLScanner.Token>) -> SQLScanner.Token? {
    guard tokens.count == 3, let first = tokens.first, first.isWord("new") || first.isWord("old"),
      tokens[tokens.startIndex + 1].isMark(".")
    else { return nil }
    return tokens.last
  }

  private static func comparedPlaces(_ statement: ArraySlice<SQLScanner.Token>) -> [SQLScanner.Token] {
    var found: [SQLScanner.Token] = []
    for place in statement.indices where statement[place].isMark("=") {
      if place > statement.startIndex, isRowid(statement[place - 1]), place + 3 < statement.endIndex,
        let column = column(statement[(place + 1)...(place + 3)])
      {
        found.append(column)
      } else if place - 3 >= statement.startIndex, place + 1 < statement.endIndex,
        isRowid(statement[place + 1]),
        let column = column(statement[(place - 3)...(place - 1)])
      {
        found.append(column)
      }
    }
    return found
  }

  /// `INSERT INTO f(…, rowid, …) VALUES (…, new.id, …)`, or `SELECT …, new.id, …`.
  private static func insertedPlaces(_ statement: ArraySlice<SQLScanner.Token>) -> [SQLScanner.Token] {
    guard statement.first.map({ $0.isWord("INSERT") || $0.isWord("REPLACE") }) == true,
      let open = statement.firstIndex(where: { $0.isMark("(") }),
      let close = statement[open...].firstIndex(where: { $0.isMark(")") })
    else { return [] }
    let names = statement[(open + 1)..<close].split { $0.isMark(",") }
    guard let index = names.firstIndex(where: { $0.count == 1 && $0.first.map(isRowid) == true }) else {
      return []
    }
    var rest = statement[(close + 1)...]
    guard let word = rest.popFirst(), word.isWord("VALUES") || word.isWord("SELECT") else { return [] }
    if word.isWord("VALUES") { rest = rest.dropFirst() }
    let values = outermostParts(rest)
    return index < values.count ? column(values[index]).map { [$0] } ?? [] : []
  }

  /// What stands between the outermost commas, up to the end of the list.
  private static func outermostParts(_ tokens: ArraySlice<SQLScanner.Token>) -> [ArraySlice<SQLScanner.Token>]
  {
    var parts: [ArraySlice<SQLScanner.Token>] = []
    var (depth, start) = (0, tokens.startIndex)
    for place in tokens.indices {
      let token = tokens[place]
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      let isEnd = depth < 0 || depth == 0 && (token.isWord("FROM") || token.isWord("WHERE"))
      if isEnd || depth == 0 && token.isMark(",") {
        parts.append(tokens[start..<place])
        start = place + 1
      }
      if isEnd { return parts }
    }
    parts.append(tokens[start...])
    return parts
  }

  /// The text of an FTS5 table that finds the rows of its content by another name; nil where it does so already.
  static func editedSearchTable(_ sql: String, key: String, rowid: String) -> String? {
    let tokens = SQLScanner.tokens(of: sql)
    let place = tokens.indices.dropLast(2).first {
      tokens[$0].isWord("content_rowid") && tokens[$0 + 1].isMark("=")
        && SQLName.isSame(tokens[$0 + 2].text, key)
    }
    guard let place else { return nil }
    var edits = SQLEdits(sql)
    edits.replace(tokens[place + 2].range, by: rowid)
    return edits.text
  }
}
