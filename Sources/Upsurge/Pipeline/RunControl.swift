import Synchronization

/// What a running job shows to other threads, and how they can end it.
public final class RunControl: Sendable {
  private let stop = Atomic<Int32>(0)
  private let records = Atomic<UInt64>(0)
  private let bytes = Atomic<UInt64>(0)
  private let totalBytes = Atomic<UInt64>(0)
  private let rejects = Atomic<UInt64>(0)
  /// The table at work, of a job that has several.
  private let table = Guarded<String?>(nil)
  private let stage = Atomic<UInt8>(Stage.fetching.rawValue)
  /// When the stage began, as the bits of a time in seconds.
  private let stageStart = Atomic<UInt64>(MonotonicClock.seconds.bitPattern)
  /// What exactly the stage is at, for people.
  private let work = Guarded<String?>(nil)
  private let totalRecords = Atomic<UInt64>(0)
  /// Counts the bytes of what is looked at before any record is stored.
  private let counter = Guarded<ByteCounter?>(nil)

  /// Is told of each new stage of a table, on the thread that begins it.
  private let observer: (@Sendable (_ table: String, Stage) -> Void)?

  public init() { observer = nil }

  package init(observer: @escaping @Sendable (_ table: String, Stage) -> Void) { self.observer = observer }

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

  /// What a run is doing.
  public enum Stage: UInt8, Sendable {
    /// No record is stored yet.
    case fetching
    case applying
    /// Rows that a snapshot no longer has are removed.
    case sweeping
    /// All records are read, and the keys of a new table are put in order.
    case sorting
    /// Records become pages of a new database.
    case packing
    /// Indexes or full-text tables are made.
    case indexing
    /// What is stored is brought to the disk.
    case finishing
    /// Records that were rejected or kept are tried again.
    case replaying
    /// Keys become UUIDs.
    case migrating
    /// All of the input is looked at, and nothing is stored.
    case inspecting
  }

  /// How far the run is.
  public struct Progress: Sendable {
    /// The table at work, of a job that has several.
    public var table: String?
    public var stage: Stage
    /// Records that the writer is done with.
    public var records: UInt64
    /// Bytes read of the files as they lie there, compressed or not.
    public var bytes: UInt64
    /// Bytes of all files; nil when a source's length is not known.
    public var totalBytes: UInt64?
    public var rejects: UInt64
    /// Records that there are in all; nil where nobody knows yet.
    public var totalRecords: UInt64? = nil
    /// What exactly the stage is at, such as the name of an index; nil where the stage says all.
    public var work: String? = nil
    /// How long the stage has lasted.
    public var stageSeconds = 0.0
  }

  public var progress: Progress {
    let total = totalBytes.load(ordering: .relaxed)
    let stage = Stage(rawValue: stage.load(ordering: .relaxed)) ?? .fetching
    var byteCount = bytes.load(ordering: .relaxed)
    if stage == .fetching || stage == .inspecting {
      byteCount = max(byteCount, counter.withLock { $0?.count } ?? 0)
    }
    let recordTotal = totalRecords.load(ordering: .relaxed)
    let start = Double(bitPattern: stageStart.load(ordering: .relaxed))
    return Progress(
      table: table.withLock { $0 }, stage: stage, records: records.load(ordering: .relaxed), bytes: byteCount,
      totalBytes: total == 0 ? nil : total, rejects: rejects.load(ordering: .relaxed),
      totalRecords: recordTotal == 0 ? nil : recordTotal, work: work.withLock { $0 },
      stageSeconds: max(MonotonicClock.seconds - start, 0))
  }

  package func note(table name: String?) {
    table.withLock { $0 = name }
    counter.withLock { $0 = nil }
    begin(.fetching, nil)
    if let name { observer?(name, .fetching) }
  }

  /// Says what is done from now on.
  /// - Parameter work: what exactly, for people: `building the index by_name`.
  package func note(stage: Stage, work: String? = nil) {
    let before = self.stage.load(ordering: .relaxed)
    if before == stage.rawValue && work == nil { return }
    begin(stage, work)
    guard before != stage.rawValue, let observer, let name = table.withLock({ $0 }) else { return }
    observer(name, stage)
  }

  private func begin(_ stage: Stage, _ work: String?) {
    self.work.withLock { $0 = work }
    stageStart.store(MonotonicClock.seconds.bitPattern, ordering: .relaxed)
    self.stage.store(stage.rawValue, ordering: .relaxed)
  }

  /// Reads the bytes from this counter until the first record is stored.
  package func follow(_ counter: ByteCounter) { self.counter.withLock { $0 = counter } }

  package func note(bytes count: UInt64) { bytes.store(count, ordering: .relaxed) }
  package func note(totalBytes count: UInt64) { totalBytes.store(count, ordering: .relaxed) }
  package func note(totalRecords count: UInt64) { totalRecords.store(count, ordering: .relaxed) }

  /// - Parameter stage: what is done with records.
  package func note(records count: UInt64, rejects rejectCount: UInt64, stage: Stage = .applying) {
    if count > 0 { note(stage: stage) }
    records.store(count, ordering: .relaxed)
    rejects.store(rejectCount, ordering: .relaxed)
  }
}
