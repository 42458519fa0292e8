import UpsurgeRecords
import UpsurgeSQLite

extension NumberUse.Reader {
  /// An operator that stands after an operand, with the precedence that SQLite gives it.
  struct Operator {
    enum Kind {
      case or, and, compare, `is`, isNull, between, `in`, like, calculate, concatenate, extract, collate
    }

    let kind: Kind
    /// Higher ones bind more.
    let binding: Int
    let tokenCount: Int

    static let not = 3
    static let equality = 4
    static let sign = 11

    init(_ kind: Kind, _ binding: Int, _ tokenCount: Int = 1) {
      (self.kind, self.binding, self.tokenCount) = (kind, binding, tokenCount)
    }
  }

  /// The operator that comes next.
  func `operator`() -> Operator? {
    guard index < tokens.count else { return nil }
    return tokens[index].kind == .mark ? marks() : tokens[index].kind == .word ? words() : nil
  }

  private func words() -> Operator? {
    let isNegated = tokens[index].isWord("NOT")
    let at = index + (isNegated ? 1 : 0)
    guard at < tokens.count else { return nil }
    let count = at - index + 1
    func isWord(_ word: String) -> Bool { tokens[at].isWord(word) }
    if isWord("BETWEEN") { return Operator(.between, Operator.equality, count) }
    if isWord("IN") { return Operator(.in, Operator.equality, count) }
    if ["LIKE", "GLOB", "REGEXP", "MATCH"].contains(where: isWord) {
      return Operator(.like, Operator.equality, count)
    }
    if isNegated { return isWord("NULL") ? Operator(.isNull, Operator.equality, 2) : nil }
    if isWord("OR") { return Operator(.or, 1) }
    if isWord("AND") { return Operator(.and, 2) }
    if isWord("ISNULL") || isWord("NOTNULL") { return Operator(.isNull, Operator.equality) }
    if isWord("COLLATE") { return Operator(.collate, 12) }
    guard isWord("IS") else { return nil }
    return Operator(.is, Operator.equality, at + 1 < tokens.count && tokens[at + 1].isWord("NOT") ? 2 : 1)
  }

  private func marks() -> Operator? {
    var mark = tokens[index].text
    var count = 1
    // The scanner cuts marks into single ones.
    while count < 3, index + count < tokens.count, tokens[index + count].kind == .mark,
      tokens[index + count].range.lowerBound == tokens[index + count - 1].range.upperBound,
      Self.longMarks.contains(where: { $0.hasPrefix(mark + tokens[index + count].text) })
    {
      mark += tokens[index + count].text
      count += 1
    }
    switch mark {
    case "=", "==", "<>", "!=": return Operator(.compare, Operator.equality, count)
    case "<", ">", "<=", ">=": return Operator(.compare, 5, count)
    case "&", "|", "<<", ">>": return Operator(.calculate, 7, count)
    case "+", "-": return Operator(.calculate, 8)
    case "*", "/", "%": return Operator(.calculate, 9)
    case "||": return Operator(.concatenate, 10, count)
    case "->", "->>": return Operator(.extract, 10, count)
    default: return nil
    }
  }

  private static let longMarks = ["==", "<>", "!=", "<=", ">=", "<<", ">>", "||", "->", "->>"]
}
