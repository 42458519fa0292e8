import ArgumentParser
import Upsurge
import UpsurgeBench
import UpsurgePostgresBench

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `upsurge bench`: what this machine can do, or a server.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.bench)

  @Argument(
    help: CommandGuide.bench["SUITE|URL"], completion: .list(BenchJob.Suite.allCases.map(\.rawValue)))
  var subject: [String] = []

  @Option(.file) var file: String?

  @Option(.key, of: .bench) var key: String?

  @Option(.rows) var rows: UInt64?

  @Option(.rounds) var rounds: Int?

  @Option(.compare) var peerList: String?

  @Option(.memory, of: .bench) var memory = LoadOptions.Transaction().memory

  @Option(.scratch) var scratch: String?

  @Option(.json, of: .bench) var json: String?

  @Option(.html, of: .bench) var html: String?

  @Flag(.quiet, of: .bench) var isQuiet = false

  @Option(.progress, of: .bench) var progress: ProgressPolicy = .auto

  @OptionGroup var help: HelpFlag

  func run() throws {
    let subject = try BenchSubject(subject)
    if html == "-" { throw ValidationError("--html takes a file: standard output is for the table") }
    switch subject {
    case .suite(let suite):
      let job = try job(suite)
      let count = Words.count(job.rowCount ?? BenchJob.defaultRowCount, "row")
      let beginning =
        job.file.map { "reading \($0), and loading it once without counting" }
        ?? "making \(count), and loading them once without counting"
      try measure(beginning, interrupted: "interrupted; the scratch folder is removed") { control, progress throws(UpsurgeError) in
        try job.run(control: control, progress: progress)
      }
    case .server(let url):
      let job = try serverJob(url)
      let count = Words.count(job.rowCount ?? ServerBenchJob.defaultRowCount, "row")
      try measure("making \(count), and storing them on the server for comparisons") { control, progress throws(UpsurgeError) in
        try job.run(control: control, progress: progress)
      }
    }
  }

  private func job(_ suite: BenchJob.Suite) throws -> BenchJob {
    var job = BenchJob()
    job.suite = suite
    job.file = file
    job.options.rules.key = try key.map { try NameList.parse($0, option: "--key") } ?? []
    job.options.transaction.memory = memory
    job.rowCount = rows
    job.roundCount = rounds
    job.peers = try peers()
    job.scratch = scratch
    job.command = Self.command
    return job
  }

  private func serverJob(_ url: String) throws -> ServerBenchJob {
    let given = [
      (file != nil, "--file", "the rows are made here"), (key != nil, "--key", "the rows that are made have the key id"),
      (peerList != nil, "--compare", "what is compared are COPY and statements written by hand"),
    ]
    for (isGiven, option, reason) in given where isGiven {
      throw ValidationError("\(option) does not apply to a server: \(reason)\n  fix: leave out \(option)")
    }
    var job = ServerBenchJob(url: url)
    job.options.transaction.memory = memory
    job.rowCount = rows
    job.roundCount = rounds
    job.scratch = scratch
    job.command = Self.command
    return job
  }

  /// The command line without passwords.
  private static var command: [String] { ["upsurge"] + CommandLine.arguments.dropFirst().map(SourceName.redacted) }

  /// Measures, and shows what came out.
  /// - Parameters:
  ///   - beginning: what is done before the first round.
  ///   - interrupted: what is said after a signal; nil is what the benchmark says itself.
  private func measure(
    _ beginning: String, interrupted: String? = nil,
    _ run: (RunControl, (BenchJob.Progress) -> Void) throws(UpsurgeError) -> any BenchOutput
  ) throws {
    let control = RunControl()
    let code: Int32
    do throws(UpsurgeError) {
      let jsonFile = try json.map { (path) throws(UpsurgeError) in
        try SummaryFile(opening: path, option: "--json", noun: "report")
      }
      let htmlFile = try html.map { (path) throws(UpsurgeError) in
        try SummaryFile(opening: path, option: "--html", noun: "report")
      }
      Signals.forward(to: control)
      let line = BenchProgressLine(policy: progress, isQuiet: isQuiet)
      defer { line.clear() }
      line.say(beginning)
      let report = try run(control) { line.show($0) }
      line.clear()
      code = Self.write(report, jsonFile, htmlFile)
    } catch {
      let signal = control.cancellationSignal
      let words = signal == nil ? nil : interrupted
      Terminal.say("upsurge: \(Terminal.visible(words ?? error.description))\n")
      throw ExitCode(signal.map { 128 + $0 } ?? error.exitCode(hasCommittedWork: false))
    }
    if code != 0 { throw ExitCode(code) }
  }

  /// - Returns: the exit code.
  private static func write(_ report: any BenchOutput, _ json: SummaryFile?, _ html: SummaryFile?) -> Int32 {
    var isWritten = true
    if json?.path != "-" { StandardOutput.print(report.text, terminator: "") }
    if !StandardOutput.finish() { isWritten = false }
    if let json, !json.write(report.json) { isWritten = false }
    if let html, !html.write(Array(report.html.utf8)) { isWritten = false }
    if !isWritten { return 73 }
    return report.hasFailure ? 2 : 0
  }

  private func peers() throws -> [BenchPeer] {
    guard let peerList else { return [] }
    var peers: [BenchPeer] = []
    for name in peerList.split(separator: ",", omittingEmptySubsequences: false) {
      guard let peer = BenchPeer(rawValue: String(name)) else {
        let known = BenchPeer.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--compare \(name) is not known; known: \(known)")
      }
      if !peers.contains(peer) { peers.append(peer) }
    }
    return peers
  }
}

/// What is being measured, on standard error.
private final class BenchProgressLine {
  private let isDrawing: Bool
  private let isTalking: Bool
  private var isDrawn = false
  private var round = 0

  init(policy: ProgressPolicy, isQuiet: Bool) {
    isTalking = !isQuiet && policy != .never
    isDrawing = isTalking && (policy == .always || isatty(STDERR_FILENO) == 1)
  }

  func show(_ progress: BenchJob.Progress) {
    if isDrawing {
      say("round \(progress.round) of \(progress.roundCount): \(progress.contender)")
    } else if progress.round > round {
      round = progress.round
      say("round \(progress.round) of \(progress.roundCount)")
    }
  }

  func clear() {
    if isDrawn { Terminal.say("\r\u{1B}[K") }
    isDrawn = false
    Signals.isProgressDrawn.store(false, ordering: .relaxed)
  }

  /// Says what is done now.
  func say(_ text: String) {
    guard isTalking else { return }
    if isDrawing {
      Terminal.say("\r\u{1B}[K" + text.escapedForTerminal)
      isDrawn = true
      Signals.isProgressDrawn.store(true, ordering: .relaxed)
    } else {
      Terminal.say(text.escapedForTerminal + "\n")
    }
  }
}
