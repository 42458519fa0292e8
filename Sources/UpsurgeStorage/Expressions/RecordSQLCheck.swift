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

    var isCondition: Bool {
      if case .where = self { return true }
      return false
    }
  }

  let connection: Connection
  let record: RecordFields
  /// The names of computed columns.
  let computed: [String]
  private let numberFields: NumberUse.Fields

  private var names: [String] { record.names }

  init(_ connection: Connection, fields record: RecordFields, computed: [String]) {
    (self.connection, self.record, self.computed) = (connection, record, computed)
    let places = record.names.enumerated().map { (SQLName.folded($1), $0) }
    numberFields = NumberUse.Fields(
      places: Dictionary(places) { first, _ in first }, isText: record.isText, flags: record.flags)
  }

  /// A row of the fields, in the order of their parameters.
  func source(of fields: [Int]) throws(UpsurgeError) -> String {
    if fields.isEmpty { return "(SELECT 1)" }
    var parts: [String] = []
    for (place, field) in fields.enumerated() {
      let value = record.isText ? "CAST(?\(place + 1) AS TEXT)" : "?\(place + 1)"
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
    if let message = try refusal(of: sql, over: spoken) {
      if try isIncomplete(sql, over: spoken) { throw incomplete(sql, option) }
      throw refused(option, message, fragment)
    }
    if let name = hiddenRowid(fragment, spoken) { throw unknown(name, option, fragment) }
    var needed: [Int] = []
    for field in spoken {
      // Of a row without such a column, these names are NULL.
      var isNeeded = Self.rowidNames.contains(SQLName.folded(names[field]))
      if !isNeeded { isNeeded = try refusal(of: sql, over: spoken.filter { $0 != field }) != nil }
      if isNeeded { needed.append(field) }
    }
    return needed
  }

  /// What the expression does with numbers.
  /// - Throws: `usage` where it compares texts with numbers.
  func numbers(in sql: String, option: Option) throws(UpsurgeError) -> NumberUse {
    let use = NumberUse(of: sql, numberFields, isCondition: option.isCondition)
    if let mismatch = use.mismatch { throw refused(mismatch, option) }
    return use
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

  /// Whether SQLite waits for more where the text ends.
  private func isIncomplete(_ sql: String, over fields: [Int]) throws(UpsurgeError) -> Bool {
    let text = "SELECT 1 FROM \(try source(of: fields)) WHERE \(sql)\n"
    do throws(UpsurgeError) { _ = try connection.prepare(text) } catch {
      return connection.lastMessage == "incomplete input"
    }
    return false
  }
}
