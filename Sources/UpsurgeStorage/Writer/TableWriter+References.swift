import CSQLite
import UpsurgeRecords

/// Foreign keys that are looked at when the transaction ends (`--foreign-keys deferred`, or a key that is DEFERRABLE
/// INITIALLY DEFERRED).
///
/// The end is as if the records whose references are open at the commit had never come. While a reference is open,
/// a savepoint stands in front of the first record that can be to blame, and all records from there on are held
/// (`TableWriter+Hold`). At the commit those are found that have set an open reference; everything is rolled back to the
/// savepoint, and the others are stored once more, in which each may fare better than before, or worse: so again, until
/// nothing is open.
///
/// Rows whose parent is taken away by a record are the fault of that record, which is not looked for: the commit fails,
/// and the run ends.
extension TableWriter {
  /// Begins to keep track where the schema or the settings put the look off.
  func beginReferences() throws(UpsurgeError) {
    let isDeferred = settings.defersForeignKeys || plan.schema.hasDeferredForeignKeys
    references = isDeferred ? try OpenReferences(connection, plan.schema) : nil
  }

  /// The row of a record as it was: what names it, and behind that the watched columns; nil when nothing is tracked or
  /// there is no row.
  func rowBeforeReference(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> [SQLValue]? {
    guard let references, !plan.lookUpKeys.isEmpty else { return nil }
    let columns = plan.identityColumns + references.watchedColumns
    return try rowOfRecord(batch, record, shape, columns: columns)
  }

  /// Notes what a record has set while a reference is open.
  func noteReference(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, before: [SQLValue]?
  ) throws(UpsurgeError) {
    guard let references, hold.isSet else { return }
    guard references.isAnyOpen else {
      if hold.hasSetters { try forgetSetters() }
      return
    }
    guard outcome == .inserted || outcome == .updated else {
      hold.isPlain = false
      return
    }
    let count = plan.identityColumns.count
    var identity = before.map { Array($0.prefix(count)) }
    if outcome == .inserted {
      identity =
        plan.schema.isWithoutRowid
        ? try rowOfRecord(batch, record, shape, columns: plan.identityColumns)
        : [.integer(sqlite3_last_insert_rowid(connection.handle))]
    }
    guard let identity, let now = try references.look(at: identity) else { return }
    let old = outcome == .inserted ? nil : before.map { Array($0.dropFirst(count)) }
    let hasMoved = old.map { references.hasMoved(from: $0, to: now.values) } ?? false
    let setters = try setters()
    if old != nil, hold.hasSetters { try setters.noteOther(identity) }
    for key in now.isOpen.indices {
      if let old, !references.isSet(key, from: old, to: now.values) { continue }
      if references.isNull(key, now.values) {
        if hold.hasSetters { try setters.forget(identity, key: key) }
        continue
      }
      try setters.note(
        identity, key: key, ordinal: hold.ordinal(of: record), isOpen: now.isOpen[key], hasMoved: hasMoved,
        isNew: old == nil)
      hold.hasSetters = true
      if hasMoved { hold.hasMoved = true }
    }
  }

  private func forgetSetters() throws(UpsurgeError) {
    try referenceSetters?.forgetRows()
    hold.hasSetters = false
    hold.hasMoved = false
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
    guard let references, hold.isSet, references.isAnyOpen || hold.hasRejects else { return }
    var rounds = 0
    while references.isAnyOpen {
      guard let first = try accuse(references) else { throw openForeignKeys() }
      if let error = try endOfRun(first) { throw error }
      rounds += 1
      if rounds > Self.longestSettlement { throw endlessReferences() }
      try storeHeld(.trial)
    }
    try storeHeld(.last)
    if references.isAnyOpen { throw openForeignKeys() }
    try connection.execute("RELEASE \(RecordHold.savepoint)")
    try dropHeld()
  }

  /// Records that refer to each other are left out one after the other, at times.
  private static let longestSettlement = 500

  // MARK: - Culprits

  /// Finds the records that have set what is open.
  /// - Returns: the first of them; nil when there is none.
  private func accuse(_ references: OpenReferences) throws(UpsurgeError) -> ReferenceSetters.Culprit? {
    let setters = try setters()
    var first: ReferenceSetters.Culprit?
    if hold.hasMoved {
      // Others may be open only because of this one.
      try setters.visit { (identity, culprit, hasMoved, _) throws(UpsurgeError) in
        guard hasMoved, try references.look(at: identity)?.isOpen[culprit.key] ?? false else { return true }
        first = culprit
        return false
      }
      if let first {
        _ = try setters.add(first)
        return first
      }
    }
    try setters.visit { (identity, culprit, _, _) throws(UpsurgeError) in
      guard try references.look(at: identity)?.isOpen[culprit.key] ?? false else { return true }
      _ = try setters.add(culprit)
      if first == nil { first = culprit }
      return true
    }
    if first != nil, canDelete { try accuseDependents(references, setters) }
    return first
  }

  /// Whether deleting the rows of culprits shows which others will be open without them.
  private var canDelete: Bool {
    hold.isPlain && !endsAtOpenReference && plan.schema.triggers.isEmpty && !plan.schema.hasActingReferences
      && plan.schema.foreignKeys.contains { SQLName.isSame($0.parentTable, plan.schema.name) }
  }

  /// Finds those too whose parents are rows of culprits, and theirs in turn, which would otherwise take a round each.
  private func accuseDependents(
    _ references: OpenReferences, _ setters: ReferenceSetters
  ) throws(UpsurgeError) {
    var isBackwards = true
    var hasFound = true
    while hasFound {
      hasFound = false
      try setters.visit(isBackwards: isBackwards, includesHealed: true) {
        (identity, culprit, _, isAlone) throws(UpsurgeError) in
        guard try references.look(at: identity)?.isOpen[culprit.key] ?? false else { return true }
        if try setters.add(culprit) { hasFound = true }
        if isAlone, try references.delete(identity) { hasFound = true }
        return true
      }
      isBackwards.toggle()
    }
  }

  /// Whether the run ends at the first record whose parent never came.
  var endsAtOpenReference: Bool {
    settings.onError == .stop || connection.durability == .off
  }

  private func endOfRun(_ culprit: ReferenceSetters.Culprit) throws(UpsurgeError) -> UpsurgeError? {
    if !endsAtOpenReference { return nil }
    let batch = try heldRecords().slice(Int(culprit.ordinal >> 32))
    let refused = missingParent(batch, Int(culprit.ordinal & 0xFFFF_FFFF), culprit.key)
    fatalReject = refused
    var error = refused.asError
    if settings.onError != .stop {
      error.hint = "load the referenced rows first; without --durability off the record would be a reject"
    }
    return error
  }

  private func endlessReferences() -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "records of one transaction refer to each other in chains of more than \(Self.longestSettlement) that end at"
        + " rows of table \(plan.schema.name.escapedForTerminal) or its parents that do not exist",
      hint: "load the referenced rows first, or let one transaction hold them all (--atomic)")
  }

  /// The reject for a record that refers to a row which never came.
  func missingParent(_ batch: borrowing Batch, _ record: Int, _ key: Int) -> Reject {
    let key = plan.schema.foreignKeys[key]
    let parents = (key.parentColumns.isEmpty ? key.parentKey : key.parentColumns).joined(separator: ", ")
    let columns = key.columns.joined(separator: ", ")
    return Reject(
      .foreignKey, at: batch.position(of: record, file: sourceName(batch.sourceIndex)), column: columns,
      reason: "the record refers by (\(columns)) to \(key.parentTable) (\(parents)), which has no such row"
        .escapedForTerminal,
      hint: "load the referenced rows first", raw: batch.rawBytes(of: record))
  }
}
