import ArgumentParser
import Upsurge
import UpsurgeMirror

/// The options that say how a table is mirrored when nobody looks.
struct UnattendedOptions: ParsableArguments {
  @Option(
    help: """
      Keep so many past runs of the table in `upsurge runs`, the newest, or all. Runs that have not ended, or whose \
      ledger was not shown, stay and do not count.
      """)
  var keepRuns: RunCount = RunCount(UnattendedRules().keptRunCount)

  @Option(
    help: """
      Remember so many files of a drop folder or delta that were taken and are no longer in the folder, the newest, or all. \
      Files that are still there are always remembered. Changes whose file is forgotten are taken again if they come again.
      """)
  var keepFiles: RunCount = RunCount(UnattendedRules().keptFileCount)

  @Option(
    help: """
      Keep so many rejected records of the table in upsurge_rejects, the newest, or all. What goes cannot be replayed; \
      the run says how many went.
      """)
  var keepRejects: RunCount = RunCount(UnattendedRules().keptRejectCount)

  @Option(
    help: """
      Keep so many records of the table in upsurge_quarantine, the newest, or all. What goes is never stored; the run \
      says how many went.
      """)
  var keepQuarantine: RunCount = RunCount(UnattendedRules().keptQuarantineCount)

  @Option(
    help: ArgumentHelp(
      """
      End a run that takes longer, as a signal would, at a commit: 30m, 2h. In a job file, at the top for the whole job, \
      or for a table.
      """, valueName: "time"))
  var deadline: TimeLength?

  @Option(
    help: """
      Try a table again, so often, where its source was unreadable, its stream broke or the database was busy; never where a guard refused or \
      the input is bad.
      """)
  var retries: Int = 0

  @Option(
    help: ArgumentHelp(
      "Wait so long before a table is tried again; each further wait is twice as long, up to an hour.",
      valueName: "time"))
  var retryAfter: TimeLength = TimeLength(seconds: UnattendedRules().retryPause)

  func apply(to rules: inout UnattendedRules) throws {
    guard (0...1_000).contains(retries) else { throw ValidationError("--retries takes 0 to 1000") }
    rules.keptRunCount = keepRuns.count
    rules.keptFileCount = keepFiles.count
    rules.keptRejectCount = keepRejects.count
    rules.keptQuarantineCount = keepQuarantine.count
    rules.deadline = deadline?.seconds
    rules.retryCount = retries
    rules.retryPause = retryAfter.seconds
  }
}

extension UnattendedOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) throws { try apply(to: &table.unattended) }
}

/// A number of runs, files or records, or `all`.
struct RunCount: ExpressibleByArgument {
  /// nil for all.
  var count: UInt64?

  init(_ count: UInt64?) { self.count = count }

  init?(argument: String) {
    if argument == "all" { return }
    guard let count = UInt64(argument), count > 0 else { return nil }
    self.count = count
  }

  var defaultValueDescription: String { count.map { "\($0)" } ?? "all" }
}
