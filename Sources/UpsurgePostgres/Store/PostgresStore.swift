import Upsurge
import UpsurgeRecords
import UpsurgeState

/// The tables of one PostgreSQL database, for one load.
final class PostgresStore: Store {
  let job: LoadJob
  let session: ServerSession
  let capabilities: Capabilities
  /// Where names without a schema are made.
  let defaultSchema: String
  let name: TableName

  /// Connects, and refuses what cannot be done there before anything is read.
  init(_ job: LoadJob, _ cancellation: ReadCancellation) throws(UpsurgeError) {
    self.job = job
    session = try ServerSession(job.database, cancellation)
    name = TableName(job.table)
    session.patience = job.options.patience
    if job.options.tuning.awaitsServer { session.goOn() }
    try job.options.checkForPostgres()
    capabilities = try session.capabilities()
    defaultSchema = try session.asking { (connection) throws(PostgresFailure) in
      try connection.run("SELECT current_schema()", []).first?.text(0) ?? "public"
    }
    session.rights.add(
      stateSchema(beside: name), PostgresRuns.name, ["SELECT", "INSERT", "UPDATE", "DELETE"], isMade: false
    )
    if name.name == PostgresLanes.name {
      throw UpsurgeError(
        .usage, "\(name.name) is a table of Upsurge's own, in which it keeps something beside the data",
        hint: "give another table")
    }
    let byteLimit = capabilities.nameByteLimit
    for part in [name.schema, name.name].compactMap({ $0 }) where part.utf8.count > byteLimit {
      throw UpsurgeError(
        .usage,
        "the name \(part.escapedForTerminal) has \(part.utf8.count) bytes, and the server cuts names after \(byteLimit)",
        hint: "give the table a shorter name")
    }
  }

  var options: LoadOptions { job.options }

  /// Milliseconds that a lock is waited for.
  var lockTimeout: Int { Int(options.transaction.busyTimeout) }

  var place: String { session.target.shown }

  // MARK: - Runs

  /// What has not ended in the database: files of rejects may be its.
  var openWork: OpenWork {
    OpenWork(
      place: place,
      runs: { [session, lockTimeout] () throws(UpsurgeError) in
        try session.knownRuns(lockTimeout: lockTimeout)
      },
      replays: { [session, lockTimeout] () throws(UpsurgeError) in
        try session.replayMarks(lockTimeout: lockTimeout)
      })
  }

  /// Tables of rejects are where the table is, whatever the schema of runs: a replay stores records in the schema that keeps them.
  func rejectTables(beside table: TableName) -> PostgresRejects {
    PostgresRejects(schema: table.schema ?? defaultSchema)
  }

  /// The tables of rejects beside a table, ready to take some; nil where the run keeps none there.
  /// - Throws: `guardRefused` where others have the name of one.
  func rejects(beside table: TableName) throws(UpsurgeError) -> PostgresRejects? {
    if options.rejects.target != .table { return nil }
    let rejects = rejectTables(beside: table)
    noteRights(for: rejects)
    let isTrial = options.output.dryRun != nil
    let look = try session.asking { (connection) throws(PostgresFailure) in
      let found = try rejects.look(connection)
      guard case .nothing = found, !isTrial else { return found }
      try rejects.make(connection)
      return try rejects.look(connection)
    }
    if case .refused(let error) = look { throw error }
    return rejects
  }

  /// Whether records that one delivery of a snapshot after the other rejects are counted in one row, as far as the user may do that.
  func countsDeliveries(in rejects: PostgresRejects) throws(UpsurgeError) -> Bool {
    guard options.delivery.rules.snapshot != nil, options.output.dryRun == nil, capabilities.family == .postgreSQL,
      capabilities.hasTemporaryTables
    else { return false }
    return try session.asking { (connection) throws(PostgresFailure) in try rejects.prepareCounting(connection) }
  }

  /// The table of runs beside a table.
  func runs(beside table: TableName) -> PostgresRuns { PostgresRuns(schema: stateSchema(beside: table)) }

  /// The schema of the engine's own tables.
  func stateSchema(beside table: TableName) -> String {
    options.table.stateSchema ?? table.schema ?? defaultSchema
  }

  /// What notes and messages call a table: with its schema, where that is not the one of names without.
  func noteName(of table: TableName) -> String { table.noteName(beside: defaultSchema) }

  func openRuns(of table: String) throws(UpsurgeError) -> [RunRecord] {
    let wanted = try place(of: TableName(table))
    let runs = runs(beside: wanted)
    let rows = try session.asking { (connection) throws(PostgresFailure) in try runs.all(connection) }
    var open: [RunRecord] = []
    for row in rows where row.state != RunRecord.State.done.rawValue {
      guard try place(of: TableName(row.table)) == wanted,
        let record = try session.settled(RunRecord(row), runs, lockTimeout: lockTimeout)
      else { continue }
      // What has committed nothing leaves nothing to resume.
      if record.livePID != nil || record.state == .complete || record.progress.ledger.read > 0 {
        open.append(record)
      }
    }
    return open
  }

  /// Where a table is, or would be made.
  func place(of table: TableName) throws(UpsurgeError) -> TableName {
    if table.schema != nil { return table }
    let found = try session.asking { (connection) throws(PostgresFailure) in
      try connection.run(
        "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(quote_ident($1))",
        [.text(table.name)]
      ).first?.text(0)
    }
    return TableName(schema: found ?? defaultSchema, name: table.name)
  }

  func hasLostRows(of run: RunRecord) throws(UpsurgeError) -> Bool {
    let ledger = run.progress.ledger
    let foundCount = ledger.inserted + ledger.updated + ledger.unchanged
    guard foundCount > ledger.deleted else { return false }
    let place = try place(of: TableName(run.job.table))
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      var names = [place.name]
      if run.position.madeTable, run.state == .running {
        names = [NewTable(schema: place.schema ?? "", name: place.name, columns: [], key: []).ownName]
      }
      for name in names {
        guard let table = try PostgresTable.read(schema: place.schema, name: name, connection) else {
          return true
        }
        guard table.kind == .table || table.kind == .partitioned, table.rights.selects else { return false }
        let rows = try connection.run("SELECT EXISTS (SELECT FROM \(table.quotedName))", [])
        return rows.first?.flag(0) != true
      }
      return false
    }
  }

  // MARK: - The table

  func table(for input: LoadInput, options: LoadOptions) throws(UpsurgeError) -> TargetTable? {
    var table = try preparedTable(for: input, options: options)
    try checkDistribution(table)
    try checkConnections(table, input.beginning)
    table.givenName = TableName.asSource(schema: name.schema, name: name.name)
    return table
  }

  private func preparedTable(
    for input: LoadInput, options: LoadOptions
  ) throws(UpsurgeError) -> TargetTable {
    let place = try place(of: name)
    let wasMade = input.beginning.resumption?.position.madeTable ?? false
    let found = try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try PostgresTable.read(schema: place.schema, name: place.name, connection)
    }
    let preparation = TablePreparation(
      place: place, source: input.beginning.source, isOnlySource: input.otherSources.isEmpty,
      options: options, session: session)
    if let found {
      try found.checkTakesRecords(
        by: options.rules, sweep: options.delivery.rules.snapshot?.sweep ?? .none)
      if wasMade { try checkOnlyTable(place) }
      let table = try preparation.existing(found)
      try options.output.checkTelling(table, found, capabilities)
      return table
    }
    guard options.table.createsTable else {
      throw UpsurgeError(
        .guardRefused,
        "there is no table \(place.shown.escapedForTerminal), and \(.create, "never") says not to make it",
        hint: "leave out \(.create, "never"), or make the table first")
    }
    try options.checkMode(withoutTable: place.shown)
    try checkFree(place)
    try options.output.checkTelling(nil, nil, capabilities)
    if wasMade, let own = try preparation.begun() { return own }
    return try preparation.new(nameByteLimit: capabilities.nameByteLimit)
  }

  /// - Throws: `guardRefused` where somebody has made the table while a run fills one of that name: its first rows are in the other.
  private func checkOnlyTable(_ place: TableName) throws(UpsurgeError) {
    let ownName = NewTable(schema: place.schema ?? "", name: place.name, columns: [], key: []).ownName
    let own = try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try PostgresTable.read(schema: place.schema, name: ownName, connection)
    }
    if own == nil { return }
    let (shown, ownShown) = (place.shown.escapedForTerminal, ownName.escapedForTerminal)
    throw UpsurgeError(
      .guardRefused,
      "somebody has made table \(shown) meanwhile, and the rows that are committed are in \(ownShown)",
      hint: "without \(shown) the run resumes; without \(ownShown) it begins again, in \(shown)")
  }

  /// - Throws: `guardRefused` where a sequence, an index or a type has the name of the table that is to be made.
  private func checkFree(_ place: TableName) throws(UpsurgeError) {
    let isTaken = try session.asking { (connection) throws(PostgresFailure) in
      try connection.run(
        """
        SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2)
          OR EXISTS (SELECT FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = $1 AND t.typname = $2)
        """, [.text(place.schema ?? defaultSchema), .text(place.name)]
      ).first?.flag(0) ?? false
    }
    if !isTaken { return }
    throw UpsurgeError(
      .guardRefused,
      "\(place.shown.escapedForTerminal) is the name of a sequence, an index or a type, so no table can have it",
      hint: "give the table another name")
  }

  func setUp(_ table: inout TargetTable, for input: LoadInput) {}

  func explain(_ table: TargetTable, for input: LoadInput) throws(UpsurgeError) -> String {
    PostgresExplanation(table: table, job: job, capabilities: capabilities, server: place).text
  }

  func begin(
    _ table: TargetTable, for input: LoadInput, from beginning: Beginning, _ context: StoreContext
  ) throws(UpsurgeError) -> GatheringTransfer {
    GatheringTransfer(try PostgresTransfer(self, table, input, beginning, context), context)
  }

  func takeBack() {}
}
