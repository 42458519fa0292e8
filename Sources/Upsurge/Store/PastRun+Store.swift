/// The runs of any store's database.
extension PastRun {
  /// The runs that a database knows of, the oldest first; changes nothing.
  /// - Throws: `unreadableInput` where there is no database, or it cannot be read.
  public static func all(database: String) throws(UpsurgeError) -> [PastRun] {
    if let provider = StoreRegistry.provider(of: database) {
      return try provider.runs(in: database).map(PastRun.init)
    }
    return try Connection.visiting(database) { (connection) throws(UpsurgeError) in
      try RunTable.all(connection).map(PastRun.init)
    }
  }

  /// Forgets a run: what it has committed stays, and nothing goes on there.
  /// - Throws: `usage` where there is no such run, `guardRefused` where a process is at work on it.
  public static func forget(
    _ id: Int64, database: String, busyTimeout: Int32 = 5_000
  ) throws(UpsurgeError) {
    let unknown = UpsurgeError(
      .usage, "there is no run \(id) in \(SourceName.redacted(database).escapedForTerminal)",
      hint: "upsurge runs \(SourceName.redacted(database).quotedForShell) lists them")
    if let provider = StoreRegistry.provider(of: database) {
      if try provider.forget(id, in: database) { return }
      throw unknown
    }
    let connection = try Connection(
      path: database, createIfMissing: false, busyTimeoutMilliseconds: busyTimeout)
    // Under the write lock: what waits for it may be the run itself, which goes on.
    try connection.writing { () throws(UpsurgeError) in
      if try RunTable.forget(id, on: connection) { return }
      throw unknown
    }
  }
}
