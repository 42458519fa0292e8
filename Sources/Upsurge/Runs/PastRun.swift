/// A run as its database knows it: one that has not ended, or is kept for the history.
///
///     for run in try PastRun.all(database: "app.db") { print(run.id, run.state, run.ledger.read) }
public struct PastRun: Sendable {
  public enum State: String, Sendable {
    /// A process is at work on it.
    case running
    /// The run ended early: the same command goes on after `ledger.read` records, where `isResumable` says so.
    case stopped
    /// All is committed, but nobody may have seen the ledger: the same command shows it.
    case unseen
    /// The run has ended, and is kept because of `--history`.
    case ended
  }

  public var id: Int64
  public var state: State
  /// The process that is at work on it.
  public var pid: Int32?
  public var table: String
  /// As they were given, made absolute.
  public var sources: [String]
  /// UTC, ISO 8601.
  public var startedAt: String
  /// When it last committed; UTC, ISO 8601.
  public var updatedAt: String
  /// Seconds of work.
  public var seconds: Double
  public var ledger: Ledger
  /// The last committed record.
  public var committedThrough: Position?
  public var rejectsByReason: [(code: Reject.Code, count: UInt64)]
  /// Of a run that has ended.
  public var exitCode: Int32?
  /// Of a run that has stopped: whether its input can be read again, so that the same command goes on. Pipes cannot.
  public var isResumable: Bool
  /// The command line that has asked for the run, for a shell in any folder; nil where a program has.
  public var command: String?
  /// Why a guard has swept nothing; nil where none spoke.
  package var guardWords: String?
  /// Whether that command line says what becomes of bad records.
  package var saysOnError: Bool

  init(_ run: RunRecord) {
    id = run.id
    pid = run.livePID
    switch run.state {
    case .running: state = pid == nil ? .stopped : .running
    case .complete: state = .unseen
    case .done: state = .ended
    }
    table = run.job.table
    sources = run.job.sources
    startedAt = run.startedAt
    updatedAt = run.updatedAt
    seconds = run.progress.seconds
    ledger = run.progress.ledger
    committedThrough = run.position.position.record == nil ? nil : run.position.position
    rejectsByReason = RunSummary.sorted(run.progress.rejectsByReason)
    exitCode = run.exitCode
    isResumable = state == .stopped && run.isReadable
    command = run.job.command?.lineFromAnywhere
    guardWords = run.progress.guardRefusal?.error.message
    saysOnError = run.job.command?.gives(Wording.option(.onError)) ?? false
  }
}
