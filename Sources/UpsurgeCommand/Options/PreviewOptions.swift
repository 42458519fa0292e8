import ArgumentParser
import Upsurge

/// The options that show what would happen, or what did.
struct PreviewOptions: ParsableArguments {
  @Flag(.explain) var isExplained = false

  @Flag(.explainTime) var explainsTime = false

  @Option(.dryRun) var dryRun: DryRun?

  @Option(.changes) var changes: String?

  @Option(.emitSQL) var emitSQL: String?

  @Option(.maxStatement) var maxStatement = LoadOptions.Output().maxStatement

  func apply(to output: inout LoadOptions.Output) {
    output.isExplained = isExplained
    output.dryRun = dryRun
    output.changesPath = changes
    output.emitPath = emitSQL
    output.maxStatement = maxStatement
  }
}
