import UpsurgeState

/// One load of records into one table: what `upsurge load` does.
///
///     var options = LoadOptions()
///     options.rules.key = ["id"]
///     let job = LoadJob(database: "app.db", table: "people", sources: ["people.csv.zst"], options: options)
///     let summary = job.run()
///     print(summary.ledger.inserted, summary.exitCode)
///
/// Two threads work while `run` waits: one reads, decompresses and parses, one owns the database connection.
public struct LoadJob: Sendable {
  /// Path of the SQLite database, or the name of one that a registered store takes: `postgres://host/database`.
  public var database: String
  public var table: String
  /// Files, globs, URLs (`https://…`), commands (`exec:COMMAND`), or `-` for standard input, in the order in which they
  /// are read.
  public var sources: [Source]
  public var options: LoadOptions
  /// The command line that asks for it, and would go on with it.
  package var command: RunCommand?

  public init(database: String, table: String, sources: [Source], options: LoadOptions = LoadOptions()) {
    self.database = database
    self.table = table
    self.sources = sources
    self.options = options
  }

  /// A job whose sources are texts, as `Source.init(_:)` reads them.
  @_disfavoredOverload
  public init(database: String, table: String, sources: [String], options: LoadOptions = LoadOptions()) {
    self.init(database: database, table: table, sources: sources.map { Source($0) }, options: options)
  }

  /// The database as it may be shown and stored: the URL of a server without its password.
  package var shownDatabase: String { SourceName.redacted(database) }

  /// The sources without what the options hide besides.
  var maskedSources: [Source] { sources.map { $0.hidden(by: options.environment.question.mask) } }
}
