import UpsurgeRecords

/// Where in the input a writer is, as far as a run that goes on must know it.
struct InputPlace {
  /// Where the batch of the last record begins, or an earlier one that can be begun with.
  var restart: Restart?
  /// The source that `restart` belongs to.
  var sourceIndex: Int?
  /// A proof of the bytes between `restart` and the last record.
  var block: RunPosition.Block?
  /// What was warned of before `restart`.
  var warnings = WarningLog()
  /// What was warned of in all batches.
  var allWarnings = WarningLog()
  /// Records that an earlier part of the run has committed.
  var committed: CommittedRecords?

  struct CommittedRecords {
    var sourceIndex: Int
    /// That of the last one, rejects included.
    var number: UInt64
    /// Where the last one that is no reject ended; nil where that is not known.
    var endByte: UInt64?
    /// Where the last one that is left out ends in the input as it is now.
    var foundEndByte: UInt64?
  }

  /// At most so many bytes in front of the last record's end are hashed.
  static let hashedByteCount = 16 << 10

  mutating func begin(_ batch: borrowing Batch) {
    guard batch.restart != nil || batch.sourceIndex != sourceIndex else {
      block = nil
      return
    }
    restart = batch.restart
    sourceIndex = batch.sourceIndex
    warnings = allWarnings
    block = nil
  }

  /// Hashes the end of a batch's first records.
  /// - Parameter leftOut: a warning that does not apply.
  mutating func prove(_ batch: borrowing Batch, recordCount: Int, leavingOut leftOut: WarningLog.Code? = nil)
  {
    let isHere =
      batch.parts.isEmpty
      ? batch.restart != nil && restart?.byte == batch.arenaSourceOffset
      : enterPart(of: batch, recordCount: recordCount, leavingOut: leftOut)
    guard isHere, let restart, recordCount > 0 else { return }
    let last = batch.records[recordCount - 1]
    let start = Int(restart.byte - batch.arenaSourceOffset)
    let count = Int(last.arenaOffset) + Int(last.byteCount) - start
    block = RunPosition.Block(
      byteCount: count, hash: Self.hash(UnsafeRawBufferPointer(start: batch.arena + start, count: count)))
  }

  /// Goes to the last part of a batch that can be begun with and begins before its record of this number.
  /// - Returns: whether there is one; else the place stays in front of the batch.
  private mutating func enterPart(
    of batch: borrowing Batch, recordCount: Int, leavingOut leftOut: WarningLog.Code?
  ) -> Bool {
    // In front of the first record only the first part is sure to begin before what is committed.
    let begun = batch.parts.prefix { $0.firstRecord < recordCount }
    let parts = recordCount == 0 ? batch.parts.prefix(1) : begun
    guard let index = parts.lastIndex(where: { $0.restart != nil }) else { return false }
    restart = batch.parts[index].restart
    warnings = allWarnings
    for part in batch.parts[..<index] { warnings.merge(part.warnings, leavingOut: leftOut) }
    return true
  }

  /// Where a run goes on behind its last record; at the start where there is none.
  func position(of last: OpenTransaction.LastRecord?, sourceNames: [String]) -> RunPosition {
    var position = RunPosition()
    guard let last else { return position }
    position.sourceIndex = last.sourceIndex
    let name = last.sourceIndex < sourceNames.count ? sourceNames[last.sourceIndex] : "-"
    position.position = Position(file: name, record: last.number, line: last.line, byte: last.byte)
    if sourceIndex == last.sourceIndex {
      position.restart = restart
      position.block = block
    }
    return position
  }

  /// The hash of a block, which is that of its last 16 KiB.
  static func hash(_ block: UnsafeRawBufferPointer) -> UInt64 {
    ContentHash.hash(UnsafeRawBufferPointer(rebasing: block.suffix(hashedByteCount)))
  }
}

extension RunPosition.Block {
  /// Whether these are the bytes that the block stands for.
  package func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count == byteCount && InputPlace.hash(bytes) == hash
  }
}

/// Where the records come from, how far they are stored, and who keeps that.
struct WriterInput {
  /// The sources as the user named them, by `batch.sourceIndex`.
  let sourceNames: [String]
  /// Keeps the record of the run; nil where there is none to keep.
  let keeper: RunKeeper?
  /// What earlier parts of the run have done.
  let earlier: RunProgress
  /// Where the input stands, for `keeper`.
  var place = InputPlace()
  let startSeconds = MonotonicClock.seconds
}

extension TableWriter {
  var sourceNames: [String] { input.sourceNames }

  var keeper: RunKeeper? { input.keeper }

  var earlier: RunProgress { input.earlier }

  /// The source as the user named it.
  func sourceName(_ index: Int) -> String {
    index < input.sourceNames.count ? input.sourceNames[index] : "-"
  }

  /// Takes over what earlier parts of the run have done.
  func goOn(_ run: RunRecord) {
    let (position, progress) = (run.position, run.progress)
    tally.goOn(progress)
    input.place.allWarnings = progress.warnings
    input.place.warnings = progress.warnings
    input.place.restart = position.restart
    input.place.sourceIndex = position.sourceIndex
    input.place.block = position.block
    if let number = position.position.record {
      let end = position.restart.flatMap { restart in
        position.block.map { restart.byte + UInt64($0.byteCount) }
      }
      input.place.committed = InputPlace.CommittedRecords(
        sourceIndex: position.sourceIndex, number: number, endByte: end)
    }
    let place = position.position
    transaction.last = OpenTransaction.LastRecord(
      sourceIndex: position.sourceIndex, number: place.record, line: place.line, byte: place.byte,
      nextByte: nil)
    tally.lastCommittedRecord = CommittedPosition(
      sourceIndex: position.sourceIndex, position: place, nextByte: nil)
  }

  /// Says that the next batch begins behind the committed records: none is left out.
  /// - Parameter warnings: those of all batches before.
  package func goOnBehindCommitted(warnings: WarningLog) {
    input.place.committed = nil
    input.place.warnings = warnings
    input.place.allWarnings = warnings
  }

  func begin(_ batch: borrowing Batch) { input.place.begin(batch) }

  func end(_ batch: borrowing Batch) {
    prove(batch, recordCount: batch.recordCount)
    input.place.allWarnings.merge(batch.warnings, leavingOut: warningLeftOut)
  }

  private func prove(_ batch: borrowing Batch, recordCount: Int) {
    if keeper != nil { input.place.prove(batch, recordCount: recordCount, leavingOut: warningLeftOut) }
  }

  /// A STRICT table stores no text among its numbers: that record is rejected.
  private var warningLeftOut: WarningLog.Code? { plan.schema.isStrict ? .textInNumberColumn : nil }

  /// Commits with a batch's first records.
  func commit(_ batch: borrowing Batch, recordCount: Int) throws(UpsurgeError) {
    prove(batch, recordCount: recordCount)
    try commitStored()
  }

  /// Whether all records of a batch are behind those that an earlier part of the run has committed, and it is known
  /// that these end where they did.
  func isBehindCommitted(_ batch: borrowing Batch) -> Bool {
    guard let committed = input.place.committed else { return true }
    return committed.endByte == nil && batch.sourceIndex == committed.sourceIndex
      && batch.firstNumber > committed.number
  }

  /// The first record and the first reject of a batch that are not committed yet.
  /// - Throws: `guardRefused` where the committed records do not end where they did.
  func firstNew(of batch: borrowing Batch) throws(UpsurgeError) -> (record: Int, reject: Int) {
    guard let committed = input.place.committed else { return (0, 0) }
    guard batch.sourceIndex == committed.sourceIndex else {
      input.place.committed = nil
      return (0, 0)
    }
    var (record, reject) = (0, 0)
    while record < batch.recordCount, batch.records[record].number <= committed.number { record += 1 }
    if record > 0 {
      let last = batch.records[record - 1]
      input.place.committed?.foundEndByte =
        batch.arenaSourceOffset + UInt64(last.arenaOffset) + UInt64(last.byteCount)
    }
    if record < batch.recordCount, let end = committed.endByte {
      guard input.place.committed?.foundEndByte == end else { throw changedBefore(batch.records[record].line) }
      input.place.committed?.endByte = nil
    }
    while reject < batch.rejects.count, (batch.rejects[reject].position.record ?? 0) <= committed.number {
      reject += 1
    }
    return (record, reject)
  }

  private func changedBefore(_ line: UInt64) -> UpsurgeError {
    let name = input.place.sourceIndex.map { sourceName($0) } ?? "the input"
    return UpsurgeError(
      .guardRefused,
      "\(name.escapedForTerminal) has changed in front of line \(line): the records that an earlier run has committed do "
        + "not end there any more, and this one cannot go on",
      hint:
        "bring it back as it was; or delete what that run has stored, and then \(.resume, "never") loads everything"
    )
  }

  /// What the run has done so far, its earlier parts included.
  /// - Parameter isWhole: whether nothing is read again; else the warnings are those of what is not.
  package func progress(isWhole: Bool) -> RunProgress {
    var progress = RunProgress()
    progress.ledger = ledger
    progress.rejectsByReason = rejectsByReason
    progress.warnings = isWhole ? input.place.allWarnings : input.place.warnings
    progress.warnings.merge(warnings)
    progress.supersededCount = supersededCount
    progress.hasMetTombstone = hasMetTombstone
    progress.guardRefusal = guardRefusal
    progress.localEdits = localEdits
    progress.seconds = earlier.seconds + MonotonicClock.seconds - input.startSeconds
    return progress
  }

  /// Where the last record of the transaction stands.
  package var position: RunPosition { input.place.position(of: transaction.last, sourceNames: sourceNames) }

  /// Whether the same job would go on from the last commit.
  package var isResumable: Bool { keeper?.canGoOn(in: lastCommittedRecord?.sourceIndex ?? 0) ?? false }

  /// What was warned of in all batches so far, those of earlier parts of the run included.
  package var inputWarnings: WarningLog { input.place.allWarnings }
}
