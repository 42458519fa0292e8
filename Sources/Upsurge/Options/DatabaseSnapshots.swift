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
  private var idle: [String: Held] = [:]
  private var taken: Set<String> = []

  /// A database in the state that it was first read in.
  private enum Held {
    case file(Connection)
    case server(any RowSnapshot)
  }

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
    switch source.opening {
    case .database(_, let rows?): SourceName.place(of: rows.path)
    case .server(_, let rows?): rows.url
    default: nil
    }
  }

  /// A connection to a shared database, in its transaction where it has begun; `giveBack` when all was read.
  /// - Returns: nil where nobody else is to read the database.
  package func take(_ path: String) throws(UpsurgeError) -> Connection? {
    let place = SourceName.place(of: path)
    monitor.lock()
    defer { monitor.unlock() }
    guard try waitFor(place, shown: path) else { return nil }
    let connection: Connection
    if case .file(let known) = idle.removeValue(forKey: place) {
      known.moveToCurrentThread()
      connection = known
    } else {
      connection = try Connection.looking(at: path)
    }
    taken.insert(place)
    return connection
  }

  /// This is the same of a server's database.
  package func take(
    _ source: ServerSource, from server: any RowServer, _ cancellation: ReadCancellation
  ) throws(UpsurgeError) -> (any RowSnapshot)? {
    monitor.lock()
    defer { monitor.unlock() }
    guard try waitFor(source.url, shown: SourceName.redactedURL(source.url)) else { return nil }
    let snapshot: any RowSnapshot
    if case .server(let known) = idle.removeValue(forKey: source.url) {
      known.follow(cancellation)
      snapshot = known
    } else {
      snapshot = try server.connect(to: source, cancellation: cancellation)
    }
    taken.insert(source.url)
    return snapshot
  }

  /// Waits until nobody else reads a shared database; the lock is held.
  /// - Returns: false where it is not shared.
  private func waitFor(_ place: String, shown: String) throws(UpsurgeError) -> Bool {
    if readers[place] == nil { return false }
    let end = MonotonicClock.seconds + Double(Self.patienceMilliseconds) / 1_000
    while taken.contains(place) {
      guard MonotonicClock.seconds < end, monitor.wait(milliseconds: Self.patienceMilliseconds) else {
        throw UpsurgeError(.usage, "\(shown.escapedForTerminal) is read twice at the same time")
      }
    }
    return true
  }

  /// - Parameter connection: as `take` gave it; no statement of it is left.
  package func giveBack(_ connection: Connection, _ path: String) {
    giveBack(.file(connection), SourceName.place(of: path))
  }

  /// - Parameter snapshot: as `take` gave it.
  package func giveBack(_ snapshot: any RowSnapshot, _ source: ServerSource) {
    giveBack(snapshot.isUsable ? .server(snapshot) : nil, source.url)
  }

  private func giveBack(_ held: Held?, _ place: String) {
    monitor.lock()
    if readers[place] != nil { idle[place] = held }
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
