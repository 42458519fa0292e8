import UpsurgeRecords
import UpsurgeSQLite

extension RowStateTable {
  /// Statements that note anew what feeds have stored in the row whose identity is bound to them: a record that has waited
  /// in the quarantine was stored in it, which is no edit. What is edited from then on is one.
  ///
  /// A row of which nothing was noted gets no note; the feed's next delivery brings it.
  /// - Parameter table: its name.
  package static func contentUpdates(
    of table: String, on connection: Connection
  ) throws(UpsurgeError) -> [Statement] {
    guard try holdsContents(connection),
      let schema = try TableSchema.read(connection, table: table)
    else { return [] }
    let name = try SQLName.literal(schema.name)
    let row = "FROM main.\(try SQLName.quote(schema.name)) WHERE \(try identityCondition(schema))"
    guard let content = try contentSQL(schema, on: connection) else { return [] }
    let keys = try connection.prepare(
      "SELECT DISTINCT key_columns FROM main.upsurge_rows WHERE \"table\" = \(name) AND content IS NOT NULL")
    var updates: [Statement] = []
    while try keys.step() {
      let text = keys.text(at: 0) ?? ""
      guard let names = try JSONValue(text).names, names.allSatisfy({ schema.columnIndex($0) != nil }) else {
        continue
      }
      updates.append(
        try connection.prepare(
          """
          UPDATE main.upsurge_rows SET content = (SELECT \(content) \(row)), edit = NULL
          WHERE "table" = \(name) AND key_columns = \(try SQLName.literal(text)) AND content IS NOT NULL
            AND "key" IN (SELECT \(try keySQL(names, of: schema)) \(row))
          """))
    }
    return updates
  }

  /// SQL for the hash of a row, of the columns that its note names; NULL where the table lacks one of them, so that
  /// nothing is known.
  /// - Returns: nil where no note has a hash.
  private static func contentSQL(
    _ schema: TableSchema, on connection: Connection
  ) throws(UpsurgeError) -> String? {
    let lists = try connection.prepare(
      """
      SELECT DISTINCT content_columns FROM main.upsurge_rows
      WHERE "table" = \(try SQLName.literal(schema.name)) AND content IS NOT NULL
      """)
    var (hasAny, cases) = (false, "")
    while try lists.step() {
      hasAny = true
      let text = lists.text(at: 0) ?? ""
      guard let names = try JSONValue(text).names, let content = try RowEdits.contentSQL(names, of: schema)
      else {
        continue
      }
      cases += " WHEN \(try SQLName.literal(text)) THEN \(content)"
    }
    if !hasAny { return nil }
    if cases.isEmpty { return "NULL" }
    try RowContent.register(on: connection)
    return "CASE upsurge_rows.content_columns\(cases) END"
  }

  /// SQL that is true of the row whose identity, as `OrphanRecords` gives it, is bound to the first parameters.
  static func identityCondition(_ schema: TableSchema) throws(UpsurgeError) -> String {
    let identity =
      schema.isWithoutRowid
      ? schema.primaryKeyColumns.compactMap { schema.columnIndex($0) } : [TableSchema.rowidIndex]
    var conditions: [String] = []
    for (place, column) in identity.enumerated() {
      conditions.append("\(try schema.terms([column])) = ?\(place + 1)")
    }
    return conditions.joined(separator: " AND ")
  }
}
