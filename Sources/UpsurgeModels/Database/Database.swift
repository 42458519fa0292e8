import UpsurgeRecords
import UpsurgeSQLite

/// An SQLite database whose rows are models.
///
///     let database = try Database("app.db")
///     try await database.createTable(Player.self)
///     try await database.upsert(players, on: \.name)
///
/// It may be used from anywhere. Writes are done one after the other by a thread of their own, in WAL mode, with foreign
/// keys on; reads are done by another, beside them, and see what is committed.
public final class Database: BulkTarget {
  /// How a database is used.
  public struct Configuration: Sendable {
    public var durability = Durability.normal
    /// How long to wait for a lock that another program holds, in milliseconds.
    public var busyTimeout: Int32 = 5_000
    /// Bounds the page cache (a quarter of it) and each row (as much again, unless `BulkOptions.maximumRowSize` says something else).
    public var memory = ByteSize.mebibytes(64)

    public init() {}
  }

  let configuration: Configuration
  let writer: DatabaseThread
  let reader: DatabaseThread
  let path: String
  /// What each connection is given: functions, views.
  private let additions = Guarded<[@Sendable (Connection) throws(UpsurgeError) -> Void]>([])

  /// Opens a database, and makes a file that is missing.
  /// - Throws: `usage` for a durability of `off`, which has no transactions; `cannotCreate`, `databaseBusy`, `database`.
  public init(_ path: String, configuration: Configuration = Configuration()) throws(UpsurgeError) {
    if configuration.durability == .off {
      throw UpsurgeError(
        .usage, "a database without a journal has no transactions", hint: "a durability of normal, or full")
    }
    self.configuration = configuration
    self.path = path
    writer = try DatabaseThread { () throws(UpsurgeError) in
      let connection = try Connection(
        path: path, createIfMissing: true, busyTimeoutMilliseconds: configuration.busyTimeout)
      try connection.configure(
        durability: configuration.durability, pageCacheByteCount: configuration.memory.byteCount / 4)
      return connection
    }
    reader = path == ":memory:" ? writer : try Database.openReader(path, configuration)
  }

  /// Whether the database is in memory, and has one connection only.
  var isInMemory: Bool { reader === writer }

  package var maximumRowSize: ByteSize { ByteSize(configuration.memory.byteCount / 4) }
  package var identity: ObjectIdentifier { ObjectIdentifier(writer) }

  package func withConnection(
    _ work: @escaping @Sendable (Connection) throws(UpsurgeError) -> BulkStored?
  ) async throws -> BulkStored? {
    try await writer.perform(work)
  }

  /// A thread with a connection of its own, which reads.
  func openReader() throws(UpsurgeError) -> DatabaseThread {
    try Database.openReader(path, configuration, additions.withLock { $0 })
  }

  private static func openReader(
    _ path: String, _ configuration: Configuration,
    _ additions: [@Sendable (Connection) throws(UpsurgeError) -> Void] = []
  ) throws(UpsurgeError) -> DatabaseThread {
    try DatabaseThread { () throws(UpsurgeError) in
      let connection = try Connection(
        path: path, createIfMissing: false, busyTimeoutMilliseconds: configuration.busyTimeout)
      for addition in additions { try addition(connection) }
      try connection.execute("PRAGMA query_only=ON; PRAGMA foreign_keys=ON")
      return connection
    }
  }

  /// Gives something to the connections that there are, and to those that will be.
  func onEachConnection(
    _ addition: @escaping @Sendable (Connection) throws(UpsurgeError) -> Void
  ) async throws(UpsurgeError) {
    try await writer.perform(addition)
    if !isInMemory {
      try await reader.perform { (connection) throws(UpsurgeError) in
        // What is temporary is no part of the database.
        try connection.execute("PRAGMA query_only=OFF")
        defer { try? connection.execute("PRAGMA query_only=ON") }
        try addition(connection)
      }
    }
    additions.withLock { $0.append(addition) }
  }

  /// Runs a statement, or several when no values are in them.
  ///
  ///     try await database.execute("UPDATE players SET team = NULL WHERE team = \(name)")
  ///
  /// - Throws: `usage` for several statements with values, for parameters that no value is put in the place of (statements before it have run), and for SQL that leaves a transaction open, which is rolled back;
  ///   `database`; `databaseBusy`.
  public func execute(_ sql: SQLText) async throws(UpsurgeError) {
    try await writer.perform { (connection) throws(UpsurgeError) in
      // The engine's own writes take care of the log themselves.
      try connection.execute("PRAGMA wal_autocheckpoint=1000")
      defer { try? connection.execute("PRAGMA wal_autocheckpoint=0") }
      let (text, values) = try sql.bound
      if values.isEmpty {
        if !(try connection.execute(text, takesParameters: false)) { throw UpsurgeError.ownParameters(text) }
      } else {
        _ = try RowReader(sql, on: connection, mayWrite: true).all(.max, at: nil) { _ in }
      }
      if connection.isInAutocommit { return }
      throw UpsurgeError(
        .usage, "the SQL leaves a transaction open: it was rolled back",
        hint: "end it with COMMIT in the same call")
    }
  }

  /// Makes the table of a model.
  /// - Parameters:
  ///   - model: whose table it is.
  ///   - ifNotExists: whether a table that is there is left as it is; `checkTable` says how it differs.
  /// - Throws: `database`, also when the table is there already; `usage` for a model of a full-text index.
  public func createTable<Model: Table>(_ model: Model.Type, ifNotExists: Bool = false)
    async throws(UpsurgeError)
  {
    try model.checkIsOrdinary(otherwise: "createSearchTable(")
    try await execute("\(raw: Model.createTableSQL(ifNotExists: ifNotExists))")
  }
}
