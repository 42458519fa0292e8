import ArgumentParser
import Upsurge

/// `upsurge inspect`: what a source looks like, or all that is wrong with it.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.inspect)

  @Argument(help: CommandGuide.inspect["SOURCE"], completion: .file())
  var source: String

  /// Words after the source, which only `run` can say something useful of.
  @Argument(help: .hidden)
  var others: [String] = []

  @OptionGroup(.input) var input: InputOptions

  @OptionGroup(.values) var values: ValueOptions

  @Option(.key, of: .inspect) var key: String?

  @Option(.table, of: .inspect) var table: String = "records"

  @Flag(.strict, of: .inspect) var isStrict = false

  @Flag(.check, of: .inspect) var isCheck = false

  @Option(.summary, of: .inspect) var summary: String?

  @OptionGroup var help: HelpFlag

  func run() throws {
    if let other = others.first { throw surplus(other) }
    if DatabaseDescription.isDatabase(source) { return try describeDatabase() }
    if let server = Source(source).serverParts, !isCheck {
      switch server.rows {
      case nil: return try describe(server, table: nil)
      case .table(let table): return try describe(server, table: table)
      // What a query gives is a source like any other.
      case .query: break
      }
    }
    if summary != nil {
      throw ValidationError("--summary is for databases, and \(SourceName.shown(source)) is not one")
    }
    var options = LoadOptions()
    try input.apply(to: &options)
    try values.apply(to: &options)
    options.rules.key = try key.map { try NameList.parse($0, option: "--key") } ?? []
    options.table.isStrict = isStrict
    let job = InspectJob(source: source, options: options)
    try Terminal.orExit { () throws(UpsurgeError) in
      var code = isCheck ? try check(job) : try describe(job)
      if !StandardOutput.finish(), code == 0 { code = 73 }
      if code != 0 { Root.exit(withError: ExitCode(code)) }
    }
  }

  /// What is said of a second word: a table of a database is a part of the source's name.
  private func surplus(_ word: String) -> ValidationError {
    let isServer = Source(source).serverParts.map { $0.rows == nil } ?? false
    let isDatabase = DatabaseDescription.isDatabase(source)
    // A URL may hold a password, so it is not repeated.
    let shown = word.contains(":") ? "a second one" : word.escapedForTerminal
    guard others.count == 1, isServer || isDatabase, !word.contains(":") else {
      return ValidationError("one source is inspected at a time, and \(shown) stands after it")
    }
    let name = isServer ? "\(SourceName.redacted(source))#\(word)" : "sqlite:\(source)#\(word)"
    return ValidationError(
      """
      the table \(shown) stands beside the database, and is a part of the source's name
        fix: upsurge inspect \(name.quotedForShell)
      """)
  }

  private func describeDatabase() throws {
    var code: Int32 = 0
    do throws(UpsurgeError) {
      let file = try summary.map { (path) throws(UpsurgeError) in try SummaryFile(opening: path) }
      let control = RunControl()
      let database = try Terminal().watching(control) { () throws(UpsurgeError) in
        try DatabaseDescription(path: source, isCheck: isCheck, control: control)
      }
      if summary != "-" { StandardOutput.print(DatabaseText.text(database), terminator: "") }
      if !StandardOutput.finish() { code = 73 }
      if !database.damages.isEmpty { code = 65 }
      if let file, !file.write(database.json) { code = 73 }
    } catch {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
      code = error.exitCode(hasCommittedWork: false)
    }
    if code != 0 { throw ExitCode(code) }
  }

  private func describe(_ server: Source.ServerParts, table: String?) throws {
    var code: Int32 = 0
    do throws(UpsurgeError) {
      let file = try summary.map { (path) throws(UpsurgeError) in try SummaryFile(opening: path) }
      let control = RunControl()
      let database = try Terminal().watching(control) { () throws(UpsurgeError) in
        try ServerDescription(of: server, table: table, control: control)
      }
      if summary != "-" { StandardOutput.print(ServerText.text(database), terminator: "") }
      if !StandardOutput.finish() { code = 73 }
      if let file, !file.write(database.json) { code = 73 }
    } catch {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
      code = error.exitCode(hasCommittedWork: false)
    }
    if code != 0 { throw ExitCode(code) }
  }

  private func describe(_ job: InspectJob) throws(UpsurgeError) -> Int32 {
    let control = RunControl()
    let found = try Terminal().watching(control) { () throws(UpsurgeError) in
      try job.describe(table: table, control: control)
    }
    StandardOutput.print(found.summary.escapedForTerminal)
    for remark in found.remarks { StandardOutput.print("note: \(remark.escapedForTerminal)") }
    if found.isFromSample { StandardOutput.print("types from the first MiB; --infer full reads all of it") }
    let nameWidth = found.columns.map(\.name.count).max() ?? 0
    for column in found.columns {
      let padding = String(repeating: " ", count: nameWidth - column.name.count)
      let examples = column.examples.map { $0.escapedForTerminal }.joined(separator: ", ")
      let nulls = column.nullCount > 0 ? "  (\(Words.count(column.nullCount)) NULL)" : ""
      let type = column.type.isEmpty ? "(any)" : column.type
      StandardOutput.print(
        "  \(column.name.escapedForTerminal)\(padding)  \(type.escapedForTerminal)  \(examples)\(nulls)")
    }
    if let sql = found.createTable { StandardOutput.print(Terminal.visible(sql)) }
    if !found.proposedOptions.isEmpty {
      let words = found.proposedOptions.joined(separator: " ")
      StandardOutput.print(
        "to load it: upsurge load DB \(table.quotedForShell) \(source.quotedForShell) \(words)"
          .escapedForTerminal)
    }
    return 0
  }

  private func check(_ job: InspectJob) throws(UpsurgeError) -> Int32 {
    let control = RunControl()
    let result = try Terminal().watching(control) { () throws(UpsurgeError) in
      try job.check(control: control) { reject in
        StandardOutput.print(
          "\(reject.position): \(reject.reason) [\(reject.code.rawValue)]".escapedForTerminal)
      }
    }
    for remark in result.remarks { StandardOutput.print(remark.escapedForTerminal) }
    for entry in result.warnings.entries {
      StandardOutput.print(
        "\(LedgerText.mark(of: entry.code)): \(Words.count(entry.count)) \(entry.code.rawValue), first at \(entry.first)"
          .escapedForTerminal
      )
    }
    if result.recordCount > 0 || result.remarks.isEmpty {
      StandardOutput.print(
        "\(Words.count(result.recordCount, "record")), \(Words.count(result.rejectCount)) with errors")
    }
    return result.rejectCount > 0 ? 65 : 0
  }
}
