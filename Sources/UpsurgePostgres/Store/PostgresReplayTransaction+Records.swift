import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Records of a page become rows, as those of a load do. Of what is kept with them, nothing opens a file and no SQL is run,
/// unless the caller says so.
extension PostgresReplayTransaction {
  /// Tries each record that may have a place.
  /// - Returns: what became of those that were stored.
  /// - Throws: `usage` and `guardRefused` where none of them has one.
  func storeRecords(of page: inout RejectPage) throws(UpsurgeError) -> Ledger {
    let table = try table(of: page)
    let rules = try rules(of: page)
    let targets = Self.targets(of: table, rules, page.context)
    let file = page.records.first?.position.file ?? ""
    var parser = try RawRecordParser(
      page.context, file: file,
      place: RawRecordParser.Place(
        tableName: table.name, targets: targets, primaryKeyColumns: table.primaryKey?.columns ?? []),
      rules: rules, blobFolder: page.options.blobFolder, byteLimit: page.options.memory.byteCount / 4)
    let target = try target(table, rules, parser.columns, targets, page.context)
    replay.session.rights.add(table.schema, table.name, target.neededRights(for: nil), isMade: false)
    try check(rules, of: target, table)
    page.table = page.context.table
    let began = MonotonicClock.seconds
    let room = ReplayRoom(target, replay.capabilities, byteLimit: page.options.memory.byteCount / 4)
    var warnings: [(index: Int, log: WarningLog)] = []
    for index in page.records.indices where page.fates[index].isGone {
      switch try parser.parse(page.records[index]) {
      case .rejected(let reject): page.fates[index] = .rejected(reject)
      case .refused(let words): page.fates[index] = .untried(RejectPage.noPlace, words)
      case .filtered: page.filteredCount += 1
      case .record:
        warnings.append((index, parser.batch.warnings))
        let added = parser.batch.newColumns
        try asking { () throws(PostgresFailure) in
          if !added.isEmpty { try room.add(added, &page, connection) }
          try room.take(&parser.batch, of: index, &page, connection)
        }
      }
    }
    try asking { () throws(PostgresFailure) in try room.store(&page, connection) }
    for (index, log) in warnings where page.fates[index].isGone {
      for entry in log.entries {
        page.warnings.add(
          entry.code, column: entry.column, count: entry.count, at: page.records[index].position)
      }
    }
    page.stages = [("store", MonotonicClock.seconds - began)]
    if room.ledger.inserted > 0 { try noteReplay(into: table) }
    return room.ledger
  }

  /// Rows that a refused delivery of a mirror has brought are no longer known.
  private func noteReplay(into table: PostgresTable) throws(UpsurgeError) {
    try asking { () throws(PostgresFailure) in
      let schema = try connection.run("SELECT current_schema()", []).first?.text(0) ?? "public"
      let name = TableName(schema: table.schema, name: table.name).noteName(beside: schema)
      try AcceptanceNotes.noteReplay(into: name, connection)
    }
  }

  // MARK: - The table

  private func table(of page: RejectPage) throws(UpsurgeError) -> PostgresTable {
    let name = TableName(page.context.table)
    try OwnTable.refuse(name.name)
    // Who may write into the table of rejects of one schema need not have rights in another.
    if let own = page.schema, let schema = name.schema, schema != own {
      throw UpsurgeError(
        .usage,
        "table \(name.shown.escapedForTerminal) is in another schema than the record, which is kept in "
          + TableName(schema: own, name: RejectTable.name).shown.escapedForTerminal)
    }
    let found = try asking { () throws(PostgresFailure) in
      try PostgresTable.read(schema: name.schema ?? page.schema, name: name.name, connection)
    }
    guard let found else {
      throw UpsurgeError(.usage, "there is no table \(page.context.table.escapedForTerminal)")
    }
    if found.schema.hasPrefix("pg_") || found.schema == "information_schema" {
      throw UpsurgeError(.usage, "table \(page.context.table.escapedForTerminal) is one of the server itself")
    }
    return found
  }

  private func rules(of page: RejectPage) throws(UpsurgeError) -> UpsertRules {
    let rules = try RulesText.decode(page.context.rules)
    if !page.options.trustsRules, let sql = rules.expressions.first { throw ReturnedSQL.refusal(of: sql) }
    if page.context.shaping != nil {
      throw UpsurgeError(
        .usage, "\(.let) and \(.where) do not apply to PostgreSQL: the SQL of fields is SQLite's",
        hint: "replay the records into a file of SQLite")
    }
    if page.context.contract == .quarantine {
      throw UpsurgeError(
        .usage, "\(.contract, "quarantine") does not apply to PostgreSQL: no record is kept there yet")
    }
    return rules
  }

  /// The columns of the table, as the load has read records for them.
  private static func targets(
    of table: PostgresTable, _ rules: UpsertRules, _ context: RejectContext
  ) -> [ColumnTarget] {
    let keys = rules.key.isEmpty ? table.primaryKey?.columns ?? [] : rules.key
    return table.columns.map { column in
      let isKey = keys.contains { SQLName.isSame($0, column.name) }
      var target = column.target(isKey: isKey)
      let isConsented = context.consentedColumns.contains { SQLName.isSame($0, column.name) }
      if context.keepsSpelling { target.spellingPolicy = isKey ? .newKey : isConsented ? .warn : .reject }
      return target
    }
  }

  /// - Parameter columns: those of the first record.
  private func target(
    _ table: PostgresTable, _ rules: UpsertRules, _ columns: [ColumnTarget], _ targets: [ColumnTarget],
    _ context: RejectContext
  ) throws(UpsurgeError) -> TargetTable {
    try table.checkTakesRecords(by: rules)
    var options = LoadOptions()
    options.rules = rules
    let (key, _) = try KeySearch(table: table, options: options).key { name in
      columns.contains { SQLName.isSame($0.name, name) }
    }
    let control = rules.tombstone?.column ?? ""
    let known = columns.filter { table.columnLike($0.name) != nil || SQLName.isSame($0.name, control) }
    let facts = TableFacts(
      name: table.name, isNew: false, columns: targets,
      addsColumns: context.contract == .evolve && rules.mode != .delete)
    return TargetTable(
      facts: facts, columns: ColumnRegistry(columns), knownColumns: known,
      name: TableName(schema: table.schema, name: table.name), found: table, making: nil, key: key,
      given: rules)
  }

  /// - Throws: `usage` for SQL of the rules that is not one expression over the table.
  private func check(
    _ rules: UpsertRules, of target: TargetTable, _ table: PostgresTable
  ) throws(UpsurgeError) {
    if rules.expressions.isEmpty { return }
    let plan = RecordPlan(target, found: table)
    let shape = plan.shapeOfGivenSQL(for: target.columns.targets.compactMap { plan.column(of: $0)?.name })
    // A check that fails would end the transaction.
    let objection = try asking { () throws(PostgresFailure) in
      try connection.run("SAVEPOINT upsurge_rules")
      let objection = try ExpressionCheck(shape).objection(connection)
      try connection.run(Savepoints.takingBack("upsurge_rules"))
      return objection
    }
    if let objection { throw objection }
  }
}

/// Records of a page, put together until they are stored. What becomes of each is found by its place in the page.
private final class ReplayRoom {
  private let batches: BatchStore
  private let target: TargetTable
  /// A page is stored as a whole, however many savepoints that takes. Without any, one that fails comes again, record by record.
  private let savepoints: Savepoints
  private let gathered: GatheredBatch
  /// The places in the page of the records that wait.
  private var places: [Int] = []
  private var byteCount: UInt64 = 0
  private(set) var ledger = Ledger()

  init(_ target: TargetTable, _ capabilities: Capabilities, byteLimit: Int) {
    (batches, self.target) = (BatchStore(target, capabilities, walks: true), target)
    savepoints = capabilities.findsBadRecords ? .unbounded : .none
    gathered = GatheredBatch(byteLimit: byteLimit)
  }

  /// Stores what waits, and takes records with more columns from then on.
  func add(
    _ columns: [ColumnTarget], _ page: inout RejectPage, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    try store(&page, connection)
    batches.add(columns)
  }

  /// Takes a batch of one record.
  func take(
    _ batch: inout Batch, of place: Int, _ page: inout RejectPage, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    if join(&batch, place) { return }
    try store(&page, connection)
    if join(&batch, place) { return }
    try store(batch, [place], &page, connection)
  }

  private func join(_ batch: inout Batch, _ place: Int) -> Bool {
    // Each goes on where the one before ends, as in an input.
    batch.records[0].number = UInt64(places.count + 1)
    batch.origin.sourceOffset = byteCount
    guard gathered.take(batch) else { return false }
    places.append(place)
    byteCount += UInt64(batch.parsedByteCount)
    return true
  }

  /// Stores what waits.
  func store(_ page: inout RejectPage, _ connection: PostgresConnection) throws(PostgresFailure) {
    if places.isEmpty { return }
    let own = places
    (places, byteCount) = ([], 0)
    try gathered.empty { (batch, _) throws(PostgresFailure) in try store(batch, own, &page, connection) }
  }

  private func store(
    _ batch: borrowing Batch, _ places: [Int], _ page: inout RejectPage, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    let part = BatchPart(records: 0..<batch.recordCount, savepoints: savepoints)
    let outcome = try batches.store(part, of: batch, on: connection)
    ledger += outcome.ledger
    for rejected in outcome.rejected {
      let record = page.records[places[rejected.record]]
      var reject = rejected.reject(
        in: batch, file: record.position.file, table: target, server: connection.target)
      (reject.position, reject.raw) = (record.position, record.raw)
      page.fates[places[rejected.record]] = .rejected(reject)
    }
  }
}
