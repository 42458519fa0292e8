import Upsurge
import UpsurgeRecords

/// A table of the engine's own on a server, with the columns that SQLite's has. Its layout stands in its comment:
///
///     COMMENT ON TABLE upsurge_feeds IS 'upsurge layout 6'
///
/// A table of that name without such a comment is somebody else's. One of a newer layout is refused by name, as nobody here knows
/// what its rows mean.
struct StateTable: Sendable {
  let notes: NoteTable
  /// The schema that it is in.
  let schema: String

  init(_ notes: NoteTable, schema: String) { (self.notes, self.schema) = (notes, schema) }

  static let mark = "upsurge layout "

  var quotedName: String { "\(schema.quotedForPostgres).\(notes.name.quotedForPostgres)" }

  private var shown: String { "\(schema).\(notes.name)" }

  // MARK: - The table

  /// Whether it is there.
  /// - Throws: `foreignTable` where a table of its name is not ours, or of a newer layout.
  func exists(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    let sql = "SELECT obj_description(c, 'pg_class') FROM (SELECT to_regclass($1) AS c) AS s WHERE c IS NOT NULL"
    guard let row = try connection.run(sql, [.text(quotedName)]).first else { return false }
    let words = row.text(0) ?? ""
    guard words.hasPrefix(Self.mark), let number = Int(words.dropFirst(Self.mark.count)), number > 0 else {
      throw PostgresFailure(.foreignTable, "\(shown) is a table that upsurge did not make")
    }
    if number > notes.layout {
      throw PostgresFailure(
        .foreignTable,
        "\(shown) has layout \(number), which a newer upsurge has made; this one knows it up to layout \(notes.layout)")
    }
    return true
  }

  /// The tables of one kind in all schemas of a database.
  static func found(_ notes: NoteTable, _ connection: PostgresConnection) throws(PostgresFailure) -> [StateTable] {
    let sql = """
      SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = $1 AND c.relkind = 'r' AND has_table_privilege(c.oid, 'SELECT')
        AND has_schema_privilege(n.oid, 'USAGE') AND obj_description(c.oid, 'pg_class') LIKE '\(mark)%' ORDER BY 1
      """
    var found: [StateTable] = []
    for row in try connection.run(sql, [.text(notes.name)]).rows {
      let table = StateTable(notes, schema: row.text(0) ?? "")
      if try table.exists(connection) { found.append(table) }
    }
    return found
  }

  /// Makes it where it is missing, in a transaction of its own: two that make it at once would fail with all else.
  func make(_ connection: PostgresConnection) throws(PostgresFailure) {
    if try exists(connection) { return }
    do throws(PostgresFailure) {
      try connection.run("\(creation); COMMENT ON TABLE \(quotedName) IS '\(Self.mark)\(notes.layout)'")
    } catch {
      // One of two fails in the catalogue, and finds the other's.
      guard error.sqlState == "23505" || error.sqlState == "42P07", try exists(connection) else { throw error }
    }
  }

  private var creation: String {
    let columns = notes.columns.map { column in
      "\(column.name.quotedForPostgres) \(Self.type(of: column))\(column.isRequired ? " NOT NULL" : "")"
    }
    return "CREATE TABLE \(quotedName) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(Self.list(notes.keyNames))))"
  }

  private static func type(of column: NoteTable.Column) -> String {
    switch column.kind {
    case .text: "text"
    case .integer: "bigint"
    case .bytes: "bytea"
    }
  }

  private static func list(_ names: [String]) -> String { names.map(\.quotedForPostgres).joined(separator: ", ") }

  // MARK: - Its rows

  /// The rows for which a condition is true, each with the values of all columns.
  /// - Parameter condition: SQL, with `$1` for the first of the parameters.
  func rows(
    where condition: String, _ parameters: [PostgresParameter], _ connection: PostgresConnection
  ) throws(PostgresFailure) -> [[SQLValue]] {
    let names = notes.columns.map(\.name)
    let result = try connection.run(
      "SELECT \(Self.list(names)) FROM \(quotedName) WHERE \(condition) ORDER BY \(Self.list(notes.keyNames))", parameters)
    return result.rows.map { row in
      notes.columns.enumerated().map { index, column in
        switch column.kind {
        case .text: row.text(index).map { .text($0) } ?? .null
        case .integer: row.integer(index).map { .integer($0) } ?? .null
        // Only who needs them asks for them.
        case .bytes: .null
        }
      }
    }
  }

  /// Writes rows, each in place of one with its key; part of the transaction that is open.
  func write(_ rows: [[SQLValue]], _ connection: PostgresConnection) throws(PostgresFailure) {
    let names = notes.columns.map(\.name)
    let others = notes.columns.filter { !$0.isKey }.map(\.name.quotedForPostgres)
    let changes = others.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    let sql = """
      INSERT INTO \(quotedName) (\(Self.list(names))) VALUES (\(names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")))
      ON CONFLICT (\(Self.list(notes.keyNames))) DO \(others.isEmpty ? "NOTHING" : "UPDATE SET \(changes)")
      """
    for row in rows { try connection.run(sql, row.map(Self.parameter)) }
  }

  private static func parameter(_ value: SQLValue) -> PostgresParameter {
    switch value {
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    case .blob(let bytes): .binary(type: PostgresType.bytea, bytes)
    case .null, .real: .null
    }
  }

  /// Removes the rows for which a condition is true; part of the transaction that is open.
  func remove(
    where condition: String, _ parameters: [PostgresParameter], _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    try connection.run("DELETE FROM \(quotedName) WHERE \(condition)", parameters)
  }
}
