/// What only the text of a CREATE TABLE says, since no pragma does: ON CONFLICT clauses, CHECKs, the expressions of generated
/// columns, and which foreign keys wait for the end of a transaction.
///
/// The text comes from SQLite's own schema, so it is valid; anything not understood is passed over. The text
/// between the outer parentheses is cut at its commas; each part is a column or a table constraint:
///
///     CREATE TABLE t ( a TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'x' , UNIQUE (a) ON CONFLICT IGNORE )
///                      `------------- column a --------------------'   `------ constraint ----------'
package struct CreateTableText {
  /// By folded column name.
  private(set) var notNullConflicts: [String: TableSchema.ConflictClause] = [:]
  /// Expressions of CHECKs, without their parentheses.
  package private(set) var checks: [String] = []
  /// Whether a CHECK calls any function.
  private(set) var checkCallsFunction = false
  /// Whether a CHECK calls a function that may raise an error.
  private(set) var checkMayRaise = false
  private(set) var hasAutoincrement = false
  /// Expressions of generated columns, by folded column name.
  package private(set) var generated: [String: String] = [:]
  /// Foreign keys that are looked at when the transaction ends, each by its folded columns.
  package private(set) var deferredForeignKeys: [[String]] = []
  private let bytes: [UInt8]
  private var keyConflicts: [[String]: TableSchema.ConflictClause] = [:]

  package init(_ sql: String) {
    bytes = Array(sql.utf8)
    let tokens = SQLScanner.tokens(of: sql)
    guard let start = tokens.firstIndex(where: { $0.isMark("(") }) else { return }
    var part: [SQLScanner.Token] = []
    var depth = 0
    for token in tokens[(start + 1)...] {
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      if depth < 0 { break }
      if depth == 0 && token.isMark(",") {
        read(part)
        part = []
      } else {
        part.append(token)
      }
    }
    read(part)
  }

  /// The clause of the key on these columns, in whatever order.
  func keyConflict(_ columns: [String]) -> TableSchema.ConflictClause? {
    keyConflicts[columns.map(SQLName.folded).sorted()]
  }

  private mutating func read(_ part: [SQLScanner.Token]) {
    guard let first = part.first else { return }
    let isConstraint = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains { first.isWord($0) }
    var index = 0
    var depth = 0
    while index < part.count {
      let token = part[index]
      index += 1
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      if depth > 0 { continue }
      if token.isWord("INITIALLY"), index < part.count, part[index].isWord("DEFERRED") {
        deferredForeignKeys.append(foreignKey(part[..<index]) ?? [SQLName.folded(first.text)])
      } else if token.isWord("AUTOINCREMENT") {
        hasAutoincrement = true
      } else if token.isWord("CHECK") {
        if let text = expression(part[index...]) { checks.append(text) }
        if calls(part[index...], except: Self.keywords) { checkCallsFunction = true }
        if calls(part[index...], except: Self.keywords.union(Self.harmless)) { checkMayRaise = true }
      } else if token.isWord("AS"), let text = expression(part[index...]) {
        generated[SQLName.folded(first.text)] = text
      } else if token.isWord("NOT"), index < part.count, part[index].isWord("NULL") {
        notNullConflicts[SQLName.folded(first.text)] = conflict(part, after: index + 1)
      } else if token.isWord("PRIMARY") || token.isWord("UNIQUE") {
        let columns = isConstraint ? names(part, from: index) : [first.text]
        guard let clause = conflict(part, after: index) else { continue }
        keyConflicts[columns.map(SQLName.folded).sorted()] = clause
      }
    }
  }

  /// The folded columns of the last FOREIGN KEY of a part; nil where the part is a column.
  private func foreignKey(_ part: ArraySlice<SQLScanner.Token>) -> [String]? {
    guard let start = part.lastIndex(where: { $0.isWord("FOREIGN") }) else { return nil }
    return names(Array(part), from: start).map(SQLName.folded)
  }

  /// The text between the parenthesis that begins here and the one that closes it.
  private func expression(_ tokens: ArraySlice<SQLScanner.Token>) -> String? {
    guard let first = tokens.first, first.isMark("(") else { return nil }
    var depth = 0
    for token in tokens {
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      if depth == 0 {
        return String(decoding: bytes[first.range.upperBound..<token.range.lowerBound], as: UTF8.self)
      }
    }
    return nil
  }

  /// Words that may stand before a parenthesis and are no functions.
  private static let keywords: Set<String> = [
    "and", "or", "not", "in", "is", "between", "like", "glob", "case", "when", "then", "else", "check",
    "constraint", "key", "unique", "default", "as", "cast",
  ]

  /// Functions that never fail.
  package static let harmless: Set<String> = [
    "length", "typeof", "lower", "upper", "trim", "ltrim", "rtrim", "substr", "instr", "coalesce", "ifnull",
    "nullif", "json_valid", "round", "min", "max",
  ]

  /// Whether something other than these words is called, or an arrow of JSON is used.
  private func calls(_ tokens: ArraySlice<SQLScanner.Token>, except words: Set<String>) -> Bool {
    for (token, next) in zip(tokens, tokens.dropFirst()) {
      if token.isMark("-") && next.isMark(">") { return true }
      if next.isMark("("), token.kind == .word || token.kind == .quotedName,
        !words.contains(SQLName.folded(token.text))
      {
        return true
      }
    }
    return false
  }

  /// The word of the first `ON CONFLICT word` after `index`, before another constraint begins.
  private func conflict(_ part: [SQLScanner.Token], after index: Int) -> TableSchema.ConflictClause? {
    var depth = 0
    for at in index..<max(part.count, index) {
      if part[at].isMark("(") { depth += 1 }
      if part[at].isMark(")") { depth -= 1 }
      if depth > 0 { continue }
      if ["NOT", "UNIQUE", "PRIMARY", "CHECK", "REFERENCES", "DEFAULT", "COLLATE"].contains(where: {
        part[at].isWord($0)
      }) {
        return nil
      }
      if at + 2 < part.count, part[at].isWord("ON"), part[at + 1].isWord("CONFLICT") {
        return TableSchema.ConflictClause(rawValue: part[at + 2].text.lowercased())
      }
    }
    return nil
  }

  /// The first name of each entry in the parentheses that follow.
  private func names(_ part: [SQLScanner.Token], from index: Int) -> [String] {
    guard let open = part[index...].firstIndex(where: { $0.isMark("(") }) else { return [] }
    var names: [String] = []
    var isFirst = true
    for token in part[(open + 1)...] {
      if token.isMark(")") { break }
      if token.isMark(",") {
        isFirst = true
      } else if isFirst {
        names.append(token.text)
        isFirst = false
      }
    }
    return names
  }
}
