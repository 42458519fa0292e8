import Synchronization

/// What a running job shows to other threads, and how they can end it.
public final class RunControl: Sendable {
  private let stop = Atomic<Int32>(0)
  private let records = Atomic<UInt64>(0)
  private let bytes = Atomic<UInt64>(0)
  private let totalBytes = Atomic<UInt64>(0)
  private let rejects = Atomic<UInt64>(0)
  /// The table at work, of a job that has several.
  private let table = Mutex<String?>(nil)

  public init() {}

  /// Asks the run to end at a commit. Safe in a signal handler.
  /// - Parameter signal: its number decides the exit code: 128 + signal.
  public func cancel(signal: Int32 = 2) {
    stop.store(signal, ordering: .relaxed)
  }

  /// The signal that asked the run to end, or nil.
  public var cancellationSignal: Int32? {
    let signal = stop.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }

  /// In the place of a signal, where the time is over; nobody forwards SIGALRM.
  package static let deadlineSignal: Int32 = 14

  /// Asks the run to end at a commit because its time is over, unless a signal has asked before.
  package func expire() {
    _ = stop.compareExchange(expected: 0, desired: Self.deadlineSignal, ordering: .relaxed)
  }

  /// Whether the run was asked to end because its time is over.
  package var isExpired: Bool { stop.load(ordering: .relaxed) == Self.deadlineSignal }

  /// Lets go on what comes next, where time was over for what came before.
  /// - Returns: whether it was.
  package func takeExpiry() -> Bool {
    stop.compareExchange(expected: Self.deadlineSignal, desired: 0, ordering: .relaxed).exchanged
  }

  /// How far the run is.
  public struct Progress: Sendable {
    /// The table at work, of a job that has several.
    public var table: String?
    /// Records that the writer is done with.
    public var records: UInt64
    /// Bytes read of the files as they lie there, compressed or not.
    public var bytes: UInt64
    /// Bytes of all files; nil when a source's length is not known.
    public var totalBytes: UInt64?
    public var rejects: UInt64
  }

  public var progress: Progress {
    let total = totalBytes.load(ordering: .relaxed)
    return Progress(
      table: table.withLock { $0 }, records: records.load(ordering: .relaxed), bytes: bytes.load(ordering: .relaxed),
      totalBytes: total == 0 ? nil : total, rejects: rejects.load(ordering: .relaxed))
  }

  package func note(table name: String?) { table.withLock { $0 = name } }
  package func note(bytes count: UInt64) { bytes.store(count, ordering: .relaxed) }
  package func note(totalBytes count: UInt64) { totalBytes.store(count, ordering: .relaxed) }
  package func note(records count: UInt64, rejects rejectCount: UInt64) {
    records.store(count, ordering: .relaxed)
    rejects.store(rejectCount, ordering: .relaxed)
  }
}
