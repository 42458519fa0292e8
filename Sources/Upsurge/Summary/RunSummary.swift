import UpsurgeInput

/// What a run did: the ledger and all that is worth knowing beside it.
public struct RunSummary: Sendable {
  public var database: String
  public var table: String
  public var sources: [String]
  public var ledger = Ledger()
  /// Rejected records by code, most frequent first.
  public var rejectsByReason: [(code: Reject.Code, count: UInt64)] = []
  /// The first rejects of a run that was to keep them nowhere, without the bytes of their records; nil where all are kept.
  public var lostRejects: [Reject]?
  /// Records of earlier runs that waited in the quarantine and whose place a record of this run took.
  public var supersededCount: UInt64 = 0
  public var warnings = WarningLog()
  /// Each source's dialect in words.
  public var dialects: [String] = []
  /// The CREATE TABLE that this run executed, if it made the table.
  public var createdTable: String?
  /// What was decided for the table's secondary indexes and FTS5 tables, and why.
  public var upkeep: [UpkeepDecision] = []
  /// How long the run took, and what it needed for that.
  public var metrics = Metrics()
  /// What was written to the write-ahead log.
  public var wal = WriteAheadLog()
  /// Why the run ended early, if it did.
  public var error: UpsurgeError? {
    get { rareError?.value }
    set { rareError = newValue.map(Rare.init) }
  }
  /// Why rows were not removed that the input no longer has; all else was done.
  public var guardRefusal: UpsurgeError? {
    get { rareRefusal?.value }
    set { rareRefusal = newValue.map(Rare.init) }
  }
  /// Whether the delivery was accepted by its digest, or can be.
  public var acceptance = Acceptance()
  /// What was done with rows that were edited here, where a mirror looks for that.
  public var localEdits = LocalEditCounts()
  /// What the server has answered, where the first source that holds something is a URL.
  package var response: HTTPResponse? {
    get { rareResponse?.value }
    set { rareResponse = newValue.map(Rare.init) }
  }
  /// The signal that ended the run, if one did.
  public var signal: Int32?
  /// What is committed, and whether the run can be resumed from there.
  public var progress = Progress()
  /// Whether records wait in the quarantine for the table at the end of the run.
  public var keepsRecords = false
  /// What `--explain` has to say; nothing else was done then.
  public var explanation: String?
  /// Whether everything was rolled back in the end, as `--dry-run` asks.
  public var isDryRun = false

  // A mirror of a folder keeps thousands of summaries, most of which have none of these.
  private var rareError: Rare<UpsurgeError>?
  private var rareRefusal: Rare<UpsurgeError>?
  private var rareResponse: Rare<HTTPResponse>?

  /// A value that is large and rare, so that it has a place of its own.
  final class Rare<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  public init(database: String, table: String, sources: [String]) {
    self.database = database
    self.table = table
    self.sources = sources
  }

  /// Of the records that this process has read.
  public var rowsPerSecond: Double {
    metrics.seconds > 0 && ledger.read >= progress.resumedCount
      ? Double(ledger.read - progress.resumedCount) / metrics.seconds : 0
  }

  /// The first that applies of the documented exit codes.
  public var exitCode: Int32 {
    if let signal { return 128 + signal }
    if let error { return error.exitCode(hasCommittedWork: progress.committedCount > 0) }
    if guardRefusal != nil { return 4 }
    return ledger.rejected + ledger.quarantined > 0 ? 2 : 0
  }
}

extension RunSummary {
  /// Whether all of the input was read, and what is to be of it is in the database.
  package var isWhole: Bool { error == nil && signal == nil }

  /// Forgets how the time was spent, and what was chosen by the engine.
  package mutating func removeDetails() {
    metrics.removeDetails()
    (dialects, upkeep) = ([], [])
    if lostRejects != nil { lostRejects = [] }
  }

  /// Whether the run has ended early and can go on.
  package var goesOn: Bool {
    (signal != nil || error != nil) && progress.isResumable && progress.committedCount > 0 && !isDryRun
  }

  /// The command line that goes on; nil where it is not known, or needs something that only a person can say.
  package var resumingCommand: RunCommand? {
    guard goesOn, let command = progress.command else { return nil }
    switch progress.remedy {
    case .moreRejects: return nil
    case .rejecting:
      if command.gives(Wording.option(.onError)) { return nil }
      let place = command.gives(Wording.option(.rejects)) ? [] : [Wording.option(.rejects), "table"]
      return command.adding([Wording.option(.onError), "reject"] + place)
    case nil: return command
    }
  }
}

extension UpsurgeError {
  /// The exit code of a run that ended with this error.
  package func exitCode(hasCommittedWork: Bool) -> Int32 {
    switch code {
    case .usage: return 64
    case .guardRefused: return 4
    // Also where nothing is left: what was read is gone.
    case .commitsLost: return 3
    default: break
    }
    if hasCommittedWork { return 3 }
    switch code {
    case .badInput: return 65
    case .unreadableInput: return 66
    case .cannotCreate: return 73
    case .databaseBusy, .connectionLost: return 75
    default: return 1
    }
  }
}

extension RunSummary {
  /// The most frequent reason first.
  package static func sorted(
    _ reasons: [Reject.Code: UInt64]
  ) -> [(code: Reject.Code, count: UInt64)] {
    reasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
      .map { (code: $0.key, count: $0.value) }
  }
}
