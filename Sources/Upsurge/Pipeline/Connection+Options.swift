extension Connection {
  /// Prepares the connection of a run, as its options say.
  /// - Parameters:
  ///   - isPacked: whether rows were packed into the file that is opened.
  ///   - holds: whether savepoints may have to take back much.
  func configure(
    for options: LoadOptions, isPacked: Bool, holds: Bool = false, database: String, note: (RunNote) -> Void
  ) throws(UpsurgeError) {
    try configure(
      durability: options.durability, pageCacheByteCount: options.pageCacheByteCount,
      defersForeignKeys: holds || options.foreignKeys == .deferred)
    if didSwitchToWAL && !isPacked { note(RunNote(.info, "\(database) is now in WAL mode")) }
    if !options.isTrial { try endImage() }
  }

  /// The same for a connection that is opened again where its file has gone since: as a rule another run, which came to
  /// nothing, has taken its new file away. It is as if this one had begun a moment later.
  static func configure(
    _ connection: inout Connection, for options: LoadOptions, isPacked: Bool, holds: Bool = false,
    database: String, note: (RunNote) -> Void, opening open: () throws(UpsurgeError) -> Connection
  ) throws(UpsurgeError) {
    for attempt in 1... {
      do throws(UpsurgeError) {
        return try connection.configure(
          for: options, isPacked: isPacked, holds: holds, database: database, note: note)
      } catch {
        guard connection.hasMoved, attempt < 100 else { throw error }
        connection = try open()
      }
    }
  }
}
