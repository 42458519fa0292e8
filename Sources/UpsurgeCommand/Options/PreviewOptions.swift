import ArgumentParser
import Upsurge

/// The options that show what would happen, or what did.
struct PreviewOptions: ParsableArguments {
  @Flag(.explain) var isExplained = false

  @Flag(.explainTime) var explainsTime = false

  @Option(.dryRun) var dryRun: DryRun?

  @Option(.changes) var changes: String?

  @Option(.emitSQL) var emitSQL: String?

  @Option(.maxStatement) var maxStatement: ByteSize = .kibibytes(100)

  func apply(to options: inout LoadOptions) {
    options.isExplained = isExplained
    options.dryRun = dryRun
    options.changesPath = changes
    options.emitPath = emitSQL
    options.maxStatement = maxStatement
  }
}
