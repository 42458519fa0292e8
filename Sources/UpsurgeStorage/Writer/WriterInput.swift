import UpsurgeRecords
import UpsurgeState

/// Where the records come from, how far they are stored, and who keeps that.
struct WriterInput {
  /// The sources as the user named them, by `batch.sourceIndex`.
  let sourceNames: [String]
  /// Keeps the record of the run; nil where no record is to be kept.
  let keeper: RunKeeper?
  /// What earlier parts of the run have done.
  let earlier: RunProgress
  /// Where the input stands, for `keeper`.
  var place = InputPlace()
  let startSeconds = MonotonicClock.seconds
}

extension TableWriter {
  var sourceNames: [String] { input.sourceNames }

  var keeper: RunKeeper? { input.keeper }

  var earlier: RunProgress { input.earlier }

  /// The source as the user named it.
  func sourceName(_ index: Int) -> String {
    index < input.sourceNames.count ? input.sourceNames[index] : "-"
  }

  /// Takes over what earlier parts of the run have done.
  func goOn(_ run: RunRecord) {
    let (position, progress) = (run.position, run.progress)
    tally.goOn(progress)
    input.place.goOn(position, progress.warnings)
    transaction.last = InputPlace.Record(position)
    tally.lastCommittedRecord = CommittedPosition(
      sourceIndex: position.sourceIndex, position: position.position, nextByte: nil)
  }

  /// Says that the next batch begins after the committed records: none is left out.
  /// - Parameter warnings: those of all batches before.
  package func goOnBehindCommitted(warnings: WarningLog) {
    input.place.committed = nil
    input.place.warnings = warnings
    input.place.allWarnings = warnings
  }

  func begin(_ batch: borrowing Batch) { input.place.begin(batch) }

  func end(_ batch: borrowing Batch) {
    for stage in stages.list { stage.didStoreBatch() }
    tally.ledger.countFiltered(transaction.passFiltered(of: batch))
    prove(batch, recordCount: batch.recordCount)
    input.place.allWarnings.merge(batch.warnings, leavingOut: warningLeftOut)
  }

  /// Counts the records that the filter has left out before some that are stored or rejected.
  func countFiltered(in batch: borrowing Batch, through number: UInt64, besides count: Int) {
    tally.ledger.countFiltered(transaction.filteredCount(of: batch, through: number, besides: count))
  }

  private func prove(_ batch: borrowing Batch, recordCount: Int) {
    if keeper != nil { input.place.prove(batch, recordCount: recordCount, leavingOut: warningLeftOut) }
  }

  /// A STRICT table stores no text among its numbers: that record is rejected.
  private var warningLeftOut: WarningLog.Code? { plan.schema.isStrict ? .textInNumberColumn : nil }

  /// Commits with a batch's first records.
  func commit(_ batch: borrowing Batch, recordCount: Int) throws(UpsurgeError) {
    prove(batch, recordCount: recordCount)
    try commitStored()
  }

  /// Whether all records of a batch come after those that an earlier part of the run has committed.
  func isBehindCommitted(_ batch: borrowing Batch) -> Bool { input.place.isBehindCommitted(batch) }

  /// The first record and the first reject of a batch that are not committed yet.
  /// - Throws: `guardRefused` where the committed records do not end where they did.
  func firstNew(of batch: borrowing Batch) throws(UpsurgeError) -> (record: Int, reject: Int) {
    try input.place.firstNew(of: batch, sourceNames: input.sourceNames)
  }

  /// What the run has done so far, its earlier parts included.
  /// - Parameter isWhole: whether nothing is read again; else the warnings are those of what is not.
  package func progress(isWhole: Bool) -> RunProgress {
    var progress = RunProgress()
    progress.ledger = ledger
    progress.rejectsByReason = rejectsByReason
    progress.warnings = isWhole ? input.place.allWarnings : input.place.warnings
    progress.warnings.merge(warnings)
    progress.supersededCount = supersededCount
    progress.hasMetTombstone = hasMetTombstone
    progress.guardRefusal = guardRefusal
    progress.localEdits = localEdits
    progress.seconds = earlier.seconds + MonotonicClock.seconds - input.startSeconds
    return progress
  }

  /// Where the last record of the transaction stands.
  package var position: RunPosition { input.place.position(of: transaction.last, sourceNames: sourceNames) }

  /// Whether the same job would go on from the last commit.
  package var isResumable: Bool { keeper?.canGoOn(in: lastCommittedRecord?.sourceIndex ?? 0) ?? false }

  /// What was warned of in all batches so far, those of earlier parts of the run included.
  package var inputWarnings: WarningLog { input.place.allWarnings }
}
