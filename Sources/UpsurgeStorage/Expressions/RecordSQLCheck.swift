import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Whether text is one SQL expression over the fields of a record, and which fields it needs. SQLite decides both.
struct RecordSQLCheck {
  /// Who has given the SQL.
  enum Option {
    case `let`(String)
    case `where`

    var said: Wording {
      switch self {
      case .let(let column): "\(.let, column.escapedForTerminal)"
      case .where: "\(.where)"
      }
    }
  }

  private let connection: Connection
  private let names: [String]
  private let isText: Bool

  init(_ connection: Connection, fields names: [String], isText: Bool) {
    (self.connection, self.names, self.isText) = (connection, names, isText)
  }

  /// A row of the fields, in the order of their parameters.
  func source(of fields: [Int]) throws(UpsurgeError) -> String {
    if fields.isEmpty { return "(SELECT 1)" }
    var parts: [String] = []
    for (place, field) in fields.enumerated() {
      let value = isText ? "CAST(?\(place + 1) AS TEXT)" : "?\(place + 1)"
      parts.append("\(value) AS \(try SQLName.quote(names[field]))")
    }
    return "(SELECT \(parts.joined(separator: ", ")))"
  }

  /// The fields that an expression needs.
  /// - Throws: `usage` for what is not one expression over the fields.
  func fields(of sql: String, option: Option) throws(UpsurgeError) -> [Int] {
    let fragment = SQLFragment(sql)
    do throws(UpsurgeError) { try fragment.checkIsExpression(option: option.said) } catch {
      var error = error
      error.remedy = "give one expression over the record's fields, without ; or parameters"
      throw error
    }
    let spoken = candidates(fragment)
    if let message = try refusal(of: sql, over: spoken) { throw refused(option, message) }
    if let name = hiddenRowid(fragment, spoken) { throw refused(option, "no such column: \(name)") }
    try checkComparisons(fragment, spoken, option)
    var needed: [Int] = []
    for field in spoken {
      // Of a row without such a column, these names are NULL.
      var isNeeded = Self.rowidNames.contains(SQLName.folded(names[field]))
      if !isNeeded { isNeeded = try refusal(of: sql, over: spoken.filter { $0 != field }) != nil }
      if isNeeded { needed.append(field) }
    }
    return needed
  }

  private static let rowidNames: Set = ["rowid", "oid", "_rowid_"]

  /// A name of the rowid that no field has; SQLite takes it for that of a row which has none.
  private func hiddenRowid(_ fragment: SQLFragment, _ spoken: [Int]) -> String? {
    let known = Set(spoken.map { SQLName.folded(names[$0]) })
    let tokens = fragment.tokens
    for (index, token) in tokens.enumerated()
    where token.isName && (index == 0 || !tokens[index - 1].isMark(".")) {
      let name = SQLName.folded(token.text)
      if Self.rowidNames.contains(name), !known.contains(name) { return token.text }
    }
    return nil
  }

  /// The fields whose names stand in the text, as far as SQLite can know them.
  private func candidates(_ fragment: SQLFragment) -> [Int] {
    let words = Set(fragment.tokens.filter(\.isName).map { SQLName.folded($0.text) })
    return names.indices.filter { words.contains(SQLName.folded(names[$0])) && !names[$0].utf8.contains(0) }
  }

  /// What SQLite says against an expression; nil where it takes it. As a condition, it may hold no aggregate.
  private func refusal(of sql: String, over fields: [Int]) throws(UpsurgeError) -> String? {
    let text = "SELECT 1 FROM \(try source(of: fields)) WHERE (\(sql)\n)"
    do throws(UpsurgeError) {
      _ = try connection.prepare(text)
      return nil
    } catch {
      return connection.lastMessage
    }
  }

  private func refused(_ option: Option, _ message: String) -> UpsurgeError {
    let shown =
      names.prefix(50).joined(separator: ", ") + (names.count > 50 ? ", and \(names.count - 50) more" : "")
    return UpsurgeError(
      .usage, "the SQL of \(saying: option.said) cannot be compiled: \(message.escapedForTerminal)",
      hint:
        "the fields are: \(shown.escapedForTerminal); tables, aggregates and windows are not for one record")
  }

  /// A text that is compared with a number as it stands would be compared letter by letter.
  private func checkComparisons(_ fragment: SQLFragment, _ spoken: [Int], _ option: Option)
    throws(UpsurgeError)
  {
    guard isText else { return }
    let fields = Set(spoken.map { SQLName.folded(names[$0]) })
    let parts = Self.comparisons(fragment.tokens) + Self.ranges(fragment.tokens)
    for (left, right) in parts {
      for (field, number) in [(left, right), (right, left)] {
        guard field.isName, !field.isNumber, fields.contains(SQLName.folded(field.text)), number.isNumber
        else { continue }
        let name = field.text.escapedForTerminal
        throw UpsurgeError(
          .usage,
          "\(saying: option.said) compares the field \(name) with the number \(number.text), and fields of CSV are texts",
          hint: "write CAST(\(name) AS REAL) to compare numbers, or '\(number.text)' to compare texts")
      }
    }
  }

  /// What stands alone on both sides of `<`, `>`, `<=`, `>=`: a name, or a number with its sign and fraction.
  private static func comparisons(_ tokens: [SQLScanner.Token]) -> [(SQLScanner.Token, SQLScanner.Token)] {
    var found: [(SQLScanner.Token, SQLScanner.Token)] = []
    for index in tokens.indices where tokens[index].isMark("<") || tokens[index].isMark(">") {
      var next = index + 1
      guard index > 0, next < tokens.count else { continue }
      // `<<`, `>>`, `<>`, `->` and `->>` are no such comparisons.
      if [tokens[index - 1], tokens[next]].contains(where: {
        ["<", ">", "-"].contains($0.text) && $0.kind == .mark
      }) {
        guard tokens[next].isMark("-"), !["<", ">", "-"].contains(tokens[index - 1].text) else { continue }
      }
      if tokens[next].isMark("=") { next += 1 }
      if next < tokens.count, tokens[next].isMark("-") || tokens[next].isMark("+") { next += 1 }
      guard next < tokens.count else { continue }
      let right = tokens[next]
      next += Self.isFraction(tokens, from: next) ? 3 : 1
      var before = index - 1
      let left = tokens[before]
      before -= before >= 2 && Self.isFraction(tokens, from: before - 2) ? 3 : 1
      // Where more belongs to a side, it may well be a number.
      if before >= 0 && Self.binds(tokens[before]) || next < tokens.count && Self.binds(tokens[next]) {
        continue
      }
      found.append((left, right))
    }
    return found
  }

  /// What stands before and after `BETWEEN`: a name, and a number without its sign.
  private static func ranges(_ tokens: [SQLScanner.Token]) -> [(SQLScanner.Token, SQLScanner.Token)] {
    tokens.indices.filter { tokens[$0].isWord("BETWEEN") }.compactMap { index in
      var (before, next) = (index - 1, index + 1)
      if before >= 0, tokens[before].isWord("NOT") { before -= 1 }
      if next < tokens.count, tokens[next].isMark("-") || tokens[next].isMark("+") { next += 1 }
      guard before >= 0, next < tokens.count, before == 0 || !binds(tokens[before - 1]) else { return nil }
      return (tokens[before], tokens[next])
    }
  }

  /// Whether `5`, `.` and `5` stand there.
  private static func isFraction(_ tokens: [SQLScanner.Token], from start: Int) -> Bool {
    start + 2 < tokens.count && tokens[start].isNumber && tokens[start + 1].isMark(".")
      && tokens[start + 2].isNumber
  }

  /// Whether a token belongs to the operand beside it.
  private static func binds(_ token: SQLScanner.Token) -> Bool {
    token.kind == .mark ? !["(", ")", ","].contains(token.text) : token.isWord("COLLATE")
  }
}

extension SQLScanner.Token {
  fileprivate var isNumber: Bool {
    kind == .word && text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
  }
}
