import UpsurgeRecords

/// The rejects of a run so far, by which the next one is judged.
struct RejectCounts {
  var ledger: Ledger
  var byReason: [Reject.Code: UInt64]
}
