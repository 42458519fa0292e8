import UpsurgeRecords
import UpsurgeSQLite

/// What the rows that records of snapshots were about (`SeenRows`) may take of the memory, for all tables of a transaction
/// together, and the temporary database for those that find no room.
///
/// A table takes as much as is left; one that needs more gives back what it has, and goes to the temporary database. So
/// the bound holds however many tables there are, and so does that of the one page cache.
package final class SeenMemory: @unchecked Sendable {
  // Sendable because only the writer at work uses it, and writers that share it follow each other.

  package let byteLimit: Int
  /// Bytes of bits that are taken now.
  private(set) var byteCount = 0
  /// The most at any time.
  package private(set) var peakByteCount = 0
  /// How many tables went to the temporary database.
  package private(set) var spillCount = 0
  private var database: Connection?

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  var isFull: Bool { byteCount >= byteLimit }

  func take(_ bytes: Int) {
    byteCount += bytes
    peakByteCount = max(peakByteCount, byteCount)
  }

  func giveBack(_ bytes: Int) { byteCount -= bytes }

  /// Makes a table in the temporary database, for the calling thread.
  /// - Parameter columns: SQL of its columns and constraints; `options` follow them.
  func makeTable(
    columns: String, options: String
  ) throws(UpsurgeError) -> (database: Connection, name: String) {
    if database == nil {
      let made = try Connection(path: "the temporary database", createIfMissing: true, isTemporary: true)
      try made.execute(
        """
        PRAGMA page_size=16384; PRAGMA temp_store=FILE; PRAGMA cache_size=-2048; PRAGMA synchronous=OFF; BEGIN;
        """)
      database = made
    }
    guard let database else { preconditionFailure("the temporary database was just made") }
    database.moveToCurrentThread()
    spillCount += 1
    let name = "seen\(spillCount)"
    try database.execute("CREATE TABLE \(name)(\(columns)) \(options)")
    return (database, name)
  }
}
