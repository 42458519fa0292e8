/// The tables of one SQLite database, for one load.
final class SQLiteStore: Store {
  private let run: LoadRun
  private let connection: Connection
  /// The table that was made in an image, and whether its rows were packed.
  private let madeTable: PreparedTable?
  private let isPacked: Bool
  /// What was warned of in the records that were packed.
  private let warnings: WarningLog
  private let upkeep: TableUpkeep

  init(
    run: LoadRun, connection: Connection, madeTable: PreparedTable?, isPacked: Bool, warnings: WarningLog
  ) {
    self.run = run
    self.connection = connection
    self.madeTable = madeTable
    self.isPacked = isPacked
    self.warnings = warnings
    upkeep = TableUpkeep(connection, request: UpkeepRequest(run.job.options))
  }

  private var options: LoadOptions { run.job.options }

  var place: String { connection.place }

  func openRuns(of table: String) throws(UpsurgeError) -> [RunRecord] { try connection.openRuns(of: table) }

  func hasLostRows(of run: RunRecord) throws(UpsurgeError) -> Bool { try connection.hasLostRows(of: run) }

  /// Finds or makes the table.
  /// - Returns: nil where it was made in an image that came to nothing, and another program has made it meanwhile.
  func table(for input: LoadInput, options: LoadOptions) throws(UpsurgeError) -> PreparedTable? {
    if run.group == nil { try input.script.run(on: connection) }
    connection.isSynchronizing = options.table.triggers == .guarded
    try upkeep.prepare(table: run.job.table)
    if let madeTable {
      if isPacked { return madeTable }
      return try run.makeAgain(madeTable, on: connection) ? madeTable : nil
    }
    let beginning = input.beginning
    return try PreparedTable.prepare(
      run.job.table, for: beginning.source, others: input.otherSources, on: connection, options: options,
      wasMade: beginning.resumption?.position.madeTable ?? false)
  }

  /// Sets aside what is to be, and says what was made and decided.
  func setUp(_ table: inout PreparedTable, for input: LoadInput) throws(UpsurgeError) {
    let first = input.beginning.source
    if madeTable == nil { run.announce(table, isJSON: first.isJSON) }
    try run.warnOfRepeated(table, input, on: connection)
    try run.noteSchema(of: table, on: connection)
    if madeTable == nil { run.warnOfRoom(first, sources: input.remainingSources) }
    try run.begin(
      upkeep, for: &table, isPacked: isPacked, first: first, sources: input.remainingSources, on: connection)
  }

  func explain(_ table: PreparedTable, for input: LoadInput) throws(UpsurgeError) -> String {
    try run.explanation(of: table, upkeep.decisions, names: input.names, on: connection)
  }

  func begin(
    _ table: PreparedTable, for input: LoadInput, from beginning: Beginning, _ context: StoreContext
  ) throws(UpsurgeError) -> SQLiteTransfer {
    let chunks = try run.deliveryChunks(
      of: beginning.source, for: table, names: input.names, on: connection)
    let keeper = try run.keeper(for: beginning, table: table, runJob: input.runJob, on: connection)
    let transfer = try SQLiteTransfer(
      connection: connection, table: table, upkeep: upkeep, context, keeper: keeper,
      resumed: beginning.resumption, chunks: chunks)
    if let group = run.group {
      transfer.lastQuarantined = try QuarantineTable.lastID(connection)
      transfer.writer.followsDelivery = group.hasEndedDelivery(of: table.facts.name)
    }
    if isPacked { transfer.writer.goOnBehindCommitted(warnings: warnings) }
    return transfer
  }

  func ending(of run: RunRecord) -> RunEnding? { RunEnding(run, on: connection, options: options) }

  func takeBack() throws(UpsurgeError) {
    if !connection.isInAutocommit { try connection.rollBackWriting() }
  }
}
