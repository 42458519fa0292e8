import Upsurge
import UpsurgeRecords

/// What a job asks a server for its notes by: a connection for each table, as long as the run lasts.
final class ServerShelves: @unchecked Sendable {
  // Sendable because only the thread that a job runs on asks it.

  private var shelves: [String: any MirrorShelf] = [:]

  /// The notes of a table.
  /// - Parameter job: a load into the table.
  /// - Returns: nil where the database is a file.
  /// - Throws: `usage` for options that do not apply to the server; what it says that cannot be reached.
  func shelf(of job: LoadJob) throws(UpsurgeError) -> (any MirrorShelf)? {
    guard let provider = StoreRegistry.provider(of: job.database) else { return nil }
    if let known = shelves[job.table] { return known }
    let made = try provider.shelf(for: job)
    shelves[job.table] = made
    return made
  }
}
