import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Several connections for one run: whether there may be, and how they begin.
extension PostgresStore {
  /// How many connections store the records of a run. One that resumes keeps its number: the marks of its connections are those of their
  /// keys.
  func laneCount(
    of table: TargetTable, _ beginning: Beginning, _ context: StoreContext
  ) throws(UpsurgeError) -> Int {
    let asked = options.transaction.connections
    if let earlier = beginning.resumption {
      let count = earlier.position.lanes?.count ?? 1
      if count != asked {
        context.note(
          RunNote(
            .info,
            "the run was begun with \(Words.count(UInt64(count), "connection")), and resumes with as many"))
      }
      return count
    }
    if asked == 1 { return 1 }
    if options.output.dryRun != nil { return 1 }
    if table.making != nil {
      context.note(
        RunNote(
          .info,
          "\(.connections, asked) is for a table that is there: a new one is filled over one connection, and gets its key last"
        ))
      return 1
    }
    return asked
  }

  /// - Throws: `usage` for a table in which the records of different keys must stay in their order.
  func checkConnections(_ table: TargetTable, _ beginning: Beginning) throws(UpsurgeError) {
    let asked = beginning.resumption.map { $0.position.lanes?.count ?? 1 } ?? options.transaction.connections
    guard asked > 1 else { return }
    if options.table.contract == .evolve {
      throw UpsurgeError(
        .usage,
        "\(.connections, asked) stores records at the same time, and \(.alter) changes the table between them",
        hint: "add the columns first, or leave out \(.connections)")
    }
    guard let found = table.found else { return }
    guard let reason = objection(to: table, found) else { return }
    throw UpsurgeError(
      .usage,
      "\(.connections, asked) is not for table \(table.name.shown.escapedForTerminal), where records must stay in the order of the "
        + "input: \(reason.escapedForTerminal)",
      hint: "leave out \(.connections)")
  }

  /// Why one connection must store all records; nil where several may.
  private func objection(to table: TargetTable, _ found: PostgresTable) -> String? {
    if ![.table, .partitioned, .distributed].contains(found.kind) {
      return "it is a view, or on another server"
    }
    let plan = RecordPlan(table, found: found)
    guard let key = laneKey(of: table, plan) else { return "its records have no key" }
    let names = found.columns.filter(\.isWritable).map(\.name)
    let shape = RecordShape(found, key: key, columns: names, rules: OrderedRules())
    if !shape.hasComparableKey {
      return
        "equal values of the key (\(table.key.words)) may be spelled in several ways, or it is an expression"
    }
    if let trigger = found.triggers.first(where: \.isEnabled) {
      return "the trigger \(trigger.name) may look at other rows"
    }
    if found.isUnlogged { return "it is UNLOGGED, and a crash takes its rows" }
    return PathChoice.objection(toReordering: shape)
  }

  private func laneKey(of table: TargetTable, _ plan: RecordPlan) -> PostgresIndex? {
    if case .future(let names) = table.key {
      return plan.key ?? PostgresIndex(named: "", on: names, of: plan.found)
    }
    return plan.key
  }

  /// Makes the connections of a run.
  /// - Throws: `database` where the server has no room for so many.
  func lanes(
    of table: TargetTable, _ transactions: RunTransactions, _ beginning: Beginning, _ count: Int
  ) throws(UpsurgeError) -> RunLanes? {
    guard count > 1, let transactions = transactions as? PartTransactions, let found = table.found,
      let key = laneKey(of: table, RecordPlan(table, found: found)), var names = key.columns
    else { return nil }
    // What goes to one shard goes over one connection. Each key of a distributed table has that column.
    if let column = try distributionColumn(of: found), names.contains(column) { names = [column] }
    var settings = settings(for: table)
    // Somebody may wait for a lock of one connection and hold one that another connection wants, which the server does not notice. So
    // locks are given up several times, and by all connections.
    settings.lockTimeout = max(1, settings.lockTimeout / 4)
    let place = RunLane.Place(
      store: self, table: table, lanes: PostgresLanes(transactions.runs), begun: transactions.begun,
      earlierOwner: beginning.resumption?.owner, settings: settings)
    return try RunLanes(place, by: names, found: found)
  }

  /// Opens as many transactions as there will be at the same time, and ends them: a server or its pooler may have no room, and
  /// connections that wait for one another would wait for ever then.
  /// - Throws: `database` where they cannot be open at the same time.
  func checkRoom(for count: Int) throws(UpsurgeError) {
    let target = session.target
    // One more writes down where the run stands.
    let room = try session.asking {
      [session] (_) throws(PostgresFailure) -> (count: Int, failure: PostgresFailure)? in
      var open: [PostgresConnection] = []
      defer { for connection in open { connection.rollback() } }
      do throws(PostgresFailure) {
        while open.count <= count {
          let connection = try PostgresConnection(to: target, cancellation: session.cancellation)
          try connection.run("BEGIN; SELECT 1")
          open.append(connection)
        }
        return nil
      } catch {
        // PgBouncer's words for a pool that stays full.
        guard error.sqlState == "53300" || error.message.contains("query_wait_timeout"), !open.isEmpty else {
          throw error
        }
        return (open.count, error)
      }
    }
    guard let room else { return }
    throw UpsurgeError(
      .database,
      "\(place) has room for \(Words.count(UInt64(room.count), "transaction")) at the same time, and \(.connections, count) needs "
        + "\(count + 1): \(target.masked(room.failure.message).escapedForTerminal)",
      hint:
        "give \(.connections) one less than there is room for; or raise max_connections, or the size of the pool"
    )
  }

  /// Makes the run and the rows of its connections.
  func begin(
    _ run: PostgresRuns.NewRun, laneCount: Int, _ runs: PostgresRuns, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> PartTransactions.Begun {
    let server = try server(connection)
    let lanes = PostgresLanes(runs)
    do throws(PostgresFailure) {
      try connection.run("BEGIN")
      let number = try runs.begin(run, connection)
      try lanes.begin(number, count: laneCount, owner: run.owner, connection)
      let rows = try lanes.all(of: number, connection)
      if try !connection.commit() {
        throw PostgresFailure(.other, "the server has rolled the transaction back")
      }
      return PartTransactions.Begun(
        run: number, owner: run.owner, position: run.position, server: server, progress: run.progress,
        lanes: rows)
    } catch {
      connection.rollback()
      throw error
    }
  }

  /// Makes the rows of an earlier part's connections this process's, and waits for what is being stored over them.
  /// - Returns: nil where another process was faster.
  func takeOver(
    _ earlier: RunRecord, _ newRun: PostgresRuns.NewRun, _ runs: PostgresRuns,
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> PartTransactions.Begun? {
    let server = try server(connection)
    let lanes = PostgresLanes(runs)
    do throws(PostgresFailure) {
      try connection.run(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = \(max(1, lockTimeout))")
      // A call whose answer was lost may have done it, so the row says whose the run is.
      _ = try runs.takeOver(earlier.id, from: earlier.owner, to: newRun.owner, connection)
      guard let standing = try runs.lock(earlier.id, connection), standing.owner == newRun.owner else {
        connection.rollback()
        return nil
      }
      let rows = try lanes.takeOver(earlier.id, to: newRun.owner, connection)
      if try !connection.commit() {
        throw PostgresFailure(.other, "the server has rolled the transaction back")
      }
      return PartTransactions.Begun(
        run: earlier.id, owner: newRun.owner, position: standing.position, server: server,
        progress: standing.progress, lanes: rows)
    } catch {
      connection.rollback()
      throw error
    }
  }

  /// Makes the table of connections where it is missing.
  /// - Throws: `guardRefused` where somebody else has one of its name.
  func makeLanes(_ runs: PostgresRuns) throws(UpsurgeError) {
    let isOurs = try session.asking { (connection) throws(PostgresFailure) in
      try PostgresLanes(runs).make(connection)
    }
    if isOurs { return }
    throw UpsurgeError(
      .guardRefused,
      "the schema \(runs.schema.escapedForTerminal) has a table \(PostgresLanes.name) that upsurge did not make",
      hint: "give that table another name: connections of runs are kept in one of this name")
  }
}

extension PostgresTransfer {
  /// Goes on from where the connections of an earlier part stand: they may have stored more since the run's record was read.
  func goOn(_ lanes: RunLanes) throws(UpsurgeError) {
    guard let begun = (transactions as? PartTransactions)?.begun else { return }
    var progress = try RunText.progress(begun.progress)
    for lane in lanes.progress { progress.add(lane) }
    (ledger, committedLedger) = (progress.ledger, progress.ledger)
    (rejectsByReason, committedRejects) = (progress.rejectsByReason, progress.rejectsByReason)
    hasMetTombstone = progress.hasMetTombstone
  }
}
