import UpsurgeRecords
import UpsurgeSQLite

/// The table of rows that feeds have delivered: one row for each of them and feed; users may read it and join it.
package enum RowStateTable {
  package static let name = OwnTable.rowState.rawValue

  package static let layout = OwnLayout(
    .rowState, purpose: "what feeds have delivered is kept in one of this name",
    columns: ["table", "key", "owned_by", "key_columns", "source", "run", "gone"],
    body: """
      "table" TEXT NOT NULL COLLATE NOCASE,
      "key" TEXT NOT NULL,
      owned_by TEXT NOT NULL,
      key_columns TEXT NOT NULL COLLATE NOCASE,
      source TEXT NOT NULL,
      run INTEGER,
      gone INTEGER NOT NULL,
      stored INTEGER NOT NULL,
      content INTEGER,
      content_columns TEXT,
      edit TEXT,
      PRIMARY KEY ("key", "table", owned_by)
      """, options: " WITHOUT ROWID",
    steps: [
      // Layout 1 has noted only rows that were stored.
      .columns([("stored", "INTEGER NOT NULL DEFAULT 1")]),
      .columns([("content", "INTEGER"), ("content_columns", "TEXT"), ("edit", "TEXT")]),
    ])

  package static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.exists(on: connection)
  }

  /// Whether the table is there and can hold what feeds have written of their rows.
  static func holdsContents(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.find(on: connection)?.has("content") ?? false
  }

  /// Whether somebody has edited or deleted a row that a feed's last delivery has had.
  /// - Parameter owner: the feed's name; empty for one that has none.
  package static func holdsEdits(
    _ schema: TableSchema, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) -> Bool {
    try connection.reading { () throws(UpsurgeError) in
      guard try holdsContents(connection) else { return false }
      let keys = try connection.prepare(
        """
        SELECT DISTINCT key_columns FROM main.upsurge_rows
        WHERE "table" = \(try SQLName.literal(schema.name)) AND owned_by = \(try SQLName.literal(owner)) AND content IS NOT NULL
        """)
      try RowContent.register(on: connection)
      while try keys.step() {
        guard let names = try JSONValue(keys.text(at: 0) ?? "").names,
          names.allSatisfy({ schema.columnIndex($0) != nil })
        else { continue }
        if try RowEdits(schema, key: names, ownedBy: owner).holdsAny(on: connection) { return true }
      }
      return false
    }
  }

  /// Forgets what a feed has stored in its rows: it has written some since without noting what, which is no edit.
  package static func forgetContent(
    of table: String, ownedBy owner: String, on connection: Connection
  ) throws(UpsurgeError) {
    guard try holdsContents(connection) else { return }
    try connection.execute(
      """
      UPDATE main.upsurge_rows SET content = NULL, edit = NULL
      WHERE "table" = \(try SQLName.literal(table)) AND owned_by = \(try SQLName.literal(owner))
        AND (content IS NOT NULL OR edit IS NOT NULL)
      """)
  }

  /// Gives what the feed without a name has noted of a table's rows to one with a name; part of the transaction that is
  /// open.
  package static func adopt(
    _ table: String, by owner: String, on connection: Connection
  ) throws(UpsurgeError) {
    guard try exists(connection) else { return }
    let table = try SQLName.literal(table)
    try connection.execute(
      """
      UPDATE OR IGNORE main.upsurge_rows SET owned_by = \(try SQLName.literal(owner))
      WHERE "table" = \(table) AND owned_by = '';
      DELETE FROM main.upsurge_rows WHERE "table" = \(table) AND owned_by = '';
      """)
  }

  /// SQL for the key of a row as the column `key` holds it: its values as SQL literals, with commas between them.
  ///
  /// No two keys have the same text: `quote` distinguishes types and spells numbers exactly. It ends a text at a NUL
  /// character, so such a text is spelled by its bytes.
  /// - Parameter isQualified: whether the table is named, for places where others are there, too.
  package static func keySQL(
    _ names: [String], of schema: TableSchema, isQualified: Bool = false
  ) throws(UpsurgeError) -> String {
    var parts: [String] = []
    for name in names {
      let column = (isQualified ? "\(try SQLName.quote(schema.name))." : "") + (try SQLName.quote(name))
      if schema.columnIndex(name) == schema.rowidAlias {
        parts.append("quote(\(column))")
        continue
      }
      parts.append(
        "CASE WHEN typeof(\(column)) = 'text' AND instr(\(column), char(0)) > 0 "
          + "THEN 'CAST(X''' || hex(\(column)) || ''' AS TEXT)' ELSE quote(\(column)) END")
    }
    return "(" + parts.joined(separator: " || ',' || ") + ")"
  }

  /// The column `key_columns`: names as a JSON array.
  package static func text(ofColumns names: [String]) -> String {
    var out = JSONText()
    out.beginArray()
    for name in names { out.string(name) }
    out.endArray()
    return String(decoding: out.bytes, as: UTF8.self)
  }

  /// The error of a feed whose records find the rows of a table by other columns than those of another feed.
  /// - Parameters:
  ///   - names: the columns of this feed's key.
  ///   - other: the other feed's name; empty for one that has none.
  ///   - columns: its `key_columns`.
  package static func otherKey(
    _ names: [String], of table: String, other: String, columns: String
  ) -> UpsurgeError {
    let shown = (try? JSONValue(columns))?.texts?.joined(separator: ", ") ?? columns
    return UpsurgeError(
      .guardRefused,
      "feeds of table \(table.escapedForTerminal) tell its rows by different columns: this one by "
        + "\(names.joined(separator: ", ").escapedForTerminal), \(other.isEmpty ? "one without owned-by" : other.escapedForTerminal) "
        + "by \(shown.escapedForTerminal)",
      hint: "give all of them the same key; a feed that is no more leaves with its rows of upsurge_rows")
  }

  /// The error of a table whose edited rows are to be kept, and which lacks a column that the feed has written.
  package static func missing(_ column: String, of table: String) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "table \(table.escapedForTerminal) has no column \(column.escapedForTerminal) any more, which the feed has "
        + "written; so nobody knows which rows were edited here, and local-edits: keep cannot keep them",
      hint:
        "give the column back with its values; or run the job once without local-edits, which gives all rows back to the feed"
    )
  }

  /// The names of feeds that still deliver rows of a table, those without a name left out.
  package static func owners(of table: String, on connection: Connection) throws(UpsurgeError) -> [String] {
    try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return [] }
      let statement = try connection.prepare(
        """
        SELECT DISTINCT owned_by FROM main.upsurge_rows WHERE "table" = ?1 AND owned_by <> '' AND gone = 0
        ORDER BY 1
        """)
      try statement.bind(table, at: 1)
      var names: [String] = []
      while try statement.step() { names.append(statement.text(at: 0) ?? "") }
      return names
    }
  }

  /// Whether anything is noted of a table's rows.
  package static func holdsNotes(of table: String, on connection: Connection) throws(UpsurgeError) -> Bool {
    try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return false }
      return try connection.integer(
        "SELECT 1 FROM main.upsurge_rows WHERE \"table\" = \(try SQLName.literal(table)) LIMIT 1") != nil
    }
  }

  /// SQL that is true of the rows of a table that its feeds have delivered, as far as that is noted.
  package static func deliveredTerm(
    _ schema: TableSchema, on connection: Connection
  ) throws(UpsurgeError) -> String {
    guard let found = try layout.find(on: connection) else { return "0" }
    let table = try SQLName.literal(schema.name)
    let statement = try connection.prepare(
      "SELECT DISTINCT key_columns FROM main.upsurge_rows WHERE \"table\" = \(table)")
    var terms: [String] = []
    while try statement.step() {
      let text = statement.text(at: 0) ?? ""
      guard let names = try JSONValue(text).names, names.allSatisfy({ schema.columnIndex($0) != nil }) else {
        continue
      }
      terms.append(
        """
        \(try keySQL(names, of: schema)) IN (SELECT "key" FROM main.upsurge_rows
          WHERE "table" = \(table) AND \(found.term("stored", else: "1")) = 1 AND key_columns = \(try SQLName.literal(text)))
        """)
    }
    return terms.isEmpty ? "0" : "(\(terms.joined(separator: " OR ")))"
  }
}

extension JSONValue {
  /// An array of texts; nil for anything else.
  package var names: [String]? {
    guard case .array(let values) = self else { return nil }
    let names = values.compactMap { value -> String? in
      if case .text(let text) = value { return text }
      return nil
    }
    return names.count == values.count && !names.isEmpty ? names : nil
  }
}
