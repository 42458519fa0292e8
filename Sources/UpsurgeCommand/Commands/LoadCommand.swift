import ArgumentParser
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `upsurge load`: records of files into one table.
struct LoadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Load records into one table.",
    discussion: """
      Reads CSV, TSV, NDJSON and JSON, plain or compressed (zstd, gzip); format, compression, dialect, encoding \
      and types are found from the content and shown. A table that does not exist is created. With a key, rows \
      that exist are updated and rows that already say so are not touched.

      Examples:
        upsurge load shop.db orders orders.csv.zst --key id
        upsurge load shop.db orders 'orders-*.csv' --key region,id
        upsurge load shop.db zips zips.csv --type zip:TEXT --strict
        zcat feed.ndjson.gz | upsurge load app.db events - --key id
        upsurge load app.db feed https://example.org/feed.csv.gz --key id
        upsurge load app.db feed 'exec:pg_dump -t feed | my-filter' --key id
        upsurge load app.db orders sqlite:shop.db#orders --key id
        upsurge load app.db feed 'sqlite:shop.db?query=SELECT id, total FROM orders WHERE open' --key id
        upsurge load app.db items api.json --json-path data.items --flatten
        upsurge load app.db feed dirty.csv --on-error reject --rejects bad.ndjson
        upsurge load app.db feed dirty.csv --on-error reject --rejects table
        upsurge load app.db users feed.ndjson --key id --merge coalesce --merge newer:updated_at
        upsurge load app.db users feed.csv --key 'lower(email)' --set 'visits=visits + excluded.visits'
        upsurge load app.db users changes.csv --key id --delete-when op=D
        upsurge load app.db users feed.csv --key id --dry-run=diff
        upsurge load app.db users feed.csv --key id --explain
        upsurge load app.db users feed.csv --key id --atomic
        upsurge load app.db users feed.csv --key id --explain-time

      A URL is fetched by libcurl: redirects, retries, the rest behind a break, ~/.netrc and the proxies of the \
      environment; a body that is cut ends the load as a cut file does. Passwords in it are neither shown nor stored. \
      The output of exec:COMMAND is whole if COMMAND ends with status 0. Rows of another SQLite database are read in one \
      read transaction, and every value stays what it is.

      A load that was killed or stopped part way goes on from its last commit when the same command is given again; \
      `upsurge runs DB` lists such runs.

      Exit codes: 0 complete; 2 complete with rejects; 3 stopped part way, some work is committed; 4 refused by \
      a guard; 64 usage; 65 bad input; 66 input not readable; 73 cannot create output; 75 database busy; \
      129, 130 and 143 ended by SIGHUP, SIGINT, SIGTERM; 1 anything else.
      """)

  @Argument(help: "The SQLite database; made if it is not there.")
  var database: String

  @Argument(help: "The table; made if it is not there.")
  var table: String

  @Argument(
    help: """
      Files, globs, http:// and https:// URLs, 'exec:COMMAND' for what a command writes, sqlite:PATH#TABLE or \
      'sqlite:PATH?query=SELECT …' for rows of another database, or - for standard input (the \
      default).
      """)
  var sources: [String] = ["-"]

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

  @OptionGroup(.output) var output: OutputOptions

  func run() throws {
    var options = LoadOptions()
    try input.apply(to: &options)
    try apply(to: &options)
    options.output.summaryPath = output.summary
    var job = LoadJob(database: database, table: table, sources: GatheredWords.split(sources), options: options)
    job.command =
      RunCommand(folder: Self.folder, words: CommandLine.arguments.map(SourceName.redacted)).resuming
    let file: SummaryFile?
    do throws(UpsurgeError) {
      try job.checkOutputs()
      file = try output.openSummary()
    } catch {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
    let terminal = Terminal(output: output)
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
    options.transaction.direct = direct
  }
}
