import UpsurgeInput
import UpsurgeRecords

/// How a table is mirrored when nobody looks.
public struct UnattendedRules: Sendable, Equatable {
  /// So many past runs of the table stay listed in the database, the newest; nil is all of them.
  public var keptRunCount: UInt64? = 400
  /// So many files that were taken and have left their folder stay known, the newest; nil is all of them.
  public var keptFileCount: UInt64? = 100_000
  /// So many rejected records of the table stay in `upsurge_rejects`, the newest; nil is all of them.
  public var keptRejectCount: UInt64?
  /// So many records of the table stay in `upsurge_quarantine`, the newest; nil is all of them. What goes is never stored.
  public var keptQuarantineCount: UInt64?
  /// After so many seconds the table's run ends at a commit, and its retries with it; nil is never.
  public var deadline: Double?
  /// How often the table is tried again where its source was unreadable, its stream broke or the database was busy.
  public var retryCount = 0
  /// Seconds before the first further try; each later wait is twice as long.
  public var retryPause = 30.0

  public init() {}

  /// Seconds before it is tried again, for at most an hour, or as long as the first time.
  /// - Parameter number: from 1.
  func pause(before number: Int) -> Double {
    var pause = retryPause
    for _ in 1..<max(min(number, 64), 1) where pause < 3_600 { pause = min(pause * 2, 3_600) }
    return pause
  }

  /// Whether another try may go better by itself: never where the data, the job or a guard said no.
  func isWorthTrying(_ error: UpsurgeError?) -> Bool {
    guard let error else { return false }
    if error.code == .unreadableInput || error.code == .databaseBusy { return true }
    // A command that failed, or an answer that was cut: no record is to blame.
    guard error.code == .badInput, let place = error.position else { return false }
    return Source(place.file).isFeed && place.record == nil && place.line == nil
  }
}
