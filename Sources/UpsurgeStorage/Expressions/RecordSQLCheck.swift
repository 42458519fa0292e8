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
    try checkComparisons(fragment, spoken, option)
    var needed: [Int] = []
    for field in spoken where try refusal(of: sql, over: spoken.filter { $0 != field }) != nil {
      needed.append(field)
    }
    return needed
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
      hint: names.isEmpty
        ? "give one expression over the record's fields"
        : "the fields are: \(shown.escapedForTerminal); tables, aggregates and windows are not for one record"
    )
  }

  /// A text that is compared with a number as it stands would be compared letter by letter.
  private func checkComparisons(_ fragment: SQLFragment, _ spoken: [Int], _ option: Option)
    throws(UpsurgeError)
  {
    guard isText else { return }
    let fields = Set(spoken.map { SQLName.folded(names[$0]) })
    let parts = Self.comparisons(fragment.tokens)
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

  /// What stands on both sides of `<`, `>`, `<=`, `>=`, alone.
  private static func comparisons(_ tokens: [SQLScanner.Token]) -> [(SQLScanner.Token, SQLScanner.Token)] {
    var found: [(SQLScanner.Token, SQLScanner.Token)] = []
    for (index, token) in tokens.enumerated() where token.isMark("<") || token.isMark(">") {
      let isShift =
        tokens[..<index].last?.text == token.text || tokens[(index + 1)...].first?.text == token.text
      let isArrow = tokens[..<index].last.map { $0.isMark("-") || $0.isMark("<") || $0.isMark(">") } ?? true
      if isShift || isArrow || index == 0 { continue }
      var next = index + 1
      if next < tokens.count, tokens[next].isMark("=") { next += 1 }
      guard next < tokens.count, !tokens[next].isMark(">") else { continue }
      // Where more belongs to a side, it may well be a number.
      let before = index >= 2 ? tokens[index - 2] : nil
      let after = next + 1 < tokens.count ? tokens[next + 1] : nil
      if Self.binds(before) || Self.binds(after) { continue }
      found.append((tokens[index - 1], tokens[next]))
    }
    return found
  }

  /// Whether a token belongs to the operand beside it.
  private static func binds(_ token: SQLScanner.Token?) -> Bool {
    guard let token, token.kind == .mark else { return token.map { $0.isWord("COLLATE") } ?? false }
    return !["(", ")", ","].contains(token.text)
  }
}

extension SQLScanner.Token {
  fileprivate var isNumber: Bool {
    kind == .word && text.utf8.first.map { (0x30...0x39).contains($0) } ?? false
  }
}
