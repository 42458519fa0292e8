import Upsurge
import UpsurgeRecords
import UpsurgeState

/// What mirrors note, in tables of the server.
extension PostgresStore: MirrorShelf {
  func notes(in notes: NoteTable, of table: String) throws(UpsurgeError) -> [[SQLValue]] {
    let place = try place(of: TableName(table))
    let stored = StateTable(notes, schema: stateSchema(beside: place))
    return try session.asking { (connection) throws(PostgresFailure) in
      guard try stored.exists(connection) else { return [] }
      return try stored.rows(where: "\"table\" = $1", [.text(noteName(of: place))], connection)
    }
  }

  func write(_ rows: [[SQLValue]], in notes: NoteTable, of table: String) throws(UpsurgeError) {
    let place = try place(of: TableName(table))
    let stored = StateTable(notes, schema: stateSchema(beside: place))
    let named = rows.map { row in [.text(noteName(of: place))] + row.dropFirst() }
    try session.asking { (connection) throws(PostgresFailure) in
      try stored.make(connection)
      do throws(PostgresFailure) {
        try connection.run("BEGIN; SET LOCAL lock_timeout = \(max(1, lockTimeout))")
        try stored.write(named, connection)
        if try !connection.commit() {
          throw PostgresFailure(.other, "the server has rolled the transaction back")
        }
      } catch {
        connection.rollback()
        throw error
      }
    }
  }

  func now() throws(UpsurgeError) -> String {
    try session.asking { (connection) throws(PostgresFailure) in
      try connection.run("SELECT \(AcceptanceNotes.now)", []).first?.text(0) ?? ""
    }
  }

  func lastRun(of table: String) throws(UpsurgeError) -> RunRecord? {
    let wanted = try place(of: TableName(table))
    let runs = runs(beside: wanted)
    let rows = try session.asking { (connection) throws(PostgresFailure) in try runs.all(connection) }
    for row in rows.reversed() {
      if try place(of: TableName(row.table)) == wanted { return try RunRecord(row) }
    }
    return nil
  }

  func mirrored(_ table: String) throws(UpsurgeError) -> MirroredTable? {
    guard let found = try catalogued(table) else { return nil }
    let parents = try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try connection.run(
        """
        SELECT DISTINCT n.nspname, c.relname FROM pg_constraint AS f JOIN pg_class AS c ON c.oid = f.confrelid
          JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE f.conrelid = \(found.oid) AND f.contype = 'f' ORDER BY 1, 2
        """, []
      ).rows.map { TableName(schema: $0.text(0), name: $0.text(1) ?? "") }
    }
    return MirroredTable(
      columns: found.columns.map { MirroredTable.Column(name: $0.name, type: $0.typeName) },
      parents: parents.map(noteName))
  }

  func holdsRows(_ table: String) throws(UpsurgeError) -> Bool {
    guard let found = try catalogued(table) else { return false }
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try connection.run("SELECT EXISTS (SELECT FROM \(found.quotedName))", []).first?.flag(0) ?? false
    }
  }

  private func catalogued(_ table: String) throws(UpsurgeError) -> PostgresTable? {
    let place = try place(of: TableName(table))
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try PostgresTable.read(schema: place.schema, name: place.name, connection)
    }
  }
}
