/// The run's batches: a fixed number, and what they may be larger than standard, all together.
///
/// "No free batch" is the pipeline's back-pressure. A record that does not fit its batch's arena makes the arena
/// grow; the bytes for that come from one allowance and go back to it with the batch, so that memory stays bounded
/// however large the records are. Who needs more than is left waits until the batches before are written; a record
/// for which the allowance is too small gets it when it is alone.
package final class BatchPool: @unchecked Sendable {
  // Sendable because `permittedByteCount`, `isHeld`, `waiterCount` and `isClosed` are only touched while `monitor` is locked.

  private let free: BatchChannel
  private let allowance: Int
  private var permittedByteCount = 0
  /// Whether the writer has taken the memory of large batches.
  private var isHeld = false
  /// Who waits for what is held.
  private var waiterCount = 0
  private var isClosed = false
  private let monitor = Monitor()

  /// - Parameter allowance: bytes that batches may be larger than standard, all together.
  package init(count: Int, sizes: Batch.Sizes, allowance: Int = 32 << 20) {
    self.allowance = allowance
    free = BatchChannel(capacity: count)
    for _ in 0..<count { free.send(Batch(sizes: sizes)) }
  }

  /// Waits for a free batch.
  /// - Returns: an empty batch; nil once the pool is closed.
  package func take() -> sending Batch? { free.receive() }

  /// Empties a batch and puts it back.
  package func giveBack(_ batch: consuming sending Batch) {
    let byteCount = batch.growth.permittedByteCount
    batch.reset()
    batch.growth.permittedByteCount = 0
    if byteCount > 0 { release(byteCount) }
    free.send(batch)
  }

  /// Takes the memory that large batches may need, for records that wait to be sorted, or gives it back. Who needs it for
  /// a large batch waits for that.
  /// - Returns: whether the caller has it now; not while a batch is large.
  package func hold(_ isHeld: Bool) -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    if isHeld && permittedByteCount > 0 { return false }
    self.isHeld = isHeld
    monitor.notifyAll()
    return isHeld
  }

  /// Whether somebody waits for the memory that is held.
  package var isHoldContended: Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return isHeld && waiterCount > 0
  }

  /// Enlarges a batch's arena, and its spill along with it; waits for the bytes.
  package func grow(_ batch: inout Batch, to capacity: Int) {
    acquire(capacity + max(batch.spillCapacity, capacity), for: &batch)
    batch.growArena(to: capacity)
  }

  /// Enlarges a batch's spill as its parser has asked; waits for the bytes.
  package func growSpill(_ batch: inout Batch) {
    acquire(batch.arenaCapacity + batch.growth.wantedSpillByteCount, for: &batch)
    batch.growSpill()
  }

  /// Moves the unparsed tail of `previous` to `batch`; waits for the bytes where that makes it large.
  package func moveTail(of previous: inout Batch, to batch: inout Batch) {
    let byteCount = previous.arenaByteCount - previous.parsedByteCount
    if byteCount >= batch.arenaCapacity {
      acquire(2 * byteCount, for: &batch, beside: previous.growth.permittedByteCount)
    }
    batch.takeTail(of: &previous)
  }

  /// Ends every wait.
  package func close() {
    free.close()
    monitor.lock()
    isClosed = true
    monitor.notifyAll()
    monitor.unlock()
  }

  /// Frees the batches that nobody has; the pool is closed.
  package func discard() { while free.receive() != nil {} }

  /// - Parameter held: bytes of other batches that the caller holds and that cannot come back while it waits.
  private func acquire(_ byteCount: Int, for batch: inout Batch, beside held: Int = 0) {
    let more = byteCount - batch.growth.permittedByteCount
    if more <= 0 { return }
    monitor.lock()
    while !isClosed
      && (isHeld
        || permittedByteCount + more > allowance
          && permittedByteCount > batch.growth.permittedByteCount + held)
    {
      waiterCount += 1
      monitor.wait()
      waiterCount -= 1
    }
    permittedByteCount += more
    monitor.unlock()
    batch.growth.permittedByteCount = byteCount
  }

  private func release(_ byteCount: Int) {
    monitor.lock()
    permittedByteCount -= byteCount
    monitor.notifyAll()
    monitor.unlock()
  }
}
