import CSQLite
import UpsurgeRecords

/// Foreign keys that are looked at when the transaction ends (`--foreign-keys deferred`, or a key that is DEFERRABLE
/// INITIALLY DEFERRED).
extension TableWriter {
  /// Begins to keep track where the schema or the settings put the look off.
  func beginReferences() throws(UpsurgeError) {
    let isDeferred = settings.defersForeignKeys || plan.schema.hasDeferredForeignKeys
    let open = references?.entries ?? []
    references = isDeferred ? try OpenReferences(connection, plan.schema) : nil
    references?.carry(open)
  }

  /// The row of a record as it was, with what names it; nil when nothing is tracked or there is no row.
  func rowBeforeReference(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> [SQLValue]? {
    guard let references, !plan.lookUpKeys.isEmpty else { return nil }
    let columns = plan.identityColumns + references.writableColumns
    return try rowOfRecord(batch, record, shape, columns: columns)
  }

  /// Notes a record that changed its row while a reference is open.
  func noteReference(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, before: [SQLValue]?
  ) throws(UpsurgeError) {
    guard let references, outcome == .inserted || outcome == .updated, references.isAnyOpen else { return }
    let count = plan.identityColumns.count
    var identity = before.map { Array($0.prefix(count)) }
    if outcome == .inserted {
      identity =
        plan.schema.isWithoutRowid
        ? try rowOfRecord(batch, record, shape, columns: plan.identityColumns)
        : [.integer(sqlite3_last_insert_rowid(connection.handle))]
    }
    guard let identity else { return }
    let position = batch.position(of: record, file: sourceName(batch.sourceIndex))
    let raw = batch.rawBytes(of: record)
    let old = outcome == .inserted ? nil : before.map { Array($0.dropFirst(count)) }
    let reject = Reject(
      .foreignKey, at: position, reason: "", hint: "load the referenced rows first", raw: raw)
    try references.note(OpenReferences.Entry(reject: reject, identity: identity, before: old))
  }

  /// Does all that is done before the transaction is committed, so that what follows in it is the last; for a caller
  /// that keeps what became of the records in the same transaction.
  package func settle() throws(UpsurgeError) {
    do throws(UpsurgeError) {
      try settleReferences()
      try applySettlements()
    } catch {
      throw fail(error)
    }
  }

  /// Rejects the records whose parents never came, before the transaction is committed.
  func settleReferences() throws(UpsurgeError) {
    guard let references, !references.entries.isEmpty else { return }
    if let obstacle = try references.obstacle() {
      guard let (entry, key) = try references.firstOpen() else { return references.clear() }
      throw endRun(entry, key, because: obstacle)
    }
    try references.takeBack { entry, key throws(UpsurgeError) in
      let refused = rejected(entry, key)
      if let observer, !observer.takesBack {
        var error = refused.asError
        error.hint =
          "load the referenced rows first; without --changes and --emit-sql the record would be a reject"
        throw error
      }
      if entry.before == nil { ledger.inserted -= 1 } else { ledger.updated -= 1 }
      ledger.read -= 1
      forgetSettlement(at: refused.position)
      try reject(refused)
    } refused: { entry, key, obstacle in
      endRun(entry, key, because: obstacle)
    }
  }

  /// The error for a record that cannot be taken back.
  private func endRun(_ entry: OpenReferences.Entry, _ key: Int, because obstacle: String) -> UpsurgeError {
    var refused = rejected(entry, key)
    fatalReject = refused
    if settings.onError == .stop { return refused.asError }
    refused.reason += "; it cannot be left out any more, because \(obstacle)"
    var error = refused.asError
    error.hint = "load the referenced rows first, or the referenced table first"
    return error
  }

  private func rejected(_ entry: OpenReferences.Entry, _ key: Int) -> Reject {
    var refused = entry.reject
    (refused.column, refused.reason) = missingParent(plan.schema.foreignKeys[key])
    return refused
  }

  private func missingParent(_ key: TableSchema.ForeignKey) -> (column: String?, reason: String) {
    let parents = (key.parentColumns.isEmpty ? key.parentKey : key.parentColumns).joined(separator: ", ")
    let columns = key.columns.joined(separator: ", ")
    return (
      columns,
      "the record refers by (\(columns)) to \(key.parentTable) (\(parents)), which has no such row"
        .escapedForTerminal
    )
  }
}
