import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Which rows the records of a snapshot were about (see `SeenRows`).
extension SweepStage {
  /// Begins to note them, where rows that no record is about may be swept.
  func begin() throws(UpsurgeError) {
    guard seen == nil, !plan.schema.columns.isEmpty else { return }
    let byteLimit = (rules ?? SnapshotRules()).bitsByteLimit
    let memory = settings.seenMemory ?? SeenMemory(byteLimit: byteLimit)
    if let state = settings.delivery.rowState {
      writer.stages.rowState = try RowStateStage(writer, state)
      seen = try SeenRows(plan, on: connection, memory: memory)
    }
    guard let rules, rules.sweep != .none else { return }
    if case .soft(let column) = rules.sweep { try checkMark(column) }
    if let scope = rules.scope { try SQLFragment(scope).checkIsExpression(option: "scope") }
    if let scope = rules.scope { rowsOutside = try writer.count(rowsIn: "(\(scope)) IS NOT TRUE") }
    try beginAcceptance(rules)
    // Those that the feed has delivered are counted when the first transaction begins.
    if settings.delivery.rowState?.isOwned == true { return }
    let scope = try rules.liveScope(of: plan.schema)
    let counted = "(\(scope))\(acceptance.term)"
    rowsBefore = !acceptance.holdsRows && countsRowsLater(rules) ? nil : try writer.count(rowsIn: counted)
    let isAny = try isAny(rowIn: scope)
    if seen != nil { return }
    if !isAny { rowsBefore = 0 }
    // Rows of a table that has none before are all in the delivery; those that are marked may come back.
    if !isAny && rules.sweep != .hard { hasOnlyMarkedRows = try self.isAny(rowIn: "1") }
    // Without rowids, rows that are not accepted yet are told as they are seen.
    let notesSeen = acceptance.rows?.notesEach == true && plan.schema.isWithoutRowid
    if rules.scope != nil || isAny || hasOnlyMarkedRows || notesSeen {
      seen = try SeenRows(plan, on: connection, memory: memory)
    }
  }

  /// A column that identifies rows cannot say of them that they are gone.
  private func checkMark(_ column: String) throws(UpsurgeError) {
    guard let index = plan.schema.columnIndex(column),
      let key = plan.targets.first(where: { $0.speaks(of: index, in: plan.schema) })
    else { return }
    throw UpsurgeError(
      .usage,
      "\(saying: SoftMark.term) the column \(column.escapedForTerminal) is part of \(key.description), by which records tell their rows",
      hint: "mark rows in a column of their own")
  }

  /// Whether the rows before the first record can be told at the end, by what was done to them.
  private func countsRowsLater(_ rules: SnapshotRules) -> Bool {
    guard rules.scope == nil, settings.commitsOnce, !settings.isDryRun, writer.earlier.ledger.read == 0 else {
      return false
    }
    return settings.chunks?.manifest != nil || rules.sweep == .hard && plan.hasPlainRows
  }

  /// Rows that a sweep may be about, before the first record.
  func countRowsBefore(_ rules: SnapshotRules) throws(UpsurgeError) -> UInt64 {
    if let rowsBefore { return rowsBefore }
    if let chunks = settings.chunks, chunks.skippedRecordCount > 0, let manifest = chunks.manifest {
      return manifest.recordCount
    }
    if rules.sweep == .hard && plan.hasPlainRows {
      let now = try writer.count(rowsIn: "1")
      return now - min(now, writer.ledger.inserted)
    }
    let table = try SQLName.quote(plan.schema.name)
    let count = try Connection.looking(at: connection.path).integer(
      "SELECT count(*) FROM main.\(table) WHERE \(try rules.liveScope(of: plan.schema))")
    return UInt64(count ?? 0)
  }

  /// The rows that no record was about, where their number is known without looking at them.
  func countUnseen(_ rules: SnapshotRules) throws(UpsurgeError) -> UInt64? {
    guard let seen, rules.sweep == .hard, rules.scope == nil, plan.hasPlainRows, unreadableCount == 0,
      settings.delivery.rowState?.isOwned != true, rowState?.keptTerm == nil,
      writer.ledger.rejected + writer.ledger.quarantined + writer.ledger.ignored + writer.ledger.deleted == 0
    else { return nil }
    let now = try writer.count(rowsIn: "1")
    return now - min(now, seen.count)
  }

  private func isAny(rowIn condition: String) throws(UpsurgeError) -> Bool {
    let table = try SQLName.quote(plan.schema.name)
    return try connection.integer("SELECT 1 FROM main.\(table) WHERE \(condition) LIMIT 1") != nil
  }

  /// Notes the rows of records that are stored; also those of records that were refused, which stand in the delivery, too.
  func didStoreRun(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int
  ) throws(UpsurgeError) {
    if let seen { try note(batch, in: order, from: start, to: end, as: seen) }
    refusedNumbers.removeAll(keepingCapacity: true)
    try acceptance.rows?.flush(atLeast: 8_192)
  }

  private func note(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int, as seen: SeenRows
  ) throws(UpsurgeError) {
    if rowState == nil, try noteRowids(batch, in: order, from: start, to: end, as: seen) { return }
    let mayDiffer = batch.hasAbsentCells || batch.columnCount < plan.columns.count
    let role = ShapeStatements.Role.find(seen.columns)
    let alias = rowidCell
    let keyCells = plan.slots.filter(\.isKey).map(\.cellIndex).filter { $0 != alias }
    var shape = writer.bound.fullShape
    for place in start..<end {
      let record = order[place]
      if mayDiffer {
        shape = writer.shape(
          of: batch.cells + record * batch.columnCount, cellCount: batch.columnCount, last: shape)
      }
      if let alias, alias < batch.columnCount {
        let kind = batch.cells[record * batch.columnCount + alias].kind
        // SQLite has given the row its number, so nobody knows whether it is a new one. One that was refused is counted.
        let hasNone = kind == .null || kind == .absent
        if hasNone, !refusedNumbers.contains(batch.records[record].number) { unreadableCount += 1 }
      }
      let handle = try writer.statements.handle(shape, role)
      let code = writer.step(handle, batch, record, shape)
      defer { sqlite3_reset(handle) }
      switch code {
      case SQLITE_ROW:
        try seen.insert(rowOf: handle)
        try acceptance.rows?.note(rowOf: handle)
        try writer.stages.rowState?.note(
          rowOf: handle, batch, record, isWhole: !mayDiffer || shape === writer.bound.fullShape)
      case SQLITE_DONE:
        // The table may have made a key that nobody knows.
        let cells = batch.cells + record * batch.columnCount
        if mayDiffer && keyCells.contains(where: { $0 >= batch.columnCount || cells[$0].kind == .absent }) {
          unreadableCount += 1
        }
      default: throw connection.failure(code, sql: String(cString: sqlite3_sql(handle)))
      }
    }
  }

  /// Notes the rows of records whose key is the rowid itself.
  /// - Returns: false where SQLite must look for them.
  private func noteRowids(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int, as seen: SeenRows
  ) throws(UpsurgeError) -> Bool {
    let cellCount = batch.columnCount
    guard plan.targets.count == 1, plan.targets[0].isRowidAlias, let cell = rowidCell, cell < cellCount else {
      return false
    }
    let cells = batch.cells + cell
    for place in start..<end where cells[order[place] * cellCount].kind != .integer { return false }
    try seen.insert(count: end - start) { Int64(bitPattern: cells[order[start + $0] * cellCount].payload) }
    return true
  }

  /// The cell of the column that is another name of the rowid, where that is the key.
  private var rowidCell: Int? {
    plan.slots.first { $0.isKey && $0.columnIndex == plan.schema.rowidAlias }?.cellIndex
  }

  /// Counts records of which nobody knows which row they are about.
  func willReject(_ reject: Reject, by origin: RejectOrigin) {
    let isUnreadable =
      switch origin {
      case .table: isAboutNoKnownRow(reject)
      case .parser: true
      case .parserBefore: false
      }
    guard isUnreadable else { return }
    unreadableCount += 1
    if case .table = origin, let number = reject.position.record { refusedNumbers.insert(number) }
  }

  /// Whether the key of a record cannot be one of any row.
  private func isAboutNoKnownRow(_ reject: Reject) -> Bool {
    if reject.code == .nullKey { return true }
    guard reject.code == .typeMismatch || reject.code == .wouldChange || reject.code == .notNull else {
      return false
    }
    guard let column = reject.column, let index = plan.schema.columnIndex(column) else { return true }
    return plan.lookUpKeys.contains { $0.speaks(of: index, in: plan.schema) }
  }
}
