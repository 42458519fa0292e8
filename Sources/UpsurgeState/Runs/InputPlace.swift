import UpsurgeRecords

/// Where in the input a writer is, as far as a run that goes on must know it; the same for every store.
///
///     goOn        after what an earlier part of the run has committed
///     begin       a batch
///     firstNew    its first record that is not committed yet
///     prove       how far it is stored, before a commit
///     position    what the commit writes down
package struct InputPlace {
  package init() {}

  /// Where the batch of the last record begins, or an earlier one that can be begun with.
  var restart: Restart?
  /// The source that `restart` belongs to.
  var sourceIndex: Int?
  /// A proof of the bytes between `restart` and the last record.
  var block: RunPosition.Block?
  /// What was warned of before `restart`.
  package var warnings = WarningLog()
  /// What was warned of in all batches.
  package var allWarnings = WarningLog()
  /// Records that an earlier part of the run has committed.
  package var committed: CommittedRecords?

  package struct CommittedRecords {
    package var sourceIndex: Int
    /// The number of the last record, rejects included.
    package var number: UInt64
    /// Where the last one that is no reject ended; nil where that is not known.
    package var endByte: UInt64?
    /// Where the last one that is left out ends in the input as it is now.
    package var foundEndByte: UInt64?
  }

  /// A record or a reject, cheap to note for each run of records.
  package struct Record {
    package var sourceIndex: Int
    package var number: UInt64?
    package var line: UInt64?
    package var byte: UInt64?
    package var nextByte: UInt64?

    /// The last record that an earlier part of the run has committed.
    package init(_ position: RunPosition) {
      let place = position.position
      (sourceIndex, number, line, byte) = (position.sourceIndex, place.record, place.line, place.byte)
    }

    package init(_ batch: borrowing Batch, record: Int) {
      let last = batch.records[record]
      let byte = batch.origin.sourceOffset + UInt64(last.arenaOffset)
      (sourceIndex, number, line, self.byte) = (batch.origin.sourceIndex, last.number, last.line, byte)
      nextByte = byte + UInt64(last.byteCount)
    }

    package init(_ reject: Reject, sourceIndex: Int) {
      let place = reject.position
      (self.sourceIndex, number, line, byte) = (sourceIndex, place.record, place.line, place.byte)
      nextByte = reject.isRawCut ? nil : place.byte.map { $0 + UInt64(reject.raw.count) }
    }

    /// The last record that was read of a source, left out by the filter.
    package init(sourceIndex: Int, filteredThrough number: UInt64) {
      (self.sourceIndex, self.number) = (sourceIndex, number)
    }
  }

  /// Takes over where an earlier part of the run has ended.
  package mutating func goOn(_ position: RunPosition, _ warnings: WarningLog) {
    (allWarnings, self.warnings) = (warnings, warnings)
    restart = position.restart
    sourceIndex = position.sourceIndex
    block = position.block
    guard let number = position.position.record else { return }
    let end = position.restart.flatMap { restart in
      position.block.map { restart.byte + UInt64($0.byteCount) }
    }
    committed = CommittedRecords(sourceIndex: position.sourceIndex, number: number, endByte: end)
  }

  /// At most so many bytes before the last record's end are hashed.
  static let hashedByteCount = 16 << 10

  package mutating func begin(_ batch: borrowing Batch) {
    guard batch.origin.restart != nil || batch.origin.sourceIndex != sourceIndex else {
      block = nil
      return
    }
    restart = batch.origin.restart
    sourceIndex = batch.origin.sourceIndex
    warnings = allWarnings
    block = nil
  }

  /// Hashes the end of a batch's first records.
  /// - Parameter leftOut: a warning that does not apply.
  package mutating func prove(
    _ batch: borrowing Batch, recordCount: Int, leavingOut leftOut: WarningLog.Code? = nil
  ) {
    let isHere =
      batch.parts.isEmpty
      ? batch.origin.restart != nil && restart?.byte == batch.origin.sourceOffset
      : enterPart(of: batch, recordCount: recordCount, leavingOut: leftOut)
    guard isHere, let restart, recordCount > 0 else { return }
    let last = batch.records[recordCount - 1]
    let start = Int(restart.byte - batch.origin.sourceOffset)
    let count = Int(last.arenaOffset) + Int(last.byteCount) - start
    block = RunPosition.Block(
      byteCount: count, hash: Self.hash(UnsafeRawBufferPointer(start: batch.arena + start, count: count)))
  }

  /// Goes to the last part of a batch that can be begun with and begins before its record of this number.
  /// - Returns: whether there is one; else the place stays before the batch.
  private mutating func enterPart(
    of batch: borrowing Batch, recordCount: Int, leavingOut leftOut: WarningLog.Code?
  ) -> Bool {
    // Before the first record only the first part is sure to begin before what is committed.
    let begun = batch.parts.prefix { $0.firstRecord < recordCount }
    let parts = recordCount == 0 ? batch.parts.prefix(1) : begun
    guard let index = parts.lastIndex(where: { $0.restart != nil }) else { return false }
    restart = batch.parts[index].restart
    warnings = allWarnings
    for part in batch.parts[..<index] { warnings.merge(part.warnings, leavingOut: leftOut) }
    return true
  }

  /// Where a run goes on after its last record; at the start without one.
  package func position(of last: Record?, sourceNames: [String]) -> RunPosition {
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

  /// Whether all records of a batch come after those that an earlier part of the run has committed, and it is known
  /// that these end where they did.
  package func isBehindCommitted(_ batch: borrowing Batch) -> Bool {
    guard let committed else { return true }
    return committed.endByte == nil && batch.origin.sourceIndex == committed.sourceIndex
      && batch.firstNumber > committed.number
  }

  /// The first record and the first reject of a batch that are not committed yet.
  /// - Throws: `guardRefused` where the committed records do not end where they did.
  package mutating func firstNew(
    of batch: borrowing Batch, sourceNames: [String]
  ) throws(UpsurgeError) -> (record: Int, reject: Int) {
    guard let committed else { return (0, 0) }
    guard batch.origin.sourceIndex == committed.sourceIndex else {
      self.committed = nil
      return (0, 0)
    }
    var (record, reject) = (0, 0)
    while record < batch.recordCount, batch.records[record].number <= committed.number { record += 1 }
    if record > 0 {
      let last = batch.records[record - 1]
      self.committed?.foundEndByte =
        batch.origin.sourceOffset + UInt64(last.arenaOffset) + UInt64(last.byteCount)
    }
    if record < batch.recordCount, let end = committed.endByte {
      guard self.committed?.foundEndByte == end else {
        throw changed(before: batch.records[record].line, sourceNames)
      }
      self.committed?.endByte = nil
    }
    while reject < batch.rejects.count, (batch.rejects[reject].position.record ?? 0) <= committed.number {
      reject += 1
    }
    return (record, reject)
  }

  /// The error of an input of which committed records do not end where they did.
  package func changed(before line: UInt64, _ sourceNames: [String]) -> UpsurgeError {
    let name = sourceIndex.map { $0 < sourceNames.count ? sourceNames[$0] : "-" } ?? "the input"
    return UpsurgeError(
      .guardRefused,
      "\(name.escapedForTerminal) has changed before line \(line): the records that an earlier run has committed do "
        + "not end there any more, and this one cannot go on",
      hint:
        "bring it back as it was; or delete what that run has stored, and then \(.resume, "never") loads everything"
    )
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
