import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// SQL that finds rows which somebody has edited since their feed has stored them.
///
/// Each note of a delivered row holds a hash of the columns that the feed writes, as they were after the feed's own write.
/// So what a trigger makes of them is no edit. It also holds their names, as the next delivery may have others:
///
///     key  content  content_columns  the row now     it was
///     7    h(7, x)  ["id","v"]       7, x, 'a note'  left alone: the note is no column of the feed
///     8    h(8, x)  ["id","v"]       8, y            changed
///     9    h(9, x)  ["id","v"]       none            deleted
///
/// A row that another feed has delivered, too, counts as neither: nobody knows which of them has changed it.
struct RowEdits {
  /// The name in SQL of the note that is looked at beside a row.
  private let note: String
  private let schema: TableSchema
  /// SQL for a row's key; names the table.
  let key: String
  /// Literals of the table and the feed, as a condition on notes.
  private let ours: String
  private let table: String
  private let owner: String

  init(_ schema: TableSchema, key names: [String], ownedBy owner: String) throws(UpsurgeError) {
    self.schema = schema
    note = SQLName.isSame(schema.name, "upsurge_note") ? "upsurge_state" : "upsurge_note"
    key = try RowStateTable.keySQL(names, of: schema, isQualified: true)
    table = try SQLName.literal(schema.name)
    self.owner = try SQLName.literal(owner)
    let columns = try SQLName.literal(RowStateTable.text(ofColumns: names))
    ours =
      "\(note).\"table\" = \(table) AND \(note).owned_by = \(self.owner) AND \(note).key_columns = \(columns)"
  }

  /// `main."table"`.
  private var rows: String { get throws(UpsurgeError) { "main.\(try SQLName.quote(schema.name))" } }

  // MARK: - Terms

  /// SQL for the hash of a row of the table.
  /// - Returns: nil where the table lacks one of the columns.
  static func contentSQL(_ names: [String], of schema: TableSchema) throws(UpsurgeError) -> String? {
    let table = try SQLName.quote(schema.name)
    var terms: [String] = []
    for name in names {
      guard schema.columnIndex(name) != nil else { return nil }
      terms.append("\(table).\(try SQLName.quote(name))")
    }
    // A function takes 100 values, or what SQLite was built for.
    while terms.count > 64 {
      let last = terms.suffix(64).joined(separator: ", ")
      terms.removeLast(64)
      terms.append("\(RowContent.function)(\(last))")
    }
    return "\(RowContent.function)(\(terms.joined(separator: ", ")))"
  }

  /// SQL that is true of a row whose note says something else than the row does.
  /// - Parameter isThere: whether only rows count that the last delivery has had.
  /// - Returns: nil where no note says anything.
  func changedTerm(isThere: Bool = false, on connection: Connection) throws(UpsurgeError) -> String? {
    let lists = try connection.prepare(
      "SELECT DISTINCT content_columns FROM main.upsurge_rows AS \(note) WHERE \(ours) AND content IS NOT NULL"
    )
    var cases = ""
    while try lists.step() {
      let text = lists.text(at: 0) ?? ""
      guard let names = try JSONValue(text).names, let content = try Self.contentSQL(names, of: schema) else {
        continue
      }
      cases += " WHEN \(try SQLName.literal(text)) THEN \(content)"
    }
    if cases.isEmpty { return nil }
    return """
      (EXISTS (SELECT 1 FROM main.upsurge_rows AS \(note) WHERE \(note)."key" = \(key) AND \(ours)
        AND \(note).content <> CASE \(note).content_columns\(cases) END\(isThere ? " AND \(note).gone = 0" : ""))
      AND NOT EXISTS (SELECT 1 FROM main.upsurge_rows AS \(note) WHERE \(note)."key" = \(key)
        AND \(note)."table" = \(table) AND \(note).owned_by <> \(owner)))
      """
  }

  /// A column that the feed has written into rows that it has, and that the table lacks now; nil without one.
  func missingColumn(on connection: Connection) throws(UpsurgeError) -> String? {
    let lists = try connection.prepare(
      """
      SELECT DISTINCT content_columns FROM main.upsurge_rows AS \(note)
      WHERE \(ours) AND content IS NOT NULL AND gone = 0
      """)
    while try lists.step() {
      let names = try JSONValue(lists.text(at: 0) ?? "").names ?? []
      if let missing = names.first(where: { schema.columnIndex($0) == nil }) { return missing }
    }
    return nil
  }

  /// SQL that is true of a row that is marked as changed.
  var markedTerm: String { term(edits: "'changed'") }

  /// SQL that is true of a row that is marked as changed, or was before it was brought back.
  var metTerm: String { term(edits: "'changed', 'repaired'") }

  private func term(edits: String) -> String {
    """
    EXISTS (SELECT 1 FROM main.upsurge_rows AS \(note)
      WHERE \(note)."key" = \(key) AND \(ours) AND \(note).edit IN (\(edits)))
    """
  }

  /// SQL that is true of the note of a row that is there for the feed, and not in the table.
  private var deletedTerm: String {
    get throws(UpsurgeError) {
      """
      \(ours) AND \(note).content IS NOT NULL AND \(note).gone = 0
      AND \(note)."key" NOT IN (SELECT \(key) FROM \(try rows))
      AND NOT EXISTS (SELECT 1 FROM main.upsurge_rows AS other WHERE other."key" = \(note)."key"
        AND other."table" = \(table) AND other.owned_by <> \(owner))
      """
    }
  }

  // MARK: - Marks

  /// Takes marks of earlier runs away.
  /// - Parameter run: SQL for the number of the run, whose own marks stay.
  func unmark(run: String, on connection: Connection) throws(UpsurgeError) {
    try connection.execute(
      """
      UPDATE main.upsurge_rows AS \(note) SET edit = NULL
      WHERE \(ours) AND edit IS NOT NULL AND NOT (edit = 'repaired' AND run IS \(run))
      """)
  }

  /// Marks the notes of rows that were changed.
  /// - Returns: whether any was.
  func markChanged(on connection: Connection) throws(UpsurgeError) -> Bool {
    guard let term = try changedTerm(on: connection) else { return false }
    return try mark(
      "UPDATE main.upsurge_rows AS \(note) SET edit = 'changed' WHERE \(ours) AND \(note).\"key\" IN "
        + "(SELECT \(key) FROM \(try rows) WHERE \(term))", on: connection)
  }

  /// Marks the notes of rows that were deleted.
  /// - Returns: whether any was.
  func markDeleted(on connection: Connection) throws(UpsurgeError) -> Bool {
    try mark(
      "UPDATE main.upsurge_rows AS \(note) SET edit = 'deleted' WHERE \(try deletedTerm)", on: connection)
  }

  private func mark(_ sql: String, on connection: Connection) throws(UpsurgeError) -> Bool {
    try connection.interruptible { () throws(UpsurgeError) in
      try connection.execute(sql)
      return sqlite3_changes64(connection.handle) > 0
    }
  }

  /// Takes what the table's own triggers have made of rows after the feed's write for what the feed has stored.
  /// - Parameter columns: literal of the names in `content`.
  func takeOver(content: String, columns: String, on connection: Connection) throws(UpsurgeError) {
    guard let term = try changedTerm(on: connection) else { return }
    try connection.interruptible { () throws(UpsurgeError) in
      try connection.execute(
        """
        INSERT INTO main.upsurge_rows ("table", "key", owned_by, key_columns, source, gone, stored, content, content_columns)
        SELECT \(table), \(key), \(owner), '', '', 0, 1, \(content), \(columns) FROM \(try rows)
        WHERE \(term) AND NOT \(markedTerm)
        ON CONFLICT ("table", "key", owned_by) DO UPDATE SET content = excluded.content,
          content_columns = excluded.content_columns
        """)
    }
  }

  /// Whether any row was edited that the last delivery has had.
  func holdsAny(on connection: Connection) throws(UpsurgeError) -> Bool {
    guard let term = try changedTerm(isThere: true, on: connection) else { return false }
    return try connection.integer(
      """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM \(try rows) WHERE \(term))
        OR EXISTS (SELECT 1 FROM main.upsurge_rows AS \(note) WHERE \(try deletedTerm))
      """) != nil
  }
}
