import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Shows an observer what becomes of each record and its row; records then go one by one.
final class ObserverStage: WriterStage {
  unowned let writer: TableWriter
  private let observer: any RecordObserver
  /// The columns whose values the observer is given.
  private(set) var columns: [Int] = []
  /// The row of the record in hand as it was.
  private var before: [SQLValue]?
  /// Reads a row by what names it.
  private var namedRowStatement: Statement?

  init(_ writer: TableWriter, _ observer: any RecordObserver) throws(UpsurgeError) {
    self.writer = writer
    self.observer = observer
    try adopt(writer.bound.plan)
  }

  var permits: StorePermits { [.committingWhileIdle, .storingForGood] }

  var watchesRecords: Bool { true }

  func adopt(_ plan: UpsertPlan) throws(UpsurgeError) {
    columns = writer.bound.visibleColumns
    try observer.begin(plan, columns: columns)
    if observer.wantsRowid { columns.append(TableSchema.rowidIndex) }
  }

  // MARK: - Records

  func willStore(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject? {
    if let refusal = try observer.refusal(of: record, in: batch, isTombstone: isTombstone) { return refusal }
    before = try rowBefore(batch, record, shape, observer.wantedRows)
    return nil
  }

  func willUpdate(byTarget target: Int) { observer.willUpdate(byTarget: target) }

  func willIgnore() { observer.willIgnore() }

  func didStore(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isDelete: Bool
  ) throws(UpsurgeError) {
    let before = before
    let was = before.map { Array($0.prefix(columns.count)) }
    var after = was
    switch (observer.wantedRows, outcome) {
    case (.none, _), (_, .deleted): after = nil
    case (_, .inserted): after = try insertedRow(batch, record, shape)
    case (_, .updated): after = try updatedRow(batch, record, shape, before: before)
    case (.after, _) where before == nil:
      after = try writer.rowOfRecord(batch, record, shape, columns: columns)
    default: break
    }
    let position = batch.position(of: record, file: writer.sourceName(batch.origin.sourceIndex))
    try observer.observe(outcome, at: position, before: outcome == .inserted ? nil : was, after: after)
  }

  func didRefuse(_ outcome: Outcome, at position: Position) throws(UpsurgeError) {
    try observer.observe(outcome, at: position, before: nil, after: nil)
  }

  func didHold() { observer.didHold() }

  func didTakeBack() throws(UpsurgeError) { try observer.didTakeBack() }

  // MARK: - Sweeps

  /// Shows the observer the rows that are about to go, or to get another mark.
  /// - Parameter value: SQL for what the mark becomes.
  func show(
    rowsIn condition: String, mark: SoftMark? = nil, as value: String = "NULL"
  ) throws(UpsurgeError) {
    observer.didHold()
    let table = try SQLName.quote(plan.schema.name)
    let terms = try plan.schema.terms(columns)
    let rows = try connection.prepare(
      "SELECT \(terms), \(value) FROM main.\(table) WHERE \(condition)")
    let position = Position(file: writer.sourceName(max(writer.sourceNames.count - 1, 0)))
    while try rows.step() {
      let values = (0..<sqlite3_column_count(rows.handle)).map { SQLValue(rows.handle, column: $0) }
      let before = Array(values.dropLast())
      guard let mark, let value = values.last else {
        try observer.observe(.deleted, at: position, before: before, after: nil)
        continue
      }
      var after = before
      for (place, column) in columns.enumerated() where column == mark.column { after[place] = value }
      try observer.observe(.updated, at: position, before: before, after: after)
    }
  }

  // MARK: - Rows

  /// The row before the record is stored: the observed values, and after them those that name the row.
  private func rowBefore(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, _ wanted: ObservedRows
  ) throws(UpsurgeError) -> [SQLValue]? {
    // A row may leave the partial index by which it was found, or SQL may change its key; then only its name finds it
    // again.
    let mayMove =
      wanted == .after
      && (plan.targets.contains(where: \.isPartial)
        || plan.slots.contains { $0.isKey && plan.isSetBySQL($0.columnIndex) })
    guard wanted == .beforeAndAfter || mayMove else { return nil }
    return try writer.rowOfRecord(batch, record, shape, columns: columns + observedIdentity)
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
    guard let before, !identity.isEmpty else {
      return try writer.rowOfRecord(batch, record, shape, columns: columns)
    }
    return try row(named: Array(before.suffix(identity.count)), by: identity, before: before)
  }

  /// The row that was inserted last: by its rowid, since its key may be a number that SQLite gave it.
  private func insertedRow(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> [SQLValue]? {
    if !writer.statements.facts.isTable { return try writer.rowOfRecord(batch, record, shape, columns: columns) }
    if plan.schema.isWithoutRowid {
      return try writer.row(
        try writer.statements.handle(shape, .findByPrimaryKey(columns)), batch, record, shape)
    }
    if plan.schema.rowidName == nil { return try writer.rowOfRecord(batch, record, shape, columns: columns) }
    return try row(named: [.integer(sqlite3_last_insert_rowid(connection.handle))], by: plan.identityColumns)
  }

  /// - Parameter before: the row as it was; values that are still the same are not copied.
  private func row(
    named values: [SQLValue], by identity: [Int], before: [SQLValue] = []
  ) throws(UpsurgeError) -> [SQLValue]? {
    let sql = try plan.namedRowSQL(columns: columns, by: identity)
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
}
