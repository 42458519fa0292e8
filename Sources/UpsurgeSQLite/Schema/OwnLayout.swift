import UpsurgeRecords

/// How a table of Upsurge's own is made, and how one that an earlier version has made becomes the same.
///
/// A layout has a number. A table says its own in comments of its CREATE TABLE, the largest of which counts. SQLite keeps
/// them when columns are added, renamed or dropped, and in `.dump`, `VACUUM INTO` and backups:
///
///     CREATE TABLE upsurge_rows ( /* upsurge layout 2 */ …, edit TEXT /* upsurge layout 3 */)
///
/// Versions before that have written no number. There the columns and the key tell, as each step adds some.
///
///     to read    any layout up to the current one will do; what a column that is not there means, the reader says
///     to write   `prepare` brings the table up to date first, in the transaction of what is written
///     newer      refused by name, since nobody here knows what its rows mean
package struct OwnLayout: Sendable {
  /// From one layout to the next.
  package enum Step: Sendable {
    /// Adds columns, with their types as ADD COLUMN takes them; then SQL fills them, which may run twice.
    case columns([(name: String, type: String)], then: String = "")
    /// Takes a column into the primary key, for which the table is made anew.
    /// - value: SQL for it in rows that do not have it.
    case key(String, value: String = "NULL")

    /// The columns that are there from this on.
    fileprivate var names: [String] {
      switch self {
      case .columns(let columns, _): columns.map(\.name)
      case .key(let name, _): [name]
      }
    }
  }

  private let table: OwnTable
  /// What is kept in the table, for messages: `records are kept in one of this name`.
  private let purpose: Wording
  /// Columns by which layout 1 is known; all of them, where a step makes the table anew.
  private let columns: [String]
  private let steps: [Step]
  /// SQL that makes the table as it is now.
  package let creation: String

  /// - Parameters:
  ///   - columns: those that layout 1 has.
  ///   - body: what stands between the parentheses of CREATE TABLE.
  ///   - options: what follows them.
  ///   - indexes: statements that follow.
  ///   - steps: one for each layout after the first.
  package init(
    _ table: OwnTable, purpose: Wording, columns: [String], body: String, options: String = "",
    indexes: String = "", steps: [Step] = []
  ) {
    self.table = table
    self.purpose = purpose
    self.columns = columns
    self.steps = steps
    let creation = "CREATE TABLE main.\(table.rawValue) ( \(LayoutMark.text(steps.count + 1))\n\(body)\n)\(options)"
    self.creation = indexes.isEmpty ? creation : creation + ";\n" + indexes
  }

  package var name: String { table.rawValue }

  /// The current layout.
  package var number: Int { steps.count + 1 }

  // MARK: - Look

  /// The table as it stands in the database; nil without one.
  /// - Parameter needed: columns without which it is not ours; nil is those of layout 1.
  /// - Throws: `guardRefused` when a table of that name is not ours, or of a newer layout.
  package func find(
    needing needed: [String]? = nil, on connection: Connection
  ) throws(UpsurgeError) -> FoundLayout? {
    switch try look(needed ?? columns, on: connection) {
    case .none: nil
    case .found(let found): found
    case .foreign(let error): throw error
    }
  }

  /// The layout of the table; nil without one, or where it is not ours and so holds nothing of ours.
  /// - Throws: `guardRefused` when the table is of a newer layout.
  package func findIfOurs(on connection: Connection) throws(UpsurgeError) -> FoundLayout? {
    if case .found(let found) = try look(columns, on: connection) { return found }
    return nil
  }

  /// Whether the database holds the table.
  /// - Throws: `guardRefused` as `find`.
  package func exists(on connection: Connection) throws(UpsurgeError) -> Bool {
    try find(on: connection) != nil
  }

  private enum Look {
    case none
    case found(FoundLayout)
    case foreign(UpsurgeError)
  }

  /// - Throws: `guardRefused` where the table is ours, as it has a mark, and cannot be read.
  private func look(_ needed: [String], on connection: Connection) throws(UpsurgeError) -> Look {
    let made = try connection.prepare(
      "SELECT sql FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')")
    try made.bind(name, at: 1)
    guard try made.step() else { return .none }
    // At work until the end, so that the columns are those of the same moment.
    defer { made.reset() }
    let text = made.text(at: 0) ?? ""
    // SQLite writes these words anew, whatever was typed.
    if text.hasPrefix("CREATE VIEW") {
      return .foreign(table.refusalOfView(purpose: purpose))
    }
    let mark = try mark(in: text)
    let hasKeys = steps.contains { if case .key = $0 { true } else { false } }
    let statement = try connection.prepare(
      "SELECT name\(hasKeys ? ", pk" : "") FROM pragma_table_info(?1, 'main')")
    try statement.bind(name, at: 1)
    var (found, keys): (Set<String>, Set<String>) = ([], [])
    while try statement.step() {
      let column = SQLName.folded(statement.text(at: 0) ?? "")
      found.insert(column)
      if hasKeys, statement.integer(at: 1) > 0 { keys.insert(column) }
    }
    if let missing = needed.first(where: { !found.contains($0) }) {
      return .foreign(table.refusal(lacking: missing, purpose: purpose))
    }
    var number = 1
    for step in steps {
      let isThere =
        switch step {
        case .columns(let columns, _): columns.allSatisfy { found.contains($0.name) }
        case .key(let column, _): keys.contains(column)
        }
      if !isThere || mark ?? .max <= number { break }
      number += 1
    }
    return .found(FoundLayout(number: number, columns: found))
  }

  private func mark(in text: String) throws(UpsurgeError) -> Int? {
    switch LayoutMark(in: text) {
    case .none: return nil
    case .number(let mark) where mark <= number: return mark
    case .number(let mark): throw table.refusal(ofLayout: mark, after: number)
    case .rubbish(let text): throw table.refusal(ofRubbish: text, purpose: purpose)
    }
  }

  // MARK: - Write

  /// Makes the table, or brings it up to date; part of the transaction that is open.
  /// - Parameter enough: an older layout that can hold all that will be written; nil is the current one.
  package func prepare(atLeast enough: Int? = nil, on connection: Connection) throws(UpsurgeError) {
    try prepare(find(on: connection), atLeast: enough, on: connection)
  }

  /// Makes the table where none was found, or brings the one that was up to date.
  package func prepare(
    _ found: FoundLayout?, atLeast enough: Int? = nil, on connection: Connection
  ) throws(UpsurgeError) {
    guard let found else { return try connection.execute(creation) }
    let last = enough ?? number
    if found.number >= last { return }
    let due = Array(steps.enumerated())[(found.number - 1)..<(last - 1)]
    if due.contains(where: { if case .key = $0.element { true } else { false } }) {
      return try makeAnew(found, on: connection)
    }
    for (index, step) in due {
      guard case .columns(let columns, let filling) = step else { continue }
      let missing = columns.filter { !found.has($0.name) }
      for (place, column) in missing.enumerated() {
        let mark = place == missing.count - 1 ? " " + LayoutMark.text(index + 2) : ""
        try connection.execute("ALTER TABLE main.\(name) ADD COLUMN \"\(column.name)\" \(column.type)\(mark)")
      }
      if !filling.isEmpty { try connection.execute(filling) }
    }
  }

  /// Makes the table as it is now, with the rows of the one that was found.
  private func makeAnew(_ found: FoundLayout, on connection: Connection) throws(UpsurgeError) {
    var (names, values): ([String], [String]) = ([], [])
    for column in columns where found.has(column) { names.append(column) }
    for column in steps.flatMap(\.names) where found.has(column) && !names.contains(column) {
      names.append(column)
    }
    values = names.map { "\"\($0)\"" }
    for case .key(let column, let value) in steps where !found.has(column) {
      names.append(column)
      values.append(value)
    }
    // Not under another name in the same schema: a view of the user's would follow, or stand in the way.
    try connection.execute(
      """
      CREATE TEMP TABLE upsurge_earlier AS SELECT \(values.joined(separator: ", ")) FROM main.\(name);
      DROP TABLE main.\(name);
      \(creation);
      INSERT INTO main.\(name) (\(names.map { "\"\($0)\"" }.joined(separator: ", "))) SELECT * FROM temp.upsurge_earlier;
      DROP TABLE temp.upsurge_earlier
      """)
    for case .columns(_, let filling) in steps[(found.number - 1)...] where !filling.isEmpty {
      try connection.execute(filling)
    }
  }
}

/// A table of Upsurge's own as it stands in a database.
package struct FoundLayout: Sendable {
  /// Of its layout, which may be an older one.
  package let number: Int
  private let columns: Set<String>

  fileprivate init(number: Int, columns: Set<String>) {
    self.number = number
    self.columns = columns
  }

  package func has(_ column: String) -> Bool { columns.contains(column) }

  /// SQL for a column.
  /// - Parameter value: what it means that an older layout has none.
  package func term(_ column: String, else value: String = "NULL") -> String {
    has(column) ? "\"\(column)\"" : value
  }
}

/// What the text of a CREATE TABLE says of the table's layout; it may come from anywhere.
private enum LayoutMark {
  case none
  case number(Int)
  case rubbish(String)

  private static let start = "/* upsurge layout "

  static func text(_ number: Int) -> String { "\(start)\(number) */" }

  init(in sql: String) {
    self = .none
    let parts = Array(sql.utf8).split(separator: Array(Self.start.utf8), omittingEmptySubsequences: false)
    for rest in parts.dropFirst() {
      let word = rest.prefix { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: " ") }
      let isNumber =
        word.count < 10 && word.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      guard isNumber, let number = Int(String(decoding: word, as: UTF8.self)), number > 0,
        rest.dropFirst(word.count).starts(with: " */".utf8)
      else {
        self = .rubbish(String(decoding: word.prefix(20), as: UTF8.self))
        return
      }
      if case .number(let other) = self, other > number { continue }
      self = .number(number)
    }
  }
}
