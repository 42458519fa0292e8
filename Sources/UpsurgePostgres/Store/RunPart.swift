import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

/// The records of one transaction; tried again with it where nothing of the first try stands.
struct RunPart {
  private let transfer: PostgresTransfer
  private let part: BatchPart
  private let firstReject: Int
  private(set) var ledger = Ledger()
  private(set) var rejectsByReason: [Reject.Code: UInt64] = [:]
  private(set) var hasMetTombstone = false
  private(set) var firstRejects = FirstRejects()
  /// How many of the batch's records and rejects are done with it.
  private(set) var (nextRecord, nextReject) = (0, 0)
  /// What was against a part in which bad records are not found.
  private(set) var failure: PostgresFailure?
  /// For the table of rejects.
  private var entries: [PostgresRejects.Entry] = []
  private var hasTried = false

  init(_ transfer: PostgresTransfer, _ part: BatchPart, firstReject: Int) {
    (self.transfer, self.part, self.firstReject) = (transfer, part, firstReject)
  }

  /// - Throws: a failure of the server; `refusal` of the transactions says more where it is one of ours.
  mutating func store(_ batch: borrowing Batch, on connection: PostgresConnection) throws(PostgresFailure) {
    if hasTried {
      transfer.kept.file?.didRollBack()
      if transfer.transactions.commitsParts { transfer.changes?.didRollBack() }
      transfer.batches.forget()
    }
    hasTried = true
    failure = nil
    entries = []
    try transfer.checkRows(connection)
    (ledger, rejectsByReason, firstRejects) = (
      transfer.ledger, transfer.rejectsByReason, transfer.firstRejects
    )
    try transfer.snapshot?.begin(connection) { transfer.transactions.refuse($0) }
    transfer.told?.begin(batch, of: transfer.context.sourceNames[batch.origin.sourceIndex])
    let outcome = try storeRecords(of: batch, on: connection)
    nextRecord = outcome.next ?? part.records.upperBound
    ledger += outcome.ledger
    hasMetTombstone = transfer.hasMetTombstone || outcome.hasDeletes
    do throws(UpsurgeError) {
      try transfer.kept.file?.didBegin()
      try takeRejects(of: batch, outcome.rejected)
      try transfer.kept.file?.flush()
      if transfer.options.output.dryRun == nil {
        try transfer.kept.file?.willCommit()
        if transfer.transactions.commitsParts { try transfer.changes?.willCommit() }
      }
    } catch {
      throw transfer.transactions.refuse(error)
    }
    if transfer.options.output.dryRun == nil {
      let text = ServerText(encoding: transfer.store.capabilities.encoding)
      let delivery = transfer.kept.countsDeliveries ? transfer.transactions.delivery : nil
      try transfer.kept.table?.write(entries, of: transfer.table.lookupName, delivery: delivery, text, connection)
    }
    try transfer.snapshot?.note(
      batch, part.records.lowerBound..<nextRecord, outcome.rejected,
      unreadableBefore: nextReject - firstReject, connection)
  }

  private mutating func storeRecords(
    of batch: borrowing Batch, on connection: PostgresConnection
  ) throws(PostgresFailure) -> BatchStore.Outcome {
    do throws(PostgresFailure) {
      let passedOver = try transfer.snapshot?.passedOver(
        batch, part.records, transfer.batches.tombstone, connection)
      return try transfer.batches.store(part, of: batch, passingOver: passedOver ?? [], on: connection)
    } catch {
      if part.savepoints == .none { failure = error }
      throw error
    }
  }

  /// Takes the rejects of the parser and of the table in the order of the input.
  private mutating func takeRejects(
    of batch: borrowing Batch, _ rejected: [BatchOutcomes.Rejected]
  ) throws(UpsurgeError) {
    let file = transfer.context.sourceNames[batch.origin.sourceIndex]
    nextReject = firstReject
    for entry in rejected {
      try takeRejects(of: batch, before: batch.records[entry.record].number)
      try take(
        entry.reject(in: batch, file: file, table: transfer.table, server: transfer.store.session.target),
        of: batch)
    }
    let isAll = nextRecord == batch.recordCount
    try takeRejects(of: batch, before: isAll ? nil : batch.records[nextRecord].number)
  }

  /// Takes the parser's rejects up to a record, or all that are left.
  private mutating func takeRejects(of batch: borrowing Batch, before number: UInt64?) throws(UpsurgeError) {
    while nextReject < batch.rejects.count {
      let reject = batch.rejects[nextReject]
      if let number, (reject.position.record ?? 0) >= number { return }
      try take(reject, of: batch)
      nextReject += 1
    }
  }

  private mutating func take(_ reject: Reject, of batch: borrowing Batch) throws(UpsurgeError) {
    var reject = reject
    reject.sourceIndex = batch.origin.sourceIndex
    var counts = RejectCounts(ledger: ledger, byReason: rejectsByReason)
    try transfer.count(reject, in: &counts)
    (ledger, rejectsByReason) = (counts.ledger, counts.byReason)
    try transfer.keep(reject, &entries)
    if transfer.kept.isNowhere { firstRejects.take(reject) }
  }
}
