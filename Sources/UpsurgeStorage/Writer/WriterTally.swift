import UpsurgeRecords
import UpsurgeState

/// What has become of the records so far.
struct WriterTally {
  /// Outcomes of all records so far, those not yet committed included.
  var ledger = Ledger()
  /// Outcomes of the committed records.
  private(set) var committedLedger = Ledger()
  /// Rejected records by reason, those not yet committed included.
  var rejectsByReason: [Reject.Code: UInt64] = [:]
  private var committedRejects: [Reject.Code: UInt64] = [:]
  /// Whether a record was a delete by `--delete-when`.
  var hasMetTombstone = false
  /// The reject that ends the run.
  var fatalReject: Reject?
  /// The last record whose outcome is committed.
  var lastCommittedRecord: CommittedPosition?
  /// Things worth knowing that the writer itself did (columns added).
  var warnings = WarningLog()

  /// Counts a reject.
  mutating func count(_ reject: Reject) {
    ledger.read += 1
    ledger.rejected += 1
    rejectsByReason[reject.code, default: 0] += 1
  }

  /// Counts records whose row says the same.
  mutating func countUnchanged(_ recordCount: UInt64) {
    ledger.read += recordCount
    ledger.unchanged += recordCount
  }

  /// All records so far are committed.
  mutating func didCommit() {
    committedLedger = ledger
    committedRejects = rejectsByReason
  }

  /// What is not committed has not happened.
  mutating func didRollBack() {
    ledger = committedLedger
    rejectsByReason = committedRejects
  }

  /// Takes over what earlier parts of the run have committed.
  mutating func goOn(_ progress: RunProgress) {
    ledger = progress.ledger
    rejectsByReason = progress.rejectsByReason
    hasMetTombstone = progress.hasMetTombstone
    didCommit()
  }
}

extension TableWriter {
  /// Outcomes of all records so far, those not yet committed included.
  package var ledger: Ledger { tally.ledger }

  /// Outcomes of the committed records.
  package var committedLedger: Ledger { tally.committedLedger }

  /// Rejected records by reason, those not yet committed included.
  package var rejectsByReason: [Reject.Code: UInt64] { tally.rejectsByReason }

  /// Whether a record was a delete by `--delete-when`.
  package var hasMetTombstone: Bool { tally.hasMetTombstone }

  /// The reject that ends the run.
  package var fatalReject: Reject? { tally.fatalReject }

  /// The last record whose outcome is committed.
  package var lastCommittedRecord: CommittedPosition? { tally.lastCommittedRecord }

  /// Things worth knowing that the writer itself did (columns added).
  package var warnings: WarningLog { tally.warnings }
}
