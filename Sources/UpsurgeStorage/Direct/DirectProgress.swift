import UpsurgePlan
import UpsurgeRecords
import UpsurgeState

/// What became of records that were packed, and where the input stands after them: what a run that goes on must know.
package struct DirectProgress {
  package private(set) var ledger = Ledger()
  /// Warnings of all batches.
  package var warnings: WarningLog { place.allWarnings }

  private var place = InputPlace()
  private var transaction = OpenTransaction()
  private let sourceNames: [String]
  private let isStrict: Bool
  private let startSeconds = MonotonicClock.seconds

  package init(_ plan: UpsertPlan, sourceNames: [String]) {
    self.sourceNames = sourceNames
    isStrict = plan.schema.isStrict
  }

  /// Counts the records of a batch, which is in the table.
  package mutating func take(_ batch: borrowing Batch) {
    place.begin(batch)
    place.allWarnings.merge(batch.warnings, leavingOut: isStrict ? .textInNumberColumn : nil)
    if batch.recordCount > 0 {
      place.prove(batch, recordCount: batch.recordCount)
      let last = batch.records[batch.recordCount - 1].number
      ledger.countFiltered(transaction.filteredCount(of: batch, through: last, besides: batch.recordCount))
      transaction.note(batch, from: 0, to: batch.recordCount)
      ledger.read += UInt64(batch.recordCount)
      ledger.inserted += UInt64(batch.recordCount)
    }
    ledger.countFiltered(transaction.passFiltered(of: batch))
  }

  /// For a run that goes on in another process, and reads the last batch again.
  package var progress: RunProgress {
    var progress = RunProgress()
    progress.ledger = ledger
    progress.warnings = place.warnings
    progress.seconds = MonotonicClock.seconds - startSeconds
    return progress
  }

  /// Where a run goes on after the last record.
  package var position: RunPosition { place.position(of: transaction.last, sourceNames: sourceNames) }
}
