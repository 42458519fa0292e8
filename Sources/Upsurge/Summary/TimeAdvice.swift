/// Which stage limits a run, and what would make it faster: `--explain-time`.
///
/// The two threads work side by side, so the longest stage need not be the one that counts. The wall clock is the
/// writing thread's: what it waits for records is given to the stages of the reading thread by their shares, and the
/// longest stage is the bottleneck then. Only what the figures show is advised; where no option would help, that is
/// said.
package struct TimeAdvice: Sendable {
  /// One thing to do or to know.
  package struct Line: Sendable, Equatable {
    /// The stage that is meant, a name of `RunStage`; nil for all of them.
    package var stage: String?
    /// The option that would help, as it would be given; nil without one.
    package var option: Wording?
    package var text: Wording
  }

  /// A name of `RunStage`; nil where nothing was measured.
  package let bottleneck: String?
  /// The bottleneck's part of the wall clock, from 0 to 1.
  package let share: Double
  package private(set) var lines: [Line] = []
  /// The stage whose advice is being found.
  private var speaksOf = ""

  package init(_ facts: TimeFacts) {
    let weights = TimeAdvice.weights(facts)
    guard let longest = weights.max(by: { $0.seconds < $1.seconds }), longest.seconds > 0 else {
      (bottleneck, share) = (nil, 0)
      return
    }
    bottleneck = longest.name
    share = facts.seconds > 0 ? min(longest.seconds / facts.seconds, 1) : 0
    if facts.seconds < Self.shortestSeconds {
      lines = [
        Line(
          stage: nil, option: nil,
          text: "too short to say more: give it an input that takes a second or longer")
      ]
      return
    }
    advise(longest.name, facts)
    // What costs a good part is worth a word even where something else costs more.
    for (name, seconds) in weights where name != longest.name && seconds > facts.seconds * Self.largeShare {
      advise(name, facts, isMain: false)
    }
  }

  /// Shorter runs are start and end more than anything else.
  private static let shortestSeconds = 0.2
  private static let largeShare = 0.2
  /// So many times the bytes of the input that were read or written as pages tell that keys came in no order: in order,
  /// a page is written once or twice.
  fileprivate static let scatter = 6.0

  /// The seconds of the wall clock that each stage accounts for.
  static func weights(_ facts: TimeFacts) -> [(name: String, seconds: Double)] {
    let reading = [RunStage.read, RunStage.decompress, RunStage.parse]
    let total = reading.reduce(0) { $0 + facts[$1] }
    let waited = facts[RunStage.waitForReader]
    let before = reading.map { ($0, total > 0 ? waited * facts[$0] / total : 0) }
    let writing = facts.stages.filter {
      !RunStage.reading.contains($0.name) && $0.name != RunStage.waitForReader
    }
    return before + writing
  }

  private mutating func advise(_ stage: String, _ facts: TimeFacts, isMain: Bool = true) {
    let before = lines.count
    speaksOf = stage
    switch stage {
    case RunStage.read: adviseReading(facts)
    case RunStage.decompress: adviseDecompressing(facts)
    case RunStage.parse: adviseParsing()
    case RunStage.prepare: advisePreparing(facts)
    case RunStage.store: adviseStoring(facts)
    case RunStage.commit: adviseCommitting(facts)
    case RunStage.checkpoint: adviseCheckpoints(facts)
    case RunStage.giveWay: adviseGivingWay(facts)
    case RunStage.index: add(nil, Wording(Self.indexText))
    case RunStage.fullText: add(nil, Wording(Self.fullTextText))
    default: break
    }
    if isMain && lines.count == before {
      let isDatabase = [RunStage.store, RunStage.commit, RunStage.checkpoint].contains(stage)
      add(
        nil,
        isDatabase
          ? "nothing to set here: \(facts.isOnServer ? "the server" : "SQLite") itself is the limit"
          : "no option makes this stage faster")
    }
  }

  private mutating func add(_ option: Wording?, _ text: Wording) {
    // Two stages may have the same cause.
    if option != nil && lines.contains(where: { $0.option == option }) { return }
    lines.append(Line(stage: speaksOf, option: option, text: text))
  }

  private static let indexText =
    "building indexes is a sort of all rows; fewer indexes, or partial ones, are the only help"
  private static let fullTextText =
    "an FTS5 table is rebuilt from all rows; fewer columns in it are the only help"
}

// MARK: - The reading thread

extension TimeAdvice {
  private mutating func adviseReading(_ facts: TimeFacts) {
    if facts.sources.hasPipe {
      add(nil, "the program that writes the pipe is the limit: the load waits for it")
    } else if facts.sources.hasFeed {
      add(nil, "the server or the command that sends the input is the limit: the load waits for it")
    } else {
      add(
        nil,
        facts.sources.hasZstd || facts.sources.hasGzip || facts.sources.hasOtherCodec
          ? "the disk or network that holds the input is the limit"
          : "the disk or network that holds the input is the limit; compressed with zstd, less is read")
    }
  }

  private mutating func adviseDecompressing(_ facts: TimeFacts) {
    if facts.sources.hasGzip {
      add(nil, "gzip decompresses slowly, on one thread; zstd is several times as fast, if the feed is yours")
    } else if facts.sources.hasOtherCodec {
      add(nil, "one thread decompresses the input; zstd is faster than most codecs, if the feed is yours")
    } else if facts.sources.hasZstd {
      add(
        nil,
        "one thread decompresses zstd, however many frames there are; a plain file is faster from a fast disk"
      )
    } else {
      add(nil, "the input is not UTF-8; a feed in UTF-8 needs no conversion")
    }
  }

  private mutating func adviseParsing() {
    add("\(.columns, "A,B")", "one thread parses; fields that are left out are not converted")
  }

  private mutating func advisePreparing(_ facts: TimeFacts) {
    guard facts.infersFromAll else { return }
    add(
      "\(.infer, "sample")",
      "\(.infer, "full") reads the input twice; \(.type, "COL:TYPE") names the types instead")
  }
}

// MARK: - The writing thread

extension TimeAdvice {
  private mutating func adviseStoring(_ facts: TimeFacts) {
    adviseUpkeep(facts)
    // Those of an FTS5 table keep it up; guarded, they would not.
    if facts.triggerCount > 0, !facts.kept.contains(where: { $0.kind == .fts }) {
      let noun = facts.triggerCount == 1 ? "trigger runs" : "triggers run"
      add(
        "\(.triggers, "guarded")",
        "\(facts.triggerCount) \(noun) for the rows; one that says WHEN NOT upsurge_is_synchronizing() is spared"
      )
    }
    if facts.observesRecords {
      add(
        nil,
        "each record is stored and looked at alone for \(.changes), \(.emitSQL) or \(.dryRun)=diff; without them many go "
          + "at once")
    }
    adviseMemory(facts)
    if facts.rejectCount > max(facts.recordCount / 100, 100) {
      add(
        nil,
        "\(facts.rejectCount) records are rejected, and the statement of each is run again row by row; clean input is "
          + "faster")
    }
  }

  private mutating func adviseUpkeep(_ facts: TimeFacts) {
    let kinds: [(UpkeepDecision.Kind, Wording, String, String)] = [
      (.index, "\(.indexes, "defer")", "index", "indexes"),
      (.fts, "\(.fts, "defer")", "FTS5 table", "FTS5 tables"),
    ]
    for (kind, option, noun, plural) in kinds {
      let kept = facts.kept.filter { $0.kind == kind }
      guard let first = kept.first else { continue }
      let names = kept.count == 1 ? "the \(noun) \(first.name) is" : "\(kept.count) \(plural) are"
      let text: Wording = "\(names) kept up with every row (\(first.reason))"
      // Where it could not be set aside, asking again does not help.
      if first.isAgainstRequest {
        add(nil, text)
      } else {
        add(option, text + "; built after the rows instead, they cost a sort of the whole table")
      }
    }
  }

  /// Pages that are read again and again show that the cache is too small for the order of the keys.
  private mutating func adviseMemory(_ facts: TimeFacts) {
    let read = Double(facts.pagesRead) * Double(facts.pageByteCount)
    guard facts.bytesDecoded > 0, read > TimeAdvice.scatter * Double(facts.bytesDecoded),
      facts.databaseByteCount > facts.cacheByteCount
    else { return }
    let why: Wording =
      "keys in no order: \(facts.pagesRead) pages were read again, as the page cache holds "
      + "\(facts.cacheByteCount >> 20) MiB of the database's \(facts.databaseByteCount >> 20) MiB"
    add(Self.memoryOption(facts), why + "; input sorted by key needs no more memory")
  }

  /// The options that give the page cache all of the database, or four times what it has, where that is less: it gets
  /// a quarter of the smaller one.
  private static func memoryOption(_ facts: TimeFacts) -> Wording {
    var wanted = facts.cacheByteCount
    while wanted < min(facts.databaseByteCount, facts.cacheByteCount * 4), wanted > 0 { wanted *= 2 }
    let size = ByteSize(max(wanted * 4, 64 << 20))
    let needsLog = facts.transaction.walLimit.byteCount < size.byteCount
    let needsMemory = facts.transaction.memory.byteCount < size.byteCount
    var parts: [Wording] = []
    if needsMemory { parts.append("\(.memory, size)") }
    if needsLog { parts.append("\(.walLimit, size)") }
    return Wording(parts, separator: " ")
  }

  private mutating func adviseCommitting(_ facts: TimeFacts) {
    if facts.transaction.durability == .full {
      add(
        "\(.durability, "normal")",
        "each of \(facts.commitCount) commits waits for the disk (\(.durability, "full"))")
    }
    if facts.commitCount > 1, let every = facts.rowsPerCommit, every < 50_000, !facts.transaction.isAtomic {
      add(
        "\(.commitEvery, "100000")",
        "\(facts.commitCount) commits of about \(every) records each; larger ones write a page once "
          + "that many records share"
      )
    }
    adviseMemory(facts)
    if facts.isScattered, !lines.contains(where: { $0.option?.terms.contains(.commitEvery) ?? false }) {
      add(
        facts.transaction.isAtomic ? nil : "\(.commitEvery, "1000000")",
        "keys in no order: \(facts.walBytesWritten >> 20) MiB were written to the log for "
          + "\(facts.bytesDecoded >> 20) MiB of "
          + "input, as each transaction writes whole pages for a few rows; input sorted by key does not")
    }
  }

  private mutating func adviseCheckpoints(_ facts: TimeFacts) {
    if let pin = facts.logPin {
      add(nil, "\(pin.holder) reads from the log, which cannot be emptied meanwhile; end it first")
    }
    // A larger limit does not make them rarer: they run after 40 MiB at the latest.
    if facts.checkpointCount > 2, facts.transaction.walLimit.byteCount < 160 << 20 {
      add(
        "\(.walLimit, "256MiB")",
        "\(facts.checkpointCount) checkpoints brought the log into the database; a longer log is brought in less "
          + "often, and pages that change again and again only once")
    }
    adviseMemory(facts)
  }

  private mutating func adviseGivingWay(_ facts: TimeFacts) {
    if let pin = facts.logPin {
      add(nil, "commits waited for \(pin.holder), which reads from the log; end it first")
    } else {
      add(
        nil, "other programs have the database open, and are given time to write; \(.atomic) keeps them out")
    }
  }
}

extension TimeFacts {
  fileprivate var rowsPerCommit: UInt64? { commitCount > 0 ? recordCount / UInt64(commitCount) : nil }

  /// Whether far more was written than came in.
  fileprivate var isScattered: Bool {
    bytesDecoded > 0 && kept.isEmpty && Double(walBytesWritten) > TimeAdvice.scatter * Double(bytesDecoded)
  }
}
