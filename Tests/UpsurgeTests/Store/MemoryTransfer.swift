import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

@testable import Upsurge

/// Stores one record after the other, and commits behind each batch; where the load is atomic, at its end.
final class MemoryTransfer: StoreTransfer {
  private let store: MemoryStore
  private let table: StoredTable
  private let input: LoadInput
  private let context: StoreContext
  private let runID: Int64
  private var columns: [ColumnTarget]
  private var inputPlace = InputPlace()
  private var last: InputPlace.Record?
  private var isDone = false

  private(set) var ledger = Ledger()
  private(set) var committedLedger = Ledger()
  private(set) var commitCount = 0
  private(set) var rejectsByReason: [Reject.Code: UInt64] = [:]
  private(set) var fatalReject: Reject?
  private(set) var hasMetTombstone = false
  private(set) var lastCommitted: Position?
  let rejects: (any RejectSink)? = nil

  init(
    _ store: MemoryStore, _ table: StoredTable, _ input: LoadInput, _ beginning: Beginning, _ context: StoreContext
  ) {
    (self.store, self.table, self.input, self.context) = (store, table, input, context)
    columns = table.columns.targets
    runID = beginning.resumption?.id ?? store.state.lastRun + 1
    guard let run = beginning.resumption else { return }
    (ledger, committedLedger) = (run.progress.ledger, run.progress.ledger)
    rejectsByReason = run.progress.rejectsByReason
    lastCommitted = run.position.position
    inputPlace.goOn(run.position, run.progress.warnings)
    last = InputPlace.Record(run.position)
  }

  var hasCommittedAll: Bool { ledger == committedLedger && ledger.read > 0 }
  var isResumable: Bool { committedLedger.read > 0 }
  var isInTransaction: Bool { store.working != nil }

  // MARK: - Records

  func write(_ batch: inout Batch) throws(UpsurgeError) {
    store.begin()
    addColumns(batch.newColumns)
    inputPlace.begin(batch)
    var (record, reject) = try inputPlace.firstNew(of: batch, sourceNames: context.sourceNames)
    while record < batch.recordCount || reject < batch.rejects.count {
      let number = reject < batch.rejects.count ? batch.rejects[reject].position.record ?? 0 : .max
      countFiltered(
        in: batch, before: min(number, record < batch.recordCount ? batch.records[record].number : .max))
      if record < batch.recordCount, batch.records[record].number < number {
        try take(batch, record)
        last = InputPlace.Record(batch, record: record)
        record += 1
      } else {
        try take(batch.rejects[reject])
        last = InputPlace.Record(batch.rejects[reject], sourceIndex: batch.origin.sourceIndex)
        reject += 1
      }
    }
    if let through = batch.filteredThrough, through > (numberBefore(batch)) {
      countFiltered(in: batch, before: through + 1)
      last = InputPlace.Record(sourceIndex: batch.origin.sourceIndex, filteredThrough: through)
    }
    inputPlace.prove(batch, recordCount: batch.recordCount)
    inputPlace.allWarnings.merge(batch.warnings)
    if !context.options.transaction.isAtomic && context.options.output.dryRun == nil { try commit(isLast: false) }
  }

  /// The number of the last record of the batch's source that was taken.
  private func numberBefore(_ batch: borrowing Batch) -> UInt64 {
    last?.sourceIndex == batch.origin.sourceIndex ? last?.number ?? 0 : 0
  }

  /// Numbers that nothing has are those of records that the filter has left out.
  private func countFiltered(in batch: borrowing Batch, before number: UInt64) {
    if batch.filteredThrough != nil { ledger.countFiltered(number - 1 - numberBefore(batch)) }
  }

  private func addColumns(_ new: [ColumnTarget]) {
    columns += new
    let tombstone = table.rules.tombstone?.column ?? ""
    for target in new where self[\.self]?.index(of: target.name) == nil && !SQLName.isSame(target.name, tombstone) {
      self[\.self]?.columns.append(MemoryTable.Column(name: target.name, affinity: target.affinity))
    }
  }

  /// The table in the open transaction.
  private subscript<Value>(_ path: WritableKeyPath<MemoryTable?, Value>) -> Value {
    get { store.working!.tables[SQLName.folded(table.facts.name)][keyPath: path] }
    set { store.working!.tables[SQLName.folded(table.facts.name)][keyPath: path] = newValue }
  }

  private func take(_ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) {
    var values: [(name: String, value: SQLValue)] = []
    for (index, target) in columns.enumerated() where index < batch.columnCount {
      let cell = batch.cells[record * batch.columnCount + index]
      if let value = value(cell, of: batch) { values.append((target.name, value)) }
    }
    switch store(values, batch, record) {
    case .done(let outcome): ledger.count(outcome)
    case .refused(let reject): try take(reject)
    }
  }

  private enum Fate {
    case done(Outcome)
    case refused(Reject)
  }

  /// - Returns: nil where the record does not speak of the column.
  private func value(_ cell: Cell, of batch: borrowing Batch) -> SQLValue? {
    switch cell.kind {
    case .absent: nil
    case .null: .null
    case .integer: .integer(Int64(bitPattern: cell.payload))
    case .real: .real(Double(bitPattern: cell.payload))
    case .text: .text(String(decoding: batch.bytes(of: cell), as: UTF8.self))
    case .blob: .blob(Array(batch.bytes(of: cell)))
    }
  }

  private func store(
    _ values: [(name: String, value: SQLValue)], _ batch: borrowing Batch, _ record: Int
  ) -> Fate {
    guard var table = self[\.self] else { return .done(.ignored) }
    defer { self[\.self] = table }
    var given = [SQLValue?](repeating: nil, count: table.columns.count)
    for (name, value) in values {
      if let index = table.index(of: name) { given[index] = table.columns[index].stored(value) }
    }
    let mode = isTombstone(values) ? .delete : self.table.mode
    if mode == .delete && self.table.mode != .delete { hasMetTombstone = true }
    let row = given.map { $0 ?? .null }
    if table.demands != nil, mode != .delete, zip(table.columns, row).contains(where: { !$0.takes($1) }) {
      return refused(.typeMismatch, batch, record)
    }
    if table.key.isEmpty {
      table.lastNumber += 1
      return put(row, under: [.integer(table.lastNumber)], in: &table, .inserted, batch, record)
    }
    let key = table.key.map { name in table.index(of: name).flatMap { given[$0] } ?? .null }
    if key.contains(.null) { return refused(.nullKey, batch, record) }
    guard let old = table.rows[key].map({ $0 + [SQLValue](repeating: .null, count: row.count - $0.count) }) else {
      if mode == .update || mode == .delete { return .done(.ignored) }
      return put(row, under: key, in: &table, .inserted, batch, record)
    }
    switch mode {
    case .delete:
      if table.isNewer(old, than: given, by: self.table.rules.merge.newer) { return .done(.stale) }
      table.rows[key] = nil
      return .done(.deleted)
    case .insert: return table.skips(row) ? .done(.ignored) : refused(.unique, batch, record)
    case .ignore: return .done(.ignored)
    case .update, .upsert:
      let merge = self.table.rules.merge
      let new = table.merged(given, into: old, by: merge)
      if new == old { return .done(.unchanged) }
      if table.isNewer(old, than: given, by: merge.newer) { return .done(.stale) }
      return put(new, under: key, in: &table, .updated, batch, record)
    }
  }

  private func put(
    _ row: [SQLValue], under key: [SQLValue], in table: inout MemoryTable, _ outcome: Outcome, _ batch: borrowing Batch,
    _ record: Int
  ) -> Fate {
    if table.skips(row) { return .done(.ignored) }
    if let code = table.refusal(of: row, under: key) { return refused(code, batch, record) }
    table.rows[key] = row
    return .done(outcome)
  }

  private func refused(_ code: Reject.Code, _ batch: borrowing Batch, _ record: Int) -> Fate {
    let position = batch.position(of: record, file: context.sourceNames[batch.origin.sourceIndex])
    return .refused(
      Reject(code, at: position, reason: "in memory" as Wording, raw: batch.rawBytes(of: record)))
  }

  private func isTombstone(_ values: [(name: String, value: SQLValue)]) -> Bool {
    guard let tombstone = table.rules.tombstone else { return false }
    return values.contains { name, value in
      if !SQLName.isSame(name, tombstone.column) { return false }
      switch value {
      case .text(let text): return text == tombstone.value
      case .integer(let number): return String(number) == tombstone.value
      default: return false
      }
    }
  }

  private func take(_ reject: Reject) throws(UpsurgeError) {
    if context.options.rejects.onError == .stop {
      fatalReject = reject
      throw reject.asError
    }
    ledger.count(.rejected)
    rejectsByReason[reject.code, default: 0] += 1
    store.working?.rejects.append(reject)
  }

  // MARK: - Commits

  func commitWhileIdle() throws(UpsurgeError) {}

  func settle() throws(UpsurgeError) {}

  func sweep() throws(UpsurgeError) {}

  func finish(isInterrupted: Bool) throws(UpsurgeError) {
    if context.options.output.dryRun != nil { return rollback() }
    store.begin()
    try commit(isLast: !isInterrupted)
    isDone = true
  }

  func rollback() {
    store.rollBack()
    if context.options.output.dryRun == nil { ledger = committedLedger }
    isDone = true
  }

  private func commit(isLast: Bool) throws(UpsurgeError) {
    var progress = RunProgress()
    (progress.ledger, progress.rejectsByReason) = (ledger, rejectsByReason)
    progress.warnings = isLast ? inputPlace.allWarnings : inputPlace.warnings
    var position = inputPlace.position(of: last, sourceNames: context.sourceNames)
    if last == nil, let resumed = input.beginning.resumption { position = resumed.position }
    position.madeTable = table.facts.isNew
    let run = RunRecord(
      id: runID, state: isLast ? .complete : .running, job: input.runJob, files: input.beginning.files.all,
      owner: context.owner.text, startedAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z",
      position: position, progress: progress)
    store.working?.runs.removeAll { $0.id == runID }
    store.working?.runs.append(run)
    store.working?.lastRun = max(runID, store.state.lastRun)
    try store.commit()
    commitCount += 1
    committedLedger = ledger
    lastCommitted = position.position
  }

  var ending: RunEnding? { store.state.runs.first { $0.id == runID }.flatMap(store.ending) }

  func record(in summary: inout RunSummary) { summary.warnings.merge(inputPlace.allWarnings) }
}
