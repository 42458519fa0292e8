extension LoadRun {
  /// Sets aside what is to be, plans anew for the table as it is then, and says what was decided.
  func begin(
    _ upkeep: TableUpkeep, for table: inout PreparedTable, isPacked: Bool, first: PreparedSource,
    sources: ArraySlice<Source>,
    on connection: Connection
  ) throws(UpsurgeError) {
    let estimate = {
      first.estimate(totalByteCount: self.totalByteCount(of: sources), options: self.job.options)
    }
    try upkeep.begin(
      table.plan.schema, isNew: table.createdSQL != nil && !isPacked, mode: table.plan.mode,
      estimate: estimate)
    if upkeep.hasSetAside { try table.replan(on: connection) }
    // `--explain` has lines of its own for them.
    if !job.options.output.isExplained { for decision in upkeep.decisions { note(decision.note) } }
    var expected = upkeep.expectedLogByteCount
    if job.options.transaction.isAtomic { expected = max(expected, estimate()?.byteCount ?? 0) }
    if expected > job.options.transaction.walLimit.byteCount {
      note(
        RunNote(
          .info,
          "all of it is one transaction; the write-ahead log may grow to about \(expected >> 20) MiB,"
            + " past the \(.walLimit) of \(job.options.transaction.walLimit)"))
    }
  }

  /// Bytes of all sources as they lie there; nil when one is no regular file.
  func totalByteCount(of sources: some Sequence<Source>) -> UInt64? {
    var total: UInt64 = 0
    for source in sources {
      guard let byteCount = source.readByteCount else { return nil }
      total += byteCount
    }
    return total
  }
}

extension UpkeepDecision {
  /// Keeping up is what people expect, so only something else is worth a line.
  var note: RunNote { RunNote(isAgainstRequest ? .warning : upkeep == .keep ? .detail : .info, text) }
}

extension UpkeepRequest {
  init(_ options: LoadOptions) {
    self.init(options.indexes, isAtomic: options.transaction.isAtomic, isTrial: options.output.isTrial)
  }
}
