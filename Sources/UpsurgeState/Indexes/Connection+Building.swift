import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

extension Connection {
  /// The page cache, and with it the memory of a sort, while an index is built. A sort of runs that fit the processor's cache
  /// is faster than one of larger runs (measured: 1.7 us a row with 2-4 MiB, 2.8 with 256).
  private static let buildingCacheByteCount = 4 << 20

  /// Whether there are TEMP tables, views or triggers, which go when SQLite is told where to put what is temporary.
  package var hasTemporaryObjects: Bool {
    (try? integer("SELECT count(*) FROM sqlite_temp_schema")) != .some(0)
  }

  /// Lets sorts go to temporary files, so that building an index stays within the memory; outside transactions
  /// only. Nothing where there are TEMP objects.
  /// - Throws: `database` within a transaction.
  package func sortInFiles() throws(UpsurgeError) {
    // A transaction that loads share was begun that way.
    if shared != nil { return }
    guard isInAutocommit else {
      throw UpsurgeError(.database, "SQLite changes the place of sorts only outside transactions")
    }
    if !hasTemporaryObjects { try execute("PRAGMA temp_store=FILE") }
  }

  /// Runs statements that build indexes with the cache that suits them.
  package func withBuildingCache(_ build: () throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    let size = max(pageCacheByteCount >> 10, 64)
    try execute("PRAGMA cache_size=-\(min(Self.buildingCacheByteCount >> 10, size))")
    defer { try? execute("PRAGMA cache_size=-\(size)") }
    try build()
  }

  /// Runs the first statement of a text from the schema. SQLite itself reads no further there, so neither may we.
  package func executeFirst(_ sql: String) throws(UpsurgeError) {
    let statement = try prepare(sql)
    while try statement.step() {}
  }
}
