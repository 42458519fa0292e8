import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

/// Databases from which several sources of a job read: each is read in one read transaction, so that what it gives is one
/// state of the database. The transaction ends when the last table that reads it is done.
package final class DatabaseSnapshots: @unchecked Sendable {
  // Sendable because a connection is only touched by the thread that has taken it, and every variable property while
  // `monitor` is locked.

  private let monitor = Monitor()
  /// The tables that still are to read each shared database, by its place.
  private var readers: [String: Set<String>] = [:]
  private var idle: [String: Connection] = [:]
  private var taken: Set<String> = []

  /// So long a reader that was stopped may take to end.
  private static let patienceMilliseconds = 10_000

  /// - Parameters:
  ///   - tables: all of the job, with their sources of any kind.
  ///   - target: the job's own database, of which each reader has its own state: one that lasts would keep its log.
  package init(tables: [(name: String, sources: [Source])], target: String) {
    var counts: [String: Int] = [:]
    for table in tables {
      for place in table.sources.compactMap(Self.place) {
        counts[place, default: 0] += 1
        readers[place, default: []].insert(table.name)
      }
    }
    readers[SourceName.place(of: target)] = nil
    readers = readers.filter { counts[$0.key, default: 0] > 1 }
  }

  /// However its path is spelled; nil for what is no database.
  private static func place(_ source: Source) -> String? {
    if case .database(_, let rows?) = source.opening { SourceName.place(of: rows.path) } else { nil }
  }

  /// A connection to a shared database, in its transaction where it has begun; `giveBack` when all was read.
  /// - Returns: nil where nobody else is to read the database.
  func take(_ path: String) throws(UpsurgeError) -> Connection? {
    let place = SourceName.place(of: path)
    monitor.lock()
    defer { monitor.unlock() }
    if readers[place] == nil { return nil }
    let end = MonotonicClock.seconds + Double(Self.patienceMilliseconds) / 1_000
    while taken.contains(place) {
      guard MonotonicClock.seconds < end, monitor.wait(milliseconds: Self.patienceMilliseconds) else {
        throw UpsurgeError(.usage, "\(path.escapedForTerminal) is read twice at the same time")
      }
    }
    let known = idle.removeValue(forKey: place)
    known?.moveToCurrentThread()
    let connection = if let known { known } else { try Connection.looking(at: path) }
    taken.insert(place)
    return connection
  }

  /// - Parameter connection: as `take` gave it; no statement of it is left.
  func giveBack(_ connection: Connection, _ path: String) {
    let place = SourceName.place(of: path)
    monitor.lock()
    if readers[place] != nil { idle[place] = connection }
    taken.remove(place)
    monitor.notifyAll()
    monitor.unlock()
  }

  /// Ends the transactions in which no other table is to read.
  package func end(_ table: String) {
    monitor.lock()
    defer { monitor.unlock() }
    for place in readers.keys {
      readers[place]?.remove(table)
      if readers[place]?.isEmpty == true { (readers[place], idle[place]) = (nil, nil) }
    }
  }
}
