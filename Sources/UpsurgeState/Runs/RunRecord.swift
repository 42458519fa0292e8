import UpsurgeRecords
import UpsurgeSQLite

/// One run as the table `upsurge_runs` holds it.
package struct RunRecord: Sendable {
  package enum State: String, Sendable {
    /// A part of the run is committed.
    case running
    /// All of the run is committed; nobody may have seen its ledger.
    case complete
    /// The run has ended, and is kept for the history.
    case done
  }

  package var id: Int64
  package var state: State
  package var job: RunJob
  package var files: [RunFile]
  /// The process that was at work, as `RunOwner.text`.
  package var owner: String
  /// UTC, ISO 8601.
  package var startedAt: String
  package var updatedAt: String
  package var position: RunPosition
  package var progress: RunProgress
  /// Of a run that has ended.
  package var exitCode: Int32?
  /// The process that was at work on the run when it was read; nil where the record is all that is left of it.
  package var livePID: Int32?

  package init(
    id: Int64, state: State, job: RunJob, files: [RunFile], owner: String, startedAt: String, updatedAt: String,
    position: RunPosition, progress: RunProgress, exitCode: Int32? = nil, livePID: Int32? = nil
  ) {
    (self.id, self.state, self.job, self.files, self.owner) = (id, state, job, files, owner)
    (self.startedAt, self.updatedAt, self.position, self.progress) = (startedAt, updatedAt, position, progress)
    (self.exitCode, self.livePID) = (exitCode, livePID)
  }
}

/// The table of runs that have begun and not ended, or are kept for the history; users may read it, and delete from it
/// what they do not want continued.
package enum RunTable {
  package static let name = OwnTable.runs.rawValue

  package static let layout = OwnLayout(
    .runs, purpose: "runs are kept in one of this name",
    columns: [
      "run", "state", "table", "job", "files", "owner", "started_at", "updated_at", "position", "progress",
      "exit_code",
    ],
    body: """
      run INTEGER PRIMARY KEY,
      state TEXT NOT NULL,
      "table" TEXT NOT NULL COLLATE NOCASE,
      job TEXT NOT NULL,
      files TEXT NOT NULL,
      owner TEXT NOT NULL,
      started_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      position TEXT NOT NULL,
      progress TEXT NOT NULL,
      exit_code INTEGER
      """)

  /// Whether the database holds the table.
  /// - Throws: `guardRefused` when a table of that name is not ours, or of a newer layout.
  package static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.exists(on: connection)
  }

  /// All runs, the oldest first.
  package static func all(_ connection: Connection) throws(UpsurgeError) -> [RunRecord] {
    try settled { () throws(UpsurgeError) in
      try connection.reading { () throws(UpsurgeError) in
        guard try exists(connection) else { return [] }
        return try read(connection.prepare("\(selection) ORDER BY run"), of: connection)
      }
    }
  }

  /// The runs into a table that have ended and are kept, the oldest first.
  package static func past(_ connection: Connection, table: String) throws(UpsurgeError) -> [RunRecord] {
    try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return [] }
      let statement = try connection.prepare("\(selection) WHERE state = 'done' AND \"table\" = ?1 ORDER BY run")
      try statement.bind(table, at: 1)
      return try read(statement, of: connection)
    }
  }

  /// The runs into a table that have not ended or whose ledger may not have been seen, the oldest first.
  /// - Parameter sources: only those of jobs with these sources; nil is all.
  package static func open(
    _ connection: Connection, table: String, sources: [String]? = nil
  ) throws(UpsurgeError) -> [RunRecord] {
    let records = try settled { () throws(UpsurgeError) in
      try connection.reading { () throws(UpsurgeError) in
        guard try exists(connection) else { return [] }
        let filter = sources == nil ? "" : " AND instr(job, ?2) > 0"
        let statement = try connection.prepare(
          "\(selection) WHERE state IN ('running', 'complete') AND \"table\" = ?1\(filter) ORDER BY run")
        try statement.bind(table, at: 1)
        if let sources { try statement.bind(RunText.encode(sources), at: 2) }
        return try read(statement, of: connection)
      }
    }
    return sources.map { sources in records.filter { $0.job.sources == sources } } ?? records
  }

  /// Reads records until those whose process has ended were read after its end: what commits its last record and ends
  /// between the two looks would seem to have ended early.
  private static func settled(
    _ read: () throws(UpsurgeError) -> [RunRecord]
  ) throws(UpsurgeError) -> [RunRecord] {
    var ended: Set<String> = []
    while true {
      var records = try read()
      var isSettled = true
      for (index, run) in records.enumerated() where run.state == .running && !ended.contains(run.owner) {
        records[index].livePID = RunOwner.livePID(run.owner)
        if records[index].livePID == nil {
          ended.insert(run.owner)
          isSettled = false
        }
      }
      if isSettled { return records }
    }
  }

  private static let selection = """
    SELECT run, state, "table", job, files, owner, started_at, updated_at, position, progress, exit_code
    FROM main.upsurge_runs
    """

  private static func read(
    _ statement: Statement, of connection: Connection
  ) throws(UpsurgeError) -> [RunRecord] {
    var records: [RunRecord] = []
    while try statement.step() {
      do throws(UpsurgeError) {
        records.append(try record(statement))
      } catch {
        throw unreadable(statement.integer(at: 0), because: error, in: connection)
      }
    }
    return records
  }

  private static func record(_ statement: Statement) throws(UpsurgeError) -> RunRecord {
    let text = { (column: Int32) in statement.text(at: column) ?? "" }
    return RunRecord(
      id: statement.integer(at: 0), state: RunRecord.State(rawValue: text(1)) ?? .done,
      job: try RunText.job(text(3), table: text(2)), files: try RunText.files(text(4)), owner: text(5),
      startedAt: text(6), updatedAt: text(7), position: try RunText.position(text(8)),
      progress: try RunText.progress(text(9)),
      exitCode: statement.isNull(at: 10) ? nil : Int32(truncatingIfNeeded: statement.integer(at: 10)))
  }
}
