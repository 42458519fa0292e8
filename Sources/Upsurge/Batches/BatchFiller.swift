/// Fills batches from a stream and has them parsed: the loop of the parsing thread, of type inference and of
/// `inspect --check`.
///
/// Each turn: read until the arena is full, parse, hand the batch on, and begin the next one with the tail that
/// was not parsed. A record that does not fit makes the arena double, up to `recordByteLimit`.
package struct BatchFiller {
  package let pool: BatchPool
  /// Records larger than this are rejected.
  package let recordByteLimit: Int
  package let sourceIndex: Int
  /// Ends the run, also inside a record, with the error `interrupted`.
  private let cancellation: ReadCancellation?
  /// Seconds spent waiting for a free batch.
  package private(set) var waitSeconds = 0.0
  /// Bytes after the last record that the parser was done with, where a stream has ended that is not whole.
  package private(set) var leftByteCount = 0

  package init(
    pool: BatchPool, recordByteLimit: Int, sourceIndex: Int, cancellation: ReadCancellation? = nil
  ) {
    self.cancellation = cancellation
    self.pool = pool
    self.recordByteLimit = recordByteLimit
    self.sourceIndex = sourceIndex
  }

  /// Runs a whole stream through `parser`.
  ///
  /// - Parameters:
  ///   - startOffset: offset of the first byte in the decoded stream.
  ///   - isWhole: false for a sample that may end inside a record, which is then left out; asked when the stream has ended.
  ///   - anchor: as `OpenedSource.anchor(before:)`.
  ///   - read: as `ByteSource.read(into:)`.
  ///   - emit: takes each batch that holds something, and gives it back to the pool in the end; false stops.
  package mutating func run<Parser: RecordParser>(
    _ parser: inout Parser, startOffset: UInt64, isWhole: @autoclosure () -> Bool,
    anchor: (UInt64) -> SourceAnchor = { _ in SourceAnchor() },
    read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int,
    emit: (consuming sending Batch) -> Bool
  ) throws(UpsurgeError) {
    parser.cancellation = cancellation
    guard var batch = take() else { return }
    batch.origin.sourceIndex = sourceIndex
    batch.origin.sourceOffset = startOffset
    batch.origin.restart = restart(of: parser, at: startOffset, anchor)
    var intake = Intake(limit: batch.arenaCapacity)
    while true {
      fill(&batch, &intake, read: read)
      do throws(UpsurgeError) {
        try parser.parse(&batch, isFinal: intake.isAtEnd && isWhole() && intake.error == nil)
      } catch {
        // Whoever stopped before the fault does not hear of it.
        if !handOn(batch, emit: emit) { return }
        throw intake.error ?? error
      }
      if isCancelled {
        // What was parsed up to here is not waited for.
        pool.giveBack(batch)
        throw intake.error ?? UpsurgeError(.interrupted, "reading was interrupted")
      }
      if batch.growth.wantedSpillByteCount > 0 {
        try makeRoomInSpill(of: &batch, parser: &parser)
        continue
      }
      let isPartialEnd = intake.isAtEnd && (!isWhole() || intake.error != nil) && madeNoProgress(batch)
      if intake.isAtEnd && batch.parsedByteCount == batch.arenaByteCount || isPartialEnd {
        leftByteCount = batch.arenaByteCount - batch.parsedByteCount
        let goesOn = handOn(batch, emit: emit)
        if let error = intake.error, goesOn { throw error }
        return
      }
      if madeNoProgress(batch) {
        try makeRoom(in: &batch, &intake, parser: &parser)
        continue
      }
      guard var next = take() else { return pool.giveBack(batch) }
      intake.limit = next.arenaCapacity
      pool.moveTail(of: &batch, to: &next)
      next.origin.sourceIndex = sourceIndex
      next.origin.restart = restart(of: parser, at: next.origin.sourceOffset, anchor)
      guard handOn(batch, emit: emit) else { return pool.giveBack(next) }
      batch = next
    }
  }

  /// What was read of a stream so far, and how much of the arena the next reads may fill.
  private struct Intake {
    /// A large arena is filled only for the record that needs it, so that one does not make all that follow large.
    var limit: Int
    var isAtEnd = false
    /// Why the stream has ended early. What came before is parsed and handed on; the error follows it.
    var error: UpsurgeError?
  }

  private func fill(
    _ batch: inout Batch, _ intake: inout Intake,
    read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int
  ) {
    do throws(UpsurgeError) {
      while !intake.isAtEnd && !isCancelled && batch.arenaByteCount < min(intake.limit, batch.arenaCapacity) {
        let count = try read(batch.freeArena)
        batch.arenaByteCount += count
        intake.isAtEnd = count == 0
      }
    } catch {
      intake.error = error
      intake.isAtEnd = true
    }
  }

  /// Gives the parser the spill that it asks for. Files, or JSON made of surplus fields, are part of the record, which may
  /// be too large with them.
  private func makeRoomInSpill<Parser: RecordParser>(
    of batch: inout Batch, parser: inout Parser
  ) throws(UpsurgeError) {
    if batch.growth.wantedRecordByteCount <= recordByteLimit { return pool.growSpill(&batch) }
    batch.growth.wantedSpillByteCount = 0
    batch.growth.wantedRecordByteCount = 0
    try parser.rejectTooLarge(&batch, limit: recordByteLimit)
  }

  /// Lets more of a record be read of which the arena holds no more than a part.
  private func makeRoom<Parser: RecordParser>(
    in batch: inout Batch, _ intake: inout Intake, parser: inout Parser
  ) throws(UpsurgeError) {
    if batch.arenaByteCount == batch.arenaCapacity {
      guard batch.arenaCapacity < recordByteLimit else {
        return try parser.rejectTooLarge(&batch, limit: recordByteLimit)
      }
      pool.grow(&batch, to: nextCapacity(after: batch.arenaCapacity))
    }
    intake.limit = batch.arenaCapacity
  }

  private var isCancelled: Bool { cancellation?.isRequested ?? false }

  /// Where reading can begin again before a batch that begins at `byte`.
  private func restart<Parser: RecordParser>(
    of parser: borrowing Parser, at byte: UInt64, _ anchor: (UInt64) -> SourceAnchor
  ) -> Restart? {
    guard let state = parser.state else { return nil }
    return Restart(byte: byte, parser: state, anchor: anchor(byte))
  }

  private mutating func take() -> sending Batch? {
    let watch = Stopwatch()
    let batch = pool.take()
    waitSeconds += watch.seconds
    return batch
  }

  /// Twice as much; large arenas grow in smaller steps, because what is read after a large record has to be carried
  /// on while that is written.
  private func nextCapacity(after capacity: Int) -> Int {
    min(capacity < recordByteLimit / 4 ? capacity * 2 : capacity + recordByteLimit / 8, recordByteLimit)
  }

  private func madeNoProgress(_ batch: borrowing Batch) -> Bool {
    batch.parsedByteCount == 0 && batch.isEmpty && !batch.isClosed
  }

  private func handOn(
    _ batch: consuming sending Batch, emit: (consuming sending Batch) -> Bool
  ) -> Bool {
    if batch.isEmpty {
      pool.giveBack(batch)
      return true
    }
    return emit(batch)
  }
}
