import Upsurge
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// What is left to do when the ledgers of a run were seen.
struct Afterwards {
  /// Loads whose marks go.
  var loads: [EndedLoad] = []
  /// Files whose records are in the table.
  var files: [(path: String, content: DeliveredFile, done: DropFolder.Done)] = []
  /// How it went with tables that have failed before there was a database to note that in.
  var failures: [(record: FeedRecord, busyTimeout: Int32)] = []
  /// Keep other runs from the tables.
  var locks: [JobLock] = []

  /// So many loads of files that are noted wait at most: each has a connection.
  private static let loadLimit = 8

  /// Adds a file that is taken, unless nothing is to be done with it.
  mutating func add(_ path: String, _ content: DeliveredFile, _ done: DropFolder.Done) {
    if done != .leave { files.append((path, content, done)) }
  }

  /// Adds a load of a file that is noted as taken.
  mutating func add(_ load: EndedLoad) {
    if loads.count >= Self.loadLimit { loads.removeFirst().acknowledge() }
    loads.append(load)
  }

  /// Adds loads that share a connection, of files that are noted.
  mutating func add(_ group: [EndedLoad]) {
    if loads.count >= Self.loadLimit {
      EndedLoad.acknowledge(loads)
      loads = []
    }
    loads += group
  }

  /// Notes those failures, where another table has made the database since, and nobody has noted anything newer.
  mutating func noteFailures(in job: MirrorJob, _ note: (RunNote) -> Void) {
    defer { failures = [] }
    guard job.databaseIsThere else { return }
    for (record, busyTimeout) in failures {
      var record = record
      do throws(UpsurgeError) {
        let connection = try Connection(
          path: job.database, createIfMissing: false, busyTimeoutMilliseconds: busyTimeout)
        if try FeedTable.read(record.table, ownedBy: record.ownedBy, on: connection) != nil { continue }
        record.checkedAt = try RunKeeper.now(connection)
        record.failureCount = max(record.failureCount, 1)
        try FeedTable.write(record, on: connection)
      } catch {
        note(.unnoted(record.table, error, "upsurge status does not know the table"))
      }
    }
  }

  func perform(_ note: (RunNote) -> Void) {
    EndedLoad.acknowledge(loads)
    for (path, content, done) in files {
      do throws(UpsurgeError) {
        try done.apply(to: path, if: content)
      } catch {
        note(RunNote(.warning, "\(error.message); the next run tries it again (\(error.hint ?? ""))"))
      }
    }
  }
}
