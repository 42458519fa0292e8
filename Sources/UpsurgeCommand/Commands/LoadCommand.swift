import ArgumentParser
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `upsurge load`: records of files into one table.
struct LoadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.load)

  @Argument(help: CommandGuide.load["DATABASE"], completion: .file())
  var database: String

  @Argument(help: CommandGuide.load["TABLE"])
  var table: String

  @Argument(help: CommandGuide.load["SOURCE"], completion: .file())
  var sources: [String] = []

  @OptionGroup(.input) var input: InputOptions

  @OptionGroup(.key) var upsert: UpsertOptions

  @OptionGroup(.table) var schema: SchemaOptions

  @OptionGroup(.rejects) var rejects: RejectOptions

  @OptionGroup(.transactions) var transactions: TransactionOptions

  @OptionGroup(.preview) var preview: PreviewOptions

  @Option(.stopAfter) var stopAfter: UInt64?

  @Option(.resume) var resume = LoadOptions.Transaction().resume

  @Flag(.history) var keepsHistory = false

  @Flag(.atomic) var isAtomic = false

  @Option(.direct) var direct = LoadOptions.Transaction().direct

  /// For `Benchmarks/run upsert`.
  @Option(.rowsPerStatement) var rowsPerStatement: Int?

  /// For `Benchmarks/run postgres`.
  @Flag(.withoutWalk) var isWithoutWalk = false

  @OptionGroup(.output) var output: OutputOptions

  @OptionGroup var help: HelpFlag

  func run() throws {
    var options = LoadOptions()
    try input.apply(to: &options)
    try apply(to: &options)
    options.output.summaryPath = output.summary
    try checkTable()
    var job = LoadJob(
      database: database, table: table, sources: sources.isEmpty ? ["-"] : GatheredWords.split(sources), options: options)
    job.command =
      RunCommand(folder: Self.folder, words: CommandLine.arguments.map(SourceName.redacted)).resuming
    let file = try Terminal.orExit { () throws(UpsurgeError) in
      try job.checkOutputs()
      return try output.openSummary()
    }
    let terminal = Terminal(output: output)
    noteInput(terminal)
    let control = RunControl()
    Signals.forward(to: control)
    var (isReported, isPrinted) = (true, true)
    let summary = job.run(
      control: control, note: terminal.note, tick: { terminal.show($0) },
      report: { summary in
        terminal.clearProgress()
        if let explanation = summary.explanation {
          StandardOutput.print(explanation, terminator: "")
          isPrinted = StandardOutput.finish()
        } else {
          terminal.show(summary)
          if preview.explainsTime { terminal.showTime(summary) }
        }
        isReported = file?.write(summary.json) ?? true
        return isReported
      })
    var code = summary.exitCode
    if !isPrinted, code == 0 { code = 73 }
    // The rows are committed; only the report of it failed.
    if !isReported, code == 0 || code == 2 { code = 3 }
    if code != 0 { throw ExitCode(code) }
  }

  /// Whether what stands in the table's place is a file, as it is where the table was forgotten.
  private var isTableAFile: Bool {
    var status = stat()
    return stat(table, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// A name with these signs is a file's rather than a table's.
  private var looksLikeAFile: Bool { table.contains { "./".contains($0) } }

  /// The command with a table before the file that stands in its place. The table is called as the file, up to its first dot.
  private var meantCommand: String {
    let name = table.split(separator: "/").last?.prefix { $0 != "." } ?? ""
    let isPlain = name.first?.isLetter == true && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
    // The database may be a URL with a password.
    let shown = SourceName.redacted(database).quotedForShell
    return "upsurge load \(shown) \(isPlain ? String(name) : "TABLE") \(table.quotedForShell)"
  }

  /// - Throws: `ValidationError` where a URL stands in the table's place; and where the table is missing, and nothing but a person
  ///   would be read from.
  private func checkTable() throws {
    // It may hold a password, so it is not repeated.
    if table.contains("://") {
      throw ValidationError(
        """
        a URL stands where the table is named
          fix: upsurge load DATABASE TABLE SOURCE: the URL of a server comes first, and what is read comes last
        """)
    }
    guard sources.isEmpty, isTableAFile, looksLikeAFile || isatty(STDIN_FILENO) == 1 else { return }
    throw ValidationError(
      """
      \(table.escapedForTerminal) is a file, and no table is named
        fix: \(meantCommand); a table of that name: give - after it for standard input
      """)
  }

  /// Says what a run waits for at a terminal, and that a table is called as a file is.
  private func noteInput(_ terminal: Terminal) {
    if !sources.isEmpty && isTableAFile && looksLikeAFile {
      terminal.note(
        RunNote(
          .warning,
          "\(table.escapedForTerminal) is taken for the table, and is a file; if the table is missing: \(meantCommand) …"))
    }
    if sources.isEmpty && isatty(STDIN_FILENO) == 1 {
      terminal.note(RunNote(.info, "waits for records from the terminal, which Ctrl-D ends; a SOURCE after the table is read instead"))
    }
  }

  private static var folder: String {
    guard let path = getcwd(nil, 0) else { return "." }
    defer { free(path) }
    return String(validatingCString: path) ?? "."
  }

  private func apply(to options: inout LoadOptions) throws {
    try upsert.apply(to: &options)
    try schema.apply(to: &options)
    preview.apply(to: &options.output)
    if preview.explainsTime && (output.isQuiet || preview.isExplained) {
      throw ValidationError(
        output.isQuiet
          ? "--explain-time says where the time went, and --quiet says nothing; --summary FILE holds the stages"
          : "--explain loads nothing, so there is no time to explain: leave out --explain or --explain-time")
    }
    if stopAfter == 0 { throw ValidationError("--stop-after takes at least 1") }
    options.input.recordLimit = stopAfter
    try rejects.apply(to: &options.rejects, defaultPolicy: .stop)
    transactions.apply(to: &options.transaction)
    options.transaction.resume = resume
    options.transaction.keepsHistory = keepsHistory
    options.transaction.isAtomic = isAtomic
    options.tuning.rowsPerStatement = rowsPerStatement
    options.tuning.walks = !isWithoutWalk
    options.transaction.direct = direct
  }
}
