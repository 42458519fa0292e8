import UpsurgeRecords
import UpsurgeSQLite

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
      let isFollowed = part.count > 1 && part[1].range.lowerBound == part[0].range.upperBound
      edits.insert(isFollowed ? " TEXT " : " TEXT", at: part[0].range.upperBound)
    } else {
      edits.replace(part[1].range.lowerBound..<part[index - 1].range.upperBound, by: "TEXT")
    }
    let rest = outermost(part[index...])
    let isNotNull = zip(rest, rest.dropFirst()).contains { $0.isWord("NOT") && $1.isWord("NULL") }
    var more = change.wasRowid && !isNotNull ? " NOT NULL" : ""
    // The DEFAULT of ON DELETE SET DEFAULT does not count.
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
