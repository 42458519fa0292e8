import ArgumentParser
import Upsurge

/// `upsurge migrate-keys`: integer keys become UUIDs.
struct MigrateKeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.migrateKeys)

  @Argument(help: CommandGuide.migrateKeys["DATABASE"], completion: .file())
  var database: String

  @Argument(help: CommandGuide.migrateKeys["TABLE"])
  var tables: [String]

  @Option(.salt) var salt: String?

  @Flag(.dryRun, of: .migration) var dryRun = false

  @Option(.busyTimeout, of: .migration) var busyTimeout = LockTime(milliseconds: 5_000)

  @Flag(.quiet, of: .migration) var quiet = false

  @OptionGroup var help: HelpFlag

  func run() throws {
    var migration = MigrateKeys(database: database, tables: tables)
    migration.salt = salt
    migration.busyTimeout = busyTimeout.milliseconds
    migration.isDryRun = dryRun
    let control = RunControl()
    try Terminal.orExit { () throws(UpsurgeError) in
      let summary = try Terminal(isQuiet: quiet).watching(control) { () throws(UpsurgeError) in
        try migration.run(control: control)
      }
      if !quiet { Terminal.say(Self.text(summary, isDryRun: dryRun)) }
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
