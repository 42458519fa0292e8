import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Stores batches in one table, in transactions, and keeps the ledger; lives on the writer thread.
///
/// Cells are bound in place: a batch must not be changed while `write` runs, and no pointer into it is left
/// when `write` returns. Which statement a record goes into is told in `StatementForm`. For every choice the
/// table, the ledger and the rejects are those of single-row statements, record by record.
///
/// This is what every load needs; what features add are stages (see `WriterStage`).
///
/// After an error everything since the last commit is rolled back, `ledger` is that of the last commit (with
/// the one record that ended the run, where a record did), and the writer is done.
package final class TableWriter {
  package let connection: Connection
  /// The plan, and what is compiled for it.
  var bound: BoundPlan
  /// What has become of the records.
  var tally = WriterTally()
  /// Where the records come from.
  var input: WriterInput
  /// Where the time went and what was written.
  package internal(set) var statistics = WriterStatistics()

  package internal(set) var settings: WriterSettings
  let rejectSink: (Reject) throws(UpsurgeError) -> Void
  /// Are told how transactions end.
  let transactionObservers: [any TransactionObserver]
  /// What features add.
  var stages = WriterStages()
  var transaction = OpenTransaction()
  var isDone = false {
    didSet {
      if !isDone { return }
      log.endBeside()
      for stage in stages.list { stage.didEnd() }
    }
  }
  /// Whether the records are part of a transaction that others go on with.
  var isSuspended = false
  /// The write-ahead log, and pages at large.
  lazy var log = WriteAheadLog(of: self)
  /// Lets what is nearly done be finished when the run was told to end.
  let grace: GracePeriod
  /// A record larger than this goes alone, so that SQLite's length limit cannot break a statement in two.
  let largeRecordByteCount: Int

  /// - Parameters:
  ///   - connection: configured, and owned by the writer thread from now on.
  ///   - plan: how the records go into the table.
  ///   - sourceNames: the sources as the user named them, by `batch.sourceIndex`.
  ///   - observer: sees every record, which then goes alone.
  ///   - transactionObserver: keeps or forgets what `rejectSink` took; leaves records in their statements of many rows.
  ///   - keeper: keeps the record of the run.
  ///   - resumed: the run that goes on; records up to its position are left out.
  ///   - before: a writer of the same plan that has ended in the transaction of this one; its statements are taken over.
  ///   - rejectSink: takes each record that cannot be stored, in input order, on the writer thread.
  package init(
    connection: Connection, plan: UpsertPlan, sourceNames: [String],
    settings: WriterSettings = WriterSettings(), observer: (any RecordObserver)? = nil,
    transactionObserver: (any TransactionObserver)? = nil, keeper: RunKeeper? = nil,
    resumed: RunRecord? = nil, behind before: TableWriter? = nil,
    rejectSink: @escaping (Reject) throws(UpsurgeError) -> Void = { _ in }
  ) throws(UpsurgeError) {
    self.connection = connection
    self.settings = settings.settled
    grace = GracePeriod(isCancelled: settings.isCancelled)
    input = WriterInput(
      sourceNames: sourceNames, keeper: keeper, earlier: resumed?.progress ?? RunProgress())
    self.rejectSink = rejectSink
    largeRecordByteCount = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, -1)) / 4
    let observers: [(any TransactionObserver)?] = [transactionObserver, observer]
    transactionObservers = observers.compactMap { $0 }
    if let before, before.isSuspended, before.connection === connection {
      bound = BoundPlan(plan, takingOver: before.bound)
    } else {
      bound = BoundPlan(plan, settings, on: connection)
    }
    stages.quarantine = QuarantineStage(self)
    stages.chunks = settings.chunks.map { ChunkStage(self, $0) }
    if let resumed { goOn(resumed) }
    try log.begin()
    try checkFreeSQL()
    try compileEarly()
    if let observer { stages.observer = try ObserverStage(self, observer) }
    if ReferenceStage.isAsked(for: plan.schema, self.settings) {
      stages.references = ReferenceStage(self)
      try stages.references?.adopt(plan)
    }
    if self.settings.delivery.snapshot != nil || self.settings.delivery.rowState != nil {
      stages.sweep = SweepStage(self)
      try stages.sweep?.begin()
    }
    if settings.sorting.byteCount > 0 { stages.gathering = GatheringStage(self) }
    if settings.walksBesideRows && !settings.sorting.isTableNew { stages.equalRows = EqualRowsStage(self) }
    stages.refresh()
    for stage in stages.list { try stage.didAdopt(leaving: stages.permits) }
  }

  /// Stores a batch, its rejects and its new columns in input order; commits where the settings say so.
  /// - Throws: `badInput` at the reject that ends the run; `guardRefused` for a column that must not be
  ///   added; `database`, `databaseBusy`, `interrupted`.
  package func write(_ batch: inout Batch) throws(UpsurgeError) {
    if isDone { throw UpsurgeError(.usage, "the writer has ended and takes no more records") }
    connection.checkThread()
    let start = beginStoring()
    defer { endStoring(start) }
    for stage in stages.list { stage.moveToCurrentThread() }
    do throws(UpsurgeError) {
      if let gathering = stages.gathering {
        if try gathering.gather(batch) { return }
        try gathering.storeGathered()
      }
      if !batch.newColumns.isEmpty { try adopt(plan.columns + batch.newColumns, at: firstPosition(batch)) }
      precondition(batch.columnCount <= plan.columns.count, "a batch has more columns than the plan")
      try log.shareMemory(with: batch)
      begin(batch)
      let (record, reject) = try firstNew(of: batch)
      try store(batch, record..<batch.recordCount, rejects: reject..<batch.rejects.count)
      end(batch)
      try commitIfDue()
    } catch {
      throw fail(error)
    }
  }

  /// Begins to count the time of storing; `endStoring` takes the result.
  func beginStoring() -> Double { MonotonicClock.seconds - statistics.secondsElsewhere }

  /// Counts it, and lets go of every pointer into a batch.
  func endStoring(_ start: Double) {
    statements.clearBindings()
    statistics.pagesRead = log.pagesRead
    statistics.storeSeconds += MonotonicClock.seconds - statistics.secondsElsewhere - start
  }

  /// Lets go of every pointer into a batch.
  func clearBindings() { statements.clearBindings() }

  /// Takes another plan for other input columns, after adding what the table lacks.
  func adopt(_ columns: [ColumnTarget], at position: Position?) throws(UpsurgeError) {
    if !settings.quarantinesUnknown { try addMissing(columns, at: position) }
    // A table that is not there stays away until the run ends, whoever makes it.
    let isMissing = plan.schema.columns.isEmpty
    guard let schema = isMissing ? plan.schema : try TableSchema.read(connection, table: plan.schema.name)
    else {
      throw plan.schema.columnsHaveChanged
    }
    if !isMissing { try schema.checkTakesRows(of: plan.schema) }
    let next = try plan.replanned(
      schema: schema, columns: columns, toleratesUnknownColumns: settings.quarantinesUnknown)
    bound = BoundPlan(next, settings, on: connection)
    // Outside of a transaction it may be another table before the next one begins.
    bound.moment = transaction.isOpen ? schema.moment : nil
    if stages.references == nil, ReferenceStage.isAsked(for: next.schema, settings) {
      stages.references = ReferenceStage(self)
      stages.refresh()
    }
    for stage in stages.list { try stage.adopt(next) }
    stages.refresh()
    for stage in stages.list { try stage.didAdopt(leaving: stages.permits) }
  }

  /// Compiles the statement of one row where the merge rules hold SQL of the user's, so that its faults are told early.
  private func checkFreeSQL() throws(UpsurgeError) {
    let merge = plan.rules.merge
    let hasFreeSQL = merge.condition != nil || merge.columns.values.contains { $0.isExpression }
    guard hasFreeSQL, plan.mode == .upsert || plan.mode == .update else { return }
    do throws(UpsurgeError) { try compileFullShape() } catch {
      if error.code != .database { throw error }
      throw UpsurgeError(
        .usage,
        "the SQL of \(.set) or \(.updateIf) cannot be compiled: \(connection.lastMessage.escapedForTerminal)",
        hint: "give SQL over excluded.COL and the row's columns", underlyingCode: error.underlyingCode)
    }
  }

  /// Compiles the statement of one row of a wide table while batches and cache are empty, so that what it takes does not
  /// come on top of them, and nothing is written where the memory is too small for it.
  private func compileEarly() throws(UpsurgeError) {
    guard plan.slots.count >= TableWriter.wideColumnCount, plan.schema.kind == .table else { return }
    do throws(UpsurgeError) { try compileFullShape() } catch {
      // What is wrong with the statement itself is told where there is a record for it.
      if error.code == .usage { throw error }
    }
  }

  /// Narrower tables have statements that take no more than a batch.
  private static let wideColumnCount = 256

  private func compileFullShape() throws(UpsurgeError) {
    if plan.mode == .delete {
      _ = try statements.handle(bound.fullShape, .delete)
    } else if plan.mode == .update || plan.schema.kind != .table {
      _ = try statements.handle(bound.fullShape, .update(0))
    } else {
      _ = try statements.handle(bound.fullShape, step: bound.fullShape.rowCounts.count - 1)
    }
    statements.clearBindings()
  }

  package var plan: UpsertPlan { bound.plan }

  var statements: StatementCache { bound.statements }

  /// Bytes of a page of the database.
  package var pageByteCount: Int { log.pageByteCount }

  private func firstPosition(_ batch: borrowing Batch) -> Position {
    let file = sourceName(batch.origin.sourceIndex)
    return batch.recordCount > 0 ? batch.position(of: 0, file: file) : Position(file: file)
  }
}
