import ArgumentParser
import Upsurge
import UpsurgeMirror

/// `upsurge status`: how mirrored tables stand.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(CommandGuide.status)

  @Argument(help: CommandGuide.status["DATABASE"], completion: .file())
  var database: String

  @Option(.maxAge) var maxAge: TimeLength?

  @Flag(.json, of: .status) var isJSON = false

  @Option(.html, of: .status) var html: String?

  @OptionGroup var help: HelpFlag

  func run() throws {
    if html == "-" { throw ValidationError("--html takes a file: standard output is for the list") }
    let feeds: [FeedStatus]
    let page: (file: PageFile, html: String)?
    do throws(UpsurgeError) {
      feeds = try FeedStatus.all(database: database)
      page = try html.map { (path) throws(UpsurgeError) in
        let report = try MirrorReport(database: database, feeds: feeds, maximumAge: maxAge?.seconds)
        return (try PageFile(path, option: "--html", noun: "page"), report.html)
      }
    } catch {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
    let limit = maxAge?.seconds
    if isJSON {
      StandardOutput.print(
        String(decoding: FeedStatus.json(feeds, maximumAge: limit), as: UTF8.self), terminator: "")
    } else {
      for feed in feeds { StandardOutput.print(Terminal.visible(StatusText.text(feed, maximumAge: limit))) }
    }
    if feeds.isEmpty {
      Terminal.say(
        "upsurge: \(Terminal.visible(SourceName.redacted(database))) mirrors nothing yet\n  fix: upsurge mirror \(SourceName.redacted(database).quotedForShell) JOB.yaml\n"
      )
    }
    let isWritten = page.map { $0.file.write(Array($0.html.utf8)) } ?? true
    guard StandardOutput.finish(), isWritten else { throw ExitCode(73) }
    if feeds.isEmpty || !feeds.allSatisfy({ $0.isGood(maximumAge: limit) }) { throw ExitCode(1) }
  }
}

/// How one table stands, in words.
enum StatusText {
  static func text(_ feed: FeedStatus, maximumAge: Double?) -> String {
    let isGood = feed.isGood(maximumAge: maximumAge)
    var line = isGood ? "ok    " : "FAIL  "
    line += feed.table.escapedForTerminal
    if let owner = feed.ownedBy { line += " (\(owner.escapedForTerminal))" }
    if let goodAt = feed.goodAt, let age = feed.age {
      line += ": \(isGood ? "" : "last ")in step \(AgeText.text(age)) ago (\(goodAt.escapedForTerminal))"
    } else {
      line += ": never in step yet"
    }
    if let count = feed.recordCount { line += ", \(Words.count(count, "record"))" }
    if let deliveredAt = feed.deliveredAt { line += ", delivered \(deliveredAt.escapedForTerminal)" }
    if feed.failureCount > 0 {
      let runs = feed.failureCount == 1 ? "the last run" : "the last \(feed.failureCount) runs"
      line += "\n      \(runs) failed, exit code \(feed.exitCode) at \(feed.checkedAt.escapedForTerminal)"
      if let message = feed.message { line += ": \(message.escapedForTerminal)" }
      if let digest = feed.refusedDelivery {
        line +=
          "\n      fix: correct the delivery; or let it through, once, by upsurge mirror with --accept-delivery "
          + digest.escapedForTerminal
      }
    } else if feed.isBetweenTries {
      line +=
        "\n      its last try failed, exit code \(feed.exitCode) at \(feed.checkedAt.escapedForTerminal)"
      if let message = feed.message { line += ": \(message.escapedForTerminal)" }
      line += "; the run waits for another one, or has ended without it: upsurge mirror runs it again"
    } else if let maximumAge, let age = feed.age, age > maximumAge {
      line += "\n      that is longer ago than \(AgeText.text(maximumAge))"
    }
    if let loss = feed.loss { line += "\n      its last delivery: \(loss.escapedForTerminal)" }
    return line
  }
}
