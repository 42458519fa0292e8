import ArgumentParser
import Upsurge
import UpsurgeMirror

/// The options that take back what a feed has delivered.
struct ForgetOptions: ParsableArguments {
  @Option(.forget) var forget: String?

  @Flag(.yes) var isSure = false

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
      var removal = try FeedRemoval(
        database: database, table: table, stateSchema: options.schema.stateSchema)
      removal.busyTimeout = options.transactions.busyTimeout.milliseconds
      if dryRun == nil && !forgetting.isSure {
        let now = FeedRemoval.Removed(
          rowCount: removal.rowCount, waitingCount: removal.waitingCount, keptCount: removal.keptCount)
        throw UpsurgeError(
          .guardRefused,
          "--forget would delete \(words(now, of: removal)), and what is known of its feed\(keptWords(now, of: removal))",
          hint: "--yes does it; --dry-run tries it and takes it back")
      }
      let removed = try removal.perform(isTrial: dryRun != nil)
      let (what, kept) = (words(removed, of: removal), keptWords(removed, of: removal))
      terminal.note(
        RunNote(
          .info,
          dryRun == nil
            ? "\(what) deleted; the next run of its job begins anew\(kept)"
            : "\(what) would be deleted (dry run: nothing is)\(kept)"))
    } catch {
      terminal.show(error)
      throw ExitCode(error.exitCode(hasCommittedWork: false))
    }
  }

  private func words(_ removed: FeedRemoval.Removed, of removal: FeedRemoval) -> String {
    var scope = removal.scope.map { " where \($0)" } ?? ""
    if removal.isByNotes {
      scope +=
        " that \(removal.owners.isEmpty ? "its feed" : removal.owners.joined(separator: ", ")) delivered"
    }
    let rows = "\(Words.count(removed.rowCount, "row")) of table \(removal.table)\(scope)".escapedForTerminal
    if removed.waitingCount == 0 { return rows }
    let waiting = Words.count(removed.waitingCount, "record")
    return "\(rows) and \(waiting) of it that \(removed.waitingCount == 1 ? "waits" : "wait") for other rows"
  }

  /// Which rows stay, and why; empty where none does that could have been meant.
  private func keptWords(_ removed: FeedRemoval.Removed, of removal: FeedRemoval) -> String {
    if removed.keptCount == 0 { return "" }
    let isOne = removed.keptCount == 1
    let rows = "\(Words.count(removed.keptCount, "row")) \(isOne ? "stays" : "stay")"
    return removal.hasDelivered
      ? "; \(rows), as upsurge_rows does not say that a feed has delivered \(isOne ? "it" : "them")"
      : "; \(rows), as its feed has never delivered any"
  }
}
