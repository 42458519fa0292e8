import ArgumentParser
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `upsurge runs`: what a database knows of past runs.
struct RunsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.runs)

  @Argument(help: CommandGuide.runs["DATABASE"], completion: .file())
  var database: String

  @Flag(.json) var json = false

  @Option(.forget, of: .runs) var forget: Int64?

  @Option(.busyTimeout, of: .runs) var busyTimeout = LockTime(milliseconds: 5_000)

  @OptionGroup var help: HelpFlag

  func run() throws {
    do throws(UpsurgeError) {
      if let forget { return try PastRun.forget(forget, database: database, busyTimeout: busyTimeout.milliseconds) }
      let runs = try PastRun.all(database: database)
      let bytes = json ? PastRun.json(runs) : Array(RunsText.text(runs, database: database).utf8)
      if !Terminal.write(bytes, to: STDOUT_FILENO) {
        throw UpsurgeError(.cannotCreate, "standard output is closed")
      }
    } catch {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
  }
}

/// Past runs in words.
enum RunsText {
  static func text(_ runs: [PastRun], database: String) -> String {
    if runs.isEmpty { return "no run is listed in \(SourceName.shown(database))\n" }
    return runs.map { text($0, database: database) }.joined(separator: "\n") + "\n"
  }

  private static func text(_ run: PastRun, database: String) -> String {
    var lines = [
      "run \(run.id) · \(run.table) · \(state(run)) · began \(run.startedAt), last commit \(run.updatedAt) · "
        + Words.seconds(run.seconds)
    ]
    lines.append("  from \(run.sources.joined(separator: ", "))")
    let shown = run.ledger.entries.filter { $0.word == "read" || $0.count > 0 }
    lines.append("  " + shown.map { "\($0.word) \(Words.count($0.count))" }.joined(separator: " · "))
    if run.state == .stopped || run.state == .running, let place = run.committedThrough {
      lines.append("  committed up to \(place)")
    }
    if run.state == .stopped && !run.isResumable {
      lines.append(
        "  delete its rows, or keep them; then `upsurge runs \(SourceName.redacted(database).quotedForShell) --forget \(run.id)`, and load from a file or "
          + "with --atomic")
    } else if run.state == .stopped || run.state == .unseen, let command = run.command {
      lines.append("  \(command)")
      if run.state == .stopped && !run.saysOnError {
        lines.append("  if a bad record has stopped it, add --on-error reject --rejects FILE")
      }
    }
    return lines.map { $0.escapedForTerminal }.joined(separator: "\n")
  }

  private static func state(_ run: PastRun) -> String {
    switch run.state {
    case .running: "running as process \(run.pid ?? 0)"
    case .stopped:
      run.isResumable
        ? "stopped part way; the same command goes on"
        : "stopped part way, and cannot go on, as a \(run.sources.contains { Source($0).isFeed } ? "URL or command" : "pipe") "
          + "cannot be read again"
    case .unseen: "complete; the same command shows its ledger"
    case .ended: "ended with exit code \(run.exitCode ?? 0)"
    }
  }
}
