import CSQLite
import UpsurgeRecords

/// Which rows the records of a snapshot were about (see `SeenRows`).
extension TableWriter {
  /// Begins to note them, where rows that no record is about may be swept.
  func beginSeeing() throws(UpsurgeError) {
    guard let rules = settings.snapshot, rules.sweep != .none, seen == nil, !plan.schema.columns.isEmpty
    else {
      return
    }
    if let scope = rules.scope { try SQLFragment(scope).checkIsExpression(option: "scope") }
    rowsBefore = try count(rowsIn: try rules.liveScope(of: plan.schema))
    if let scope = rules.scope { rowsOutside = try count(rowsIn: "(\(scope)) IS NOT TRUE") }
    // Rows of a table that has none before are all in the delivery.
    if rowsBefore > 0 || rules.scope != nil {
      seen = try SeenRows(plan, on: connection, byteLimit: rules.bitsByteLimit)
    }
  }

  /// Stores records as `storeRun` does, and notes their rows; also those of records that were refused, which stand in
  /// the delivery, too.
  func storeSeen(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int
  ) throws(UpsurgeError) {
    try storeRun(batch, in: order, from: start, to: end)
    if let seen { try note(batch, in: order, from: start, to: end, as: seen) }
  }

  private func note(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int, as seen: SeenRows
  ) throws(UpsurgeError) {
    let mayDiffer = batch.hasAbsentCells || batch.columnCount < plan.columns.count
    let role = ShapeStatements.Role.find(seen.columns)
    let alias = plan.slots.first { $0.isKey && $0.columnIndex == plan.schema.rowidAlias }?.cellIndex
    var shape = fullShape
    for place in start..<end {
      let record = order[place]
      if mayDiffer {
        shape = self.shape(
          of: batch.cells + record * batch.columnCount, cellCount: batch.columnCount, last: shape)
      }
      if let alias, alias < batch.columnCount {
        let kind = batch.cells[record * batch.columnCount + alias].kind
        // SQLite has given the row its number, so nobody knows whether it is a new one.
        if kind == .null || kind == .absent { unreadableCount += 1 }
      }
      let handle = try statements.handle(shape, role)
      let code = step(handle, batch, record, shape)
      defer { sqlite3_reset(handle) }
      switch code {
      case SQLITE_ROW: try seen.insert(rowOf: handle)
      case SQLITE_DONE: break
      default: throw connection.failure(code, sql: String(cString: sqlite3_sql(handle)))
      }
    }
  }
}
