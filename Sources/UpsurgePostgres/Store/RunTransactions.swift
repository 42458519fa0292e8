import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Where a run stands after a transaction.
struct RunState {
  var position: RunPosition
  var progress: RunProgress
}

/// The transactions of a run: one for each part, or one for all of it.
class RunTransactions {
  let store: PostgresStore
  /// An error of ours that a failure stands for.
  private(set) var refusal: UpsurgeError?

  init(_ store: PostgresStore) { self.store = store }

  /// Whether what is committed can be resumed.
  var keepsRun: Bool { false }
  /// Whether a transaction is open between two parts.
  var isOpen: Bool { false }
  /// Whether each part is committed by itself.
  var commitsParts: Bool { false }
  /// Whether nobody knows what became of a COMMIT: what belongs to it outside of the server stays until that is known.
  var mayStand: Bool { false }
  /// What is left to do when the ledger was seen.
  var ending: RunEnding? { nil }
  /// Distinguishes the delivery of this run from others, also where a later process goes on with it; nil for a trial.
  var delivery: String? { nil }

  /// Stores a part of the run.
  /// - Parameter body: stores it, and says where the run stands then. It may be called again, when nothing of its call before stands.
  func store(
    _ body: (PostgresConnection) throws(PostgresFailure) -> RunState
  ) throws(UpsurgeError) { preconditionFailure("each kind has its own") }

  /// Does something in the only transaction of a run.
  func perform(_ body: (PostgresConnection) throws(PostgresFailure) -> Void) throws(UpsurgeError) {
    preconditionFailure("a run of many transactions has none that is open")
  }

  /// Commits all that is left, and marks the run complete unless it was interrupted.
  /// - Parameters:
  ///   - state: where the run stands then; asked after the rest.
  ///   - finishTable: gives a new table its key and its name.
  func finish(
    isInterrupted: Bool, _ state: () -> RunState,
    _ finishTable: (PostgresConnection) throws(PostgresFailure) -> NewTableWriter.Ending
  ) throws(UpsurgeError) -> NewTableWriter.Ending { preconditionFailure("each kind has its own") }

  /// Forgets what is not committed.
  func rollback() {}

  /// Something of the run is committed by other connections.
  func noteStored() {}

  /// The failure that stands for an error of ours.
  func refuse(_ error: UpsurgeError) -> PostgresFailure {
    refusal = error
    return PostgresFailure(.other, error.message)
  }

  /// Calls what talks to the server, with its failures as errors of the engine.
  func translating<Result>(_ body: () throws(PostgresFailure) -> Result) throws(UpsurgeError) -> Result {
    refusal = nil
    do throws(PostgresFailure) {
      return try body()
    } catch {
      throw refusal ?? store.session.error(of: error)
    }
  }
}

/// A transaction for each part, which commits the place in the input with the records.
final class PartTransactions: RunTransactions {
  /// The run as the table of runs has it, which says that it is this process's.
  struct Begun {
    let run: Int64
    let owner: String
    let position: String
    /// The server that has it.
    let server: String?
    /// What the row says of the progress.
    var progress = ""
    /// The connections of a run that has several, as their rows stand.
    var lanes: [PostgresLanes.Row] = []
  }

  /// The run as it was when it began, or was resumed.
  let begun: Begun
  private let fenced: FencedTransactions
  let runs: PostgresRuns
  private let run: Int64
  private let owner: String
  /// The table that is made under a name of the engine's own; nil where the table is there.
  private let making: NewTable?
  private let files: RunFiles
  /// How many files the run's row has with their identities.
  private var writtenFileCount: Int
  private var position: String
  /// Whether some part of the run is stored, by this process or one before it.
  private var hasStored: Bool
  private let lastCommit = LastCommit()

  /// The COMMIT that was sent last.
  private final class LastCommit {
    /// Whether no answer has come, and nobody has looked it up since.
    var isOpen = false

    func run(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
      do throws(PostgresFailure) {
        return try connection.commit()
      } catch {
        isOpen = [.connectionLost, .outcomeUnknown].contains(error.kind)
        throw error
      }
    }
  }

  init(
    _ store: PostgresStore, _ runs: PostgresRuns, _ begun: Begun, _ beginning: Beginning, making: NewTable?,
    _ settings: TransactionSettings
  ) {
    self.begun = begun
    (self.runs, run, owner, position, self.making) = (runs, begun.run, begun.owner, begun.position, making)
    hasStored = beginning.resumption != nil
    files = beginning.files
    writtenFileCount = beginning.resumption == nil ? files.openedCount : 0
    fenced = FencedTransactions(
      to: store.session.target, runs: runs, run: run, owner: owner, earlierOwner: beginning.resumption?.owner,
      server: begun.server, settings: settings, patience: store.job.options.patience,
      cancellation: store.session.cancellation)
    fenced.commit = lastCommit.run
    super.init(store)
  }

  override var keepsRun: Bool { true }
  override var delivery: String? { "\(run)" }
  override var commitsParts: Bool { true }
  override var mayStand: Bool { lastCommit.isOpen }
  override var ending: RunEnding? {
    store.ending(of: run, owner: owner, runs: runs, server: fenced.lastServer)
  }

  override func noteStored() { hasStored = true }

  override func store(
    _ body: (PostgresConnection) throws(PostgresFailure) -> RunState
  ) throws(UpsurgeError) {
    let fileCount = files.openedCount
    position = try translating { () throws(PostgresFailure) in
      try fenced.perform(position) { (connection) throws(PostgresFailure) in
        // It was looked up: nothing of the tries before stands.
        lastCommit.isOpen = false
        let standing = standing(try body(connection))
        return (standing.position, standing)
      }
    }
    lastCommit.isOpen = false
    writtenFileCount = fileCount
    hasStored = true
  }

  /// A run that has stored nothing leaves nothing to resume, so nothing of it is listed.
  override func rollback() {
    if !hasStored, !mayStand { try? forgetAll() }
  }

  override func finish(
    isInterrupted: Bool, _ state: () -> RunState,
    _ finishTable: (PostgresConnection) throws(PostgresFailure) -> NewTableWriter.Ending
  ) throws(UpsurgeError) -> NewTableWriter.Ending {
    // What is committed stands, and its place with it.
    if isInterrupted { return .complete }
    var ending = NewTableWriter.Ending.complete
    do throws(UpsurgeError) {
      try translating { () throws(PostgresFailure) in
        try fenced.perform(position, isLast: true) { (connection) throws(PostgresFailure) in
          lastCommit.isOpen = false
          ending = try finishTable(connection)
          if ending == .keyComesTwice { throw refuse(UpsurgeError(.database, "a key comes twice")) }
          return ((), standing(state()))
        }
      }
    } catch {
      guard ending == .keyComesTwice else { throw error }
      try forgetAll()
    }
    return ending
  }

  /// Nothing of the run is left, for it begins again.
  private func forgetAll() throws(UpsurgeError) {
    try store.session.asking { (connection) throws(PostgresFailure) in
      do throws(PostgresFailure) {
        try connection.run("BEGIN")
        // Where it is another process's by now, its table is, too.
        if try runs.forget(run, owner: owner, connection), let making {
          try connection.run("DROP TABLE IF EXISTS \(making.ownQuotedName)")
        }
        _ = try connection.commit()
      } catch {
        connection.rollback()
        throw error
      }
    }
  }

  private func standing(_ state: RunState) -> PostgresRuns.Standing {
    var standing = PostgresRuns.Standing(
      owner: owner, position: RunText.encode(state.position), progress: RunText.encode(state.progress))
    if files.openedCount != writtenFileCount { standing.files = RunText.encode(files.all) }
    return standing
  }
}

/// One transaction for all of the run: committed at its end, or rolled back as a trial is.
///
/// The run's row is there before it, and locked by it: who looks at the row while the server commits waits for the end.
final class WholeTransaction: RunTransactions {
  /// Where the run is written down.
  struct Run {
    let runs: PostgresRuns
    let number: Int64
    let owner: String
  }

  /// nil for a trial.
  private let run: Run?
  private let settings: TransactionSettings
  /// What is made before the first record.
  private let preparations: [String]
  private var connection: PostgresConnection?
  private var isOutcomeUnknown = false
  private var isComplete = false
  /// The server that the transaction is on.
  private var server: String?

  init(_ store: PostgresStore, _ run: Run?, preparations: [String], _ settings: TransactionSettings) {
    (self.run, self.preparations, self.settings) = (run, preparations, settings)
    super.init(store)
  }

  override var isOpen: Bool { connection != nil }

  override var delivery: String? { run.map { "\($0.number)" } }

  override var mayStand: Bool { isOutcomeUnknown }

  override var ending: RunEnding? {
    guard let run, isComplete else { return nil }
    return store.ending(of: run.number, owner: run.owner, runs: run.runs, server: server)
  }

  override func store(
    _ body: (PostgresConnection) throws(PostgresFailure) -> RunState
  ) throws(UpsurgeError) {
    try translating { () throws(PostgresFailure) in _ = try body(try opened()) }
  }

  override func perform(_ body: (PostgresConnection) throws(PostgresFailure) -> Void) throws(UpsurgeError) {
    try translating { () throws(PostgresFailure) in try body(try opened()) }
  }

  private func opened() throws(PostgresFailure) -> PostgresConnection {
    if let connection { return connection }
    let made: PostgresConnection
    (made, server) = try store.session.begin(settings)
    connection = made
    if let run, try run.runs.lock(run.number, made)?.owner != run.owner { throw PostgresFailure.takenOver }
    for sql in preparations { try made.run(sql) }
    return made
  }

  override func finish(
    isInterrupted: Bool, _ state: () -> RunState,
    _ finishTable: (PostgresConnection) throws(PostgresFailure) -> NewTableWriter.Ending
  ) throws(UpsurgeError) -> NewTableWriter.Ending {
    let ending = try translating { () throws(PostgresFailure) in
      let connection = try opened()
      let ending = try finishTable(connection)
      guard ending == .complete, let run else {
        connection.rollback()
        return ending
      }
      let state = state()
      let standing = PostgresRuns.Standing(
        owner: run.owner, position: RunText.encode(state.position), progress: RunText.encode(state.progress))
      guard try run.runs.advance(run.number, to: standing, isComplete: true, connection) else {
        throw PostgresFailure.takenOver
      }
      try commit(connection)
      return ending
    }
    connection = nil
    if ending != .complete { forget() }
    return ending
  }

  private func commit(_ connection: PostgresConnection) throws(PostgresFailure) {
    do throws(PostgresFailure) {
      if try !connection.commit() {
        throw PostgresFailure(.other, "the server has rolled the transaction back")
      }
      isComplete = true
    } catch {
      isOutcomeUnknown = [.connectionLost, .outcomeUnknown].contains(error.kind)
      throw error
    }
  }

  override func rollback() {
    connection?.rollback()
    connection = nil
    forget()
  }

  /// Takes the run's row away. Where that fails the next run does it, as it does where nobody knows what became of the COMMIT.
  private func forget() {
    guard let run, !mayStand else { return }
    _ = try? store.session.asking { (connection) throws(PostgresFailure) in
      try run.runs.forget(run.number, owner: run.owner, connection)
    }
  }
}
