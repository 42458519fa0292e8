import UpsurgeSQLite

/// An expression of one kind of database in the words of the other: that of a CHECK, an index, a generated column.
///
///     status = ANY (ARRAY['new'::text, 'paid'::text])     of PostgreSQL
///     "status" IN ('new', 'paid')                         in SQLite
///
/// Only what means the same on both sides goes over: columns whose values are alike, literals, comparisons, arithmetic, and a few
/// functions. Whether the other side takes it is asked there.
struct PortableExpression {
  /// Which words are read.
  enum Origin: Sendable { case sqlite, postgres }

  /// Why an expression does not go over.
  struct Obstacle: Error, Equatable {
    var reason: String
  }

  private let origin: Origin
  private let columns: [String: (name: String, kind: ColumnKind)]
  /// Whether the value is stored or compared with stored ones, so that it must be the same to the last byte.
  private let isExact: Bool

  /// - Parameter columns: of the table, with what their values are.
  init(from origin: Origin, columns: [(name: String, kind: ColumnKind)], isExact: Bool) {
    self.origin = origin
    self.columns = Dictionary(columns.map { (SQLName.folded($0.name), $0) }) { first, _ in first }
    self.isExact = isExact
  }

  private static let keywords: Set<String> = [
    "and", "or", "not", "is", "null", "in", "between", "case", "when", "then", "else", "end", "true", "false",
  ]

  /// Functions with the same answers on both sides.
  private static let functions: Set<String> = [
    "length", "abs", "coalesce", "nullif", "trim", "ltrim", "rtrim", "substr", "replace",
  ]

  /// Functions with other answers beyond ASCII, which a plain index bears.
  private static let nearFunctions: Set<String> = ["lower", "upper"]

  private static let marks: Set<String> = ["(", ")", ",", "=", "<", ">", "!", "+", "-", "*", "|", "."]

  func translated(_ text: String) throws(Obstacle) -> String {
    let tokens = SQLScanner.tokens(of: text)
    for (mark, next) in zip(tokens, tokens.dropFirst()) where mark.isMark("-") && next.isMark(">") {
      throw Obstacle(reason: "it looks into JSON")
    }
    if isExact { try checkExact(tokens) }
    return try translated(tokens[...])
  }

  /// The expression, or why there is not one.
  func result(of text: String) -> Result<String, Obstacle> {
    do throws(Obstacle) {
      return .success(try translated(text))
    } catch {
      return .failure(error)
    }
  }

  /// What has another answer on the other side, though both have it.
  private func checkExact(_ tokens: [SQLScanner.Token]) throws(Obstacle) {
    let hasReals = tokens.contains { columns[SQLName.folded($0.text)]?.kind == .real }
    if hasReals, tokens.contains(where: { $0.isMark("|") }) {
      throw Obstacle(reason: "it makes a text of a real, which is spelled otherwise there")
    }
    if tokens.contains(where: { $0.isWord("substr") }), tokens.contains(where: { $0.isMark("-") }) {
      throw Obstacle(reason: "it has substr(…) from the end")
    }
  }

  private func translated(_ tokens: ArraySlice<SQLScanner.Token>) throws(Obstacle) -> String {
    var (text, end, index) = ("", tokens.first?.range.lowerBound ?? 0, tokens.startIndex)
    while index < tokens.endIndex {
      let token = tokens[index]
      // Marks that stand together are one operator.
      if !text.isEmpty, token.range.lowerBound > end { text += " " }
      var used = 1
      if origin == .postgres, let count = castCount(tokens[index...]) {
        used = count
      } else if origin == .postgres, let list = anyList(tokens[index...]) {
        text += "IN (\(try translated(list.list)))"
        used = list.count
      } else if isExact, let inside = argument(tokens[index...]) {
        // Only ASCII letters change there, as SQLite does it.
        if origin == .postgres {
          throw Obstacle(reason: "it has \(token.text)(…), which changes only ASCII letters there")
        }
        text += "\(token.text.lowercased())((\(try translated(inside))) COLLATE \"C\")"
        used = inside.count + 3
      } else {
        text += try word(token, tokens[(index + 1)...])
        // SQLite takes == for =.
        if token.isMark("="), index + 1 < tokens.endIndex, tokens[index + 1].isMark("=") { used = 2 }
      }
      index += used
      end = tokens[index - 1].range.upperBound
    }
    return text
  }

  /// What one token is on the other side.
  private func word(_ token: SQLScanner.Token, _ rest: ArraySlice<SQLScanner.Token>) throws(Obstacle)
    -> String
  {
    switch token.kind {
    case .literal: return token.text.quotedAsText
    case .mark:
      if Self.marks.contains(token.text) { return token.text }
      throw Obstacle(reason: "it has the operator \(token.text)")
    case .quotedName, .word:
      let folded = SQLName.folded(token.text)
      let isCalled = rest.first?.isMark("(") == true
      if let column = columns[folded], !isCalled {
        if column.kind.isAlike { return column.name.quotedAsName }
        throw Obstacle(reason: "the values of \(column.name) are of another kind there")
      }
      // SQLite takes a quoted name for a text where no column has it.
      if token.kind == .quotedName {
        if origin == .sqlite { return token.text.quotedAsText }
        throw Obstacle(reason: "it names \(token.text)")
      }
      if token.text.first?.isNumber == true { return token.text }
      let lowered = token.text.lowercased()
      if Self.keywords.contains(lowered) { return lowered.uppercased() }
      if isCalled, Self.functions.contains(lowered) { return lowered }
      if isCalled, Self.nearFunctions.contains(lowered), !isExact { return lowered }
      throw Obstacle(reason: "it has \(token.text)\(isCalled ? "(…)" : "")")
    }
  }

  /// What stands in the parentheses of `lower(…)` or `upper(…)`; nil for anything else.
  private func argument(_ tokens: ArraySlice<SQLScanner.Token>) -> ArraySlice<SQLScanner.Token>? {
    let start = tokens.startIndex
    guard Self.nearFunctions.contains(tokens[start].text.lowercased()), tokens.count > 2,
      tokens[start + 1].isMark("(")
    else { return nil }
    var depth = 0
    for index in (start + 1)..<tokens.endIndex {
      if tokens[index].isMark("(") { depth += 1 }
      if tokens[index].isMark(")") { depth -= 1 }
      if depth == 0 { return tokens[(start + 2)..<index] }
    }
    return nil
  }

  // MARK: - What PostgreSQL writes

  private static let castTypes: Set<String> = [
    "text", "varchar", "bpchar", "integer", "bigint", "smallint", "numeric", "boolean",
  ]

  /// How many tokens `::text`, `::character varying(20)` or `::double precision` takes; nil for anything else.
  private func castCount(_ tokens: ArraySlice<SQLScanner.Token>) -> Int? {
    let words = tokens.prefix(8).map(\.text)
    guard words.count >= 3, words[0] == ":", words[1] == ":" else { return nil }
    var count = 3
    if words.count > 3,
      [words[2], words[3]] == ["character", "varying"] || [words[2], words[3]] == ["double", "precision"]
    {
      count = 4
    } else if !Self.castTypes.contains(words[2]) {
      return nil
    }
    guard words.count > count, words[count] == "(" else { return count }
    guard let end = words[count...].firstIndex(of: ")") else { return nil }
    return end + 1
  }

  /// The list of `= ANY (ARRAY[…])` or `= ANY ((ARRAY[…])::text[])`, and how many tokens that takes; nil for anything else.
  private func anyList(_ tokens: ArraySlice<SQLScanner.Token>) -> (
    list: ArraySlice<SQLScanner.Token>, count: Int
  )? {
    let next = Array(tokens.prefix(12))
    guard next.count >= 6, next[0].isMark("="), next[1].isWord("ANY"), next[2].isMark("(") else { return nil }
    let isCast = next[3].isMark("(")
    let array = isCast ? 4 : 3
    guard next.count > array + 2, next[array].isWord("ARRAY"), next[array + 1].kind == .quotedName,
      next[array + 2].isMark(")")
    else {
      return nil
    }
    let list = SQLScanner.tokens(of: next[array + 1].text)[...]
    if !isCast { return (list, 6) }
    let rest = next.dropFirst(7).map(\.text)
    return rest == [":", ":", "text", "", ")"] ? (list, 12) : nil
  }
}
