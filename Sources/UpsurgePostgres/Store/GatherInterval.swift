import Upsurge
import UpsurgeRecords

/// How much is gathered for a transaction, by `--commit-every`.
final class GatherInterval {
  private let interval: CommitInterval
  private var startedAt = MonotonicClock.seconds

  /// As many records as a statement settles best: fewer cost a round trip each, more are no faster.
  private static let automaticCount = 100_000

  /// Each connection has a transaction of its own.
  private let connectionCount: Int

  init(_ transaction: LoadOptions.Transaction, connectionCount: Int) {
    (interval, self.connectionCount) = (transaction.commitEvery, connectionCount)
  }

  /// A transaction has ended.
  func begin() { startedAt = MonotonicClock.seconds }

  func isOver(_ gathered: GatheredBatch) -> Bool {
    switch interval {
    case .auto: gathered.recordCount >= Self.automaticCount * connectionCount
    case .records(let count): gathered.recordCount / connectionCount >= count
    case .bytes(let size): gathered.usedByteCount / connectionCount >= size.byteCount
    case .milliseconds(let count): (MonotonicClock.seconds - startedAt) * 1_000 >= Double(count)
    }
  }
}
