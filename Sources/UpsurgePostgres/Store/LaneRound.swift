import Upsurge
import UpsurgeRecords

/// What the connections of a run store together: the records of a batch, divided by their keys.
struct LaneRound {
  /// Read by all of them, and changed by nobody meanwhile.
  let batch: UnsafeMutablePointer<Batch>
  let gate: LaneGate
  /// What their marks belong to.
  let seal: UInt64
  /// The last record of the batch.
  let lastRecord: Int
  /// The name of the batch's source.
  let file: String
  /// How many rejects there were before.
  let rejectedCount: UInt64
}

/// What one connection stores of a round, as indexes in the batch.
struct LaneRecords {
  var stored: [Int32] = []
  /// Records that are the same as their row: they are counted, and nothing more.
  var same: [Int32] = []
}

/// What one connection has done for a round.
struct LaneOutcome {
  /// What stands of it.
  var ledger = Ledger()
  var rejectsByReason: [Reject.Code: UInt64] = [:]
  var hasMetTombstone = false
  /// The rejects of all that it has stored, also before a COMMIT, with the indexes of their records.
  var rejects: [(record: Int, reject: Reject)] = []
  /// A reject that ends the run; the last of `rejects`.
  var hasFatalReject = false
  var failure: PostgresFailure?
}
