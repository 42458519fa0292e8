import ArgumentParser
import Upsurge
import UpsurgeMove

/// `upsurge move`: a database from one kind of store to the other.
struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.move)

  @Argument(help: CommandGuide.move["SOURCE"], completion: .file())
  var source: String

  @Argument(help: CommandGuide.move["TARGET"], completion: .file())
  var target: String

  @Option(.table, of: .move) var tableWords: [String] = []

  @Option(.except, of: .move) var exceptionWords: [String] = []

  @Option(.type, of: .move) var typeWords: [String] = []

  @Option(.schema, of: .move) var schema = "public"

  @Flag(.dryRun, of: .move) var isDryRun = false

  @Flag(.explain, of: .move) var isExplained = false

  @Option(.memory, of: .move) var memory = ByteSize.mebibytes(64)

  @Option(.busyTimeout, of: .move) var busyTimeout = LockTime(milliseconds: 5_000)

  @OptionGroup(.output) var output: OutputOptions

  @OptionGroup var help: HelpFlag

  func run() throws {
    if memory.byteCount < 16 << 20 { throw ValidationError("--memory takes at least 16MiB") }
    let file = try Terminal.orExit { () throws(UpsurgeError) in try output.openSummary() }
    let terminal = Terminal(output: output)
    let control = RunControl()
    Signals.forward(to: control)
    let drawer = terminal.draw(control)
    let summary = job.run(control: control, note: terminal.note)
    drawer?.end()
    var code = summary.exitCode
    if let error = summary.error { terminal.show(error) }
    if job.isPlanOnly, let plan = summary.plan, summary.error == nil {
      StandardOutput.print(Terminal.visible(MoveText.plan(plan, showsSQL: isExplained)), terminator: "")
      if !StandardOutput.finish() { code = 73 }
    } else if !output.isQuiet {
      Terminal.say(Terminal.visible(MoveText.text(summary)))
    }
    if let file, !file.write(summary.json), code == 0 { code = 3 }
    if code != 0 { throw ExitCode(code) }
  }

  private var job: MoveJob {
    var job = MoveJob(source: source, target: target)
    job.schema = schema
    job.tables = GatheredWords.split(tableWords)
    job.exceptions = GatheredWords.split(exceptionWords)
    job.types = GatheredWords.split(typeWords)
    job.isPlanOnly = isDryRun || isExplained
    job.memory = memory
    job.busyTimeout = busyTimeout.milliseconds
    return job
  }
}
