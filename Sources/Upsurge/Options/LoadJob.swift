import UpsurgeStorage

/// One load of records into one table: what `upsurge load` does.
///
///     var options = LoadOptions()
///     options.key = ["id"]
///     let job = LoadJob(database: "app.db", table: "people", sources: ["people.csv.zst"], options: options)
///     let summary = job.run()
///     print(summary.ledger.inserted, summary.exitCode)
///
/// Two threads work while `run` waits: one reads, decompresses and parses, one owns the database connection.
public struct LoadJob: Sendable {
  /// Path of the SQLite database.
  public var database: String
  public var table: String
  /// Files, globs, URLs (`https://…`), commands (`exec:COMMAND`), or `-` for standard input, in the order in which they
  /// are read.
  public var sources: [String]
  public var options: LoadOptions
  /// The command line that asks for it, and would go on with it.
  package var command: RunCommand?

  public init(database: String, table: String, sources: [String], options: LoadOptions = LoadOptions()) {
    self.database = database
    self.table = table
    self.sources = sources
    self.options = options
  }
}
