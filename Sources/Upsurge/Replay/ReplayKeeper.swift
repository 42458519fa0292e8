/// Keeps the ledger of a replay in the transactions of its rows, until it was seen: killed, its part of the ledger is told
/// by the replay that goes on.
///
///     the start   takes over what ended replays have left unsaid, in one transaction, so that only one replay says it
///     COMMIT      the ledger of what has left the tables, with what was taken over
///     the end     the mark is removed once the summary was seen
final class ReplayKeeper {
  private let store: any ReplayStore
  private let owner = RunOwner()
  /// What the database holds of this replay; nil as long as that is nothing.
  private var mark: ReplayMark?
  /// What it holds after the commit of the transaction that is open.
  private var nextMark: ReplayMark?
  /// What is committed, with what was taken over.
  private(set) var progress = ReplayProgress()

  init(_ store: any ReplayStore) { self.store = store }

  /// Takes over what earlier replays have committed and nobody has told.
  func takeOver() throws(UpsurgeError) {
    if try !store.marks().contains(where: \.isUnseen) { return }
    try store.transaction { (transaction) throws(UpsurgeError) in
      (progress, nextMark) = (ReplayProgress(), nil)
      let marks = try transaction.marks().filter(\.isUnseen)
      if marks.isEmpty { return try transaction.rollback() }
      for mark in marks {
        if let text = mark.progress { progress.add(try ReplayProgress(text)) }
      }
      try write(progress, in: transaction)
      for mark in marks { try transaction.remove(mark) }
      try transaction.commit()
    }
    mark = nextMark
  }

  /// Notes in the open transaction what becomes of records with its commit.
  /// - Parameter ledger: of the page; only what has left the tables is noted, as all else is tried again.
  func willCommit(
    _ ledger: Ledger, _ warnings: WarningLog, to table: String, in transaction: any ReplayTransaction
  ) throws(UpsurgeError) {
    let part = Self.part(ledger, warnings)
    if part.ledger.read == 0 { return }
    var whole = progress
    whole.add(part, to: table)
    try write(whole, in: transaction)
  }

  /// Notes that the page is committed.
  func didCommit(_ ledger: Ledger, _ warnings: WarningLog, to table: String) {
    let part = Self.part(ledger, warnings)
    if part.ledger.read == 0 { return }
    progress.add(part, to: table)
    mark = nextMark
  }

  /// The ledger was seen.
  func acknowledge() throws(UpsurgeError) {
    guard let mark else { return }
    try store.transaction { (transaction) throws(UpsurgeError) in
      try transaction.remove(mark)
      try transaction.commit()
    }
  }

  private func write(_ progress: ReplayProgress, in transaction: any ReplayTransaction) throws(UpsurgeError) {
    let next = ReplayMark(owner: owner, progress: progress.text)
    try transaction.write(next, after: mark)
    nextMark = next
  }

  private static func part(_ ledger: Ledger, _ warnings: WarningLog) -> RunProgress {
    var part = RunProgress()
    part.ledger = ledger.settled
    part.warnings = warnings
    return part
  }
}
