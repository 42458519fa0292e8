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
  /// - Parameters:
  ///   - changes: by folded names of columns.
  ///   - isRowidChanged: whether the column that is the rowid is one of them.
  /// - Returns: nil where not all of the columns were found.
  static func edited(
    _ sql: String, name: String, changes: [String: Change], isRowidChanged: Bool
  ) throws(UpsurgeError) -> String? {
    let tokens = SQLScanner.tokens(of: sql)
    guard let open = tokens.firstIndex(where: { $0.isMark("(") }), open > 0 else { return nil }
    var edits = SQLEdits(sql)
    edits.replace(tokens[open - 1].range, by: try SQLName.quote(name))
    var found: Set<String> = []
    for part in parts(tokens[(open + 1)...]) {
      guard let first = part.first else { continue }
      for token in part where isRowidChanged && token.isWord("AUTOINCREMENT") {
        edits.replace(token.range, by: "")
      }
      if part.contains(where: { $0.isWord("AS") }), changes[SQLName.folded(first.text)] == nil,
        let source = part.dropFirst().first(where: {
          $0.kind != .literal && changes[SQLName.folded($0.text)] != nil
        })
      {
        throw UpsurgeError(
          .guardRefused,
          "the column \(first.text.escapedForTerminal) is computed from \(source.text.escapedForTerminal), which becomes a UUID",
          hint: "make it an ordinary column first")
      }
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
    let rest = outermost(part[index...])
    let isNotNull = zip(rest, rest.dropFirst()).contains { $0.isWord("NOT") && $1.isWord("NULL") }
    var more = change.wasRowid && !isNotNull ? " NOT NULL" : ""
    // ON DELETE SET DEFAULT is none.
    let places = part.indices[index...].filter { part[$0].isWord("DEFAULT") && !part[$0 - 1].isWord("SET") }
    if let place = places.first {
      if let (range, number) = integer(part[(place + 1)...]) {
        edits.replace(range, by: try SQLName.literal(change.uuid(number)))
      }
    } else if let value = change.defaultValue {
      more += " DEFAULT (\(value))"
    }
    if !more.isEmpty, let end = part.last?.range.upperBound { edits.insert(more, at: end) }
  }
}

extension KeyTableText {
  /// The tokens that stand in no parentheses.
  private static func outermost(_ tokens: ArraySlice<SQLScanner.Token>) -> [SQLScanner.Token] {
    var depth = 0
    return tokens.filter { token in
      if token.isMark(")") { depth -= 1 }
      defer { if token.isMark("(") { depth += 1 } }
      return depth == 0
    }
  }

  /// The integer that a default is, with its sign, maybe in parentheses: `7`, `-7`, `(7)`; nil for another default.
  private static func integer(_ tokens: ArraySlice<SQLScanner.Token>) -> (range: Range<Int>, number: Int64)? {
    var rest = tokens
    let isEnclosed = rest.first?.isMark("(") == true
    if isEnclosed { rest = rest.dropFirst() }
    guard let first = rest.first else { return nil }
    let isSigned = first.isMark("-") || first.isMark("+")
    if isSigned { rest = rest.dropFirst() }
    guard let digits = rest.first, digits.kind == .word,
      let number = Int64((first.isMark("-") ? "-" : "") + digits.text)
    else { return nil }
    if isEnclosed, rest.dropFirst().first?.isMark(")") != true { return nil }
    return (first.range.lowerBound..<digits.range.upperBound, number)
  }
}

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

  /// The same text where these columns are called otherwise.
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
