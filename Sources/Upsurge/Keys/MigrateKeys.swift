/// Changes integer primary keys of a database's tables into UUIDs, as `upsurge migrate-keys` does.
///
///     let summary = try MigrateKeys(database: "app.db", tables: ["lists", "reminders"]).run()
///
/// All columns that refer to these keys by a declared foreign key follow, in whatever table; integers elsewhere stay. Indexes,
/// triggers and full-text tables are made again. It is one transaction, after which no reference is broken. A table whose key is
/// no integer any more stays as it is: a second run does nothing.
///
/// Full-text tables find rows by their rowid, which SQLite does not promise to keep in a VACUUM where no column is another name of it:
/// rebuild them after one.
public struct MigrateKeys: Sendable {
  /// Path of the SQLite database.
  public var database: String
  public var tables: [String]
  /// Makes the UUIDs others than those of other databases; nil makes the same ones of the same table and key everywhere.
  public var salt: String?
  /// How long to wait for a lock, in milliseconds.
  public var busyTimeout: Int32 = 5_000
  /// Whether all of it is tried and taken back.
  public var isDryRun = false

  public init(database: String, tables: [String]) {
    self.database = database
    self.tables = tables
  }

  /// Runs it; blocks the calling thread.
  /// - Parameters:
  ///   - control: shows the progress to any thread.
  ///   - note: is told the name of each table as it is begun.
  /// - Throws: `usage` for a table that is missing, or whose key is not one integer column. `guardRefused` where references are
  ///   broken, a feed mirrors the table, or a load into it is at work or ended early. `unreadableInput`, `databaseBusy`,
  ///   `database`. Nothing has changed then.
  public func run(
    control: RunControl = RunControl(), note: (String) -> Void = { _ in }
  ) throws(UpsurgeError) -> KeyMigrationSummary {
    let connection = try Connection(
      path: database, createIfMissing: false, busyTimeoutMilliseconds: busyTimeout)
    control.note(stage: .migrating)
    return try KeyMigration.run(
      tables, salt: salt, isTrial: isDryRun, on: connection, note: note,
      tick: { step in
        switch step {
        case .work(let words):
          control.note(records: 0, rejects: 0)
          control.note(totalRecords: 0)
          control.note(stage: .migrating, work: words)
        case .total(let count): control.note(totalRecords: count)
        case .done(let count): control.note(records: count, rejects: 0, stage: .migrating)
        }
      })
  }

  /// The UUID that the row of a table with this key gets: its MD5 hash of `TABLE:ID`, or `TABLE:ID:SALT`, in lower case.
  public static func uuid(of key: Int64, in table: String, salt: String? = nil) -> String {
    KeyMigration.uuid(of: key, in: table, salt: salt)
  }
}
