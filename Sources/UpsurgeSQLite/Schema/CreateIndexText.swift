/// What only the text of a CREATE INDEX says: its expressions and its WHERE.
///
///     CREATE UNIQUE INDEX i ON t ( lower(email) , "a b" COLLATE NOCASE DESC ) WHERE active = 1
///                                  `-- part --'   `------- part ----------'         `predicate'
package struct CreateIndexText {
  /// Each part as the index spells it, without ASC or DESC.
  package private(set) var parts: [String] = []
  /// What follows WHERE.
  package private(set) var predicate: String?

  package init(_ sql: String) {
    let bytes = Array(sql.utf8)
    let tokens = SQLScanner.tokens(of: sql)
    func text(_ tokens: ArraySlice<SQLScanner.Token>) -> String {
      guard let first = tokens.first, let last = tokens.last else { return "" }
      return String(decoding: bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
    }
    guard let open = tokens.firstIndex(where: { $0.isMark("(") }) else { return }
    var depth = 0
    var start = open + 1
    var index = start
    while index < tokens.count, depth >= 0 {
      let token = tokens[index]
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      if depth < 0 || (depth == 0 && token.isMark(",")) {
        var part = tokens[start..<index]
        if let last = part.last, last.isWord("ASC") || last.isWord("DESC") { part = part.dropLast() }
        parts.append(text(part))
        start = index + 1
      }
      index += 1
    }
    if index < tokens.count, tokens[index].isWord("WHERE") { predicate = text(tokens[(index + 1)...]) }
  }
}
