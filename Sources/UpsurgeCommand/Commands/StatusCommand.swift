import ArgumentParser
import Upsurge
import UpsurgeMirror

/// `upsurge status`: how mirrored tables stand.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Say how mirrored tables stand: last good run, age, failures.",
    discussion: """
      Changes nothing. For monitoring, the exit code says whether every table is in step with its feed. A table whose last \
      try has failed is not, also while its run waits for another one.

      Examples:
        upsurge status app.db
        upsurge status app.db --max-age 26h
        upsurge status app.db --json | jq '.[] | select(.good | not)'
        upsurge status app.db --max-age 26h --html status.html

      Exit codes: 0 every last run went well, no longer ago than --max-age; 1 one did not, or the database mirrors \
      nothing; 64 usage; 66 no such database, or it cannot be read; 75 database busy. Who may not \
      write the database or its folder leaves no file there.
      """)

  @Argument(help: "The SQLite database.")
  var database: String

  @Option(.maxAge) var maxAge: TimeLength?

  @Flag(.json, of: .status) var isJSON = false

  @Option(.html, of: .status) var html: String?

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
        "upsurge: \(Terminal.visible(database)) mirrors nothing yet\n  fix: upsurge mirror \(database.quotedForShell) JOB.yaml\n"
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
          "\n      fix: mend the delivery; or let it through, once, by upsurge mirror with --accept-delivery "
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
    return line
  }
}
