import CSQLite
import UpsurgeRecords

/// What the observer is shown of a record's row, before and after.
extension TableWriter {
  /// The row that a record is about as it is now; nil when there is none.
  func rowOfRecord(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, columns: [Int]? = nil
  ) throws(UpsurgeError) -> [SQLValue]? {
    if plan.lookUpKeys.isEmpty { return nil }
    return try row(try statements.handle(shape, .find(columns ?? observedColumns)), batch, record, shape)
  }

  /// The row before the record is stored: the observed values, and behind them those that name the row.
  func rowBefore(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, _ wanted: ObservedRows
  ) throws(UpsurgeError) -> [SQLValue]? {
    // A row may leave the partial index by which it was found, or SQL may change its key; then only its name finds it
    // again.
    let mayMove =
      wanted == .after
      && (plan.targets.contains(where: \.isPartial)
        || plan.slots.contains { $0.isKey && plan.isSetBySQL($0.columnIndex) })
    guard wanted == .beforeAndAfter || mayMove else { return nil }
    return try rowOfRecord(batch, record, shape, columns: observedColumns + observedIdentity)
  }

  /// Tells the observer what became of a record.
  /// - Parameter before: what `rowBefore` has given.
  func show(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, before: [SQLValue]?
  ) throws(UpsurgeError) {
    guard let observer else { return }
    let was = before.map { Array($0.prefix(observedColumns.count)) }
    var after = was
    switch (observer.wantedRows, outcome) {
    case (.none, _), (_, .deleted): after = nil
    case (_, .inserted): after = try insertedRow(batch, record, shape)
    case (_, .updated): after = try updatedRow(batch, record, shape, before: before)
    case (.after, _) where before == nil: after = try rowOfRecord(batch, record, shape)
    default: break
    }
    let position = batch.position(of: record, file: sourceName(batch.sourceIndex))
    try observer.observe(outcome, at: position, before: outcome == .inserted ? nil : was, after: after)
  }

  /// The columns that name a row for sure; none for views and virtual tables.
  private var observedIdentity: [Int] {
    let isNamed = plan.schema.isWithoutRowid || plan.schema.rowidName != nil
    return plan.schema.kind == .table && isNamed ? plan.identityColumns : []
  }

  private func updatedRow(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, before: [SQLValue]?
  ) throws(UpsurgeError) -> [SQLValue]? {
    let identity = observedIdentity
    guard let before, !identity.isEmpty else { return try rowOfRecord(batch, record, shape) }
    return try row(named: Array(before.suffix(identity.count)), by: identity, before: before)
  }

  /// The row that was inserted last: by its rowid, since its key may be a number that SQLite gave it.
  private func insertedRow(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> [SQLValue]? {
    if plan.schema.kind != .table { return try rowOfRecord(batch, record, shape) }
    if plan.schema.isWithoutRowid {
      return try row(try statements.handle(shape, .findByPrimaryKey(observedColumns)), batch, record, shape)
    }
    if plan.schema.rowidName == nil { return try rowOfRecord(batch, record, shape) }
    return try row(named: [.integer(sqlite3_last_insert_rowid(connection.handle))], by: plan.identityColumns)
  }

  /// - Parameter before: the row as it was; values that are still the same are not copied.
  private func row(
    named values: [SQLValue], by columns: [Int], before: [SQLValue] = []
  ) throws(UpsurgeError) -> [SQLValue]? {
    let sql = try plan.namedRowSQL(columns: observedColumns, by: columns)
    if namedRowStatement?.sql != sql {
      namedRowStatement = try connection.prepare(sql, isPersistent: true)
    }
    guard let statement = namedRowStatement else { return nil }
    for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (0..<sqlite3_column_count(statement.handle)).map {
      SQLValue(statement.handle, column: $0, before: Int($0) < before.count ? before[Int($0)] : .null)
    }
  }

  private func row(
    _ handle: OpaquePointer, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> [SQLValue]? {
    defer { sqlite3_reset(handle) }
    let code = step(handle, batch, record, shape)
    if code == SQLITE_DONE { return nil }
    if code != SQLITE_ROW { throw connection.failure(code, sql: String(cString: sqlite3_sql(handle))) }
    return (0..<sqlite3_column_count(handle)).map { SQLValue(handle, column: $0) }
  }
}
