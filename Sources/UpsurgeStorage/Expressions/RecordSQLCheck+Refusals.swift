import UpsurgeRecords
import UpsurgeSQLite

/// What is said of SQL that is no expression over the fields of a record, and what helps.
extension RecordSQLCheck {
  func incomplete(_ sql: String, _ option: Option) -> UpsurgeError {
    UpsurgeError(
      .usage,
      "the SQL of \(saying: option.said) ends too early: something is missing after \(sql.escapedForTerminal)",
      hint: "write the rest of the expression; the fields are: \(record.list.escapedForTerminal)")
  }

  func refused(_ option: Option, _ message: String, _ fragment: SQLFragment) -> UpsurgeError {
    if let name = Self.unknownName(message) { return unknown(name, option, fragment) }
    return uncompiled(
      option, message,
      hint:
        "the fields are: \(record.list.escapedForTerminal); tables, aggregates and windows are not for one record"
    )
  }

  /// What is said of a name that no field has.
  func unknown(_ name: String, _ option: Option, _ fragment: SQLFragment) -> UpsurgeError {
    let list = record.list.escapedForTerminal
    let hint: Wording
    if computed.contains(where: { SQLName.isSame($0, name) }) {
      hint =
        "SQL sees no computed column: write the SQL of \(name.escapedForTerminal) in its place; the fields are: \(list)"
    } else if let field = record.field(renamed: name) {
      let written = SQLName.written(field).escapedForTerminal
      hint = "SQL sees the names of the input, before \(.rename): write \(written); the fields are: \(list)"
    } else if let text = literal(inDoubleQuotes: name, fragment) {
      hint =
        "double quotes are for names: write \(text.escapedForTerminal) for the text; the fields are: \(list)"
    } else if record.hasMore {
      hint = "\(.infer, "full") finds a field that comes later; the first ones are: \(list)"
    } else {
      hint = "the fields are: \(list); tables, aggregates and windows are not for one record"
    }
    return uncompiled(option, "no such column: \(name)", hint: hint)
  }

  /// What is said of a text that is compared with a number: letter by letter, or as less than any text.
  func refused(_ mismatch: NumberUse.Mismatch, _ option: Option) -> UpsurgeError {
    let number = mismatch.number.escapedForTerminal
    let type = mismatch.isLargeInteger ? "INTEGER" : "REAL"
    let text = mismatch.isLiteral ? "'\(number)'" : "CAST(\(number) AS TEXT)"
    let name = (mismatch.field.map { SQLName.written(record.names[$0]) } ?? mismatch.text).escapedForTerminal
    let what: Wording =
      mismatch.field == nil
      ? "compares the text \(name) with the number \(number), and a text is greater than any number"
      : "compares the field \(name) with the number \(number), and fields of CSV are texts"
    return UpsurgeError(
      .usage, "\(saying: option.said) \(saying: what)",
      hint: "write CAST(\(name) AS \(type)) to compare numbers, or \(text) to compare texts")
  }

  private func uncompiled(_ option: Option, _ message: String, hint: Wording) -> UpsurgeError {
    UpsurgeError(
      .usage, "the SQL of \(saying: option.said) cannot be compiled: \(message.escapedForTerminal)",
      hint: hint)
  }

  /// The text that was meant where the name stands in double quotes; nil where it stands in others, or in none.
  private func literal(inDoubleQuotes name: String, _ fragment: SQLFragment) -> String? {
    let isQuoted = fragment.tokens.contains { $0.kind == .quotedName && $0.text == name }
    return isQuoted ? try? SQLName.literal(name) : nil
  }

  /// The name that SQLite does not know; newer versions show it in quotes and ask whether it is a text.
  private static func unknownName(_ message: String) -> String? {
    let beginning = "no such column: "
    guard message.hasPrefix(beginning) else { return nil }
    let said = message.dropFirst(beginning.count)
    guard said.hasPrefix("\""), let end = said.lastIndex(of: "\""), end > said.startIndex else {
      return String(said)
    }
    return String(said[said.index(after: said.startIndex)..<end])
  }
}

extension NumberUse.Mismatch {
  /// Whether a double would round the number.
  fileprivate var isLargeInteger: Bool {
    guard isLiteral, let value = Int64(number.filter { $0 != " " }) else { return false }
    return value.magnitude > 1 << 53
  }
}
