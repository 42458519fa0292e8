import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState
import UpsurgeStorage

/// Takes back what a feed has delivered into a table, and what is known of the feed: what `upsurge mirror DB --forget
/// TABLE` does.
///
///     let removal = try FeedRemoval(database: "app.db", table: "members")
///     print(removal.rowCount, removal.scope ?? "all rows")
///     try removal.perform()
///
/// Where `upsurge_rows` notes what was delivered into the table, and of feeds with names, only those rows go that it says a
/// feed has delivered; of a feed that has never delivered, none. The others stay, `keptCount` of them.
/// Records of the feed that wait in `upsurge_quarantine` for the rows they refer to go as well: they would be stored later.
/// Rejects, records that wait there for columns, and past runs in `upsurge_runs` stay.
public struct FeedRemoval: Sendable {
  public let database: String
  /// As the schema spells it, where the table is there.
  public let table: String
  /// Which rows belong to the feed, as the job said in its last run; nil for all rows of the table, and where feeds have
  /// names.
  public var scope: String? { ownership.scope }
  /// The names of the table's feeds, where they have some: the rows that they have delivered go, and no others.
  public var owners: [String] { ownership.owners }
  /// Whether a feed has ever committed anything; else no row is of one.
  public var hasDelivered: Bool { ownership.hasDelivered }
  /// Whether only rows go of which it is noted that a feed has delivered them.
  public var isByNotes: Bool { ownership.isByNotes }
  /// How many rows that are now.
  public let rowCount: UInt64
  /// How many rows, of those in `scope`, stay because nothing says that a feed has delivered them.
  public let keptCount: UInt64
  /// How many records of the feed wait for the rows they refer to.
  public let waitingCount: UInt64
  /// Milliseconds to wait for a lock.
  public var busyTimeout: Int32 = 5_000

  private let ownership: Ownership
  private var stateSchema: String?

  /// What decides which rows are the feeds'.
  private struct Ownership: Equatable {
    let owners: [String]
    let scope: String?
    let hasDelivered: Bool
    let isByNotes: Bool

    init(_ records: [FeedRecord], of table: String, on connection: Connection) throws(UpsurgeError) {
      self.init(records, holdsNotes: try RowStateTable.holdsNotes(of: table, on: connection))
    }

    /// Of feeds on a server.
    /// - Parameter holdsNotes: whether anything is noted of the table's rows.
    init(_ records: [FeedRecord], holdsNotes: Bool) {
      owners = records.map(\.ownedBy).filter { !$0.isEmpty }
      scope = owners.isEmpty ? records.last?.identity.scope : nil
      hasDelivered = records.contains(where: \.hasDelivered)
      isByNotes = holdsNotes || !owners.isEmpty
    }

    /// Which rows go.
    var removed: RemovedRows {
      if !hasDelivered { return .none }
      return isByNotes ? .delivered(inScope: scope) : .inScope(scope)
    }
  }

  /// What has gone.
  public struct Removed: Sendable, Equatable {
    /// Rows of the table.
    public var rowCount: UInt64
    /// Records that have waited for the rows they refer to.
    public var waitingCount: UInt64
    /// Rows that have stayed because nothing says that a feed has delivered them.
    public var keptCount: UInt64

    public init(rowCount: UInt64, waitingCount: UInt64 = 0, keptCount: UInt64 = 0) {
      (self.rowCount, self.waitingCount, self.keptCount) = (rowCount, waitingCount, keptCount)
    }
  }

  /// Tables of notes, each with a column `table`.
  private static let notes =
    [FeedTable.layout, TakenFiles.layout, ChunkTable.layout, RowStateTable.layout] + UnacceptedState.layouts

  /// Looks at the database; changes nothing.
  /// - Parameters:
  ///   - database: the path of a file, or the URL of a server.
  ///   - table: the table of the feed.
  ///   - stateSchema: where a server keeps what is known of feeds; nil is the schema of the table.
  /// - Throws: `unreadableInput` where there is no database, `usage` where no feed has delivered into the table.
  public init(database: String, table: String, stateSchema: String? = nil) throws(UpsurgeError) {
    if StoreRegistry.provider(of: database) == nil {
      try self.init(file: database, table)
    } else {
      try self.init(server: database, table, stateSchema)
    }
  }

  /// The error of a table that no feed has delivered into.
  /// - Parameter known: the tables that feeds have delivered into.
  private static func unknown(_ table: String, in database: String, known: [String]) -> UpsurgeError {
    let names = known.map(\.escapedForTerminal).joined(separator: ", ")
    return UpsurgeError(
      .usage,
      "no feed has delivered into table \(table.escapedForTerminal) of \(database.escapedForTerminal)",
      hint: known.isEmpty ? "upsurge mirror brings tables in step with feeds" : "its mirrors: \(names)")
  }

  private init(server database: String, _ table: String, _ stateSchema: String?) throws(UpsurgeError) {
    self.database = database
    self.stateSchema = stateSchema
    let shelf = try Self.shelf(database, table, stateSchema)
    let records = try ServerState(shelf: shelf).feeds(of: table)
    guard let record = records.first else {
      let known = try FeedStatus.all(database: database).map(\.table)
      throw Self.unknown(table, in: SourceName.redacted(database), known: known)
    }
    self.table = record.table
    ownership = Ownership(records, holdsNotes: try shelf.holdsRowNotes(of: table))
    waitingCount = 0
    (rowCount, keptCount) = try Self.counts(of: table, ownership, shelf)
  }

  /// How many rows of a server's table go, and how many others in the scope stay.
  private static func counts(
    of table: String, _ ownership: Ownership, _ shelf: any MirrorShelf
  ) throws(UpsurgeError) -> (gone: UInt64, kept: UInt64) {
    let gone = try shelf.count(ownership.removed, of: table)
    if ownership.hasDelivered && !ownership.isByNotes { return (gone, 0) }
    let all = try shelf.count(.inScope(ownership.scope), of: table)
    return (gone, all - min(all, gone))
  }

  private static func shelf(
    _ database: String, _ table: String, _ stateSchema: String?
  ) throws(UpsurgeError) -> any MirrorShelf {
    var job = LoadJob(database: database, table: table, sources: [])
    job.options.table.stateSchema = stateSchema
    guard let shelf = try ServerShelves().shelf(of: job) else { preconditionFailure("the database is one of a server") }
    return shelf
  }

  /// Deletes the rows and the notes on a server.
  private func performOnServer(isTrial: Bool) throws(UpsurgeError) -> Removed {
    let shelf = try Self.shelf(database, table, stateSchema)
    try check(
      Ownership(
        try ServerState(shelf: shelf).feeds(of: table), holdsNotes: try shelf.holdsRowNotes(of: table)))
    for run in try shelf.openRuns(of: table) {
      if let pid = run.livePID { throw RunKeeper.alreadyRunning(run, pid: pid) }
    }
    do throws(UpsurgeError) {
      let kept = try Self.counts(of: table, ownership, shelf).kept
      let count = try shelf.forget(
        table, rows: ownership.removed,
        notes: [FeedTable.notes, TakenFiles.notes, ChunkTable.notes, RowStateTable.notes],
        isTrial: isTrial)
      return Removed(rowCount: count, keptCount: kept)
    } catch {
      throw error.code == .database ? refusal(error) : error
    }
  }

  /// - Throws: `guardRefused` where what is known now is not what was looked at.
  private func check(_ now: Ownership) throws(UpsurgeError) {
    if now == ownership { return }
    throw UpsurgeError(
      .guardRefused,
      "nothing is forgotten: the feeds of table \(table.escapedForTerminal) have changed since it was looked at",
      hint: "look again which rows would go")
  }

  private init(file database: String, _ table: String) throws(UpsurgeError) {
    let connection = try Connection.looking(at: database)
    self.database = database
    let records = try FeedTable.all(of: table, on: connection)
    if records.isEmpty {
      throw Self.unknown(table, in: database, known: try FeedTable.all(connection).map(\.table))
    }
    let schema = try TableSchema.read(connection, table: table)
    self.table = schema?.name ?? table
    ownership = try Ownership(records, of: self.table, on: connection)
    waitingCount = try QuarantineTable.orphanCount(of: table, on: connection)
    guard let schema, schema.kind == .table else {
      (rowCount, keptCount) = (0, 0)
      return
    }
    let rows = try Rows(of: schema, ownership, on: connection)
    (rowCount, keptCount) = try rows.counts(on: connection)
  }

  /// Deletes the rows and the notes, all or nothing.
  /// - Parameter isTrial: whether it is all taken back in the end.
  /// - Returns: how much went.
  /// - Throws: `guardRefused` where a run is at work on the table, or other tables refer to a row; `databaseBusy`.
  @discardableResult
  public func perform(isTrial: Bool = false) throws(UpsurgeError) -> Removed {
    let mark = RunJob(table: table, sources: ["upsurge mirror"], options: [])
    let load = LoadJob(database: database, table: table, sources: [])
    let lock = try JobLock.take(mark, database: load.databasePlace)
    defer { withExtendedLifetime(lock) {} }
    if StoreRegistry.provider(of: database) != nil { return try performOnServer(isTrial: isTrial) }
    let connection = try Connection(
      path: database, createIfMissing: false, busyTimeoutMilliseconds: busyTimeout)
    try connection.execute("PRAGMA foreign_keys=ON")
    try connection.beginWriting()
    do throws(UpsurgeError) {
      let removed = try remove(on: connection)
      try connection.execute(isTrial ? "ROLLBACK" : "COMMIT")
      return removed
    } catch {
      try? connection.execute("ROLLBACK")
      throw error.isConstraintViolation ? refusal(error) : error
    }
  }

  private func remove(on connection: Connection) throws(UpsurgeError) -> Removed {
    try check(Ownership(FeedTable.all(of: table, on: connection), of: table, on: connection))
    try RunTable.forgetOpen(table, on: connection)
    var removed = Removed(rowCount: 0, waitingCount: try QuarantineTable.orphanCount(of: table, on: connection))
    if let schema = try TableSchema.read(connection, table: table), schema.kind == .table {
      let rows = try Rows(of: schema, ownership, on: connection)
      (removed.rowCount, removed.keptCount) = try rows.counts(on: connection)
      try connection.execute("DELETE FROM \(rows.gone)")
    }
    for layout in Self.notes { try forget(layout, on: connection) }
    try QuarantineTable.removeOrphans(of: table, on: connection)
    return removed
  }

  /// Removes what a table of notes holds of the table, and the table of notes with the last of it.
  private func forget(_ layout: OwnLayout, on connection: Connection) throws(UpsurgeError) {
    guard try layout.find(needing: ["table"], on: connection) != nil else { return }
    let name = layout.name
    let statement = try connection.prepare("DELETE FROM main.\(name) WHERE \"table\" = ?1 COLLATE NOCASE")
    try statement.bind(table, at: 1)
    _ = try statement.step()
    statement.reset()
    if try connection.integer("SELECT 1 FROM main.\(name) LIMIT 1") == nil {
      try connection.execute("DROP TABLE main.\(name)")
    }
  }

  /// Which rows of the table go, as SQL: a table, and WHERE with its condition where not all do.
  private struct Rows {
    let gone: String
    /// The rows that are the feed's as far as the job says.
    let inScope: String

    init(of schema: TableSchema, _ ownership: Ownership, on connection: Connection) throws(UpsurgeError) {
      var conditions: [String] = []
      if let scope = ownership.scope {
        try SQLFragment(scope).checkIsExpression(option: "scope")
        conditions.append("(\(scope))")
      }
      let table = "main.\(try SQLName.quote(schema.name))"
      inScope = Self.sql(table, conditions)
      if !ownership.hasDelivered {
        conditions.append("0")
      } else if ownership.isByNotes {
        conditions.append(try RowStateTable.deliveredTerm(schema, on: connection))
      }
      gone = Self.sql(table, conditions)
    }

    private static func sql(_ table: String, _ conditions: [String]) -> String {
      table + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
    }

    /// How many go, and how many others in the scope stay.
    func counts(on connection: Connection) throws(UpsurgeError) -> (gone: UInt64, kept: UInt64) {
      let goneCount = try connection.integer("SELECT count(*) FROM \(gone)") ?? 0
      if gone == inScope { return (UInt64(clamping: goneCount), 0) }
      let count = try connection.integer("SELECT count(*) FROM \(inScope)") ?? 0
      return (UInt64(clamping: goneCount), UInt64(clamping: count - goneCount))
    }
  }

  private func refusal(_ error: UpsurgeError) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "nothing is forgotten: the rows of table \(table.escapedForTerminal) cannot be deleted: \(error.message)",
      hint: "delete first what refers to them, or let it go with them: ON DELETE CASCADE",
      underlyingCode: error.underlyingCode)
  }
}
