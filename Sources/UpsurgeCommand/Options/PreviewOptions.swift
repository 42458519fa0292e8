import ArgumentParser
import Upsurge

/// The options that show what would happen, or what did.
struct PreviewOptions: ParsableArguments {
  @Flag(
    name: .customLong("explain"), help: "Print the key, the SQL and the plan with its reasons; load nothing.")
  var isExplained = false

  @Flag(
    name: .customLong("explain-time"),
    help:
      "Say at the end where the time went, stage by stage, what limits the load, and which option would help."
  )
  var explainsTime = false

  @Option(
    name: .customLong("dry-run"),
    help: ArgumentHelp(
      "Do everything and roll it back. --dry-run=diff also lists the rows that would change, as NDJSON.",
      valueName: "count|diff"))
  var dryRun: DryRun?

  @Option(
    help:
      "Write each row inserted, updated or deleted to this file (NDJSON, before and after); - for standard output."
  )
  var changes: String?

  @Option(
    name: .customLong("emit-sql"),
    help: "Write the statements to this file as plain SQL; - for standard output.")
  var emitSQL: String?

  @Option(
    help:
      "The longest statement of --emit-sql, in bytes; never more than the 1,000,000 that SQLite takes by default."
  )
  var maxStatement: ByteSize = .kibibytes(100)

  func apply(to options: inout LoadOptions) {
    options.isExplained = isExplained
    options.dryRun = dryRun
    options.changesPath = changes
    options.emitPath = emitSQL
    options.maxStatement = maxStatement
  }
}
