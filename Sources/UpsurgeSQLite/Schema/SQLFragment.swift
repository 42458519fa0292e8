import UpsurgeRecords

/// SQL text that a person or a schema gave, looked at without knowing its grammar.
package struct SQLFragment {
  let text: String
  package let tokens: [SQLScanner.Token]

  package init(_ text: String) {
    self.text = text
    tokens = SQLScanner.tokens(of: text)
  }

  /// Whether two texts about a table are one but for spaces, case, quotes of columns and parentheses around the whole.
  package func isSame(_ other: SQLFragment, in schema: TableSchema) -> Bool {
    Self.isSame(Self.stripped(tokens[...]), Self.stripped(other.tokens[...]), in: schema)
  }

  static func isSame(
    _ left: ArraySlice<SQLScanner.Token>, _ right: ArraySlice<SQLScanner.Token>, in schema: TableSchema
  ) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { $0.isSame($1, in: schema) }
  }

  /// The columns of a table that the text may speak of.
  package func columns(of schema: TableSchema) -> [Int] {
    schema.columns.indices.filter { index in
      tokens.contains { $0.isName && SQLName.isSame($0.text, schema.columns[index].name) }
    }
  }

  /// Whether SQLite may fail to evaluate it, or takes it for something that may: functions, subqueries, JSON arrows.
  package var mayRaise: Bool {
    for (token, next) in zip(tokens, tokens.dropFirst()) {
      if token.isMark("-") && next.isMark(">") { return true }
      if next.isMark("("), token.isName, !Self.keywords.contains(SQLName.folded(token.text)) { return true }
    }
    return tokens.contains { token in
      ["SELECT", "LIKE", "GLOB", "REGEXP", "MATCH", "CAST"].contains { token.isWord($0) }
    }
  }

  /// - Throws: `usage` when it could be anything but one expression: it must not end the statement or bring parameters.
  package func checkIsExpression(option: Wording) throws(UpsurgeError) {
    var depth = 0
    var isBalanced = !tokens.isEmpty
    for token in tokens {
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      let isForeign = [";", "?", ":", "@"].contains { token.isMark($0) } || token.text.hasPrefix("$")
      if depth < 0 || (isForeign && token.kind != .literal && token.kind != .quotedName) {
        isBalanced = false
      }
    }
    if !isBalanced || depth != 0 || text.utf8.contains(0) {
      throw UpsurgeError(
        .usage, "\(saying: option) is no SQL expression: \(text.escapedForTerminal)",
        hint: "give one expression over excluded.COL and the row's columns, without ; or parameters")
    }
  }

  /// The text with `excluded.name` replaced.
  package func replacingExcluded(_ replacement: (String) -> String) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var at = 0
    var index = 0
    while index < tokens.count {
      if index + 2 < tokens.count, tokens[index].isName, SQLName.isSame(tokens[index].text, "excluded"),
        tokens[index + 1].isMark("."), tokens[index + 2].isName
      {
        result += bytes[at..<tokens[index].range.lowerBound]
        result += Array(replacement(tokens[index + 2].text).utf8)
        at = tokens[index + 2].range.upperBound
        index += 3
      } else {
        index += 1
      }
    }
    result += bytes[at...]
    return String(decoding: result, as: UTF8.self)
  }

  /// Words that may stand before a parenthesis and are no functions.
  private static let keywords: Set<String> = [
    "and", "or", "not", "in", "is", "between", "case", "when", "then", "else", "where",
  ]

  /// Tokens without the parentheses around all of them.
  static func stripped(_ tokens: ArraySlice<SQLScanner.Token>) -> ArraySlice<SQLScanner.Token> {
    var tokens = tokens
    while let first = tokens.first, let last = tokens.last, first.isMark("("), last.isMark(")") {
      var depth = 0
      let inner = tokens.dropFirst().dropLast()
      for token in inner {
        depth += token.isMark("(") ? 1 : token.isMark(")") ? -1 : 0
        if depth < 0 { return tokens }
      }
      tokens = inner
    }
    return tokens
  }
}

extension SQLScanner.Token {
  package var isName: Bool { kind == .word || kind == .quotedName }

  /// Whether the token is a number, or another word that stands for a value and never for a column.
  private var isValueWord: Bool {
    kind == .word
      && (text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
        || ["NULL", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"].contains { isWord($0) })
  }

  /// Whether two tokens mean the same. "Text" in double quotes is a text to SQLite where no column is named so.
  fileprivate func isSame(_ other: SQLScanner.Token, in schema: TableSchema) -> Bool {
    switch (kind, other.kind) {
    case (.word, .word): SQLName.isSame(text, other.text)
    case (.quotedName, .quotedName), (.word, .quotedName), (.quotedName, .word):
      self == other
        || SQLName.isSame(text, other.text) && schema.columnIndex(text) != nil && !isValueWord
          && !other.isValueWord
    default: self == other
    }
  }
}
