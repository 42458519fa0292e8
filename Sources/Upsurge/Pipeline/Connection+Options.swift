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
}
