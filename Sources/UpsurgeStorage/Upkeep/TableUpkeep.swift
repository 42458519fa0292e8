import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Sets indexes and FTS5 tables aside during a run, and builds them after it; lives on the writer's thread.
///
///     prepare      before the table is found or made: where SQLite may sort
///     begin        before the first record: drops what is set aside, records what is to be made
///     reconsider   after each batch: does so now, when most of the first records have changed rows
///     finish       after the last record: builds
///
/// What existed before the run is dropped and built again inside one transaction, with all rows, so that a crash
/// leaves it as it was. What did not exist is recorded as pending in the first commit, and built after the last.
package final class TableUpkeep {
  private let connection: Connection
  private let request: UpkeepRequest
  /// What was decided for each index and FTS5 table.
  package private(set) var decisions: [UpkeepDecision] = []
  /// Whether all rows must be in one transaction with what is set aside.
  package private(set) var hasSetAside = false
  /// The statements that make the indexes which the table lacks.
  package private(set) var statements: [String] = []
  /// Bytes that this transaction may write to the log, where that can be told.
  package private(set) var expectedLogByteCount = 0
  /// Seconds spent in building.
  package private(set) var indexSeconds = 0.0
  package private(set) var fullTextSeconds = 0.0

  private var plan: UpkeepPlan?
  /// What is coming, while it is undecided whether enough of it changes rows.
  private var undecidedLoad: LoadEstimate?
  private var tableName = ""
  /// Indexes to make after the rows.
  private var additions: [IndexDefinition] = []
  /// Records of indexes that cannot or need not be made any more.
  private var obsolete: [IndexDefinition] = []
  /// Statements that bring back what `ANALYZE` had found about dropped indexes.
  private var statistics: [String] = []
  /// Rows changed, and the schema's version, when all was set aside. nil where the transaction holds more than that
  /// and the rows, so that it is to be committed in any case.
  private var stateBefore: (changes: Int64, version: Int64?)?

  package init(_ connection: Connection, request: UpkeepRequest) {
    self.connection = connection
    self.request = request
  }

  /// To be called outside of any transaction, before the table is found or made.
  package func prepare(table: String) throws(UpsurgeError) {
    if request.isTrial { return }
    let pending = try PendingWork.read(connection, table: table)
    if request.indexes.createsKey || !request.indexes.wanted.isEmpty || !pending.isEmpty {
      try connection.sortInFiles()
    }
  }

  /// Decides and sets aside. A transaction that this opens is the one of the first records.
  /// - Parameters:
  ///   - isNew: whether the run has made the table, in a transaction that is open.
  ///   - estimate: asked only where something hangs on it.
  /// - Throws: `usage` for an index on columns that are not there.
  package func begin(
    _ schema: TableSchema, isNew: Bool, mode: WriteMode, estimate: () -> LoadEstimate?
  ) throws(UpsurgeError) {
    tableName = schema.name
    try checkAdditions(schema, isNew: isNew)
    for definition in additions { statements.append(try definition.sql()) }
    if !isNew { try decide(schema, mode: mode, estimate: estimate) }
    if request.isTrial || (additions.isEmpty && obsolete.isEmpty) { return }
    if connection.isInAutocommit { try connection.beginWriting() }
    for definition in obsolete { try PendingWork.remove(definition, on: connection) }
    if request.indexes.upkeep == .keep {
      try connection.interruptible { () throws(UpsurgeError) in
        for definition in additions { try make(definition) }
      }
      additions = []
    } else if !isOneTransaction {
      try PendingWork.record(additions, on: connection)
    }
  }

  /// Builds what was set aside inside the transaction of the rows, and what is to be made in later, separate transactions.
  /// The caller commits.
  /// - Parameters:
  ///   - isInterrupted: leaves what is pending to the next run.
  ///   - say: is told before each piece of work.
  package func finish(
    _ writer: TableWriter, isInterrupted: Bool, say: (String) -> Void
  ) throws(UpsurgeError) {
    // What is built is not to be rolled back with records that are taken back.
    try writer.settle()
    if hasSetAside, additions.isEmpty, try isUnchanged() {
      // Nothing was written, so nothing is to be built: the indexes stay untouched.
      return try connection.execute("ROLLBACK; BEGIN IMMEDIATE")
    }
    if hasSetAside { try connection.interruptibleInTime { () throws(UpsurgeError) in try restore(say) } }
    if isOneTransaction && !request.isTrial {
      try connection.interruptibleInTime { () throws(UpsurgeError) in
        for definition in additions { try build(definition, say) }
      }
      return
    }
    if additions.isEmpty || isInterrupted || request.isTrial { return }
    try writer.commit()
    do throws(UpsurgeError) {
      for definition in additions {
        // What is not built stays pending, so a cancellation need not wait for it.
        try writer.transact { () throws(UpsurgeError) in
          try connection.interruptible { () throws(UpsurgeError) in try build(definition, say) }
        }
      }
    } catch {
      var error = error
      error.said += " (all rows are committed; the next load of the table makes the index)"
      throw error
    }
  }

  /// Sets aside on the way, when enough of the first records have changed rows; looks once.
  ///
  /// What was stored so far is committed then, and the rest is one transaction.
  /// - Returns: the decisions that were changed.
  package func reconsider(_ writer: TableWriter) throws(UpsurgeError) -> [UpkeepDecision] {
    let ledger = writer.ledger
    guard let load = undecidedLoad, ledger.read >= Self.trialRecordCount else { return [] }
    undecidedLoad = nil
    let changed = ledger.inserted + ledger.updated + ledger.deleted
    let rest = LoadEstimate(
      recordCount: max(0, load.recordCount - Int(ledger.read)), byteCount: load.byteCount)
    let schema = writer.plan.schema
    let share = Double(changed) / Double(ledger.read)
    let plan = try UpkeepPlan(
      connection, schema: schema, request: request, mode: writer.plan.mode, load: rest, changedShare: share)
    guard plan.setsAside else { return [] }
    try writer.commit()
    try setAside(plan, version: schemaVersion())
    try writer.goOnInOneTransaction()
    for decision in plan.decisions {
      decisions.removeAll { $0.kind == decision.kind && $0.name == decision.name }
    }
    decisions += plan.decisions
    return plan.decisions
  }

  /// Whether the first records are still to show whether indexes and FTS5 tables are set aside.
  package var isUndecided: Bool { undecidedLoad != nil }

  /// So many records show how many of them change rows.
  private static let trialRecordCount: UInt64 = 20_000

  // MARK: - Before the rows

  private var isOneTransaction: Bool {
    hasSetAside || request.isAtomic || connection.durability == .off
  }

  /// Finds the indexes to make: those asked for, and those an earlier run has left.
  private func checkAdditions(_ schema: TableSchema, isNew: Bool) throws(UpsurgeError) {
    let pending = try PendingWork.read(connection, table: schema.name)
    let indexes = try SecondaryIndex.read(connection, table: schema.name)
    for definition in pending {
      let isPossible =
        !isNew && definition.columns.allSatisfy { schema.columnIndex($0) != nil }
        && !indexes.contains { SQLName.isSame($0.name, definition.name) }
      if isPossible {
        additions.append(definition)
        note(definition, "an earlier run ended before it was built")
      } else {
        // The table was dropped since, or somebody else has made the index.
        obsolete.append(definition)
      }
    }
    let missing = try IndexDefinition.missing(
      request.indexes.wanted, schema: schema, indexes: indexes, on: connection)
    for definition in missing where !additions.contains(where: { $0.columns == definition.columns }) {
      additions.append(definition)
      note(definition, isNew ? "the table is new" : "the table lacks it")
    }
  }

  private func note(_ definition: IndexDefinition, _ reason: String) {
    decisions.append(
      UpkeepDecision(
        kind: .index, name: definition.name, upkeep: request.indexes.upkeep == .keep ? .keep : .defer,
        reason: request.indexes.upkeep == .keep ? "as asked for" : reason))
  }

  private func decide(
    _ schema: TableSchema, mode: WriteMode, estimate: () -> LoadEstimate?
  ) throws(UpsurgeError) {
    let hasIndexes = try !SecondaryIndex.read(connection, table: schema.name).isEmpty
    guard hasIndexes || !schema.triggers.isEmpty else { return }
    let load = estimate()
    let version = try schemaVersion()
    let plan = try UpkeepPlan(connection, schema: schema, request: request, mode: mode, load: load)
    decisions += plan.decisions
    if request.isTrial { return }
    if plan.setsAside {
      try setAside(plan, version: version)
    } else if plan.isUndecided && !request.isAtomic {
      // What is set aside on the way begins with a commit.
      undecidedLoad = load
    }
  }

  /// Drops, in the transaction that is open (`prepare` has seen to where it sorts) or else in one that it opens; what
  /// another program has changed since `version` must not be built on.
  private func setAside(_ plan: UpkeepPlan, version: Int64?) throws(UpsurgeError) {
    let opens = connection.isInAutocommit
    if opens {
      try connection.sortInFiles()
      try connection.beginWriting()
    }
    guard try schemaVersion() == version else {
      throw UpsurgeError(
        .databaseBusy,
        "another program has changed the schema of \(connection.path.escapedForTerminal) just now",
        hint: "run again")
    }
    for index in plan.indexes { statistics += try savedStatistics(index.name) }
    for index in plan.indexes { try connection.execute("DROP INDEX main.\(try SQLName.quote(index.name))") }
    for table in plan.fullText {
      for trigger in table.triggers {
        try connection.execute("DROP TRIGGER main.\(try SQLName.quote(trigger.name))")
      }
    }
    self.plan = plan
    hasSetAside = true
    expectedLogByteCount = plan.expectedLogByteCount
    stateBefore = opens ? (connection.totalChanges, try schemaVersion()) : nil
  }

  /// Whether nothing but the setting aside was done in its transaction; a column that was added counts as no change
  /// of a row, but changes the schema.
  private func isUnchanged() throws(UpsurgeError) -> Bool {
    guard let stateBefore, connection.totalChanges == stateBefore.changes else { return false }
    return try schemaVersion() == stateBefore.version
  }

  private func schemaVersion() throws(UpsurgeError) -> Int64? {
    try connection.integer("PRAGMA main.schema_version")
  }

  /// What `ANALYZE` knows of an index goes with it, so it is kept as statements.
  private func savedStatistics(_ index: String) throws(UpsurgeError) -> [String] {
    guard try connection.integer("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_stat1'") != nil else {
      return []
    }
    let statement = try connection.prepare(
      """
      SELECT 'INSERT INTO main.sqlite_stat1(tbl, idx, stat) VALUES(' || quote(tbl) || ', ' || quote(idx) || ', '
        || quote(stat) || ')' FROM main.sqlite_stat1 WHERE idx = ?1
      """)
    try statement.bind(index, at: 1)
    var statements: [String] = []
    while try statement.step() { if let sql = statement.text(at: 0) { statements.append(sql) } }
    return statements
  }

  // MARK: - After the rows

  private func restore(_ say: (String) -> Void) throws(UpsurgeError) {
    guard let plan else { return }
    for index in plan.indexes {
      say("building the index \(index.name)".escapedForTerminal)
      let start = MonotonicClock.seconds
      try connection.withBuildingCache { () throws(UpsurgeError) in try connection.executeFirst(index.sql) }
      indexSeconds += MonotonicClock.seconds - start
    }
    for sql in statistics { try connection.execute(sql) }
    for table in plan.fullText {
      say("rebuilding the FTS5 table \(table.name)".escapedForTerminal)
      let start = MonotonicClock.seconds
      for trigger in table.triggers { try connection.executeFirst(trigger.sql) }
      try connection.execute(try table.rebuildSQL())
      fullTextSeconds += MonotonicClock.seconds - start
    }
  }

  private func build(_ definition: IndexDefinition, _ say: (String) -> Void) throws(UpsurgeError) {
    say("building the index \(definition.name)".escapedForTerminal)
    try make(definition)
  }

  private func make(_ definition: IndexDefinition) throws(UpsurgeError) {
    let start = MonotonicClock.seconds
    let sql = try definition.sql()
    try connection.withBuildingCache { () throws(UpsurgeError) in try connection.execute(sql) }
    try PendingWork.remove(definition, on: connection)
    indexSeconds += MonotonicClock.seconds - start
  }
}
