import CSQLite
import UpsurgeRecords

/// What a database holds, by name.
package struct SchemaCatalog: Sendable {
  /// A table or view of the database file.
  package struct Entry: Sendable {
    package var name: String
    package var kind: TableSchema.Kind
    /// The CREATE statement.
    package var sql: String
  }

  /// Tables and views in alphabetical order; SQLite's own and the shadow tables of virtual ones are left out.
  package var entries: [Entry] = []
  /// Tables that hold the content of virtual tables.
  package var shadowCount = 0
  /// Functions and table-valued functions that SQLite itself has, in lower case.
  private var known: Set<String> = []

  /// - Throws: `database`, `databaseBusy`.
  package init(_ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare(
      """
      SELECT l.name, l.type, s.sql FROM pragma_table_list l
        JOIN main.sqlite_schema s ON s.name = l.name AND s.type IN ('table', 'view')
      WHERE l.schema = 'main' ORDER BY l.name COLLATE NOCASE, l.name
      """)
    while try statement.step() {
      let name = statement.text(at: 0) ?? ""
      if SQLName.folded(name).hasPrefix("sqlite_") { continue }
      let kind = TableSchema.Kind(rawValue: statement.text(at: 1) ?? "") ?? .table
      if kind == .shadow {
        shadowCount += 1
      } else {
        entries.append(Entry(name: name, kind: kind, sql: statement.text(at: 2) ?? ""))
      }
    }
    let functions = try connection.prepare(
      "SELECT lower(name) FROM pragma_function_list UNION SELECT lower(name) FROM pragma_module_list")
    while try functions.step() { known.insert(functions.text(at: 0) ?? "") }
    known.subtract(ApplicationFunction.names)
  }

  /// The functions that a trigger calls and SQLite does not have: where a program does not register them, each
  /// change that fires the trigger fails there.
  package func applicationFunctions(ofTrigger sql: String) -> [String] {
    TriggerText.calls(in: sql).filter { !known.contains($0) && !$0.hasPrefix("pragma_") }
  }

  /// The functions of this engine that a table or view calls.
  package func applicationFunctions(of sql: String) -> [String] {
    TriggerText.calls(in: sql).filter { ApplicationFunction.names.contains($0) }
  }
}
