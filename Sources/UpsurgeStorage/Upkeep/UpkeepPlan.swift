import UpsurgeRecords

/// What is set aside during a load and built anew after it, and why; found by reading only.
///
/// Keeping an index up costs a random page for each row and index; building it costs a sort of all rows. So an
/// index of a table with n rows is set aside when the load is at least n / 2 rows (measured: at 10 % of the rows
/// building anew takes 3.4 times as long, at 50 % it is 1.2 times as fast, at 100 % 1.6 times). Where rows may
/// exist already, they may also say already what the records say; then nothing must be written, and how many
/// really change is seen only on the way: `isUndecided`.
package struct UpkeepPlan {
  package private(set) var decisions: [UpkeepDecision] = []
  /// Indexes to drop before and make after the load.
  package private(set) var indexes: [SecondaryIndex] = []
  /// FTS5 tables whose triggers are dropped before the load, and which are rebuilt after it.
  package private(set) var fullText: [FullTextTable] = []
  /// Bytes that the one transaction may write to the log.
  package private(set) var expectedLogByteCount = 0

  package var setsAside: Bool { !indexes.isEmpty || !fullText.isEmpty }

  /// Fewer records are stored in no time, whatever hangs on the table.
  static let leastRecordCount = 10_000
  /// What keeping an FTS5 row costs, in rows of a rebuild.
  static let fullTextRowCost = (insert: 2, update: 4)

  private let connection: Connection
  private let schema: TableSchema
  private let mode: WriteMode
  private let load: LoadEstimate?
  private let triggers: TableTriggers

  /// - Parameters:
  ///   - schema: of a table that existed before the run.
  ///   - load: nil when nobody knows how much is coming.
  package init(
    _ connection: Connection, schema: TableSchema, request: UpkeepRequest, mode: WriteMode, load: LoadEstimate?
  ) throws(UpsurgeError) {
    self.connection = connection
    self.schema = schema
    self.mode = mode
    self.load = load
    let isInFile = try connection.isInFile(table: schema.name)
    triggers = isInFile ? try TableTriggers.read(connection, schema: schema) : TableTriggers()
    guard schema.kind == .table, isInFile else { return }
    try decideIndexes(request.indexUpkeep)
    try decideFullText(request.fullTextUpkeep)
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
    where SQLName.isSame(key.parentTable, schema.name) && key.columns.contains(where: { SQLName.isSame($0, first) }) {
      return "the table's foreign key to itself looks rows up by it"
    }
    return temporaryObstacle
  }

  /// TEMP views and triggers would be lost when SQLite is told where to sort.
  private var temporaryObstacle: String? {
    connection.mayChangeTemporaryStore ? nil : "the connection has TEMP tables, views or triggers"
  }

  private func isHalfTheTable() throws(UpsurgeError) -> (Bool, String) {
    guard let load else { return (false, "how much there is to load is not known beforehand") }
    let count = load.recordCount
    if count < Self.leastRecordCount { return (false, "the load is small (about \(count) records)") }
    let rows = try rowCount(upTo: 2 * count + 1)
    if rows > 0 && mode != .insert && mode != .ignore {
      return (false, "rows that exist may stay as they are, and then nothing is to be built")
    }
    if rows == 0 { return (true, "the table is empty, and the load is about \(count) records") }
    return rows <= 2 * count
      ? (true, "the load is about \(count) records, the table has \(rows) rows")
      : (false, "the load is about \(count) records, less than half the table's rows")
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

  private func isRebuildCheaper() throws(UpsurgeError) -> (Bool, String) {
    guard let load else { return (false, "how much there is to load is not known beforehand") }
    let count = load.recordCount
    if count < Self.leastRecordCount { return (false, "the load is small (about \(count) records)") }
    let isInsert = mode == .insert || mode == .ignore
    let cost = isInsert ? Self.fullTextRowCost.insert : Self.fullTextRowCost.update
    let rows = try rowCount(upTo: cost * count + 1)
    if rows > 0 && !isInsert {
      return (false, "rows that exist may stay as they are, and then nothing is to be indexed")
    }
    let words = "a rebuild indexes \(rows > cost * count ? "more than " : "")\(rows + count) rows"
    return rows + count <= cost * count
      ? (true, "\(words), and row by row about \(count) cost \(cost) times as much each")
      : (false, "\(words), row by row it is about \(count)")
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
    let why = "it takes one transaction of about \(expectedLogByteCount >> 20) MiB, and the disk has \(free >> 20) MiB"
    let (asked, textAsked) = (request.indexUpkeep == .defer, request.fullTextUpkeep == .defer)
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
    return Int(try connection.integer("SELECT count(*) FROM (SELECT 1 FROM main.\(table) LIMIT \(limit))") ?? 0)
  }

  private mutating func note(
    _ kind: UpkeepDecision.Kind, _ name: String, _ upkeep: Upkeep, _ reason: String, isAgainst: Bool = false
  ) {
    decisions.append(
      UpkeepDecision(kind: kind, name: name, upkeep: upkeep, reason: reason, isAgainstRequest: isAgainst))
  }
}

extension Connection {
  /// Whether a table is one of the database file, and no TEMP table hides it.
  func isInFile(table: String) throws(UpsurgeError) -> Bool {
    let statement = try prepare(
      "SELECT 1 FROM sqlite_temp_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE")
    try statement.bind(table, at: 1)
    return try !statement.step()
  }
}
