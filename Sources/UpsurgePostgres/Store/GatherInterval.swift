import Upsurge
import UpsurgeRecords

/// How much is gathered for a transaction, by `--commit-every`.
final class GatherInterval {
  private let interval: CommitInterval
  private var startedAt = MonotonicClock.seconds

  /// As many records as a statement settles best: fewer cost a round trip each, more are no faster.
  private static let automaticCount = 100_000

  init(_ transaction: LoadOptions.Transaction) { interval = transaction.commitEvery }

  /// A transaction has ended.
  func begin() { startedAt = MonotonicClock.seconds }

  func isOver(_ gathered: GatheredBatch) -> Bool {
    switch interval {
    case .auto: gathered.recordCount >= Self.automaticCount
    case .records(let count): gathered.recordCount >= count
    case .bytes(let size): gathered.usedByteCount >= size.byteCount
    case .milliseconds(let count): (MonotonicClock.seconds - startedAt) * 1_000 >= Double(count)
    }
  }
}
