import ArgumentParser
import Upsurge
import UpsurgeMirror

/// The options that take back what a feed has delivered.
struct ForgetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Delete the rows that the feed of this table has delivered (those of its owned-by, else of its scope, else all), its \
      records that wait for the rows they refer to, and what is known of it; needs --yes. --dry-run only counts.
      """, valueName: "table"))
  var forget: String?

  @Flag(name: .customLong("yes"), help: "With --forget: delete the rows.")
  var isSure = false

  func validate() throws {
    if isSure && forget == nil { throw ValidationError("--yes answers --forget TABLE: give that, too") }
  }
}

extension MirrorCommand {
  /// Forgets a feed, where somebody is sure; else says what would go.
  func forget(_ table: String, _ terminal: Terminal) throws {
    guard let database, job == nil, tables.isEmpty, sources.isEmpty else {
      throw ValidationError(
        "--forget takes the database and a table, and no job: upsurge mirror DB --forget TABLE")
    }
    do throws(UpsurgeError) {
      var removal = try FeedRemoval(database: database, table: table)
      removal.busyTimeout = options.transactions.busyTimeout
      if dryRun == nil && !forgetting.isSure {
        let what = words(
          FeedRemoval.Removed(rowCount: removal.rowCount, waitingCount: removal.waitingCount), of: removal)
        throw UpsurgeError(
          .guardRefused, "--forget would delete \(what), and what is known of its feed",
          hint: "--yes does it; --dry-run tries it and takes it back")
      }
      let what = words(try removal.perform(isTrial: dryRun != nil), of: removal)
      terminal.note(
        RunNote(
          .info,
          dryRun == nil
            ? "\(what) deleted; the next run of its job begins anew"
            : "\(what) would be deleted (dry run: nothing is)"))
    } catch {
      terminal.show(error)
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
  }

  private func words(_ removed: FeedRemoval.Removed, of removal: FeedRemoval) -> String {
    let scope =
      removal.owners.isEmpty
      ? removal.scope.map { " where \($0)" } ?? ""
      : " that \(removal.owners.joined(separator: ", ")) delivered"
    let rows = "\(Words.count(removed.rowCount, "row")) of table \(removal.table)\(scope)".escapedForTerminal
    if removed.waitingCount == 0 { return rows }
    let waiting = Words.count(removed.waitingCount, "record")
    return "\(rows) and \(waiting) of it that \(removed.waitingCount == 1 ? "waits" : "wait") for other rows"
  }
}
