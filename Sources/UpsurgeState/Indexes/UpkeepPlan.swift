import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// What is set aside during a load and built anew after it, and why; found by reading only.
///
/// Keeping an index up costs a random page for each row and index; building it costs a sort of all rows. So an
/// index of a table with n rows is set aside when the load is at least n / 2 rows. (Measured: at 10 % of the rows
/// building anew takes 3.4 times as long, at 50 % it is 1.2 times as fast, at 100 % 1.6 times.) An FTS5 row costs
/// many times as much when a trigger stores it alone as within a rebuild: FTS5 writes what it has gathered at the
/// end of each statement.
///
/// Where rows may exist already, they may also say already what the records say; then nothing must be written.
/// How many really change is seen on the way: `isUndecided`, until a plan is made that knows it.
package struct UpkeepPlan {
  package private(set) var decisions: [UpkeepDecision] = []
  /// Indexes to drop before and make after the load.
  package private(set) var indexes: [SecondaryIndex] = []
  /// FTS5 tables whose triggers are dropped before the load, and which are rebuilt after it.
  package private(set) var fullText: [FullTextTable] = []
  /// Bytes that the one transaction may write to the log.
  package private(set) var expectedLogByteCount = 0

  /// Whether it depends on how many rows change, which is not known yet.
  package private(set) var isUndecided = false

  package var setsAside: Bool { !indexes.isEmpty || !fullText.isEmpty }

  /// Fewer records are stored in no time, whatever hangs on the table.
  static let leastRecordCount = 10_000
  /// What keeping an FTS5 row costs, in rows of a rebuild (measured: 20 with SQLite 3.40).
  static let fullTextRowCost = 10

  private let connection: Connection
  private let schema: TableSchema
  private let mode: WriteMode
  private let load: LoadEstimate?
  private let changedShare: Double?
  private let triggers: TableTriggers

  /// - Parameters:
  ///   - schema: of a table that existed before the run.
  ///   - load: nil when nobody knows how much is coming.
  ///   - changedShare: how many of the records so far have changed the table, of 1; nil before the first.
  package init(
    _ connection: Connection, schema: TableSchema, request: UpkeepRequest, mode: WriteMode,
    load: LoadEstimate?,
    changedShare: Double? = nil
  ) throws(UpsurgeError) {
    self.connection = connection
    self.schema = schema
    self.mode = mode
    self.load = load
    self.changedShare = changedShare
    let isInFile = try connection.isInFile(table: schema.name)
    triggers = isInFile ? try TableTriggers.read(connection, schema: schema) : TableTriggers()
    guard schema.kind == .table, isInFile else { return }
    try decideIndexes(request.indexes.upkeep)
    try decideFullText(request.indexes.fullTextUpkeep)
    if setsAside { try checkRoom(request) }
  }

  // MARK: - Indexes

  private mutating func decideIndexes(_ upkeep: Upkeep) throws(UpsurgeError) {
    let all = try SecondaryIndex.read(connection, table: schema.name)
    if all.isEmpty { return }
    let (isWorthIt, why) = upkeep == .auto ? try isHalfTheTable() : (upkeep == .defer, "as asked for")
    for index in all {
      if isWorthIt, let obstacle = obstacle(index) {
        note(.index, index.name, .keep, obstacle, isAgainst: upkeep == .defer)
      } else {
        note(.index, index.name, isWorthIt ? .defer : .keep, why)
        if isWorthIt { indexes.append(index) }
      }
    }
  }

  /// Why an index is needed while rows are stored.
  private func obstacle(_ index: SecondaryIndex) -> String? {
    if let trigger = triggers.others.first {
      return "the trigger \(trigger) may look rows up by it".escapedForTerminal
    }
    if index.mayRaise { return "its expression may refuse a row, which must be known when the row is stored" }
    let first = index.parts.first?.column ?? ""
    for key in schema.foreignKeys
    where SQLName.isSame(key.parentTable, schema.name)
      && key.columns.contains(where: { SQLName.isSame($0, first) })
    {
      return "the table's foreign key to itself looks rows up by it"
    }
    return temporaryObstacle
  }

  /// TEMP views and triggers would be lost when SQLite is told where to sort.
  private var temporaryObstacle: String? {
    connection.hasTemporaryObjects ? "the connection has TEMP tables, views or triggers" : nil
  }

  private mutating func isHalfTheTable() throws(UpsurgeError) -> (Bool, String) {
    try isWorthIt(rowCost: 2) { count, rows in
      rows <= 2 * count
        ? "\(count) for a table of \(rows) rows" : "\(count), less than half the table's rows"
    }
  }

  /// Whether writing the rows one by one, at `rowCost` each, costs more than building anew from all rows.
  private mutating func isWorthIt(
    rowCost: Int, _ words: (_ count: Int, _ rows: Int) -> String
  ) throws(UpsurgeError) -> (Bool, String) {
    guard let load else { return (false, "how much there is to load is not known beforehand") }
    let count = Int(Double(load.recordCount) * (changedShare ?? 1))
    let isKnown = mode == .insert || mode == .ignore || changedShare != nil
    let noun = mode == .insert || mode == .ignore ? "records to insert" : "rows to change"
    if count < Self.leastRecordCount { return (false, "the load is small: about \(count) \(noun)") }
    let rows = try rowCount(upTo: rowCost * count + 1)
    if rows == 0 { return (true, "the table is empty, and the load is about \(count) records") }
    let isWorthIt = rows <= rowCost * count
    if isWorthIt && !isKnown {
      isUndecided = true
      return (false, "rows that exist may stay as they are; decided when the first records are stored")
    }
    return (isWorthIt, "\(noun): about " + words(count, rows))
  }

  // MARK: - FTS5

  private mutating func decideFullText(_ upkeep: Upkeep) throws(UpsurgeError) {
    for (name, reason) in triggers.obstacles {
      note(.fts, name, .keep, reason, isAgainst: upkeep == .defer)
    }
    if triggers.fullText.isEmpty { return }
    let (isWorthIt, why) = upkeep == .auto ? try isRebuildCheaper() : (upkeep == .defer, "as asked for")
    for table in triggers.fullText {
      if isWorthIt, let obstacle = try obstacle(table) {
        note(.fts, table.name, .keep, obstacle, isAgainst: upkeep == .defer)
      } else {
        note(.fts, table.name, isWorthIt ? .defer : .keep, why)
        if isWorthIt { fullText.append(table) }
      }
    }
  }

  private func obstacle(_ table: FullTextTable) throws(UpsurgeError) -> String? {
    if let trigger = triggers.others.first {
      return "the trigger \(trigger) may look at it".escapedForTerminal
    }
    if try !table.isComplete(connection, content: schema.name) {
      return "it does not index every row now, and a rebuild would"
    }
    return temporaryObstacle
  }

  private mutating func isRebuildCheaper() throws(UpsurgeError) -> (Bool, String) {
    let cost = Self.fullTextRowCost
    return try isWorthIt(rowCost: cost) { count, rows in
      "\(count), each about \(cost) times as dear as in a rebuild, which indexes "
        + (rows > cost * count ? "more than \(cost * count) rows" : "\(rows) rows and the new ones")
    }
  }

  // MARK: - Room

  /// All of it is one transaction: its size is estimated, and compared with what the disk has free.
  private mutating func checkRoom(_ request: UpkeepRequest) throws(UpsurgeError) {
    let rows = try rowCount(upTo: 100_000_000)
    let load = load ?? LoadEstimate(recordCount: 0, byteCount: 0)
    let indexed = (rows + load.recordCount) * indexes.reduce(0) { $0 + 12 + 12 * $1.parts.count }
    let text = fullText.isEmpty ? 0 : (load.byteCount + rows * 60) * fullText.count
    expectedLogByteCount = load.byteCount * 5 / 4 + indexed + text
    guard let free = DiskSpace.free(at: connection.path), free < expectedLogByteCount else { return }
    let why =
      "it takes one transaction of about \(expectedLogByteCount >> 20) MiB, and the disk has \(free >> 20) MiB"
    let (asked, textAsked) = (request.indexes.upkeep == .defer, request.indexes.fullTextUpkeep == .defer)
    for at in decisions.indices where decisions[at].upkeep == .defer {
      decisions[at].upkeep = .keep
      decisions[at].reason = why
      decisions[at].isAgainstRequest = decisions[at].kind == .index ? asked : textAsked
    }
    indexes = []
    fullText = []
    expectedLogByteCount = 0
  }

  /// Counts rows, but no more than matter.
  private func rowCount(upTo limit: Int) throws(UpsurgeError) -> Int {
    let table = try SQLName.quote(schema.name)
    return Int(
      try connection.integer("SELECT count(*) FROM (SELECT 1 FROM main.\(table) LIMIT \(limit))") ?? 0)
  }

  private mutating func note(
    _ kind: UpkeepDecision.Kind, _ name: String, _ upkeep: Upkeep, _ reason: String, isAgainst: Bool = false
  ) {
    decisions.append(
      UpkeepDecision(kind: kind, name: name, upkeep: upkeep, reason: reason, isAgainstRequest: isAgainst))
  }
}
