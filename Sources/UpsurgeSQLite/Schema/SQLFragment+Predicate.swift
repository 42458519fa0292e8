/// Conditions of partial indexes.
extension SQLFragment {
  /// Whether two conditions hold for the same rows by the way they are written: as `isSame`, and in two more cases. One is
  /// that parts joined by AND come in another order or in separate parentheses. The other is `IS` of a literal in the place of
  /// `=`, which is the same for a row that is in an index or not.
  package func isSamePredicate(_ other: SQLFragment, in schema: TableSchema) -> Bool {
    var rest = Self.conjuncts(other.tokens[...])
    for part in Self.conjuncts(tokens[...]) {
      guard let index = rest.firstIndex(where: { Self.isSame($0, part, in: schema) }) else { return false }
      rest.remove(at: index)
    }
    return rest.isEmpty
  }

  /// The parts that are joined by AND, each in one spelling.
  private static func conjuncts(_ tokens: ArraySlice<SQLScanner.Token>) -> [ArraySlice<SQLScanner.Token>] {
    let tokens = stripped(tokens)
    var parts: [ArraySlice<SQLScanner.Token>] = []
    var (depth, start) = (0, tokens.startIndex)
    for (index, token) in zip(tokens.indices, tokens) {
      depth += token.isMark("(") ? 1 : token.isMark(")") ? -1 : 0
      // An OR binds less than AND, and these have an AND of their own.
      if depth == 0, ["OR", "BETWEEN", "CASE"].contains(where: { token.isWord($0) }) {
        return [spelled(tokens)]
      }
      if depth == 0, token.isWord("AND") {
        parts.append(tokens[start..<index])
        start = index + 1
      }
    }
    if parts.isEmpty { return [spelled(tokens)] }
    parts.append(tokens[start...])
    return parts.flatMap { conjuncts($0) }
  }

  /// `column IS literal` and `column == literal` as `column = literal`; all else as it is.
  private static func spelled(_ tokens: ArraySlice<SQLScanner.Token>) -> ArraySlice<SQLScanner.Token> {
    let parts = Array(tokens)
    let equals = SQLScanner.Token(kind: .mark, text: "=")
    guard parts.count >= 3, parts[0].isName else { return tokens }
    let value: ArraySlice<SQLScanner.Token>
    if parts[1].isWord("IS") {
      value = parts[2...]
    } else if parts.count > 3, parts[1] == equals, parts[2] == equals {
      value = parts[3...]
    } else {
      return tokens
    }
    let isNumber =
      value.last?.kind == .word && value.last?.text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
    let isNegative = value.count == 2 && value.first?.isMark("-") ?? false && isNumber
    guard isNegative || value.count == 1 && (isNumber || value.last?.kind == .literal) else { return tokens }
    return [parts[0], equals] + value
  }
}
