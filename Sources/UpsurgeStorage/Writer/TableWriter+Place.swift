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
  var committed: (sourceIndex: Int, number: UInt64)?

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
  mutating func prove(_ batch: borrowing Batch, recordCount: Int) {
    guard let restart, restart.byte == batch.arenaSourceOffset, batch.restart != nil, recordCount > 0 else {
      return
    }
    let last = batch.records[recordCount - 1]
    let end = Int(last.arenaOffset) + Int(last.byteCount)
    block = RunPosition.Block(
      byteCount: end, hash: Self.hash(UnsafeRawBufferPointer(start: batch.arena, count: end)))
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

extension TableWriter {
  /// Takes over what earlier parts of the run have done.
  func goOn(_ run: RunRecord) {
    let (position, progress) = (run.position, run.progress)
    ledger = progress.ledger
    committedLedger = progress.ledger
    rejectsByReason = progress.rejectsByReason
    committedRejects = progress.rejectsByReason
    hasMetTombstone = progress.hasMetTombstone
    place.allWarnings = progress.warnings
    place.warnings = progress.warnings
    place.restart = position.restart
    place.sourceIndex = position.sourceIndex
    place.block = position.block
    if let number = position.position.record { place.committed = (position.sourceIndex, number) }
    let place = position.position
    transaction.last = OpenTransaction.LastRecord(
      sourceIndex: position.sourceIndex, number: place.record, line: place.line, byte: place.byte,
      nextByte: nil)
    lastCommittedRecord = CommittedPosition(
      sourceIndex: position.sourceIndex, position: place, nextByte: nil)
  }

  func begin(_ batch: borrowing Batch) { place.begin(batch) }

  func end(_ batch: borrowing Batch) {
    place.allWarnings.merge(batch.warnings)
    if keeper != nil { place.prove(batch, recordCount: batch.recordCount) }
  }

  /// Commits with a batch's first records.
  func commit(_ batch: borrowing Batch, recordCount: Int) throws(UpsurgeError) {
    if keeper != nil { place.prove(batch, recordCount: recordCount) }
    try commit()
  }

  /// The first record and the first reject of a batch that are not committed yet.
  func firstNew(of batch: borrowing Batch) -> (record: Int, reject: Int) {
    guard let committed = place.committed else { return (0, 0) }
    guard batch.sourceIndex == committed.sourceIndex else {
      place.committed = nil
      return (0, 0)
    }
    var (record, reject) = (0, 0)
    while record < batch.recordCount, batch.records[record].number <= committed.number { record += 1 }
    while reject < batch.rejects.count, (batch.rejects[reject].position.record ?? 0) <= committed.number {
      reject += 1
    }
    return (record, reject)
  }

  /// What the run has done so far, its earlier parts included.
  ///
  /// - Parameter isWhole: nothing is read after it. A run that goes on begins with the last batch again, whose
  ///   warnings are counted then.
  package func progress(isWhole: Bool) -> RunProgress {
    var progress = RunProgress()
    progress.ledger = ledger
    progress.rejectsByReason = rejectsByReason
    progress.warnings = isWhole ? place.allWarnings : place.warnings
    progress.warnings.merge(warnings)
    progress.supersededCount = supersededCount
    progress.hasMetTombstone = hasMetTombstone
    progress.seconds = earlier.seconds + MonotonicClock.seconds - startSeconds
    return progress
  }

  /// Where the last record of the transaction stands.
  package var position: RunPosition {
    var position = RunPosition()
    guard let last = transaction.last else { return position }
    position.sourceIndex = last.sourceIndex
    position.position = Position(
      file: sourceName(last.sourceIndex), record: last.number, line: last.line, byte: last.byte)
    if place.sourceIndex == last.sourceIndex {
      position.restart = place.restart
      position.block = place.block
    }
    return position
  }

  /// Whether the same job would go on from the last commit.
  package var isResumable: Bool { keeper?.canGoOn ?? false }

  /// What was warned of in all batches so far, those of earlier parts of the run included.
  package var inputWarnings: WarningLog { place.allWarnings }
}
