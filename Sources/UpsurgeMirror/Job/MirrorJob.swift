import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tables that are kept in step with feeds, run after run: what `upsurge mirror` does.
public struct MirrorJob: Sendable {
  /// Path of the SQLite database, or the URL of one of a server that the program knows: `postgres://HOST/DATABASE`.
  public var database: String
  /// In any order; foreign keys decide which is stored first.
  public var tables: [MirrorTable]
  public var atomicity = Atomicity.table
  /// Where the job is written down, for messages; nil for one that a program or a command line has made.
  public var file: String?

  /// Whether deliveries that are the same as the last ones are read and compared all the same.
  public var verifiesAll = false
  /// Whether a feed may have another key, scope or source than the last time.
  public var acceptsChanges = false
  /// The digest of a delivery that a guard has refused: it is let through once, whatever its guards say.
  public var acceptedDelivery: String?
  /// After so many seconds the run ends at a commit, whatever table it is at; nil is never.
  public var deadline: Double?
  /// When that is, by the monotonic clock.
  var end: Double?
  /// What its sources are read from that name a database more than once.
  var databaseSnapshots: DatabaseSnapshots?
  /// What a server is asked for notes by, as long as the job runs.
  var serverShelves: ServerShelves?
  /// Whether nothing is to be changed in the end.
  public var dryRun: DryRun?

  public init(database: String, tables: [MirrorTable]) {
    self.database = database
    self.tables = tables
  }

  /// Whether the database is one of a server.
  var isOnServer: Bool { StoreRegistry.provider(of: database) != nil }

  var databaseIsThere: Bool { isOnServer || access(database, F_OK) == 0 }

  /// The database without a password.
  package var shownDatabase: String { SourceName.redacted(database) }

  /// A load into one of its tables, for what is asked of the store.
  func load(of table: MirrorTable) -> LoadJob {
    LoadJob(database: database, table: table.name, sources: [], options: table.options)
  }

  /// What becomes visible at once.
  public enum Atomicity: String, Sendable, CaseIterable {
    /// The whole job: readers never see a mix of old and new.
    case job
    /// Each delivery of a table; of tables that refer to each other, all of them.
    case table
    /// Transactions of `--commit-every`, as in a load; what is swept comes last.
    case bounded
  }
}
