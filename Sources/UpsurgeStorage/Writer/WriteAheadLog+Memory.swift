import CSQLite
import UpsurgeRecords

extension WriteAheadLog {
  /// Makes SQLite's page cache small while a batch with large records is written, and as large as it was after it: the
  /// records, and SQLite's copies of them, take the cache's share of the memory.
  func shareMemory(with batch: borrowing Batch) throws(UpsurgeError) {
    if connection.isBorrowed { return }
    let isLarge = batch.textCapacity > connection.pageCacheByteCount
    if isLarge == hasSmallCache { return }
    let byteCount =
      isLarge
      ? min(Self.smallCacheByteCount, connection.pageCacheByteCount) : connection.pageCacheByteCount
    if isLarge {
      // Pages that are to be written cannot be let go of before; a reader in the way only keeps them here.
      sqlite3_db_cacheflush(connection.handle)
    }
    try connection.execute("PRAGMA cache_size=-\(max(byteCount >> 10, 64))")
    sqlite3_db_release_memory(connection.handle)
    hasSmallCache = isLarge
  }

  private static let smallCacheByteCount = 2 << 20
}
