/// A write-ahead log that could not be emptied, because somebody still reads from it.
public struct LogPin: Sendable, Equatable {
  /// So long it was seen that the log could not be emptied; the reader may have begun before.
  public internal(set) var seconds = 0.0
  /// The most that the log held meanwhile, in bytes.
  public internal(set) var peakByteCount = 0
  /// So long commits have waited for the reader.
  public internal(set) var pauseSeconds = 0.0
  /// What is left of the log at the end of the run, in bytes.
  public internal(set) var leftByteCount = 0
  /// Who it is: `process 4711 (sqlite3)`; `another connection` where the system does not tell.
  public internal(set) var holder: String
}

/// What the writer knows of the log between two transactions.
struct LogState {
  /// Frames that the next transaction writes behind.
  var frames = 0
  /// A log of so many bytes makes a checkpoint wait for readers below the limit.
  var nextWaitByteCount = 0
  /// When it was first seen that somebody keeps the log from being emptied.
  var pinnedSeconds: Double?
  /// Up to when the seconds of the pin are counted.
  var countedSeconds = 0.0
  var hasWarned = false
  /// Pages that the last transaction has written.
  var lastPages = 0
  /// Pages of the database before the transaction that is open.
  var pageCount = 0
  /// Copies the log beside the writer; nil before it is first of use.
  var thread: CheckpointThread?
  /// Whether there is none to be had.
  var hasNoThread = false
}
