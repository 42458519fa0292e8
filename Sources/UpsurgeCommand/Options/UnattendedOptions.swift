import ArgumentParser
import Upsurge
import UpsurgeMirror

/// The options that say how a table is mirrored when nobody looks.
struct UnattendedOptions: ParsableArguments {
  @Option(.keepRuns) var keepRuns: RunCount = RunCount(UnattendedRules().keptRunCount)

  @Option(.keepFiles) var keepFiles: RunCount = RunCount(UnattendedRules().keptFileCount)

  @Option(.keepRejects) var keepRejects: RunCount = RunCount(UnattendedRules().keptRejectCount)

  @Option(.keepQuarantine) var keepQuarantine: RunCount = RunCount(UnattendedRules().keptQuarantineCount)

  @Option(.deadline) var deadline: TimeLength?

  @Option(.retries) var retries: Int = 0

  @Option(.retryAfter) var retryAfter: TimeLength = TimeLength(seconds: UnattendedRules().retryPause)

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
  static let topic = OptionTopic.unattended

  func apply(to table: inout MirrorTable) throws { try apply(to: &table.unattended) }
}
