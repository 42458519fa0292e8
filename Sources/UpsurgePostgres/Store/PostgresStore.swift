import Upsurge
import UpsurgeRecords
import UpsurgeState

/// The tables of one PostgreSQL database, for one load.
final class PostgresStore: Store {
  let job: LoadJob
  let session: ServerSession
  let capabilities: Capabilities
  /// Where names without a schema are made.
  private let defaultSchema: String
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
      name.schema ?? defaultSchema, PostgresRuns.name, ["SELECT", "INSERT", "UPDATE", "DELETE"], isMade: false
    )
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

  /// The table of runs beside a table.
  func runs(beside table: TableName) -> PostgresRuns { PostgresRuns(schema: table.schema ?? defaultSchema) }

  func openRuns(of table: String) throws(UpsurgeError) -> [RunRecord] {
    let wanted = try place(of: TableName(table))
    let runs = runs(beside: wanted)
    let rows = try session.asking { (connection) throws(PostgresFailure) in try runs.all(connection) }
    var open: [RunRecord] = []
    for row in rows where row.state != RunRecord.State.done.rawValue {
      guard try place(of: TableName(row.table)) == wanted, let record = try settled(RunRecord(row), runs)
      else { continue }
      // What has committed nothing leaves nothing to resume.
      if record.livePID != nil || record.state == .complete || record.progress.ledger.read > 0 {
        open.append(record)
      }
    }
    return open
  }

  /// What stands of a run whose process has ended: the server may still be at its last COMMIT, which is waited for.
  /// - Parameter isOwn: whether it is this process's, whose connection has broken.
  /// - Returns: nil where it was forgotten.
  func settled(_ run: RunRecord, _ runs: PostgresRuns, isOwn: Bool = false) throws(UpsurgeError) -> RunRecord?
  {
    guard run.state == .running, isOwn || run.livePID == nil else { return run }
    let rows = try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      _ = try runs.lock(run.id, connection)
      return try runs.all(connection)
    }
    return try rows.first { $0.run == run.id }.map { (row) throws(UpsurgeError) in try RunRecord(row) }
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
    let place = try place(of: name)
    let wasMade = input.beginning.resumption?.position.madeTable ?? false
    let found = try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try PostgresTable.read(schema: place.schema, name: place.name, connection)
    }
    let preparation = TablePreparation(
      place: place, source: input.beginning.source, isOnlySource: input.otherSources.isEmpty,
      options: options, session: session)
    if let found {
      try check(found)
      if wasMade { try checkOnlyTable(place) }
      return try preparation.existing(found)
    }
    guard options.table.createsTable else {
      throw UpsurgeError(
        .guardRefused,
        "there is no table \(place.shown.escapedForTerminal), and \(.create, "never") says not to make it",
        hint: "leave out \(.create, "never"), or make the table first")
    }
    try options.checkMode(withoutTable: place.shown)
    try checkFree(place)
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

  /// - Throws: `usage` for what no record can be stored in, or not in one transaction.
  private func check(_ table: PostgresTable) throws(UpsurgeError) {
    let shown = TableName(schema: table.schema, name: table.name).shown.escapedForTerminal
    switch table.kind {
    case .materializedView:
      throw UpsurgeError(
        .usage, "\(shown) is a materialized view, which only REFRESH fills",
        hint: "load the tables that it is made of")
    case .view where !table.triggers.contains(where: \.isInsteadOf):
      throw UpsurgeError(
        .usage, "\(shown) is a view without INSTEAD OF triggers; what is stored through it cannot be counted",
        hint: "load the table that it shows")
    case .view where !options.rules.key.isEmpty:
      throw UpsurgeError(
        .usage, "\(shown) is a view, which has no key", hint: "load the table that it shows")
    case .foreign:
      if !options.rules.key.isEmpty {
        throw UpsurgeError(
          .usage, "\(shown) is a table of another server, which has no key here",
          hint: "load the table on its own server")
      }
    default: break
    }
    if table.hasForeignPartitions, !options.rules.key.isEmpty || table.primaryKey != nil {
      throw UpsurgeError(
        .usage, "\(shown) has partitions on other servers, whose commits are not one, and no key over them",
        hint: "load each partition on its own server")
    }
    try checkRules(of: table, shown)
  }

  /// - Throws: `usage` for a rule that PostgreSQL does not combine with statements that count what they store.
  private func checkRules(of table: PostgresTable, _ shown: String) throws(UpsurgeError) {
    let hasKey = !options.rules.key.isEmpty || table.primaryKey != nil
    let events: Set<PostgresRule.Event> =
      switch options.rules.mode ?? (hasKey ? .upsert : .insert) {
      case .insert: [.insert]
      case .update: [.update]
      case .delete: [.delete]
      default: [.insert, .update]
      }
    let deletes: Set<PostgresRule.Event> = options.rules.tombstone == nil ? [] : [.delete]
    guard let rule = table.rules.first(where: { events.union(deletes).contains($0.event) }) else { return }
    throw UpsurgeError(
      .usage,
      "\(shown) has the rule \(rule.name.escapedForTerminal) on \(rule.event.rawValue), and what a rule stores cannot be counted",
      hint: "make a trigger of the rule, and DROP RULE \(rule.name.escapedForTerminal) ON \(shown)")
  }

  func setUp(_ table: inout TargetTable, for input: LoadInput) {}

  func explain(_ table: TargetTable, for input: LoadInput) throws(UpsurgeError) -> String {
    PostgresExplanation(table: table, job: job, capabilities: capabilities, server: place).text
  }

  func begin(
    _ table: TargetTable, for input: LoadInput, from beginning: Beginning, _ context: StoreContext
  ) throws(UpsurgeError) -> PostgresTransfer {
    try PostgresTransfer(self, table, input, beginning, context)
  }

  func takeBack() {}
}
