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
  /// Bytes behind the last record that the parser was done with, where a stream has ended that is not whole.
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
    batch.sourceIndex = sourceIndex
    batch.arenaSourceOffset = startOffset
    batch.restart = restart(of: parser, at: startOffset, anchor)
    var isAtEnd = false
    var readError: UpsurgeError?
    // A large arena is filled only for the record that needs it, so that one does not make all that follow large.
    var fillLimit = batch.arenaCapacity
    while true {
      do throws(UpsurgeError) {
        while !isAtEnd && !isCancelled && batch.arenaByteCount < min(fillLimit, batch.arenaCapacity) {
          let count = try read(batch.freeArena)
          batch.arenaByteCount += count
          isAtEnd = count == 0
        }
      } catch {
        // What came before the error is parsed and handed on; the error follows it.
        readError = error
        isAtEnd = true
      }
      do throws(UpsurgeError) {
        try parser.parse(&batch, isFinal: isAtEnd && isWhole() && readError == nil)
      } catch {
        // Whoever stopped in front of the fault does not hear of it.
        if !handOn(batch, emit: emit) { return }
        throw readError ?? error
      }
      if isCancelled {
        // What was parsed up to here is not waited for.
        pool.giveBack(batch)
        throw readError ?? UpsurgeError(.interrupted, "reading was interrupted")
      }
      if batch.wantedSpillByteCount > 0 {
        // Files, or JSON made of surplus fields, are part of the record.
        if batch.wantedRecordByteCount > recordByteLimit {
          batch.wantedSpillByteCount = 0
          batch.wantedRecordByteCount = 0
          try parser.rejectTooLarge(&batch, limit: recordByteLimit)
        } else {
          pool.growSpill(&batch)
        }
        continue
      }
      let isPartialEnd = isAtEnd && (!isWhole() || readError != nil) && madeNoProgress(batch)
      if isAtEnd && batch.parsedByteCount == batch.arenaByteCount || isPartialEnd {
        leftByteCount = batch.arenaByteCount - batch.parsedByteCount
        let goesOn = handOn(batch, emit: emit)
        if let readError, goesOn { throw readError }
        return
      }
      if madeNoProgress(batch) {
        if batch.arenaByteCount < batch.arenaCapacity {
          fillLimit = batch.arenaCapacity
        } else if batch.arenaCapacity < recordByteLimit {
          pool.grow(&batch, to: nextCapacity(after: batch.arenaCapacity))
          fillLimit = batch.arenaCapacity
        } else {
          try parser.rejectTooLarge(&batch, limit: recordByteLimit)
        }
        continue
      }
      guard var next = take() else { return pool.giveBack(batch) }
      fillLimit = next.arenaCapacity
      pool.moveTail(of: &batch, to: &next)
      next.sourceIndex = sourceIndex
      next.restart = restart(of: parser, at: next.arenaSourceOffset, anchor)
      guard handOn(batch, emit: emit) else { return pool.giveBack(next) }
      batch = next
    }
  }

  private var isCancelled: Bool { cancellation?.isRequested ?? false }

  /// Where reading can begin again in front of a batch that begins at `byte`.
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

  /// Twice as much; large arenas grow in smaller steps, because what is read behind a large record has to be carried
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
