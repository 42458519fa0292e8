/// What is known of a run's time: seconds by stage, and what shows why a stage took them. See `TimeAdvice`.
package struct TimeFacts: Sendable {
  /// Seconds of the whole run.
  package var seconds = 0.0
  package var stages: [(name: String, seconds: Double)] = []

  // The input.
  package var recordCount: UInt64 = 0
  package var rejectCount: UInt64 = 0
  package var bytesDecoded: UInt64 = 0
  package var sources = SourceKinds()
  package var infersFromAll = false

  /// What kinds of sources a run has.
  package struct SourceKinds: Sendable {
    package var hasZstd = false
    package var hasGzip = false
    /// xz, bzip2, lz4 or compress.
    package var hasOtherCodec = false
    package var hasPipe = false
    /// Whether a source is a URL or a command.
    package var hasFeed = false
  }

  // The table.
  /// Indexes and FTS5 tables that are kept up with every row.
  package var kept: [UpkeepDecision] = []
  /// Triggers that rows may fire.
  package var triggerCount = 0

  // The database.
  /// Whether a server holds it, and not a file.
  package var isOnServer = false
  package var pageByteCount = 4096
  /// What the page cache may hold.
  package var cacheByteCount = 0
  /// Pages that storing rows read because the cache did not hold them.
  package var pagesRead = 0
  package var walBytesWritten = 0
  package var commitCount = 0
  package var checkpointCount = 0
  /// The file's size at the end.
  package var databaseByteCount = 0
  /// Who kept the log from being emptied.
  package var logPin: LogPin?

  // Options.
  package var transaction = LoadOptions.Transaction()
  /// Whether each record is stored and looked at alone, as for `--changes`.
  package var observesRecords = false

  package init() {}

  package subscript(stage: String) -> Double {
    stages.reduce(0) { $1.name == stage ? $0 + $1.seconds : $0 }
  }

  /// Takes over what the reader knows of a source.
  mutating func note(_ compression: Compression, isPipe: Bool, isFeed: Bool) {
    if compression == .zstd { sources.hasZstd = true }
    if compression == .gzip { sources.hasGzip = true }
    if [.xz, .bzip2, .lz4, .compress].contains(compression) { sources.hasOtherCodec = true }
    if isPipe && !isFeed { sources.hasPipe = true }
    if isFeed { sources.hasFeed = true }
  }

  /// Takes over what the writer knows at the end.
  mutating func note(_ statistics: WriterStatistics, options: LoadOptions, databaseByteCount: Int) {
    pagesRead = statistics.pagesRead
    walBytesWritten = statistics.walBytesWritten
    commitCount = statistics.commitCount
    checkpointCount = statistics.checkpointCount
    logPin = statistics.logPin
    self.databaseByteCount = databaseByteCount
    cacheByteCount = options.transaction.pageCacheByteCount
    transaction = options.transaction
    observesRecords =
      options.output.changesPath != nil || options.output.emitPath != nil || options.output.dryRun == .diff
    infersFromAll = options.table.inference == .full
  }
}

extension RunSummary {
  /// All that is known of the run's time.
  package var timeFacts: TimeFacts {
    var facts = metrics.time
    facts.isOnServer = SourceName.isServer(database)
    facts.seconds = metrics.seconds
    facts.stages = metrics.stages
    facts.recordCount = ledger.read >= progress.resumedCount ? ledger.read - progress.resumedCount : 0
    facts.rejectCount = ledger.rejected
    facts.bytesDecoded = metrics.bytesDecoded
    facts.kept = upkeep.filter { $0.upkeep == .keep }
    if let page = metrics.settings.first(where: { $0.name == "page_size" }) {
      facts.pageByteCount = Int(page.value)
    }
    return facts
  }

  /// The stage that took most of the run; nil where nothing was measured.
  public var bottleneck: String? { TimeAdvice(timeFacts).bottleneck }
}
