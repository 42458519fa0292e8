import Upsurge
import UpsurgeRecords
import UpsurgeState

/// A database of a server whose rejected records are tried again.
///
/// Each transaction of the replay locks a row of its own in `upsurge_replays` and counts it on. A connection that breaks is made
/// again, and the row says whether the COMMIT stands. So each record is stored once, whatever breaks.
final class PostgresReplay: ReplayStore {
  let session: ServerSession
  let capabilities: Capabilities
  let text: ServerText
  let replays: PostgresReplays
  private let busyTimeout: Int
  private let owner = RunOwner()
  /// Made with the first transaction.
  private var fenced: FencedTransactions?
  /// How many transactions have been committed.
  private var step = 0

  /// Connects, and refuses what cannot be done there before anything is read.
  /// - Parameter note: is told of records of strangers, which are not tried.
  init(
    _ job: ReplayJob, _ cancellation: ReadCancellation, note: (RunNote) -> Void
  ) throws(UpsurgeError) {
    session = try ServerSession(job.database, cancellation)
    capabilities = try session.capabilities()
    text = ServerText(encoding: capabilities.encoding)
    busyTimeout = Int(job.options.busyTimeout)
    replays = try session.asking { (connection) throws(PostgresFailure) in
      try PostgresReplays.found(connection)
    }
    if job.file == nil { try noteStrangers(note) }
  }

  /// Whoever makes tables of these names could have code run with the rights of the user who replays them.
  private func noteStrangers(_ note: (RunNote) -> Void) throws(UpsurgeError) {
    let found = try session.asking { (connection) throws(PostgresFailure) in
      let user = try connection.run("SELECT quote_ident(current_user)", []).first?.text(0) ?? ""
      return (user: user, tables: try PostgresRejects.found(connection))
    }
    for (rejects, stranger) in found.tables {
      guard let stranger else { continue }
      let name = TableName(schema: rejects.schema, name: RejectTable.name).shown.escapedForTerminal
      let owner = stranger.quotedForPostgres.escapedForTerminal
      note(
        RunNote(
          .warning,
          "the records of \(name) are left alone: it belongs to \(owner), whose triggers would run with your rights. Replay them as "
            + "that user; or say that you trust it: GRANT \(owner) TO \(found.user.escapedForTerminal)"))
    }
  }

  deinit {
    // A row that stays is removed by a later replay.
    guard fenced != nil, let connection = session.openConnection else { return }
    connection.cancellation = nil
    try? replays.end(owner.text, connection)
  }

  var place: String { session.target.shown }

  func isSame(_ table: String, _ other: String) -> Bool {
    let (a, b) = (TableName(table), TableName(other))
    return a.name == b.name && (a.schema == nil || b.schema == nil || a.schema == b.schema)
  }

  func runs() throws(UpsurgeError) -> [RunRecord] { try session.knownRuns(lockTimeout: busyTimeout) }

  func marks() throws(UpsurgeError) -> [ReplayMark] { try session.replayMarks(lockTimeout: busyTimeout) }

  func shelves() throws(UpsurgeError) -> [RejectShelf] {
    let found = try session.asking { (connection) throws(PostgresFailure) in
      try PostgresRejects.found(connection)
    }
    var shelves: [RejectShelf] = []
    for (rejects, stranger) in found where stranger == nil {
      noteRights(rejects)
      let look = try session.asking { (connection) throws(PostgresFailure) in try rejects.look(connection) }
      if case .refused(let error) = look { throw error }
      let extent = try session.asking { (connection) throws(PostgresFailure) in try rejects.extent(connection)
      }
      shelves.append(RejectShelf(schema: rejects.schema, lastID: extent.lastID, count: extent.count))
    }
    return shelves
  }

  func deleteUnusedContexts(of shelf: RejectShelf) throws(UpsurgeError) {
    try session.asking { (connection) throws(PostgresFailure) in
      try PostgresRejects(schema: shelf.schema).deleteUnusedContexts(connection)
    }
  }

  // MARK: - Transactions

  /// Notes what a replay needs besides the tables of the records, for the hint of what the server refuses.
  /// - Parameter rejects: those that are tried; nil for those of a file.
  func noteRights(_ rejects: PostgresRejects? = nil) {
    session.rights = WantedRights()
    let rights = ["SELECT", "UPDATE", "DELETE"]
    session.rights.add(replays.schema, OwnTable.replays.rawValue, rights + ["INSERT"], isMade: true)
    guard let rejects else { return }
    for table in [OwnTable.rejects, .rejectContexts] {
      session.rights.add(rejects.schema, table.rawValue, rights, isMade: false)
    }
  }

  func transaction<Result>(
    _ body: (any ReplayTransaction) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    noteRights()
    let fenced = try begun()
    var (declined, refusal): (Result?, UpsurgeError?) = (nil, nil)
    do throws(PostgresFailure) {
      let result = try fenced.perform("\(step)") {
        (connection) throws(PostgresFailure) -> (Result, PostgresRuns.Standing) in
        (declined, refusal) = (nil, nil)
        let transaction = PostgresReplayTransaction(self, connection)
        let result: Result
        do throws(UpsurgeError) {
          result = try body(transaction)
        } catch {
          if let failure = transaction.failure { throw failure }
          refusal = error
          throw PostgresFailure(.other, error.message)
        }
        if !transaction.isToCommit {
          declined = result
          throw PostgresFailure(.other, "nothing is to be committed")
        }
        return (result, PostgresRuns.Standing(owner: owner.text, position: "\(step + 1)", progress: ""))
      }
      step += 1
      return result
    } catch {
      if let declined { return declined }
      throw refusal ?? self.error(error)
    }
  }

  func writeDurably(_ mark: ReplayMark, after earlier: ReplayMark?) throws(UpsurgeError) {
    try transaction { (transaction) throws(UpsurgeError) in
      try transaction.write(mark, after: earlier)
      try (transaction as? PostgresReplayTransaction)?.awaitDisk()
      try transaction.commit()
    }
  }

  /// What a failure of a transaction is to the replay: one of a record is not the server's fault.
  private func error(_ failure: PostgresFailure) -> UpsurgeError {
    if !failure.isOfRecord(hidden: capabilities.hidesFailures) { return session.error(of: failure) }
    return UpsurgeError(.badInput, Wording(BatchOutcomes.Rejected.reason(failure, session.target)))
  }

  /// The transactions of this replay; makes its row first.
  /// - Throws: `guardRefused` where a table of the name of ours is not ours.
  private func begun() throws(UpsurgeError) -> FencedTransactions {
    if let fenced { return fenced }
    let look = try session.asking { (connection) throws(PostgresFailure) in
      guard case .nothing = try replays.look(connection) else { return try replays.look(connection) }
      try replays.make(connection)
      return try replays.look(connection)
    }
    if case .refused(let error) = look { throw error }
    try session.asking { (connection) throws(PostgresFailure) in try replays.begin(owner.text, connection) }
    // Pages are small, and a row that somebody else changes meanwhile has the page tried again.
    var settings = TransactionSettings()
    (settings.lockTimeout, settings.needsSnapshot) = (max(1, busyTimeout), true)
    settings.hasTransactionTimeout = capabilities.hasTransactionTimeout
    settings.plansForSortedKeys = capabilities.family == .postgreSQL
    var patience = FencedTransactions.Patience()
    patience.busySeconds = Double(busyTimeout) / 1_000
    let made = FencedTransactions(
      to: session.target, row: PostgresReplays.Fence(replays: replays, owner: owner.text), settings: settings,
      patience: patience, cancellation: session.cancellation)
    fenced = made
    return made
  }
}
