import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Keeps the record of one run in step with its rows; lives on the writer's thread.
///
///     BEGIN    is the run still ours? Under the write lock, so that two runs of one job cannot both go on
///     COMMIT   position and ledger, where the transaction has changed a row or given rejects to a file
///     the end  complete, in the last transaction; removed, when the ledger was seen
///
/// The table is made with the first changed row or kept reject, and goes with the last run in it, so that a database looks as if
/// nothing had been kept.
package final class RunKeeper {
  package let connection: Connection
  package let job: RunJob
  /// The run's files, those that were opened with their identity; asked at each commit.
  package var files: () -> [RunFile] = { [] }
  /// Whether the run stays listed after it has ended.
  package let keepsHistory: Bool
  /// So many past runs of the table stay, the newest, where this one does; nil is all of them.
  package var keptRunCount: UInt64?
  /// Whether the run has made the table.
  package var madeTable = false
  /// What the run's outputs are at a commit, by option; asked after they were written out.
  package var outputLengths: () -> [String: UInt64] = { [:] }
  /// How many rejects were given to a file; asked at each commit.
  package var keptRejectCount: () -> UInt64 = { 0 }

  private let owner: RunOwner
  /// What it shares with other keepers in its transaction.
  private let book: RunBook?
  private let resumed: RunRecord?
  /// Runs of the same job that this one takes the place of.
  private let replaced: [RunRecord]
  /// Whether the table holds the run under this process's name.
  private var isRecorded = false
  /// Whether that was written before the records, in a transaction that is still open.
  private var isReserved = false
  /// Whether the table holds the run as complete, which needs no other record of it.
  private var isRecordedComplete = false
  private var runID: Int64?
  private let startedAt: String
  /// Kept for the next transaction, once the run is recorded.
  private var ownerStatement: Statement?
  private var updateStatement: Statement?
  private var changesBefore: Int64
  private var keptRejectsBefore: UInt64 = 0

  /// - Parameters:
  ///   - resumed: the run that goes on.
  ///   - replaced: runs of the same job that are forgotten with the first commit.
  ///   - startedAt: when the run has begun, as `now` told it; nil is now.
  ///   - owner: who is at work, where a run has more than one keeper.
  ///   - book: of the transaction that keepers share.
  package init(
    connection: Connection, job: RunJob, resumed: RunRecord?, replaced: [RunRecord],
    keepsHistory: Bool, startedAt: String? = nil, owner: RunOwner = RunOwner(),
    book: RunBook? = nil
  ) throws(UpsurgeError) {
    self.owner = owner
    self.book = book
    self.connection = connection
    self.job = job
    self.resumed = resumed
    self.replaced = replaced
    self.keepsHistory = keepsHistory
    runID = resumed?.id
    if let known = resumed?.startedAt ?? startedAt {
      self.startedAt = known
    } else {
      self.startedAt = try Self.now(connection)
    }
    changesBefore = connection.totalChanges
    madeTable = resumed?.position.madeTable ?? false
  }

  /// Whether there is something to take back when the run has ended.
  package var hasTrace: Bool { isRecorded || resumed != nil || !replaced.isEmpty || keepsHistory }

  /// Whether the same job would go on from the last commit, which lies in the source of this index: all up to there
  /// can be read twice, and the run's record is still there.
  package func canGoOn(in sourceIndex: Int) -> Bool {
    let read = files().prefix(sourceIndex + 1)
    guard isMarked, !read.isEmpty, read.allSatisfy({ $0.identity != nil }) else { return false }
    // What this process has written may have been rolled back.
    guard let recorded = try? recordedOwner() else { return false }
    return recorded == owner.text || recorded == resumed?.owner
  }

  /// Looks, under the write lock, whether another process has taken up the job meanwhile.
  /// - Throws: `guardRefused`.
  package func didBegin() throws(UpsurgeError) {
    didRollBack()
    if isRecorded {
      // Nobody else takes the job up while it is recorded as ours; it may have been taken for dead, or forgotten.
      let now = try recordedOwner()
      if now == nil { throw forgotten() }
      if now != owner.text { throw lost() }
      return
    }
    // Streams of one name need not be the same.
    if job.isStream { return }
    let known = [resumed].compactMap { $0 } + replaced
    var knownCount = 0
    for other in try othersOpen() {
      let known = known.first { $0.id == other.id }
      guard let known, known.owner == other.owner, known.position == other.position else {
        throw other.livePID.map { Self.alreadyRunning(other, pid: $0) } ?? lost()
      }
      knownCount += 1
    }
    // One that is gone was taken to its end, or forgotten.
    if knownCount < known.count { throw lost() }
  }

  /// Runs of the same job that have not ended.
  private func othersOpen() throws(UpsurgeError) -> [RunRecord] {
    if let book { return try book.open(connection, table: job.table, sources: job.sources) }
    return try RunTable.open(connection, table: job.table, sources: job.sources)
  }

  private func recordedOwner() throws(UpsurgeError) -> String? {
    let statement: Statement
    if let ownerStatement {
      statement = ownerStatement
    } else {
      if try !RunTable.exists(connection) { return nil }
      statement = try connection.prepare("SELECT owner FROM main.upsurge_runs WHERE run = ?1")
      try statement.bind(runID ?? 0, at: 1)
      ownerStatement = statement
    }
    defer { statement.reset() }
    do throws(UpsurgeError) {
      return try statement.step() ? statement.text(at: 0) : nil
    } catch {
      // The table may have gone with the record.
      if try !RunTable.exists(connection) { return nil }
      throw error
    }
  }

  /// Writes the run's record before the records of the transaction, so that rows can name the run.
  /// - Parameter others: the largest number that rows name; runs that are no more may have had it.
  /// - Returns: the run's number.
  package func reserve(
    above others: () throws(UpsurgeError) -> Int64, _ progress: @autoclosure () -> RunProgress,
    _ position: @autoclosure () -> RunPosition
  ) throws(UpsurgeError) -> Int64 {
    if !isRecorded {
      if runID == nil {
        let last =
          try RunTable.exists(connection)
          ? connection.integer("SELECT max(run) FROM main.upsurge_runs") ?? 0 : 0
        runID = max(last, try others()) + 1
      }
      try write(progress(), position(), isComplete: false)
      isReserved = true
    }
    return runID ?? 0
  }

  /// Forgets a record that has gone with its transaction.
  package func didRollBack() {
    isRecordedComplete = false
    if !isReserved { return }
    (isReserved, isRecorded) = (false, false)
    runID = resumed?.id
    ownerStatement = nil
  }

  /// Writes position and progress, where the transaction that is about to be committed has changed a row, or has given
  /// rejects to a file: what a replay of them stores must not be read again.
  /// - Parameter isLast: marks the run complete, where anything of it is recorded.
  package func willCommit(
    _ progress: @autoclosure () -> RunProgress, _ position: @autoclosure () -> RunPosition, isLast: Bool
  ) throws(UpsurgeError) {
    let isChanged =
      connection.totalChanges != changesBefore || keptRejectCount() != keptRejectsBefore
      || madeTable && !isMarked
    // Of runs that share a transaction, each is written in its turn, so that their numbers tell the order.
    guard isChanged || isLast && (isMarked || keepsHistory && book != nil) else { return }
    try write(progress(), position(), isComplete: isLast)
    isRecordedComplete = isLast
  }

  package func didCommit() {
    isReserved = false
    changesBefore = connection.totalChanges
    keptRejectsBefore = keptRejectCount()
  }

  /// Whether the table holds the run, under whatever name.
  package var isMarked: Bool { isRecorded || resumed != nil }

  /// The last act of a run whose ledger was seen: the record goes, or stays as history.
  /// - Parameter isLast: false where other runs of the table follow at once, with which old ones go.
  package func acknowledge(
    _ progress: RunProgress, _ position: RunPosition, exitCode: Int32, isLast: Bool = true
  ) throws(UpsurgeError) {
    guard hasTrace else { return }
    try connection.writing { () throws(UpsurgeError) in
      if keepsHistory && !isRecordedComplete { try write(progress, position, isComplete: true) }
      var ended = replaced.map { (id: $0.id, owner: $0.owner) }
      let own = runID.map { (id: $0, owner: isRecorded ? owner.text : resumed?.owner ?? "") }
      if let own, keepsHistory, ended.isEmpty, !isLast {
        return try Self.markDone(own, exitCode: exitCode, on: connection)
      }
      if !keepsHistory, let own { ended.append(own) }
      try Self.end(
        ended, on: connection, done: keepsHistory ? own : nil, keeping: keptRunCount, exitCode: exitCode)
    }
  }

  /// Removes runs, and the table with the last one; part of the transaction that is open. A number may be another
  /// run's by now, which its owner shows.
  static func end(
    _ runs: [(id: Int64, owner: String)], on connection: Connection,
    done: (id: Int64, owner: String)? = nil, keeping keptRunCount: UInt64? = nil,
    exitCode: Int32 = 0
  ) throws(UpsurgeError) {
    guard try RunTable.exists(connection) else { return }
    for run in runs { try change("DELETE FROM main.upsurge_runs", run, on: connection) }
    if let done {
      try markDone(done, exitCode: exitCode, on: connection)
      if let keptRunCount { try RunTable.prune(tableOf: done.id, keeping: keptRunCount, on: connection) }
    }
    if try connection.integer("SELECT 1 FROM main.upsurge_runs LIMIT 1") == nil {
      try connection.execute("DROP TABLE main.upsurge_runs")
    }
  }

  private static func markDone(
    _ run: (id: Int64, owner: String), exitCode: Int32, on connection: Connection
  ) throws(UpsurgeError) {
    try change("UPDATE main.upsurge_runs SET state = 'done', exit_code = \(exitCode)", run, on: connection)
  }

  private static func change(
    _ sql: String, _ run: (id: Int64, owner: String), on connection: Connection
  ) throws(UpsurgeError) {
    let statement = try connection.prepare("\(sql) WHERE run = ?1 AND owner = ?2")
    try statement.bind(run.id, at: 1)
    try statement.bind(run.owner, at: 2)
    _ = try statement.step()
  }

  /// Removes the record of a run that has ended, in a transaction of its own; with history, keeps it as such.
  package static func forget(
    _ run: (id: Int64, owner: String), keepsHistory: Bool, keeping keptRunCount: UInt64? = nil,
    exitCode: Int32, on connection: Connection
  ) throws(UpsurgeError) {
    try connection.writing { () throws(UpsurgeError) in
      try end(
        keepsHistory ? [] : [run], on: connection, done: keepsHistory ? run : nil, keeping: keptRunCount,
        exitCode: exitCode)
    }
  }

  private func write(
    _ progress: RunProgress, _ position: RunPosition, isComplete: Bool
  ) throws(UpsurgeError) {
    var position = position
    position.outputLengths = outputLengths()
    position.madeTable = madeTable
    let state = isComplete ? RunRecord.State.complete : .running
    if isRecorded { return try update(state, progress, position) }
    let statement: Statement
    if let book {
      statement = try book.inserting(connection)
    } else {
      statement = try RunTable.inserting(connection)
    }
    defer { statement.reset() }
    for run in replaced {
      try Self.change("DELETE FROM main.upsurge_runs", (run.id, run.owner), on: connection)
    }
    try statement.bind(runID.map { .integer($0) } ?? .null, at: 1)
    let texts = [
      state.rawValue, job.table, RunText.encode(job), RunText.encode(files()), owner.text, startedAt,
      RunText.encode(position), RunText.encode(progress),
    ]
    for (index, text) in texts.enumerated() { try statement.bind(text, at: Int32(index + 2)) }
    _ = try statement.step()
    if runID == nil { runID = connection.lastInsertedRowid }
    isRecorded = true
  }

  private func update(
    _ state: RunRecord.State, _ progress: RunProgress, _ position: RunPosition
  ) throws(UpsurgeError) {
    let statement: Statement
    if let updateStatement {
      statement = updateStatement
    } else {
      statement = try connection.prepare(
        """
        UPDATE main.upsurge_runs SET state = ?1, files = ?2, position = ?3, progress = ?4,
          updated_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')
        WHERE run = ?5
        """)
      updateStatement = statement
    }
    defer { statement.reset() }
    let texts = [
      state.rawValue, RunText.encode(files()), RunText.encode(position), RunText.encode(progress),
    ]
    for (index, text) in texts.enumerated() { try statement.bind(text, at: Int32(index + 1)) }
    try statement.bind(runID ?? 0, at: 5)
    _ = try statement.step()
  }

  private func lost() -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "another run of the same job has gone on meanwhile, so this one ends at its last commit",
      hint:
        "upsurge runs \(connection.path.quotedForShell) lists what has not ended; one that is not listed has ended, "
        + "or was forgotten")
  }

  private func forgotten() -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "the record of this run was taken out of the table upsurge_runs, so it ends at its last commit",
      hint:
        "the same command loads everything, also what is in the table already; leave upsurge_runs alone while a run "
        + "is at work")
  }

  /// The refusal of a second run of a job.
  package static func alreadyRunning(_ run: RunRecord, pid: Int32) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "this job is running already: process \(pid) loads \(run.job.sources.joined(separator: ", ").escapedForTerminal) "
        + "into table \(run.job.table.escapedForTerminal) since \(run.startedAt)",
      hint: "wait until it has ended, or end it: kill \(pid)")
  }

  /// The time as a run's record holds it: UTC, ISO 8601.
  package static func now(_ connection: Connection) throws(UpsurgeError) -> String {
    try connection.text("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')") ?? ""
  }
}

extension Connection {
  fileprivate var lastInsertedRowid: Int64 { sqlite3_last_insert_rowid(handle) }
}
