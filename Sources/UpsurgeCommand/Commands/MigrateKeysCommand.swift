import ArgumentParser
import Upsurge

/// `upsurge migrate-keys`: integer keys become UUIDs.
struct MigrateKeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate-keys",
    abstract: "Change integer primary keys into UUIDs, with all that refers to them.",
    discussion: """
      Rows of several devices can share a table only where their keys cannot be the same by chance. Each row's UUID is \
      the MD5 hash of TABLE:ID, so that every copy of a database comes to the same ones; with --salt, of TABLE:ID:SALT. \
      Columns of any table that refer to these keys by a declared foreign key follow, others stay as they are; indexes, triggers and full-text tables are made again. \
      It is one transaction: where anything fails, or a reference would be broken, nothing changes. A table whose key is no \
      integer any more stays as it is. Make a copy first: there is no way back.

      Examples:
        sqlite3 app.db "VACUUM INTO 'before.db'"
        upsurge migrate-keys app.db lists reminders --dry-run
        upsurge migrate-keys app.db lists reminders

      Exit codes: 0; 4 references are broken, or a feed or a load that has not ended would bring integers again; 64 usage; 66 no such database; 75 database busy; \
      1 anything else.
      """)

  @Argument(help: "The SQLite database.")
  var database: String

  @Argument(help: "Tables whose keys become UUIDs; name all that belong together.")
  var tables: [String]

  @Option(.salt) var salt: String?

  @Flag(.dryRun, of: .migration) var dryRun = false

  @Option(.busyTimeout, of: .migration) var busyTimeout: Int32 = 5_000

  @Flag(.quiet, of: .migration) var quiet = false

  func run() throws {
    var migration = MigrateKeys(database: database, tables: tables)
    migration.salt = salt
    migration.busyTimeout = busyTimeout
    migration.isDryRun = dryRun
    let control = RunControl()
    do throws(UpsurgeError) {
      let summary = try Terminal(isQuiet: quiet).watching(control) { () throws(UpsurgeError) in
        try migration.run(control: control)
      }
      if !quiet { Terminal.say(Self.text(summary, isDryRun: dryRun)) }
    } catch {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
  }

  /// What was done, in words.
  static func text(_ summary: KeyMigrationSummary, isDryRun: Bool) -> String {
    var lines = summary.tables.map { table in
      let columns = table.columns.joined(separator: ", ")
      return "\(table.name): UUIDs in \(columns), \(table.rowCount) row\(table.rowCount == 1 ? "" : "s")"
    }
    lines += summary.migratedBefore.map { "\($0): its key is no integer, nothing to do" }
    if isDryRun && !summary.tables.isEmpty { lines.append("dry run: nothing was changed") }
    return lines.map { $0.escapedForTerminal + "\n" }.joined()
  }
}
