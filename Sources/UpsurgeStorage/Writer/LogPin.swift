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

/// How long somebody has kept a log from being emptied, while it is seen.
struct PinWatch {
  /// When it was first seen; nil while nobody does.
  var sinceSeconds: Double?
  /// Up to when the seconds are counted.
  var countedSeconds = 0.0
  /// Whether it was said.
  var hasWarned = false
}
