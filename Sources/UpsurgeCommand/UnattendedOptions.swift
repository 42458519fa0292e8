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

  func apply(to rules: inout UnattendedRules) {
    rules.keptRunCount = keepRuns.count
  }
}

extension UnattendedOptions: TableOptionGroup {
  func apply(to table: inout MirrorTable) { apply(to: &table.unattended) }
}

/// A number of runs, or `all`.
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
