/// What a run owes to others: to programs that want to write, and to the person who wants it to end.
extension LoadRun {
  /// So long a transaction waits for the records of a source that may be slow, all in all.
  private static let slowMilliseconds = 200
  /// So long a transaction waits for the next records of files.
  private static let idleMilliseconds = 500
  /// So long records wait to be sorted when no others come.
  private static let gatheringMilliseconds = 100

  /// Waits for the next batch. A transaction that has waited long enough is committed as soon as it would wait again, so
  /// that a slow source does not keep other programs from writing, whether it stalls or trickles. What waits to be sorted
  /// is stored first, which also gives its memory to a large batch that waits for it.
  /// - Returns: nil after the last one.
  func nextBatch(for writing: Writing<some StoreTransfer>) throws(UpsurgeError) -> sending Batch? {
    let transfer = writing.transfer
    if transfer.isGathering, !writing.waits(for: full, milliseconds: Self.gatheringMilliseconds) {
      try transfer.storeGathered()
      noteProgress(of: transfer)
    }
    if transfer.isInTransaction {
      let rest = Self.slowMilliseconds - Int(writing.idleSeconds * 1_000)
      let limit = writing.isSlow ? max(rest, 0) : Self.idleMilliseconds
      if !writing.waits(for: full, milliseconds: limit) { try transfer.commitWhileIdle() }
    }
    let start = MonotonicClock.seconds
    defer { writing.noteWait(since: start) }
    return full.receive()
  }

  /// Shows the progress line how far the writer is.
  func noteProgress(of transfer: some StoreTransfer) {
    let ledger = transfer.ledger
    control.note(records: ledger.read, rejects: ledger.rejected)
  }

  /// Says what follows from a signal.
  func noteSignal(_ signal: Int32) {
    let isVoid = job.options.output.isTrial || job.options.transaction.isAtomic
    if signal == RunControl.deadlineSignal {
      return note(
        RunNote(
          .info,
          "the deadline is reached: " + (isVoid ? "rolling everything back" : "ending at the next commit")))
    }
    let name = [1: "SIGHUP", 2: "SIGINT", 15: "SIGTERM"][signal] ?? "signal \(signal)"
    note(
      RunNote(
        .info,
        isVoid
          ? "\(name): rolling everything back; a second one ends at once, with the same result"
          : "\(name): ending at the next commit; a second one ends at once, and what is not committed is lost"
      ))
  }

  /// Notes a schema that had to be trusted.
  func noteTrust(_ connection: Connection) {
    guard let words = connection.schemaTrustWords() else { return }
    summary.withLock { $0.warnings.add(.trustedSchema, at: Position(file: job.database)) }
    note(RunNote(words.isHarmless ? .detail : .warning, words.text))
  }
}
