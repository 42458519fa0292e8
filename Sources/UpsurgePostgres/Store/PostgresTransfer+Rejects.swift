import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

/// Records that are not stored.
extension PostgresTransfer {
  /// Counts a reject.
  /// - Throws: `badInput` where it ends the run.
  func count(_ reject: Reject, in counts: inout RejectCounts) throws(UpsurgeError) {
    if options.rejects.onError == .stop {
      fatalReject = reject
      throw reject.asError
    }
    if case .count(let most)? = options.rejects.limit, counts.ledger.rejected >= most {
      fatalReject = reject
      throw tooManyRejects(reject, most, counts.byReason)
    }
    counts.ledger.count(.rejected)
    counts.byReason[reject.code, default: 0] += 1
  }

  /// Keeps a reject where the run keeps them.
  /// - Parameter entries: what goes into the table of rejects.
  func keep(_ reject: Reject, _ entries: inout [PostgresRejects.Entry]) throws(UpsurgeError) {
    if let file = kept.file {
      try file.write(reject)
    } else if kept.table != nil {
      let contexts = context.contexts
      var entry = PostgresRejects.Entry(
        reject: reject, context: contexts.text(of: reject.position.file) ?? "")
      if kept.countsDeliveries {
        entry.hash = RejectDeliveries.hash(reject, owner: "", contexts.identity(of: reject.position.file))
      }
      entries.append(entry)
    }
  }

  private func tooManyRejects(_ reject: Reject, _ most: UInt64, _ counts: [Reject.Code: UInt64])
    -> UpsurgeError
  {
    var error = reject.asError
    error.said =
      "more than \(most) \(most == 1 ? "record was" : "records were") rejected (\(counts.words(with: reject))); the last: \(saying: error.said)"
    error.remedy = options.rejectLimitHint
    return error
  }
}
