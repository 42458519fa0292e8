import ArgumentParser
import Upsurge
import UpsurgeMirror

/// `upsurge mirror`: tables that are kept in step with feeds.
struct MirrorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.mirror)

  @Argument(help: CommandGuide.mirror["DATABASE"], completion: .file())
  var database: String?

  @Argument(help: CommandGuide.mirror["JOB"], completion: .file())
  var job: String?

  @Option(.table) var tableWords: [String] = []

  var tables: [String] { GatheredWords.split(tableWords) }

  @Option(.source) var sourceWords: [String] = []

  var sources: [String] { GatheredWords.split(sourceWords) }

  @Option(.atomic, of: .mirror) var atomic: MirrorJob.Atomicity?

  @Flag(.schema) var printsSchema = false

  @Flag(.checkJob) var checksJob = false

  @Flag(.check) var checksSchema = false

  @Option(.dryRun, of: .mirror) var dryRun: DryRun?

  @Flag(.verify) var verify = false

  @Flag(.acceptChange) var acceptsChange = false

  @Option(.acceptDelivery) var acceptedDelivery: String?

  @Option(.metrics) var metrics: String?

  @OptionGroup(.forgetting) var forgetting: ForgetOptions

  @OptionGroup(.schedulers) var schedule: ScheduleOptions

  @OptionGroup var options: TableOptions

  @OptionGroup(.output) var output: OutputOptions

  @OptionGroup(.log) var logging: LogOptions

  @OptionGroup var help: HelpFlag

  func run() throws {
    let terminal = Terminal(output: output, log: logging.log)
    if let table = forgetting.forget { return try forget(table, terminal) }
    if printsSchema {
      StandardOutput.print(JobSchema.text, terminator: "")
    } else {
      let file: JobFile
      do {
        file = try readJob(words: CommandLine.arguments)
        if checksJob {
          try file.job.checkServer()
          try file.job.checkSQL()
        }
        if schedule.isAsked { try printSchedule() }
      } catch let error as UpsurgeError {
        terminal.show(error)
        throw ExitCode(error.exitCode(hasCommittedWork: false))
      }
      if checksJob {
        StandardOutput.print(JobText.text(file), terminator: "")
      } else if checksSchema {
        return try check(file, terminal)
      } else if !schedule.isAsked {
        return try perform(file, terminal)
      }
    }
    if !StandardOutput.finish() { throw ExitCode(73) }
  }

  /// Says what of the schema the feeds cannot follow.
  private func check(_ file: JobFile, _ terminal: Terminal) throws {
    let warnings: [SchemaWarning]
    do throws(UpsurgeError) {
      warnings = try file.job.check()
    } catch {
      terminal.show(error)
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
    for warning in warnings { StandardOutput.print(warning.description) }
    if warnings.allSatisfy(\.isNote) {
      let count = Words.count(UInt64(file.job.tables.count), "table")
      StandardOutput.print(
        "nothing speaks against the job: \(count) of \(file.job.shownDatabase.escapedForTerminal)")
    }
    if !StandardOutput.finish() { throw ExitCode(73) }
    if !warnings.allSatisfy(\.isNote) { throw ExitCode(2) }
  }

  /// Runs the job.
  private func perform(_ file: JobFile, _ terminal: Terminal) throws {
    var job = file.job
    job.dryRun = dryRun
    job.verifiesAll = verify
    job.acceptsChanges = acceptsChange
    job.acceptedDelivery = acceptedDelivery?.lowercased()
    let summaryFile: SummaryFile?
    let metricsFile: MetricsFile?
    do throws(UpsurgeError) {
      summaryFile = try output.openSummary()
      metricsFile = try metrics.map { (path) throws(UpsurgeError) in try MetricsFile(path) }
    } catch {
      terminal.show(error)
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
    let control = RunControl()
    Signals.forward(to: control)
    var isReported = true
    // Also while no table is read: tables of one transaction are swept and committed together.
    let drawer = terminal.draw(control, needsTable: true)
    let summary = job.run(
      control: control, note: terminal.note,
      tableDone: { table in terminal.withoutProgress { terminal.show(table, in: job) } },
      report: { summary in
        isReported = summaryFile?.write(summary.json) ?? true
        return isReported
      })
    drawer?.end()
    terminal.show(summary)
    if let metricsFile, !metricsFile.write(summary) { isReported = false }
    var code = summary.exitCode
    // The rows are committed; only the report of it failed.
    if !isReported, code == 0 || code == 2 { code = 3 }
    if code != 0 { throw ExitCode(code) }
  }

  /// The job that the command line asks for, from a file or by flags alone.
  /// - Parameter words: the command line, which shows what options are given and what are not.
  /// - Throws: `UpsurgeError` for the file, `ValidationError` for the command line.
  func readJob(words: [String]) throws -> JobFile {
    guard let database else { throw ValidationError("give the database: upsurge mirror DB JOB") }
    guard let job else { return JobFile(job: try jobOfFlags(database: database), words: [:]) }
    let given = words.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) }
    let tableOptions = Set(OptionCatalogue.keys.map(\.option) + ["--source", "--atomic"])
    if let option = given.first(where: { tableOptions.contains($0) && $0 != "--deadline" }) {
      throw ValidationError(
        "\(option) is said in the job file; on the command line it is for a table without one")
    }
    var file = try JobFileReader.read(job, database: database)
    if let deadline = options.unattended.deadline { file.job.deadline = deadline.seconds }
    if tables.isEmpty { return file }
    let known = file.job.tables
    for name in tables where !known.contains(where: { SQLName.isSame($0.name, name) }) {
      let nearest = NearestWord.find(name, in: known.map(\.name)).map { "; did you mean \($0)?" } ?? ""
      throw ValidationError("--table \(name) is not in the job\(nearest)")
    }
    file.job.tables.removeAll { table in !tables.contains { SQLName.isSame($0, table.name) } }
    return file
  }

  private func jobOfFlags(database: String) throws -> MirrorJob {
    guard tables.count == 1, let name = tables.first, !sources.isEmpty else {
      throw ValidationError("give a job file, or one --table and its --source")
    }
    var table = MirrorTable(name: name, sources: sources)
    try options.apply(to: &table)
    do throws(UpsurgeError) {
      try table.options.validate()
    } catch {
      throw ValidationError(error.message + (error.hint.map { "\n  fix: \($0)" } ?? ""))
    }
    if name.isEmpty || OwnTable.isOwn(name) { throw ValidationError("--table \(name): give another table") }
    for source in table.sources {
      guard let fault = SourceFault.of(source) else { continue }
      throw ValidationError("--source \(fault.message)" + (fault.hint.map { "\n  fix: \($0)" } ?? ""))
    }
    if table.sources.filter(\.isStandardInput).count > 1 {
      throw ValidationError("--source names standard input twice, but it can be read only once")
    }
    if let conflict = SweepConflict.of(table) {
      throw ValidationError(
        "--\(conflict.key): \(conflict.message)" + (conflict.commandHint.map { "\n  fix: \($0)" } ?? ""))
    }
    var job = MirrorJob(database: database, tables: [table])
    job.atomicity = atomic ?? .table
    return job
  }
}
