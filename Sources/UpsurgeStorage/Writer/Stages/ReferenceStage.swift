import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Foreign keys that are looked at when the transaction ends (`--foreign-keys deferred`, or a key that is DEFERRABLE
/// INITIALLY DEFERRED).
///
/// The end is as if the records whose references are open at the commit had never come. While a reference is open,
/// a savepoint stands before the first record that can be to blame, and all records from there on are held
/// (`ReferenceStage+Hold`). At the commit those are found that have set an open reference. Everything is rolled back to the
/// savepoint, and the others are stored once more. Each may fare better than before, or worse: so again, until nothing
/// is open.
///
/// Rows whose parent is taken away by a record are the fault of that record, which is not looked for: the commit fails,
/// and the run ends.
final class ReferenceStage: WriterStage {
  unowned let writer: TableWriter
  /// Looks at the foreign keys of rows; nil where the table has none, or no row of it can be named.
  private(set) var references: OpenReferences?
  /// From where on records may have to be stored once more, because references are open.
  var hold = RecordHold()
  /// The records that may have to be stored once more.
  var held: HeldRecords?
  /// Which of them have set references.
  var referenceSetters: ReferenceSetters?
  /// The row of the record in hand as it was.
  private var before: [SQLValue]?
  /// How often records were stored once more to see what is open without others.
  private(set) var settlementRoundCount = 0

  /// Whether foreign keys of a table are looked at when the transaction ends, and by the writer.
  static func isAsked(for schema: TableSchema, _ settings: WriterSettings) -> Bool {
    !settings.leavesReferencesOpen && (settings.defersForeignKeys || schema.hasDeferredForeignKeys)
  }

  init(_ writer: TableWriter) { self.writer = writer }

  /// While it keeps track, records are stored one by one, and may be taken back.
  var permits: StorePermits { references == nil ? .all : [] }

  var watchesRecords: Bool { references != nil }

  func adopt(_ plan: UpsertPlan) throws(UpsurgeError) {
    references =
      Self.isAsked(for: plan.schema, settings) ? try OpenReferences(connection, plan.schema) : nil
  }

  func moveToCurrentThread() { held?.moveToCurrentThread() }

  // MARK: - Records

  func willStore(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject? {
    before = try rowBefore(batch, record, shape)
    return nil
  }

  /// The row of a record as it was: what names it, and after that the watched columns; nil when nothing is tracked or
  /// there is no row.
  private func rowBefore(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> [SQLValue]? {
    guard let references, !plan.lookUpKeys.isEmpty else { return nil }
    let columns = plan.identityColumns + references.watchedColumns
    return try writer.rowOfRecord(batch, record, shape, columns: columns)
  }

  /// Notes what a record has set while a reference is open.
  func didStore(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isDelete: Bool
  ) throws(UpsurgeError) {
    guard let references, hold.isSet else { return }
    guard references.isAnyOpen else {
      if hold.hasSetters { try forgetSetters() }
      return
    }
    guard outcome == .inserted || outcome == .updated else {
      let isThere =
        outcome == .ignored && plan.mode == .ignore && before != nil && plan.schema.keys.count == 1
      return try noteLeft(before, isSame: outcome == .unchanged || outcome == .stale || isThere)
    }
    let count = plan.identityColumns.count
    var identity = before.map { Array($0.prefix(count)) }
    if outcome == .inserted {
      identity =
        plan.schema.isWithoutRowid
        ? try writer.rowOfRecord(batch, record, shape, columns: plan.identityColumns)
        : [.integer(sqlite3_last_insert_rowid(connection.handle))]
    }
    guard let identity, let now = try references.look(at: identity) else {
      hold.isPlain = false
      return
    }
    let old = outcome == .inserted ? nil : before.map { Array($0.dropFirst(count)) }
    let hasMoved = old.map { references.hasMoved(from: $0, to: now.values) } ?? false
    let setters = try setters()
    if old != nil, hold.hasSetters { try setters.noteOther(identity) }
    for key in now.isOpen.indices {
      if let old, !references.isSet(key, from: old, to: now.values) {
        // What it has set may be what its own row refers to.
        guard now.isOpen[key], references.wasOwnParent(key, old) else { continue }
      }
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

  func didFail(_ record: Int, _ refusal: Refusal?) throws(UpsurgeError) {
    guard let refusal else { return }
    try noteLeft(before, isSame: Refusal.comesBeforeConflict(refusal.code))
  }

  func didRefuse(_ outcome: Outcome, at position: Position) {
    if outcome != .rejected { return }
    if countsRejectsOnly {
      hold.hasRejects = true
    } else if references != nil, hold.pass == .first {
      hold.isBehind = true
    }
  }

  /// Notes that a record has left its row as it was while a reference is open.
  /// - Parameters:
  ///   - before: what `rowBefore` has given.
  ///   - isSame: whether the record does the same when rows of others are not there.
  private func noteLeft(_ before: [SQLValue]?, isSame: Bool) throws(UpsurgeError) {
    guard isSame else {
      hold.isPlain = false
      return
    }
    guard let before, hold.hasSetters else { return }
    try setters().noteOther(Array(before.prefix(plan.identityColumns.count)))
  }

  private func forgetSetters() throws(UpsurgeError) {
    try referenceSetters?.forgetRows()
    hold.hasSetters = false
    hold.hasMoved = false
  }

  /// Rejects the records whose parents never came, before the transaction is committed.
  /// - Parameter isLast: whether no further record comes.
  func settle(isLast: Bool) throws(UpsurgeError) {
    guard let references, hold.isSet, references.isAnyOpen || hold.hasRejects else { return }
    var rounds = 0
    while references.isAnyOpen {
      guard let first = try accuse(references) else { throw writer.openForeignKeys() }
      if let error = try endOfRun(first) { throw error }
      rounds += 1
      settlementRoundCount += 1
      if rounds > Self.longestSettlement { throw endlessReferences(isLast: isLast) }
      try storeHeld(.trial)
    }
    try storeHeld(.last)
    if references.isAnyOpen { throw writer.openForeignKeys() }
    try connection.execute("RELEASE \(RecordHold.savepoint)")
    try dropHeld()
  }

  /// Records that refer to each other are left out one after the other, at times.
  private static let longestSettlement = 500

  // MARK: - Culprits

  /// Finds the records that have set what is open.
  /// - Returns: the first of them; nil without any.
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
        try setters.add(first)
        return first
      }
    }
    try setters.visit { (identity, culprit, _, _) throws(UpsurgeError) in
      guard try references.look(at: identity)?.isOpen[culprit.key] ?? false else { return true }
      try setters.add(culprit)
      if first == nil { first = culprit }
      return true
    }
    if first != nil, canFollow { try accuseDependents(references, setters) }
    return first
  }

  /// Whether it is known what is open without the culprits: only what refers to their rows.
  private var canFollow: Bool {
    hold.isPlain && !endsAtOpenReference && plan.schema.triggers.isEmpty
      && plan.schema.foreignKeys.contains { SQLName.isSame($0.parentTable, plan.schema.name) }
  }

  /// Whether a record that changes a row makes no difference to records of other rows: nothing else must be unique than
  /// what names the rows, which stays as it is, and nothing goes from row to row.
  private var changesStayInRows: Bool {
    (plan.mode == .upsert || plan.mode == .ignore) && plan.schema.keys.count == 1
      && !hold.hasMoved
      && !plan.slots.contains { $0.isKey && plan.isSetBySQL($0.columnIndex) }
  }

  /// Finds those too whose parents are rows of culprits, and theirs in turn, which would otherwise take a round each.
  private func accuseDependents(
    _ references: OpenReferences, _ setters: ReferenceSetters
  ) throws(UpsurgeError) {
    let closure = try ReferenceClosure(heldRecords(), identityCount: plan.identityColumns.count)
    try setters.visit(includesHealed: true) { (identity, setter, _, isAlone) throws(UpsurgeError) in
      if let parent = try references.parent(of: identity, key: setter.key) {
        try closure.note(parent: parent, of: identity, setter, isAlone: isAlone)
      }
      return true
    }
    try closure.follow(stopsAtChanges: !changesStayInRows, includesChanged: !plan.hasFreeSQL)
  }

  /// Whether the run ends at the first record whose parent never came.
  var endsAtOpenReference: Bool {
    settings.onError == .stop && !settings.delivery.quarantinesOrphans || connection.durability == .off
  }

  private func endOfRun(_ culprit: ReferenceSetters.Culprit) throws(UpsurgeError) -> UpsurgeError? {
    if !endsAtOpenReference { return nil }
    let batch = try heldRecords().slice(Int(culprit.ordinal >> 32))
    let refused = missingParent(batch, Int(culprit.ordinal & 0xFFFF_FFFF), culprit.key)
    writer.tally.fatalReject = refused
    return refused.asError
  }

  private func endlessReferences(isLast: Bool) -> UpsurgeError {
    let isWhole = settings.commitsOnce || isLast && writer.statistics.commitCount == 0
    return UpsurgeError(
      .badInput,
      "records of one transaction refer to each other in chains of more than \(Self.longestSettlement) that end at"
        + " rows of table \(plan.schema.name.escapedForTerminal) or its parents that do not exist",
      hint: isWhole
        ? "load the referenced rows first"
        : "load the referenced rows first, or let one transaction hold them all (\(.atomic))")
  }

  /// The reject for a record that refers to a row which never came.
  func missingParent(_ batch: borrowing Batch, _ record: Int, _ key: Int) -> Reject {
    let key = plan.schema.foreignKeys[key]
    let parents = key.referredColumns.joined(separator: ", ")
    let columns = key.columns.joined(separator: ", ")
    return Reject(
      .foreignKey, at: batch.position(of: record, file: writer.sourceName(batch.origin.sourceIndex)),
      column: columns,
      reason: "the record refers by (\(columns)) to \(key.parentTable) (\(parents)), which has no such row"
        .escapedForTerminal,
      hint: "load the referenced rows first", raw: batch.rawBytes(of: record))
  }
}
