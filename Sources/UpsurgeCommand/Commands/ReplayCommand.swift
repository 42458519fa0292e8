import ArgumentParser
import Upsurge

/// `upsurge replay`: kept and rejected records into the tables that take them by now.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.replay)

  @Argument(help: CommandGuide.replay["DATABASE"], completion: .file())
  var database: String

  @Argument(help: CommandGuide.replay["FILE"], completion: .file())
  var file: String?

  @Option(.durability, of: .replay) var durability: ReplayDurability = .normal

  @Option(.commitEvery, of: .replay) var commitEvery = ReplayOptions().commitEvery

  @Option(.walLimit, of: .replay) var walLimit = ReplayOptions().walLimit

  @Option(.memory, of: .replay) var memory = ReplayOptions().memory

  @Option(.blobFolder, of: .replay) var blobFolder: String?

  @Flag(.trustRules) var trustRules = false

  @Option(.busyTimeout, of: .replay) var busyTimeout = LockTime(milliseconds: ReplayOptions().busyTimeout)

  @Flag(.explainTime, of: .replay) var explainsTime = false

  @OptionGroup(.output) var output: OutputOptions

  @OptionGroup var help: HelpFlag

  func run() throws {
    if explainsTime && output.isQuiet {
      throw ValidationError(
        "--explain-time says where the time went, and --quiet says nothing; --summary FILE holds the stages")
    }
    if file == "-" {
      throw ValidationError("replay takes records out of the file as it stores them: give its path, not -")
    }
    var options = ReplayOptions()
    options.durability = durability == .full ? .full : .normal
    options.commitEvery = commitEvery
    options.walLimit = walLimit
    options.memory = memory
    options.busyTimeout = busyTimeout.milliseconds
    options.blobFolder = blobFolder
    options.trustsRules = trustRules
    let job = ReplayJob(database: database, file: file, options: options)
    let summaryFile = try Terminal.orExit { () throws(UpsurgeError) in
      try job.checkSummary(path: output.summary)
      return try output.openSummary()
    }
    let terminal = Terminal(output: output)
    let control = RunControl()
    Signals.forward(to: control)
    var isReported = true
    let drawer = terminal.draw(control)
    let summary = job.run(
      control: control, note: terminal.note,
      report: { summary in
        drawer?.end()
        terminal.show(summary)
        if explainsTime { terminal.showTime(summary) }
        isReported = summaryFile?.write(summary.json) ?? true
        return isReported
      })
    var code = summary.exitCode
    // The rows are committed; only the report of it failed.
    if !isReported, code == 0 || code == 2 { code = 3 }
    if code != 0 { throw ExitCode(code) }
  }
}
