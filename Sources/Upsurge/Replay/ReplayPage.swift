/// Neighbours in the quarantine that share table and rules, and what becomes of them.
struct ReplayPage {
  let table: String
  private(set) var ledger = Ledger()
  /// Why records still wait, and for which columns.
  private(set) var waiting: [(reason: String, columns: [String])] = []
  private(set) var rejects: [Reject] = []
  private(set) var stages: [(name: String, seconds: Double)] = []
  private(set) var byteCount: UInt64 = 0

  private let records: [QuarantinedRecord]
  private let schema: TableSchema?
  private let options: ReplayOptions

  /// What a person wrote into the quarantine, and nobody can read.
  private static let unreadable = Reject.Code(rawValue: "unreadable")

  init(
    _ records: [QuarantinedRecord], on connection: Connection, options: ReplayOptions
  ) throws(UpsurgeError) {
    self.records = records
    self.options = options
    schema = try TableSchema.read(connection, table: records[0].table)
    table = schema?.name ?? records[0].table
    byteCount = records.reduce(0) { $0 + UInt64($1.text.utf8.count) }
  }

  /// The page of one record that was not stored: its transaction could not be committed, or it is too large.
  init(_ record: QuarantinedRecord, because code: Reject.Code, _ reason: String) {
    records = [record]
    options = ReplayOptions()
    schema = nil
    table = record.table
    reject(record, code, reason)
  }

  /// Stores what has a place; the transaction that is open is committed, or rolled back where nothing came of it.
  /// - Throws: what writing throws; the transaction is rolled back then.
  mutating func store(on connection: Connection, keeper: ReplayKeeper) throws(UpsurgeError) {
    guard let found = schema else {
      for _ in records { wait("there is no table \(table.escapedForTerminal)", []) }
      return try connection.execute("ROLLBACK")
    }
    guard let (rules, quarantined) = readAll(found), !quarantined.isEmpty else {
      return try connection.execute("ROLLBACK")
    }
    let schema = found.namingRowid(for: rules.target)
    let names = QuarantinedRecord.columnNames(quarantined, rules: rules, schema: schema)
    let sink = RejectList()
    let writer: TableWriter
    do throws(UpsurgeError) {
      writer = try makeWriter(schema, rules: rules, names: names, sink: sink, on: connection)
    } catch {
      // The table has another key than the rules ask for, or lacks a column that they name.
      guard error.code == .usage else { throw error }
      for _ in quarantined { wait(error.message, []) }
      return try connection.execute("ROLLBACK")
    }
    var batch = Batch(quarantined: quarantined, columns: names, schema: schema)
    try writer.write(&batch)
    try writer.settle()
    if writer.ledger.inserted > 0 { try UnacceptedState.noteReplay(into: table, on: connection) }
    try keeper.willCommit(writer.ledger, WarningLog(), to: table, in: SQLiteReplay(connection))
    try writer.commit()
    keeper.didCommit(writer.committedLedger, WarningLog(), to: table)
    ledger += writer.committedLedger
    note(writer.statistics)
    // Those that came for want of their parents still wait for them.
    let refused = sink.rejects.filter { $0.code == .foreignKey }.compactMap(\.position.record)
    let orphans = try QuarantinedRecord.orphans(among: refused.map { Int64(clamping: $0) }, connection)
    settle(quarantined, rejected: sink.rejects, orphans: orphans, stillQuarantined: writer.stillQuarantined, schema: schema)
  }

  private typealias Quarantined = [(record: QuarantinedRecord, fields: [QuarantinedRecord.Field])]

  /// The records that may have a place now, with their rules.
  /// - Returns: nil when the rules cannot be understood.
  private mutating func readAll(_ schema: TableSchema) -> (UpsertRules, Quarantined)? {
    let rules: UpsertRules
    do throws(UpsurgeError) {
      try OwnTable.refuse(schema.name)
      rules = try RulesText.decode(records[0].rules, running: options.returnedSQL)
    } catch {
      // What is understood and not done waits for a caller who wants it.
      let isUnderstood = error.code == .usage
      for record in records {
        if isUnderstood {
          wait(error.messageAndHint, [])
        } else {
          reject(record, Self.unreadable, error.message)
        }
      }
      return nil
    }
    var quarantined: Quarantined = []
    for record in records {
      let missing = record.columns.filter { schema.columnIndex($0) == nil }
      if !missing.isEmpty && rules.tombstone == nil {
        wait(Self.lacking(missing, in: table), missing)
        continue
      }
      do throws(UpsurgeError) {
        let fields = try record.fields()
        if let column = Self.respelledKey(fields, rules, schema) {
          reject(
            record, .wouldChange,
            "the key column \(column.escapedForTerminal) holds numbers, and this key is not written as its number is"
          )
          continue
        }
        quarantined.append((record, fields))
      } catch {
        reject(record, Self.unreadable, error.message)
      }
    }
    return (rules, quarantined)
  }

  /// The column of the key whose number would not be what the record says: the table may have got it after the record
  /// was kept.
  private static func respelledKey(
    _ fields: [QuarantinedRecord.Field], _ rules: UpsertRules, _ schema: TableSchema
  ) -> String? {
    let key = schema.namingRowid(for: rules.target).keyColumns(of: rules)
    return fields.first { field in
      guard case .text(let text) = field.value, key.contains(where: { SQLName.isSame($0, field.name) }),
        let target = schema.columnTarget(field.name, spellingPolicy: .key)
      else { return false }
      return changesKey(text, affinity: target.affinity)
    }?.name
  }

  private func makeWriter(
    _ schema: TableSchema, rules: UpsertRules, names: [String], sink: RejectList, on connection: Connection
  ) throws(UpsurgeError) -> TableWriter {
    let plan = try UpsertPlan(
      schema: schema, rules: rules,
      columns: names.map { ColumnTarget(name: $0, affinity: .none, spellingPolicy: .warn) },
      toleratesUnknownColumns: true)
    var settings = WriterSettings(memory: options.memory.byteCount, walLimit: options.walLimit.byteCount)
    // The page is one transaction: what is stored and what leaves the quarantine.
    settings.commitsOnce = true
    settings.onError = .reject
    settings.quarantinesUnknown = true
    settings.replaysQuarantine = true
    return try TableWriter(
      connection: connection, plan: plan, sourceNames: [], settings: settings,
      rejectSink: { reject in sink.rejects.append(reject) })
  }

  /// Says of each record that was not stored why: the rejected ones under their places in the input.
  private mutating func settle(
    _ quarantined: Quarantined, rejected: [Reject], orphans: Set<Int64>, stillQuarantined: [Int64], schema: TableSchema
  ) {
    var positions: [UInt64: Position] = [:]
    for (record, _) in quarantined { positions[UInt64(clamping: record.id)] = record.position }
    for var reject in rejected {
      let id = reject.position.record ?? 0
      if orphans.contains(Int64(clamping: id)) {
        ledger.rejected -= 1
        ledger.quarantined += 1
        waiting.append(("rows to which records of table \(table.escapedForTerminal) refer are not there", []))
        continue
      }
      if let position = positions[id] { reject.position = position }
      rejects.append(reject)
    }
    let stillQuarantined = Set(stillQuarantined)
    for (record, fields) in quarantined where stillQuarantined.contains(record.id) {
      let missing = fields.filter { $0.value != .null && schema.columnIndex($0.name) == nil }.map(\.name)
      waiting.append((Self.lacking(missing, in: table), missing))
    }
  }

  private mutating func note(_ statistics: WriterStatistics) {
    stages = [
      ("store", statistics.storeSeconds), ("commit", statistics.commitSeconds),
      ("checkpoint", statistics.checkpointSeconds),
    ]
  }

  private mutating func wait(_ reason: String, _ columns: [String]) {
    ledger.read += 1
    ledger.quarantined += 1
    waiting.append((reason, columns))
  }

  private mutating func reject(_ record: QuarantinedRecord, _ code: Reject.Code, _ reason: String) {
    ledger.read += 1
    ledger.rejected += 1
    rejects.append(
      Array(record.text.utf8).withUnsafeBufferPointer {
        Reject(code, at: record.position, reason: reason, raw: $0)
      })
  }

  private static func lacking(_ columns: [String], in table: String) -> String {
    let names = columns.joined(separator: ", ").escapedForTerminal
    return "table \(table.escapedForTerminal) lacks column\(columns.count == 1 ? "" : "s") \(names)"
  }
}

/// Takes what a writer rejects.
private final class RejectList {
  var rejects: [Reject] = []
}
