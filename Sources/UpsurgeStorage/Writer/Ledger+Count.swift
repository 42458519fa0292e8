import UpsurgePlan
import UpsurgeRecords

extension Ledger {
  /// Counts one record.
  @inline(__always)
  package mutating func count(_ outcome: Outcome) {
    read += 1
    switch outcome {
    case .inserted: inserted += 1
    case .updated: updated += 1
    case .unchanged: unchanged += 1
    case .stale: stale += 1
    case .ignored: ignored += 1
    case .deleted: deleted += 1
    case .rejected: rejected += 1
    case .quarantined: quarantined += 1
    }
  }
}
