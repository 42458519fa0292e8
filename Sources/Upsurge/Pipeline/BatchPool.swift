/// The run's batches: a fixed number, of which at most two may be larger than standard at a time.
///
/// "No free batch" is the pipeline's back-pressure. A record that does not fit its batch's arena makes the arena
/// grow; that needs one of two permits, which come back with the batch, so that memory stays bounded however
/// large the records are.
package final class BatchPool: @unchecked Sendable {
  // Sendable because `largeCount` and `isClosed` are only touched while `monitor` is locked.

  private let free: BatchChannel
  private var largeCount = 0
  private var isClosed = false
  private let monitor = Monitor()
  private static let largeLimit = 2

  package init(count: Int, sizes: Batch.Sizes) {
    free = BatchChannel(capacity: count)
    for _ in 0..<count { free.send(Batch(sizes: sizes)) }
  }

  /// Waits for a free batch.
  /// - Returns: an empty batch; nil once the pool is closed.
  package func take() -> sending Batch? { free.receive() }

  /// Empties a batch and puts it back.
  package func giveBack(_ batch: consuming sending Batch) {
    let heldPermit = batch.holdsPermit
    batch.reset()
    batch.holdsPermit = false
    if heldPermit { releasePermit() }
    free.send(batch)
  }

  /// Enlarges a batch's arena; waits for a permit when the batch is still of standard size.
  package func grow(_ batch: inout Batch, to capacity: Int) {
    acquirePermit(for: &batch)
    batch.growArena(to: capacity)
  }

  /// Enlarges a batch's spill as its parser has asked; waits for a permit as `grow` does.
  package func growSpill(_ batch: inout Batch) {
    acquirePermit(for: &batch)
    batch.growSpill()
  }

  /// Moves the unparsed tail of `previous` to `batch`, with a permit where that makes it large.
  package func moveTail(of previous: inout Batch, to batch: inout Batch) {
    let byteCount = previous.arenaByteCount - previous.parsedByteCount
    if byteCount >= batch.arenaCapacity { acquirePermit(for: &batch) }
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

  private func acquirePermit(for batch: inout Batch) {
    if batch.holdsPermit { return }
    batch.holdsPermit = true
    monitor.lock()
    while largeCount == BatchPool.largeLimit && !isClosed { monitor.wait() }
    largeCount += 1
    monitor.unlock()
  }

  private func releasePermit() {
    monitor.lock()
    largeCount -= 1
    monitor.notifyAll()
    monitor.unlock()
  }
}
