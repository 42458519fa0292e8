import Synchronization
import UpsurgeState

/// A load that has ended, and whose ledger nobody has seen yet: until somebody has, nobody starts the job again.
package final class EndedLoad {
  /// Of a load in a group, what is known before that has ended: whether it has failed.
  package private(set) var summary: RunSummary
  private var ending: RunEnding?
  /// What the delivery has told of its feed; nil where it is of none.
  package private(set) var feed: DeliveredFeed?
  private var lock: JobLock?
  private let note: @Sendable (RunNote) -> Void

  init(_ run: LoadRun, _ ending: RunEnding?, _ claim: JobClaim) {
    summary = run.takeSummary()
    feed = run.delivered
    self.ending = ending
    lock = claim.lock
    claim.lock = nil
    note = run.note
  }

  /// Makes the ledger that of an earlier part of the run, all of which was read once more.
  package func takeOver(_ first: RunSummary) {
    var whole = first
    (whole.guardRefusal, whole.error, whole.signal) = (summary.guardRefusal, summary.error, summary.signal)
    (whole.acceptance.refusedDigest, whole.acceptance.isByDigest) = (
      summary.acceptance.refusedDigest, summary.acceptance.isByDigest
    )
    whole.ledger.swept += summary.ledger.swept
    // What the first part has repaired the second one finds in order, and what both keep is the same.
    whole.localEdits.repaired += summary.localEdits.repaired
    whole.localEdits.kept = summary.localEdits.kept
    whole.localEdits.unswept = summary.localEdits.unswept
    summary = whole
  }

  /// Counts what an earlier part of the run has changed, as all of the delivery was read once more: those rows are found
  /// unchanged then, and those that it has deleted are not found.
  package func countChanges(of first: RunSummary) {
    let changedCount = first.ledger.inserted + first.ledger.updated
    guard summary.ledger.unchanged >= changedCount, summary.ledger.ignored >= first.ledger.deleted else {
      return
    }
    summary.ledger.inserted += first.ledger.inserted
    summary.ledger.updated += first.ledger.updated
    summary.ledger.unchanged -= changedCount
    summary.ledger.deleted += first.ledger.deleted
    summary.ledger.ignored -= first.ledger.deleted
  }

  /// What is to be known of the feed from now on; told once, as thousands of loads may wait to be acknowledged.
  package func takeFeedShape() -> FeedShape? {
    defer { feed = nil }
    return feed?.shape
  }

  /// Takes over what has become of the load with its group.
  func end(_ run: LoadRun, _ ending: RunEnding?) {
    summary = run.takeSummary()
    if let ending { self.ending = ending }
  }

  /// Takes the marks of runs away, as their ledgers were seen: of those that share a connection in one transaction.
  package static func acknowledge(_ loads: [EndedLoad]) {
    var rest = loads[...]
    while let first = rest.first {
      let connection = first.ending?.connection
      let group = rest.prefix { connection != nil && $0.ending?.connection === connection }
      rest = rest.dropFirst(max(group.count, 1))
      guard group.count > 1, let connection else {
        first.acknowledge()
        continue
      }
      connection.moveToCurrentThread()
      connection.shareTransaction()
      for load in group { load.acknowledge(isLast: load === group.last) }
      do throws(UpsurgeError) { try connection.commitShared() } catch { first.noteMark(error) }
    }
  }

  /// Takes the mark of the run away, as its ledger was seen.
  package func acknowledge() { acknowledge(isLast: true) }

  /// - Parameter isLast: whether no other load of the table follows at once.
  private func acknowledge(isLast: Bool) {
    defer { lock = nil }
    guard summary.isWhole, let ending else { return }
    do throws(UpsurgeError) {
      try ending.acknowledge(exitCode: summary.exitCode, isLast: isLast)
    } catch {
      noteMark(error)
    }
  }

  private func noteMark(_ error: UpsurgeError) {
    if error.code == .commitsLost {
      note(RunNote(.warning, "\(error.message), after the run was complete; the same command loads what is missing"))
      return
    }
    note(
      RunNote(
        .warning,
        "the run is complete, but its mark could not be removed (\(error.message)); the same command shows its ledger "
          + "again and loads nothing"))
  }
}
