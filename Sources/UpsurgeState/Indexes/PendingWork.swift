import UpsurgeRecords
import UpsurgeSQLite

/// Indexes that a run has promised and not yet built, kept in the database in the table `upsurge_pending`.
///
/// A table that a run makes gets its indexes when all rows are there, many commits later. The first commit
/// records them; the transaction that builds an index removes its record; the table goes with its last record.
/// A run that finds records of its table builds what an earlier run, which ended early, did not. Only names are
/// kept, never SQL, so that a database from elsewhere cannot have anything else done.
package enum PendingWork {
  private static let table = "main.\"upsurge_pending\""

  package static let layout = OwnLayout(
    .pendingWork, purpose: "indexes that are still to be built are noted in one of this name",
    columns: ["table", "index", "position", "column"],
    body: """
      "table" TEXT NOT NULL,
      "index" TEXT NOT NULL,
      position INTEGER NOT NULL,
      "column" TEXT NOT NULL,
      PRIMARY KEY ("index", position)
      """, options: " WITHOUT ROWID")

  /// The indexes that are pending for a table, as they were recorded.
  package static func read(
    _ connection: Connection, table name: String
  ) throws(UpsurgeError) -> [IndexDefinition] {
    // As a rule there is no such table, which one statement shows.
    guard try exists(connection) else { return [] }
    return try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return [] }
      let statement = try connection.prepare(
        """
        SELECT "index", "column", "table" FROM \(table) WHERE "table" = ?1 COLLATE NOCASE
        ORDER BY "index", position
        """)
      try statement.bind(name, at: 1)
      var definitions: [IndexDefinition] = []
      while try statement.step() {
        let index = statement.text(at: 0) ?? ""
        if definitions.last?.name != index {
          definitions.append(
            IndexDefinition(name: index, table: statement.text(at: 2) ?? name, columns: []))
        }
        definitions[definitions.count - 1].columns.append(statement.text(at: 1) ?? "")
      }
      return definitions
    }
  }

  /// Records indexes; part of the transaction that is open.
  package static func record(
    _ definitions: [IndexDefinition], on connection: Connection
  ) throws(UpsurgeError) {
    if definitions.isEmpty { return }
    let found = try layout.find(on: connection)
    try layout.prepare(found, on: connection)
    for definition in definitions {
      // A table that was made just now holds none.
      if found != nil { try delete(definition, on: connection) }
      for (position, column) in definition.columns.enumerated() {
        let statement = try connection.prepare("INSERT INTO \(table) VALUES (?1, ?2, ?3, ?4)")
        try statement.bind(definition.table, at: 1)
        try statement.bind(definition.name, at: 2)
        try statement.bind(Int64(position), at: 3)
        try statement.bind(column, at: 4)
        _ = try statement.step()
      }
    }
  }

  /// Takes the record of an index back; part of the transaction that is open.
  package static func remove(
    _ definition: IndexDefinition, on connection: Connection
  ) throws(UpsurgeError) {
    guard try exists(connection) else { return }
    let others = try connection.prepare("SELECT 1 FROM \(table) WHERE \"index\" <> ?1 LIMIT 1")
    try others.bind(definition.name, at: 1)
    let hasOthers = try others.step()
    others.reset()
    if hasOthers {
      try delete(definition, on: connection)
    } else {
      try connection.execute("DROP TABLE \(table)")
    }
  }

  private static func delete(
    _ definition: IndexDefinition, on connection: Connection
  ) throws(UpsurgeError) {
    let statement = try connection.prepare("DELETE FROM \(table) WHERE \"index\" = ?1")
    try statement.bind(definition.name, at: 1)
    _ = try statement.step()
  }

  /// Whether there is such a table, and it is ours.
  /// - Throws: `guardRefused` when it is of a newer layout.
  private static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    // As a rule there is no such table; then no text of the schema is read.
    guard try connection.integer("SELECT 1 FROM pragma_table_info('upsurge_pending', 'main') LIMIT 1") != nil
    else { return false }
    return try layout.findIfOurs(on: connection) != nil
  }
}
