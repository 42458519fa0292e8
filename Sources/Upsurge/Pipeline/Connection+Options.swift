extension Connection {
  /// Prepares the connection of a run, as its options say.
  /// - Parameters:
  ///   - holds: whether savepoints may have to take back much.
  func configure(
    for options: LoadOptions, holds: Bool = false
  ) throws(UpsurgeError) {
    try configure(
      durability: options.transaction.durability, pageCacheByteCount: options.transaction.pageCacheByteCount,
      defersForeignKeys: holds || options.table.foreignKeys == .deferred)
    if !options.output.isTrial { try endImage() }
  }

  /// Says once that the database is in WAL mode, where the run has switched it and committed something.
  func noteSwitchToWAL(of database: String, _ note: (RunNote) -> Void) {
    if takeSwitchToWAL() { note(RunNote(.info, "\(database) is now in WAL mode")) }
  }

  /// Configures a connection, and opens it again where its file has gone since. As a rule another run, which came to
  /// nothing, has taken its new file away. It is as if this one had begun a moment later.
  static func configure(
    _ connection: inout Connection, for options: LoadOptions, holds: Bool = false,
    opening open: () throws(UpsurgeError) -> Connection
  ) throws(UpsurgeError) {
    for attempt in 1... {
      do throws(UpsurgeError) {
        return try connection.configure(
          for: options, holds: holds)
      } catch {
        guard connection.hasMoved, attempt < 100 else { throw error }
        connection = try open()
      }
    }
  }
}
