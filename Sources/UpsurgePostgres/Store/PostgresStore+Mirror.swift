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
    session.rights = WantedRights()
    noteRights(for: notes.name, beside: place)
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

  func schema(of table: String) throws(UpsurgeError) -> TableSchema? {
    guard let found = try catalogued(table) else { return nil }
    var schema = TableSchema(found)
    let references = try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try connection.run(Self.references(of: found.oid), []).rows.map { row in
        (
          isOwn: row.flag(0) ?? false, other: TableName(schema: row.text(1), name: row.text(2) ?? ""),
          columns: row.text(3) ?? "", action: row.text(4) ?? ""
        )
      }
    }
    for reference in references {
      let columns = reference.columns.split(separator: "\n").map(String.init)
      let other = noteName(of: reference.other)
      if reference.isOwn {
        schema.foreignKeys.append(TableSchema.ForeignKey(columns: columns, parentTable: other))
      } else {
        schema.referencingKeys.append(
          TableSchema.ReferencingKey(table: other, columns: columns, onDelete: reference.action))
      }
    }
    return schema
  }

  /// The foreign keys of a table (true), and those of others to it; a key of the table to itself is both.
  private static func references(of oid: UInt32) -> String {
    func rows(_ isOwn: Bool, own: String, other: String) -> String {
      """
      SELECT \(isOwn) AS is_own, n.nspname, c.relname, (SELECT string_agg(a.attname, chr(10) ORDER BY k.place)
          FROM unnest(f.conkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.number) AS columns,
        CASE f.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL'
          ELSE 'SET DEFAULT' END AS action, f.conname
      FROM pg_constraint AS f JOIN pg_class AS c ON c.oid = f.\(other) JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE f.\(own) = \(oid) AND f.contype = 'f' AND NOT EXISTS (
        SELECT FROM pg_constraint AS p WHERE p.oid = f.conparentid AND p.\(own) = f.\(own))
      """
    }
    return rows(true, own: "conrelid", other: "confrelid") + " UNION ALL "
      + rows(false, own: "confrelid", other: "conrelid") + " ORDER BY is_own, nspname, relname, conname"
  }

  func check(scope: String, of table: String) throws(UpsurgeError) {
    try check(scope: scope, of: try catalogued(table))
  }

  func holdsRows(_ table: String) throws(UpsurgeError) -> Bool {
    guard let found = try catalogued(table) else { return false }
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try connection.run("SELECT EXISTS (SELECT FROM \(found.ownRows))", []).first?.flag(0) ?? false
    }
  }

  func tableMark(of table: String) throws(UpsurgeError) -> String? {
    guard let found = try catalogued(table), !found.isUnlogged else { return nil }
    guard capabilities.family == .postgreSQL else { return "" }
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      // Rows that are nowhere here have no file.
      try StoredRows.table(found.quotedName, connection) ?? "\(found.oid)"
    }
  }

  func count(_ rows: RemovedRows, of table: String) throws(UpsurgeError) -> UInt64 {
    guard let found = try catalogued(table), let removed = try removedRows(rows, of: found) else { return 0 }
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      let sql = "SELECT count(*) FROM \(removed)"
      return UInt64(try connection.run(sql, []).first?.integer(0) ?? 0)
    }
  }

  /// - Parameter scope: SQL that was read from what is noted of a feed.
  /// - Throws: `usage` where it is not one condition, `guardRefused` where a stranger may have written it.
  private func checkStored(scope: String?, of table: PostgresTable) throws(UpsurgeError) {
    guard let scope else { return }
    try check(scope: scope, of: table)
    let (name, feeds) = (TableName(schema: table.schema, name: table.name), OwnTable.feeds)
    let schema = stateSchema(beside: name)
    let stranger = try session.asking { (connection) throws(PostgresFailure) in
      try ServerLayout.stranger(owning: feeds, in: schema, connection)
    }
    guard let stranger else { return }
    throw UpsurgeError(
      .guardRefused,
      "the scope of table \(noteName(of: name).escapedForTerminal) stands in \(schema.escapedForTerminal).\(feeds.rawValue), which belongs to "
        + "\(stranger.escapedForTerminal): its SQL would run with your rights",
      hint: "run it as that user; or delete the rows of the feed yourself")
  }

  /// Which rows of a table would go, as what follows FROM; nil for none. A comment at the end of the scope ends with its line.
  private func removedRows(_ rows: RemovedRows, of table: PostgresTable) throws(UpsurgeError) -> String? {
    var terms: [String] = []
    switch rows {
    case .none: return nil
    case .inScope(let scope), .delivered(inScope: let scope):
      try checkStored(scope: scope, of: table)
      if let scope { terms.append("(\(scope)\n)") }
    }
    if case .delivered = rows { terms.append(try deliveredTerm(table)) }
    return "\(table.ownRows) AS \(table.name.quotedForPostgres)"
      + (terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND "))
  }

  func forget(
    _ table: String, rows: RemovedRows, notes: [NoteTable], isTrial: Bool
  ) throws(UpsurgeError) -> UInt64 {
    let place = try place(of: TableName(table))
    let found = try catalogued(table)
    let removed = try found.flatMap { (found) throws(UpsurgeError) in try removedRows(rows, of: found) }
    let name = noteName(of: place)
    let acceptance = AcceptanceNotes(schema: stateSchema(beside: place), table: name, owner: "")
    let stored = notes.map { StateTable($0, schema: stateSchema(beside: place)) } + [acceptance.refusals, acceptance.rows]
    let open = try openRuns(of: table).map { (id: $0.id, owner: $0.owner) }
    // A try whose COMMIT was not answered may have removed what the next one does not find.
    var sentCount = 0
    return try session.asking { (connection) throws(PostgresFailure) in
      do throws(PostgresFailure) {
        try connection.run("BEGIN; SET LOCAL lock_timeout = \(max(1, lockTimeout))")
        for run in open { try runs(beside: place).forget(run.id, owner: run.owner, connection) }
        var count = 0
        if let removed {
          count = try connection.run("DELETE FROM \(removed)", []).affectedCount
          try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
        }
        for table in stored where try table.exists(connection) {
          try table.remove(where: "\"table\" = $1", [.text(name)], connection)
        }
        if isTrial {
          connection.rollback()
          return UInt64(count)
        }
        if count > 0 { sentCount = count }
        if try !connection.commit() {
          throw PostgresFailure(.other, "the server has rolled the transaction back")
        }
        return UInt64(sentCount)
      } catch {
        connection.rollback()
        throw error
      }
    }
  }

  func catalogued(_ table: String) throws(UpsurgeError) -> PostgresTable? {
    let place = try place(of: TableName(table))
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try PostgresTable.read(schema: place.schema, name: place.name, connection)
    }
  }
}

extension TableSchema {
  /// A table of a server, as far as a feed must fit it.
  fileprivate init(_ table: PostgresTable) {
    self.init(missing: table.name)
    // No name means the number of a row.
    isWithoutRowid = true
    kind = table.kind == .table || table.kind == .partitioned || table.kind == .distributed ? .table : .view
    let primaryKey = table.primaryKey?.columns ?? []
    columns = table.columns.map { column in
      let target = column.target(isKey: false)
      let filled = column.generation == .identityByDefault || column.sequence != nil ? "nextval" : nil
      return Column(
        name: column.name, declaredType: column.typeName, affinity: target.affinity, collation: "BINARY",
        isNotNull: column.isNotNull, defaultExpression: column.defaultExpression ?? filled,
        generation: column.generation == .expression || column.generation == .identityAlways ? .stored : .none,
        isHidden: false, keyOrdinal: (primaryKey.firstIndex(of: column.name) ?? -1) + 1)
    }
    keys = table.uniqueIndexes.filter(\.isConflictTarget).map { index in
      Key(
        kind: index.isPrimary ? .primaryKey : .uniqueIndex, indexName: index.name,
        parts: index.parts.map {
          Key.Part(column: $0.column, collation: "BINARY", expression: $0.column == nil ? $0.definition : nil)
        },
        isPartial: index.predicate != nil, predicate: index.predicate)
    }
  }
}
