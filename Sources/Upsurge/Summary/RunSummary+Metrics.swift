extension RunSummary {
  /// How long a run took, and what it needed for that.
  public struct Metrics: Sendable {
    /// Seconds of the whole run.
    public var seconds = 0.0
    /// Seconds by stage; stages of the two threads overlap.
    public var stages: [(name: String, seconds: Double)] = []
    /// Bytes read of the sources as they lie there, compressed or not.
    public var bytesRead: UInt64 = 0
    /// Bytes after decompression and transcoding.
    public var bytesDecoded: UInt64 = 0
    /// The most memory the process has had resident, in bytes.
    public var peakMemoryBytes: UInt64 = 0
    /// Sizes that the engine chose: bytes, except `rows_per_statement`.
    public var settings: [(name: String, value: UInt64)] = []
    private var rareTime: Rare<TimeFacts>?

    /// What else shows where the time went.
    package var time: TimeFacts {
      get { rareTime?.value ?? TimeFacts() }
      set { rareTime = Rare(newValue) }
    }

    /// Forgets how the time was spent, and what was chosen by the engine.
    mutating func removeDetails() {
      (stages, settings) = ([], [])
      rareTime = nil
    }
  }

  /// What a run wrote to the write-ahead log of its database.
  public struct WriteAheadLog: Sendable {
    /// Bytes written over the whole run.
    public var bytesWritten: UInt64 = 0
    /// The most bytes that it held at a time.
    public var bytesPeak: UInt64 = 0
    private var rarePin: Rare<LogPin>?

    /// Somebody kept the log from being emptied, past `--wal-limit` or at the end of the run.
    public var pin: LogPin? {
      get { rarePin?.value }
      set { rarePin = newValue.map(Rare.init) }
    }
  }
}
