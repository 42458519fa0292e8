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
  init(_ job: ReplayJob, _ cancellation: ReadCancellation) throws(UpsurgeError) {
    session = try ServerSession(job.database, cancellation)
    capabilities = try session.capabilities()
    text = ServerText(encoding: capabilities.encoding)
    busyTimeout = Int(job.options.busyTimeout)
    replays = try session.asking { (connection) throws(PostgresFailure) in
      try PostgresReplays.found(connection)
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

  func runs() throws(UpsurgeError) -> [RunRecord] { try session.runs() }

  func marks() throws(UpsurgeError) -> [ReplayMark] { try session.replayMarks() }

  func shelves() throws(UpsurgeError) -> [RejectShelf] {
    let schemas = try session.asking { (connection) throws(PostgresFailure) in
      try ServerLayout.schemas(having: .rejects, connection)
    }
    var shelves: [RejectShelf] = []
    for schema in schemas {
      let rejects = PostgresRejects(schema: schema)
      let look = try session.asking { (connection) throws(PostgresFailure) in try rejects.look(connection) }
      if case .refused(let error) = look { throw error }
      let extent = try session.asking { (connection) throws(PostgresFailure) in try rejects.extent(connection)
      }
      shelves.append(RejectShelf(schema: schema, lastID: extent.lastID, count: extent.count))
    }
    return shelves
  }

  func deleteUnusedContexts(of shelf: RejectShelf) throws(UpsurgeError) {
    try session.asking { (connection) throws(PostgresFailure) in
      try PostgresRejects(schema: shelf.schema).deleteUnusedContexts(connection)
    }
  }

  // MARK: - Transactions

  func transaction<Result>(
    _ body: (any ReplayTransaction) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
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

  func writeDurably(_ mark: ReplayMark) throws(UpsurgeError) {
    try transaction { (transaction) throws(UpsurgeError) in
      try transaction.write(mark)
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

extension ServerSession {
  /// The runs that the database knows of, those of all schemas.
  func runs() throws(UpsurgeError) -> [RunRecord] {
    try asking { (connection) throws(PostgresFailure) in
      var records: [PostgresRuns.Row] = []
      for runs in try PostgresRuns.found(connection) { records += try runs.all(connection) }
      return records
    }.map { (row) throws(UpsurgeError) in try RunRecord(row) }
  }

  /// The marks of replays that are on their way, or whose ledger nobody has seen.
  /// - Throws: `guardRefused` where a table of the name of ours is not ours.
  func replayMarks() throws(UpsurgeError) -> [ReplayMark] {
    let (look, replays) = try asking { (connection) throws(PostgresFailure) in
      let replays = try PostgresReplays.found(connection)
      return (try replays.look(connection), replays)
    }
    switch look {
    case .nothing: return []
    case .refused(let error): throw error
    case .ours: return try asking { (connection) throws(PostgresFailure) in try replays.marks(connection) }
    }
  }
}
