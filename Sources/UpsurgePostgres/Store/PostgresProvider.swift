import CPostgres
import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeState

/// Makes PostgreSQL a store of the program: `postgres://host/database` is a database from then on.
public enum PostgresStores {
  /// Adds the store; once is enough. libpq is loaded when a server is named, not before.
  public static func register() { StoreRegistry.register(PostgresProvider()) }

  /// The library that speaks to servers; loads it.
  package static var library: InputLibraries.LoadedLibrary {
    if let problem = upsurge_pq_load() { return .missing(String(cString: problem)) }
    let number = Int(upsurge_pq_library_version())
    return .there(version: "\(number / 10_000).\(number % 10_000)")
  }
}

struct PostgresProvider: ReplayProvider {
  var name: String { "PostgreSQL" }
  var prefixes: [String] { ["postgres://", "postgresql://"] }

  func store(for job: LoadJob, _ cancellation: ReadCancellation) throws(UpsurgeError) -> any Store {
    try PostgresStore(job, cancellation)
  }

  func shelf(for job: LoadJob) throws(UpsurgeError) -> any MirrorShelf {
    try PostgresStore(job, ReadCancellation())
  }

  func notes(in notes: NoteTable, database: String) throws(UpsurgeError) -> StoredNotes {
    let session = try ServerSession(database)
    var isThere = false
    let stored = try session.asking { (connection) throws(PostgresFailure) in
      var stored = StoredNotes(rows: [], now: "")
      // Policies of strangers would run with the rights of whoever looks: a table that has some is an error.
      try connection.run("BEGIN READ ONLY; SET LOCAL row_security = off")
      defer { connection.rollback() }
      let tables = try StateTable.found(notes, connection)
      isThere = !tables.isEmpty
      for table in tables { stored.rows += try table.rows(where: "true", [], connection) }
      stored.now = try connection.run("SELECT \(AcceptanceNotes.now)", []).first?.text(0) ?? ""
      return stored
    }
    if !isThere { try session.refuseUnread(notes.name, mark: StateTable.mark) }
    return stored
  }

  func runs(in database: String) throws(UpsurgeError) -> [RunRecord] {
    let session = try ServerSession(database)
    let runs = try session.runs()
    if runs.isEmpty,
      try session.asking({ (connection) throws(PostgresFailure) in try PostgresRuns.found(connection) })
        .isEmpty
    {
      try session.refuseUnread(PostgresRuns.name, mark: "")
    }
    return runs
  }

  func replay(
    for job: ReplayJob, _ cancellation: ReadCancellation, note: (RunNote) -> Void
  ) throws(UpsurgeError) -> any ReplayStore {
    try PostgresReplay(job, cancellation, note: note)
  }

  func forget(_ run: Int64, in database: String) throws(UpsurgeError) -> Bool {
    let session = try ServerSession(database)
    let tables = try session.asking { (connection) throws(PostgresFailure) in
      try PostgresRuns.found(connection)
    }
    for runs in tables {
      let rows = try session.asking { (connection) throws(PostgresFailure) in try runs.all(connection) }
      guard let row = rows.first(where: { $0.run == run }) else { continue }
      let record = try RunRecord(row)
      if let pid = record.livePID { throw RunKeeper.alreadyRunning(record, pid: pid) }
      return try session.asking { (connection) throws(PostgresFailure) in
        try runs.forget(run, owner: row.owner, connection)
      }
    }
    return false
  }
}

extension PostgresRuns {
  /// The tables of runs of a database, one for each schema that has some.
  static func found(_ connection: PostgresConnection) throws(PostgresFailure) -> [PostgresRuns] {
    var found: [PostgresRuns] = []
    for table in try ServerLayout.found(.runs, connection) {
      let runs = PostgresRuns(schema: table.schema)
      if try runs.isOurs(connection) { found.append(runs) }
    }
    return found
  }
}

extension RunRecord {
  /// - Throws: `database` for a row that no run has written.
  init(_ row: PostgresRuns.Row) throws(UpsurgeError) {
    let state = State(rawValue: row.state) ?? .done
    let position = try RunText.position(row.position)
    var progress = try RunText.progress(row.progress)
    for lane in row.lanes where try LaneMark(lane.position).seal == position.lanes?.seal {
      progress.add(try LaneProgress(lane.progress))
    }
    self.init(
      id: row.run, state: state, job: try RunText.job(row.job, table: row.table),
      files: try RunText.files(row.files),
      owner: row.owner, startedAt: row.startedAt, updatedAt: row.updatedAt,
      position: position, progress: progress,
      exitCode: row.exitCode.map { Int32(truncatingIfNeeded: $0) },
      livePID: state == .running ? RunOwner.livePID(row.owner) : nil)
  }
}
