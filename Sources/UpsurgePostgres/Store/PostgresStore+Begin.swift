import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension PostgresStore {
  /// Makes what must be before the first record, writes down that the run has begun, and says how its records are committed.
  func transactions(
    for table: inout TargetTable, _ input: LoadInput, _ beginning: Beginning, _ context: StoreContext,
    over lanes: RunPosition.Lanes?
  ) throws(UpsurgeError) -> RunTransactions {
    if let lanes { try checkRoom(for: lanes.count, isResumed: beginning.resumption != nil) }
    let options = job.options
    let isTrial = options.output.dryRun != nil
    var preparations: [String] = []
    if var making = table.making {
      making.isKeyedFirst =
        !making.key.isEmpty
        && (options.tuning.makesKeyFirst || options.rules.tombstone != nil
          // What is rejected before a key comes twice would be kept twice.
          || options.rejects.target == .table && !options.transaction.isAtomic && beginning.resumption == nil
          || !beginning.files.canReadAgain(from: beginning.index))
      table.making = making
      if beginning.resumption == nil {
        let unfinished = try unfinishedRuns()
        try checkOwn(making)
        for run in unfinished where !beginning.replaced.contains(where: { $0.id == run.id }) {
          noteLoss(of: run, context)
          preparations.append(runs(beside: table.name).forgetting(run.id, owner: run.owner))
        }
        preparations.append("DROP TABLE IF EXISTS \(making.ownQuotedName)")
        if capabilities.family.keepsDDLInTransactions { preparations += making.trial }
      }
    }
    preparations += table.preparations
    if !isTrial && !preparations.isEmpty && !options.transaction.isAtomic {
      try prepare(preparations, for: &table)
      preparations = []
    }
    try checkSQL(of: table)
    let runs = runs(beside: table.name)
    let settings = settings(for: table)
    let newRun = newRun(input, table, context, over: lanes)
    if isTrial || options.transaction.isAtomic {
      if !isTrial { try makeRuns(runs) }
      if beginning.resumption == nil { try forget(beginning.replaced, runs, isTrial: isTrial) }
      let written = isTrial ? nil : try written(newRun, runs)
      return WholeTransaction(self, written, preparations: preparations, settings)
    }
    try makeRuns(runs)
    if lanes != nil { try makeLanes(runs) }
    try forget(beginning.replaced, runs, isTrial: false)
    var isAgain = false
    let begun = try session.asking { (connection) throws(PostgresFailure) -> PartTransactions.Begun? in
      if isAgain { try runs.forget(begun: newRun, connection) }
      isAgain = true
      if let lanes {
        guard let earlier = beginning.resumption else {
          return try begin(newRun, laneCount: lanes.count, runs, connection)
        }
        return try takeOver(earlier, newRun, runs, connection)
      }
      return try write(beginning.resumption, newRun, runs, connection)
    }
    guard let begun else {
      throw UpsurgeError(
        .guardRefused, "another process has taken up the run meanwhile",
        hint: "upsurge runs \(place.quotedForShell) lists what has not ended")
    }
    if let earlier = beginning.resumption, try RunText.position(begun.position) != earlier.position {
      // What is committed is looked up once more.
      throw UpsurgeError(.commitsLost, "\(place) says another place of the run than a moment ago")
    }
    table.making?.run = begun.run
    return PartTransactions(self, runs, begun, beginning, making: table.making, settings)
  }

  /// Writes down that a run of one transaction has begun, so that whoever comes while it commits can wait for its row.
  private func written(_ run: PostgresRuns.NewRun, _ runs: PostgresRuns) throws(UpsurgeError)
    -> WholeTransaction.Run
  {
    var isAgain = false
    let number = try session.asking { (connection) throws(PostgresFailure) in
      if isAgain { try runs.forget(begun: run, connection) }
      isAgain = true
      return try runs.begin(run, connection)
    }
    return WholeTransaction.Run(runs: runs, number: number, owner: run.owner)
  }

  /// Makes the run's row, or makes that of the earlier part this process's.
  /// - Returns: nil where another process was faster.
  private func write(
    _ earlier: RunRecord?, _ newRun: PostgresRuns.NewRun, _ runs: PostgresRuns,
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> PartTransactions.Begun? {
    let server = try server(connection)
    guard let earlier else {
      return PartTransactions.Begun(
        run: try runs.begin(newRun, connection), owner: newRun.owner, position: newRun.position,
        server: server)
    }
    // A call whose answer was lost may have done it, so the row says whose the run is.
    _ = try runs.takeOver(earlier.id, from: earlier.owner, to: newRun.owner, connection)
    guard let standing = try runs.lock(earlier.id, connection), standing.owner == newRun.owner else {
      return nil
    }
    return PartTransactions.Begun(
      run: earlier.id, owner: newRun.owner, position: standing.position, server: server)
  }

  /// Which server it is that has the rows; nil where it does not say.
  func server(_ connection: PostgresConnection) throws(PostgresFailure) -> String? {
    guard capabilities.family.saysWhenItStarted else { return nil }
    return try connection.run(TransactionSettings.server, []).first?.text(0)
  }

  private func newRun(
    _ input: LoadInput, _ table: TargetTable, _ context: StoreContext, over lanes: RunPosition.Lanes?
  ) -> PostgresRuns.NewRun {
    var position = RunPosition()
    position.lanes = lanes
    position.madeTable = table.making != nil
    return PostgresRuns.NewRun(
      table: input.runJob.table, job: RunText.encode(input.runJob),
      files: RunText.encode(input.beginning.files.all),
      owner: context.owner.text, startedAt: context.startedAt, position: RunText.encode(position),
      progress: RunText.encode(RunProgress()))
  }

  func settings(for table: TargetTable) -> TransactionSettings {
    let transaction = job.options.transaction
    var settings = TransactionSettings()
    // 0 would be without bound.
    settings.lockTimeout = max(1, Int(transaction.busyTimeout))
    settings.isDurable = transaction.durability != .off
    settings.plansForSortedKeys = capabilities.family == .postgreSQL
    settings.hasTransactionTimeout = capabilities.hasTransactionTimeout
    settings.asksForServer = capabilities.family.saysWhenItStarted
    if let found = table.found {
      let sweep = job.options.delivery.rules.snapshot?.sweep ?? .none
      if sweep != .none, capabilities.family == .postgreSQL { settings.sweptTable = found.quotedName }
      let plan = RecordPlan(table, found: found)
      let shape = plan.shape(of: table.columns.targets.compactMap { plan.column(of: $0)?.name })
      settings.needsSnapshot =
        PathChoice(shape, capabilities).base.path != .delta && OrderedPlan(shape, capabilities).needsSnapshot
    }
    return settings
  }

  /// - Throws: `usage` for SQL of the rules that is not one expression over the table.
  private func checkSQL(of table: TargetTable) throws(UpsurgeError) {
    let merge = table.given.merge
    let hasSQL =
      merge.condition != nil
      || merge.columns.values.contains { if case .expression = $0 { true } else { false } }
    if !hasSQL { return }
    let objection = try session.reading(lockTimeout: lockTimeout) {
      (connection) throws(PostgresFailure) -> UpsurgeError? in
      var found = table.found
      if found == nil { found = try trial(of: table.making, connection) }
      guard let found else { return nil }
      let plan = RecordPlan(table, found: found)
      let shape = plan.shapeOfGivenSQL(for: table.columns.targets.compactMap { plan.column(of: $0)?.name })
      return try ExpressionCheck(shape).objection(connection)
    }
    if let objection { throw objection }
  }

  /// What removes what a snapshot no longer has; nil where the records are none.
  /// - Throws: `usage` for a table that cannot be swept.
  func snapshotSweep(
    of table: TargetTable, _ source: PreparedSource, _ context: StoreContext
  ) throws(UpsurgeError) -> SnapshotSweep? {
    guard let rules = job.options.delivery.rules.snapshot else { return nil }
    let isTrial = job.options.output.dryRun != nil
    let target = try sweepTarget(table, rules)
    let notes = AcceptanceNotes(
      schema: stateSchema(beside: table.name), table: noteName(of: table.name), owner: rules.owner)
    if !isTrial {
      try session.asking { (connection) throws(PostgresFailure) in try notes.make(connection) }
    }
    let chunks = try target.flatMap { (target) throws(UpsurgeError) in try chunkMemory(of: table, target, source, context) }
    return SnapshotSweep(
      rules, target, notes, isTrial: isTrial, memory: context.seenMemory, chunks: chunks, contentHash: context.deliveryHash
    ) { [session, lockTimeout] (body) throws(PostgresFailure) in
      let looking = try PostgresConnection(to: session.target, cancellation: session.cancellation)
      // A lock of our own transaction would be waited for in vain.
      try looking.run("BEGIN; SET LOCAL lock_timeout = \(max(1, min(lockTimeout, 2_000)))")
      try body(looking)
      looking.rollback()
    }
  }

  private func sweepTarget(
    _ table: TargetTable, _ rules: SnapshotRules
  ) throws(UpsurgeError) -> SweepTarget? {
    if rules.sweep == .none { return nil }
    let shown = noteName(of: table.name)
    if let scope = rules.scope { try check(scope: scope, of: table.found, orOf: table.making) }
    guard let found = table.found else {
      guard let making = table.making else { throw .sweepWithoutKey(of: shown) }
      return try SweepTarget(shown, making: making, rules: rules, capabilities)
    }
    let plan = RecordPlan(table, found: found)
    var key = plan.key
    if case .future(let names) = table.key { key = key ?? PostgresIndex(named: "", on: names, of: found) }
    return try SweepTarget(shown, of: found, key: key, rules: rules, capabilities) { name in
      table.columns.targets.firstIndex { plan.column(of: $0)?.name == name }
    }
  }

  /// - Parameter making: what is made where the table is not there yet.
  /// - Throws: `usage` for a scope that is not one condition over the table's rows.
  func check(scope: String, of table: PostgresTable?, orOf making: NewTable? = nil) throws(UpsurgeError) {
    let objection = try session.reading(lockTimeout: lockTimeout) {
      (connection) throws(PostgresFailure) -> UpsurgeError? in
      var found = table
      if found == nil { found = try trial(of: making, connection) }
      guard let found, let column = found.columns.first else { return nil }
      var rules = OrderedRules()
      rules.tableName = making?.name
      let shape = RecordShape(found, key: nil, columns: [column.name], rules: rules)
      return try ExpressionCheck(shape).objection(toScope: scope, connection)
    }
    if let objection { throw objection }
  }

  /// A table that is to be made, made in a transaction that is rolled back.
  /// - Returns: nil where the server would keep it.
  private func trial(
    of making: NewTable?, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> PostgresTable? {
    guard let making, capabilities.family.keepsDDLInTransactions else { return nil }
    try connection.run("DROP TABLE IF EXISTS \(making.ownQuotedName); \(making.creation)")
    return try PostgresTable.read(schema: making.schema, name: making.ownName, connection)
  }

  /// Notes what the run needs, for the hint of what the server refuses.
  func noteRights(for table: TargetTable) {
    let snapshot = job.options.delivery.rules.snapshot
    session.rights = WantedRights()
    session.rights.add(
      table.name.schema ?? defaultSchema, table.name.name, table.neededRights(for: snapshot?.sweep), isMade: table.making != nil)
    if job.options.output.dryRun != nil { return }
    var names = [PostgresRuns.name]
    if options.transaction.connections > 1 {
      names.append(PostgresLanes.name)
      session.rights.add(stateSchema(beside: table.name), PostgresRuns.name, ["REFERENCES"], isMade: true)
    }
    if snapshot != nil { names += UnacceptedState.layouts.map(\.name) }
    for name in names { noteRights(for: name, beside: table.name) }
    if job.options.rejects.target == .table { noteRights(for: rejectTables(beside: table.name)) }
  }

  /// A context that is found is locked, for which the right to UPDATE is asked.
  func noteRights(for rejects: PostgresRejects) {
    session.rights.add(
      rejects.schema, OwnTable.rejectContexts.rawValue, ["SELECT", "INSERT", "UPDATE"], isMade: true)
    session.rights.add(rejects.schema, OwnTable.rejects.rawValue, ["INSERT"], isMade: true)
  }

  /// Notes what is needed of one of the engine's own tables.
  func noteRights(for name: String, beside table: TableName) {
    session.rights.add(stateSchema(beside: table), name, ["SELECT", "INSERT", "UPDATE", "DELETE"], isMade: true)
  }

  private func makeRuns(_ runs: PostgresRuns) throws(UpsurgeError) {
    let isOurs = try session.asking { (connection) throws(PostgresFailure) in
      // Who may not make tables may use one that is there.
      if try runs.isOurs(connection) { return true }
      return try runs.make(connection)
    }
    if isOurs { return }
    throw UpsurgeError(
      .guardRefused,
      "the schema \(runs.schema.escapedForTerminal) has a table \(PostgresRuns.name) that upsurge did not make",
      hint: "give that table another name: runs are kept in one of this name")
  }

  /// Forgets runs that this one takes the place of, and those of ended processes that have committed nothing.
  private func forget(_ replaced: [RunRecord], _ runs: PostgresRuns, isTrial: Bool) throws(UpsurgeError) {
    if isTrial { return }
    let rows = try session.asking { (connection) throws(PostgresFailure) in try runs.all(connection) }
    var gone = replaced.map { (id: $0.id, owner: $0.owner) }
    for row in rows where row.state == RunRecord.State.running.rawValue && row.table == job.table {
      let record = try RunRecord(row)
      if record.livePID == nil && record.progress.ledger.read == 0 { gone.append((row.run, row.owner)) }
    }
    for run in gone {
      try session.asking { (connection) throws(PostgresFailure) in
        _ = try runs.forget(run.id, owner: run.owner, connection)
      }
    }
  }

  /// Runs that stopped while they filled the table under its own name; nobody has seen their rows.
  /// - Throws: `guardRefused` where a process is at it now.
  private func unfinishedRuns() throws(UpsurgeError) -> [RunRecord] {
    let runs = try openRuns(of: job.table).filter { $0.position.madeTable && $0.state == .running }
    for run in runs {
      if let pid = run.livePID { throw RunKeeper.alreadyRunning(run, pid: pid) }
    }
    return runs
  }

  /// Says which rows go with the table of a run that is not resumed.
  private func noteLoss(of run: RunRecord, _ context: StoreContext) {
    let sources = run.job.sources.joined(separator: ", ").escapedForTerminal
    context.note(
      RunNote(
        .warning,
        "run \(run.id) from \(sources) stopped before its new table was complete: this load drops that table, with \(Words.count(run.progress.ledger.inserted, "row")), and forgets the run"
      ))
  }

  /// - Throws: `guardRefused` where somebody else's table has the name that the new one is filled under.
  private func checkOwn(_ making: NewTable) throws(UpsurgeError) {
    let sql =
      "SELECT to_regclass($1) IS NOT NULL AND coalesce(obj_description(to_regclass($1), 'pg_class'), '') NOT LIKE $2 || '%'"
    let isOthers = try session.asking { (connection) throws(PostgresFailure) in
      try connection.run(sql, [.text(making.ownQuotedName), .text(NewTable.mark)]).first?.flag(0) ?? false
    }
    if !isOthers { return }
    throw UpsurgeError(
      .guardRefused,
      "there is a table \(making.ownName.escapedForTerminal), under whose name the new table would be filled",
      hint: "give that table another name")
  }

  /// Makes what must be there before the records, in a transaction of its own.
  private func prepare(_ statements: [String], for table: inout TargetTable) throws(UpsurgeError) {
    do throws(PostgresFailure) {
      let connection = try session.connected()
      do throws(PostgresFailure) {
        try connection.run(settings(for: table).beginSQL)
        for sql in statements { try connection.run(sql) }
        if try !connection.commit() {
          throw PostgresFailure(.other, "the server has rolled the transaction back")
        }
      } catch {
        connection.rollback()
        throw error
      }
    } catch {
      guard error.sqlState == "23505" else { throw session.error(of: error) }
      throw UpsurgeError(
        .usage,
        "\(.createKey) cannot make the key: table \(table.name.shown.escapedForTerminal) has rows that share a value of "
          + "(\(table.key.words.escapedForTerminal))",
        hint: "remove the double rows first, or name columns that tell them apart")
    }
  }
}
