/// What a run owes to others: to programs that want to write, and to the person who wants it to end.
extension LoadRun {
  /// So long a transaction stays open without a record.
  private static let idleMilliseconds = 500
  /// So long records wait to be sorted when no others come.
  private static let gatheringMilliseconds = 100

  /// Waits for the next batch; commits when none comes, so that a slow pipe does not keep other programs from writing.
  /// What waits to be sorted is stored first, which also gives its memory to a large batch that waits for it.
  /// - Returns: nil behind the last one.
  func nextBatch(for writing: Writing) throws(UpsurgeError) -> sending Batch? {
    let writer = writing.writer
    var start = MonotonicClock.seconds
    if writer.isGathering, !full.waits(milliseconds: Self.gatheringMilliseconds) {
      writing.waitSeconds += MonotonicClock.seconds - start
      try writer.storeGathered()
      noteProgress(of: writer)
      start = MonotonicClock.seconds
    }
    if !full.waits(milliseconds: Self.idleMilliseconds) {
      writing.waitSeconds += MonotonicClock.seconds - start
      try writer.commitWhileIdle()
      start = MonotonicClock.seconds
    }
    defer { writing.waitSeconds += MonotonicClock.seconds - start }
    return full.receive()
  }

  /// Tells the progress line how far the writer is.
  func noteProgress(of writer: TableWriter) {
    let ledger = writer.ledger
    control.note(records: ledger.read, rejects: ledger.rejected)
  }

  /// Says what follows from a signal.
  func noteSignal(_ signal: Int32) {
    let isVoid = job.options.isTrial || job.options.isAtomic
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

  /// Tells of a schema that had to be trusted.
  func noteTrust(_ connection: Connection) {
    guard let words = connection.schemaTrustWords() else { return }
    summary.withLock { $0.warnings.add(.trustedSchema, at: Position(file: job.database)) }
    note(RunNote(words.isHarmless ? .detail : .warning, words.text))
  }
}
