/// Rejected records that are tried again in one transaction: neighbours of one context and one input.
package struct RejectPage {
  /// What became of a record.
  package enum Fate: Sendable {
    /// It has left: its row is stored, or says what it says already, or it waits in the quarantine.
    case gone
    /// The record was tried, and is rejected again.
    case rejected(Reject)
    /// The record could not be tried, and stays as it is.
    case untried(Reject.Code, String)
  }

  /// There is no table, column or key for the record.
  package static let noPlace = Reject.Code(rawValue: "no-place")
  /// The record's end is not there.
  static let cut = Reject.Code(rawValue: "raw-cut")
  /// What a person made of the record cannot be understood.
  static let unreadable = Reject.Code(rawValue: "unreadable")

  /// A run that has not ended will read the record again.
  static let unfinished = Reject.Code(rawValue: "unfinished")

  package let records: [Reject]
  package var fates: [Fate]
  package private(set) var ledger = Ledger()
  /// Records that the filter of their load leaves out; they have left, too.
  package var filteredCount: UInt64 = 0
  /// Of the records that were stored, under the places where they stood.
  package var warnings = WarningLog()
  package var stages: [(name: String, seconds: Double)] = []
  /// The table as it is called now.
  package var table: String
  package let context: RejectContext
  /// The schema that the table is in where its name says none; nil is where the server looks.
  package let schema: String?
  package let options: ReplayOptions

  /// - Parameter fates: what is known of records before they are tried, by index.
  init(
    _ records: [Reject], context: RejectContext, schema: String? = nil, options: ReplayOptions,
    fates known: [Int: Fate] = [:]
  ) {
    self.records = records
    self.schema = schema
    self.context = context
    self.options = options
    table = context.table
    fates = records.indices.map { index in
      if let fate = known[index] { return fate }
      if records[index].isRawCut { return .untried(Self.cut, Self.cutReason) }
      return .gone
    }
  }

  /// A page that is not tried: what is to be said of all its records.
  init(_ records: [Reject], table: String, because fate: Fate) {
    self.records = records
    schema = nil
    self.table = table
    context = RejectContext(
      table: table, rules: "{}", layout: .csv(CSVDialect(), fields: []), contract: .freeze)
    options = ReplayOptions()
    fates = records.map { _ in fate }
    account(nil)
  }

  private static let cutReason =
    "only the first 64 KiB of the record were kept: load it again from its input, or complete raw and remove raw_cut"

  /// Stores what can be stored, in the transaction that is open.
  /// - Parameter keep: is told the fates when nothing but the COMMIT is left; says whether to commit.
  /// - Throws: what writing throws, and `keep`; the transaction is rolled back then.
  mutating func store(
    on connection: Connection, keep: (borrowing RejectPage) throws(UpsurgeError) -> Bool
  ) throws(UpsurgeError) {
    var writer: TableWriter?
    if fates.contains(where: \.isGone) {
      do throws(UpsurgeError) {
        writer = try writeAll(on: connection)
      } catch {
        guard let words = error.noPlaceWords, !connection.isInAutocommit else { throw error }
        // The key is gone, or a column that the rules name: it is so for all of them.
        for index in fates.indices where fates[index].isGone { fates[index] = .untried(Self.noPlace, words) }
      }
    }
    account(writer?.ledger)
    if let writer, writer.ledger.inserted > 0 { try UnacceptedState.noteReplay(into: table, on: connection) }
    guard try keep(self) else {
      if let writer { writer.rollback() } else { try connection.execute("ROLLBACK") }
      return account(nil)
    }
    if let writer { try writer.commit() } else { try connection.execute("COMMIT") }
    account(writer?.committedLedger)
    if let statistics = writer?.statistics {
      stages = [
        ("store", statistics.storeSeconds), ("commit", statistics.commitSeconds),
        ("checkpoint", statistics.checkpointSeconds),
      ]
    }
  }

  /// What became of the records, for the replay that goes on.
  var progress: RunProgress {
    var progress = RunProgress()
    (progress.ledger, progress.warnings) = (ledger, warnings)
    for case .some(let code) in fates.map(\.code) { progress.rejectsByReason[code, default: 0] += 1 }
    return progress
  }

  /// Tries each record that may have a place.
  /// - Throws: `usage` and `guardRefused` where none of them has one.
  private mutating func writeAll(on connection: Connection) throws(UpsurgeError) -> TableWriter {
    guard let found = try TableSchema.read(connection, table: context.table) else {
      throw UpsurgeError(.usage, "there is no table \(context.table.escapedForTerminal)")
    }
    table = found.name
    try OwnTable.refuse(table)
    let rules = try RulesText.decode(context.rules, running: options.returnedSQL)
    try options.returnedSQL.check(context.shaping?.expressions ?? [])
    let schema = found.namingRowid(for: rules.target)
    let file = records.first?.position.file ?? ""
    let place = RawRecordParser.Place(
      tableName: schema.name,
      targets: schema.targets(
        spellingPolicy: context.spellingPolicy, rules: rules, consented: context.consentedColumns),
      primaryKeyColumns: schema.primaryKeyColumns)
    var parser = try RawRecordParser(
      context, file: file, place: place, rules: rules, blobFolder: options.blobFolder,
      byteLimit: options.memory.byteCount / 4)
    let sink = RejectList()
    let writer = try makeWriter(
      schema, rules: rules, columns: parser.columns, file: file, sink: sink, on: connection)
    var indexes: [Position: Int] = [:]
    for index in records.indices where fates[index].isGone {
      switch try parser.parse(records[index]) {
      case .rejected(let reject): fates[index] = .rejected(reject)
      case .refused(let words): fates[index] = .untried(Self.noPlace, words)
      case .filtered: filteredCount += 1
      case .record:
        indexes[parser.batch.position(of: 0, file: file)] = index
        try writer.write(&parser.batch)
        take(sink, indexes)
        guard fates[index].isGone else { continue }
        for entry in parser.batch.warnings.entries {
          warnings.add(entry.code, column: entry.column, count: entry.count, at: records[index].position)
        }
      }
    }
    try writer.settle()
    take(sink, indexes)
    return writer
  }

  private mutating func take(_ sink: RejectList, _ indexes: [Position: Int]) {
    for var reject in sink.rejects {
      guard let index = indexes[reject.position] else { continue }
      reject.position = records[index].position
      reject.raw = records[index].raw
      fates[index] = .rejected(reject)
    }
    sink.rejects.removeAll(keepingCapacity: true)
  }

  private func makeWriter(
    _ schema: TableSchema, rules: UpsertRules, columns: [ColumnTarget], file: String, sink: RejectList,
    on connection: Connection
  ) throws(UpsurgeError) -> TableWriter {
    if schema.kind == .view && schema.triggers.isEmpty {
      throw UpsurgeError(.usage, "\(schema.name.escapedForTerminal) is a view without triggers")
    }
    let plan = try UpsertPlan(
      schema: schema, rules: rules, columns: columns,
      toleratesUnknownColumns: context.contract == .quarantine)
    try PreparedTable.checkTriggers(of: plan, on: connection)
    connection.isSynchronizing = context.triggers == .guarded
    var settings = WriterSettings(memory: options.memory.byteCount, walLimit: options.walLimit.byteCount)
    // The page is one transaction: what is stored, and what leaves the rejects.
    settings.commitsOnce = true
    settings.onError = .reject
    settings.defersForeignKeys = context.foreignKeys == .deferred
    settings.addsColumns = context.contract == .evolve && rules.mode != .delete
    settings.quarantinesUnknown = context.contract == .quarantine
    return try TableWriter(
      connection: connection, plan: plan, sourceNames: [file], settings: settings,
      rejectSink: { reject in sink.rejects.append(reject) })
  }

  /// Counts what the writer has stored, and all others as rejected.
  package mutating func account(_ stored: Ledger?) {
    ledger = stored ?? Ledger()
    if stored != nil { ledger.countFiltered(filteredCount) }
    let others = UInt64(records.count) - ledger.read
    ledger.read += others
    ledger.rejected += others
  }
}

extension RejectPage.Fate {
  package var isGone: Bool {
    if case .gone = self { return true }
    return false
  }

  /// Why the record stays; nil where it has left.
  var code: Reject.Code? {
    switch self {
    case .gone: nil
    case .rejected(let reject): reject.code
    case .untried(let code, _): code
    }
  }
}

extension Position {
  /// The position as a batch holds it, where what is not known is 0.
  var counted: Position { Position(file: file, record: record ?? 0, line: line ?? 0, byte: byte ?? 0) }
}

extension UpsurgeError {
  /// The words for why none of the records has a place; nil when something else is wrong.
  package var noPlaceWords: String? {
    guard code == .usage || code == .guardRefused else { return nil }
    return messageAndHint
  }

  /// Message and hint in one line.
  var messageAndHint: String { message + (hint.map { " (\($0))" } ?? "") }
}

/// Takes what a writer rejects.
private final class RejectList {
  var rejects: [Reject] = []
}
