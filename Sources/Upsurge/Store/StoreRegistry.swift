/// Databases of one kind that are not SQLite's.
package protocol StoreProvider: Sendable {
  /// What it is called: `PostgreSQL`.
  var name: String { get }
  /// How the names of its databases begin: `postgres://`.
  var prefixes: [String] { get }

  /// The store of a job's database.
  /// - Parameter cancellation: ends its waits.
  /// - Throws: `usage` for options that it cannot follow; what a server says that cannot be reached.
  func store(for job: LoadJob, _ cancellation: ReadCancellation) throws(UpsurgeError) -> any Store

  /// What a mirror asks of the store of a job's database.
  /// - Throws: as `store`.
  func shelf(for job: LoadJob) throws(UpsurgeError) -> any MirrorShelf

  /// What a database holds in a table of notes, in all schemas.
  func notes(in notes: NoteTable, database: String) throws(UpsurgeError) -> StoredNotes

  /// The runs that a database knows of, the oldest first.
  func runs(in database: String) throws(UpsurgeError) -> [RunRecord]

  /// Forgets a run.
  /// - Returns: false where there is no such run.
  /// - Throws: `guardRefused` where a process is at work on it.
  func forget(_ run: Int64, in database: String) throws(UpsurgeError) -> Bool
}

/// The stores that the program has beside SQLite: it registers those that it wants, as the command does with all.
package enum StoreRegistry {
  private static let providers = Guarded<[any StoreProvider]>([])

  /// Adds a store; the last one that takes a name has it.
  package static func register(_ provider: any StoreProvider) {
    providers.withLock { $0.append(provider) }
  }

  /// The store that takes a database; nil where that is SQLite.
  package static func provider(of database: String) -> (any StoreProvider)? {
    providers.withLock { providers in
      providers.last { provider in provider.prefixes.contains { database.hasPrefix($0) } }
    }
  }

  /// Makes the store of a database; nil where that is SQLite.
  static func maker(of database: String) -> StoreMaker? {
    guard let provider = provider(of: database) else { return nil }
    return { (job, cancellation) throws(UpsurgeError) in try provider.store(for: job, cancellation) }
  }
}
