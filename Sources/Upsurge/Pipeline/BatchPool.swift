#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The run's batches: a fixed number, of which at most two may be larger than standard at a time.
///
/// "No free batch" is the pipeline's back-pressure. A record that does not fit its batch's arena makes the arena
/// grow; that needs one of two permits, which come back with the batch, so that memory stays bounded however
/// large the records are.
package final class BatchPool: @unchecked Sendable {
  // Sendable because `largeCount` and `isClosed` are only touched while `mutex` is held.

  private let free: BatchChannel
  private var largeCount = 0
  private var isClosed = false
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private static let largeLimit = 2

  package init(count: Int, sizes: Batch.Sizes) {
    free = BatchChannel(capacity: count)
    for _ in 0..<count { free.send(Batch(sizes: sizes)) }
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    mutex.deallocate()
    changed.deallocate()
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

  /// Moves the unparsed tail of `previous` to `batch`, with a permit where that makes it large.
  package func moveTail(of previous: inout Batch, to batch: inout Batch) {
    let byteCount = previous.arenaByteCount - previous.parsedByteCount
    if byteCount >= batch.arenaCapacity { acquirePermit(for: &batch) }
    batch.takeTail(of: &previous)
  }

  /// Ends every wait.
  package func close() {
    free.close()
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  private func acquirePermit(for batch: inout Batch) {
    if batch.holdsPermit { return }
    batch.holdsPermit = true
    pthread_mutex_lock(mutex)
    while largeCount == BatchPool.largeLimit && !isClosed { pthread_cond_wait(changed, mutex) }
    largeCount += 1
    pthread_mutex_unlock(mutex)
  }

  private func releasePermit() {
    pthread_mutex_lock(mutex)
    largeCount -= 1
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }
}
