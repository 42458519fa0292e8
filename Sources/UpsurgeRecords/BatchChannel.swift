#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A bounded queue of batches between two threads. Two of them make the pipeline: full batches one way, empty
/// ones back, so that a fixed number of batches bounds the memory and "no free batch" is the back-pressure.
///
/// One lock and one wake-up a batch; every wait ends on `close()`.
package final class BatchChannel: @unchecked Sendable {
  // Sendable because every stored property is only touched while `mutex` is held.

  private let slots: UnsafeMutablePointer<Batch>
  private let capacity: Int
  private var head = 0
  private var count = 0
  private var isClosed = false
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  /// A queue that holds at most `capacity` batches.
  package init(capacity: Int) {
    self.capacity = capacity
    slots = .allocate(capacity: capacity)
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    for index in 0..<count { (slots + (head + index) % capacity).deinitialize(count: 1) }
    slots.deallocate()
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    mutex.deallocate()
    changed.deallocate()
  }

  /// Hands a batch over; waits while the queue is full. After `close()` the batch is freed instead.
  /// - Returns: whether the batch was taken.
  @discardableResult
  package func send(_ batch: consuming sending Batch) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while count == capacity && !isClosed { pthread_cond_wait(changed, mutex) }
    if isClosed { return false }
    (slots + (head + count) % capacity).initialize(to: batch)
    count += 1
    pthread_cond_broadcast(changed)
    return true
  }

  /// Takes the next batch; waits while there is none.
  /// - Returns: nil when the queue is closed and empty.
  package func receive() -> sending Batch? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while count == 0 && !isClosed { pthread_cond_wait(changed, mutex) }
    if count == 0 { return nil }
    let batch = (slots + head).move()
    head = (head + 1) % capacity
    count -= 1
    pthread_cond_broadcast(changed)
    return batch
  }

  /// Whether the queue takes no more batches.
  package var isEnded: Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return isClosed
  }

  /// Ends the queue: senders stop at once, the receiver after what is already there.
  package func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }
}
