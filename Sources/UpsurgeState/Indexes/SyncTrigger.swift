import UpsurgeSQLite

/// A trigger that does nothing but keep an external-content FTS5 table in step with its content.
///
///     CREATE TRIGGER t_au AFTER UPDATE ON t BEGIN
///       INSERT INTO ft(ft, rowid, a, b) VALUES('delete', old.id, old.a, old.b);
///       INSERT INTO ft(rowid, a, b) VALUES(new.id, new.a, new.b);
///     END
///
/// With all three of them the index always says what the table says, so FTS5's `rebuild` comes to the same. Any
/// other word in it (WHEN, UPDATE OF, an expression, a further statement) makes it a trigger that must run.
package struct SyncTrigger: Equatable {
  enum Event: String, CaseIterable { case insert, delete, update }

  package var name: String
  var event: Event
  /// The CREATE TRIGGER as the schema has it.
  package var sql: String

  /// - Returns: nil when it is anything but such a trigger of `index` on the table of `schema`.
  init?(name: String, sql: String, index: FullTextTable, schema: TableSchema) {
    var reader = TokenReader(sql)
    reader.skip(words: ["CREATE"])
    guard reader.take(words: ["TRIGGER"]), reader.name() != nil, reader.take(words: ["AFTER"]) else {
      return nil
    }
    guard let event = Event.allCases.first(where: { reader.take(words: [$0.rawValue]) }) else { return nil }
    guard reader.take(words: ["ON"]), let table = reader.name(), SQLName.isSame(table, schema.name) else {
      return nil
    }
    reader.skip(words: ["FOR", "EACH", "ROW"])
    guard reader.take(words: ["BEGIN"]) else { return nil }
    let acts: [(row: String, isRemoval: Bool)] =
      switch event {
      case .insert: [("new", false)]
      case .delete: [("old", true)]
      case .update: [("old", true), ("new", false)]
      }
    for (row, isRemoval) in acts {
      guard Self.writes(&reader, row: row, isRemoval: isRemoval, index: index, schema: schema) else {
        return nil
      }
    }
    guard reader.take(words: ["END"]), reader.isAtEnd else { return nil }
    self.name = name
    self.event = event
    self.sql = sql
  }

  /// Reads `INSERT INTO ft(…) VALUES(…);` with exactly the columns of the index, each from its own column.
  private static func writes(
    _ reader: inout TokenReader, row: String, isRemoval: Bool, index: FullTextTable, schema: TableSchema
  ) -> Bool {
    guard reader.take(words: ["INSERT", "INTO"]), let target = reader.name(),
      SQLName.isSame(target, index.name),
      let columns = reader.list({ $0.name() }), reader.take(words: ["VALUES"]),
      let values = reader.list({ $0.value() }), reader.take(mark: ";"), columns.count == values.count
    else { return false }
    var left = Set(index.columns.map(SQLName.folded))
    left.insert("rowid")
    if isRemoval { left.insert(SQLName.folded(index.name)) }
    for (column, value) in zip(columns, values) {
      guard left.remove(SQLName.folded(column)) != nil else { return false }
      switch value {
      case .text(let text):
        guard isRemoval, SQLName.isSame(column, index.name), text == "delete" else { return false }
      case .column(let name, let source):
        guard SQLName.isSame(source, row) else { return false }
        let isRight =
          SQLName.isSame(column, "rowid")
          ? isSameKey(name, index.contentRowid, schema) : SQLName.isSame(name, column)
        guard isRight, !(isRemoval && SQLName.isSame(column, index.name)) else { return false }
      }
    }
    return left.isEmpty
  }

  /// Whether two names mean the same column, where the rowid has several.
  private static func isSameKey(_ left: String, _ right: String, _ schema: TableSchema) -> Bool {
    func isRowid(_ name: String) -> Bool {
      if let column = schema.columnIndex(name) { return column == schema.rowidAlias }
      return !schema.isWithoutRowid && ["rowid", "oid", "_rowid_"].contains(SQLName.folded(name))
    }
    return SQLName.isSame(left, right) || isRowid(left) && isRowid(right)
  }
}

/// Reads SQL token by token; every step that does not find what it wants leaves the place as it is.
struct TokenReader {
  enum Value: Equatable {
    case text(String)
    /// `source.name`
    case column(String, of: String)
  }

  private let tokens: [SQLScanner.Token]
  private var at = 0

  init(_ sql: String) {
    var scanner = SQLScanner(sql)
    var tokens: [SQLScanner.Token] = []
    while let token = scanner.next() { tokens.append(token) }
    self.tokens = tokens
  }

  var isAtEnd: Bool { at == tokens.count }

  mutating func take(words: [String]) -> Bool {
    guard at + words.count <= tokens.count, zip(tokens[at...], words).allSatisfy({ $0.isWord($1) }) else {
      return false
    }
    at += words.count
    return true
  }

  mutating func skip(words: [String]) { _ = take(words: words) }

  mutating func take(mark: String) -> Bool {
    guard at < tokens.count, tokens[at].isMark(mark) else { return false }
    at += 1
    return true
  }

  /// A name, quoted or not.
  mutating func name() -> String? {
    guard at < tokens.count, tokens[at].kind == .word || tokens[at].kind == .quotedName else { return nil }
    at += 1
    return tokens[at - 1].text
  }

  /// A name or a text in single quotes, which a module's argument may be.
  mutating func nameOrText() -> String? {
    guard at < tokens.count, tokens[at].kind != .mark else { return nil }
    at += 1
    return tokens[at - 1].text
  }

  /// `'text'` or `row.column`.
  mutating func value() -> Value? {
    let start = at
    if at < tokens.count, tokens[at].kind == .literal {
      at += 1
      return .text(tokens[at - 1].text)
    }
    if let source = name(), take(mark: "."), let column = name() { return .column(column, of: source) }
    at = start
    return nil
  }

  /// Entries in parentheses, with commas.
  mutating func list<Entry>(_ entry: (inout TokenReader) -> Entry?) -> [Entry]? {
    guard take(mark: "(") else { return nil }
    var entries: [Entry] = []
    repeat {
      guard let next = entry(&self) else { return nil }
      entries.append(next)
    } while take(mark: ",")
    return take(mark: ")") ? entries : nil
  }
}
