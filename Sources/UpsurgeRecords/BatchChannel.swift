/// A bounded queue of batches between two threads. Two of them make the pipeline: full batches one way, empty
/// ones back, so that a fixed number of batches bounds the memory and "no free batch" is the back-pressure.
///
/// One lock and one wake-up a batch; every wait ends on `close()`.
package final class BatchChannel: @unchecked Sendable {
  // Sendable because every stored property is only touched while `monitor` is locked.

  private let slots: UnsafeMutablePointer<Batch>
  private let capacity: Int
  private var head = 0
  private var count = 0
  private var isClosed = false
  private let monitor = Monitor()

  /// A queue that holds at most `capacity` batches.
  package init(capacity: Int) {
    self.capacity = capacity
    slots = .allocate(capacity: capacity)
  }

  deinit {
    for index in 0..<count { (slots + (head + index) % capacity).deinitialize(count: 1) }
    slots.deallocate()
  }

  /// Hands a batch over; waits while the queue is full. After `close()` the batch is freed instead.
  /// - Returns: whether the batch was taken.
  @discardableResult
  package func send(_ batch: consuming sending Batch) -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    while count == capacity && !isClosed { monitor.wait() }
    if isClosed { return false }
    (slots + (head + count) % capacity).initialize(to: batch)
    count += 1
    monitor.notifyAll()
    return true
  }

  /// Takes the next batch; waits until it comes.
  /// - Returns: nil when the queue is closed and empty.
  package func receive() -> sending Batch? {
    monitor.lock()
    defer { monitor.unlock() }
    while count == 0 && !isClosed { monitor.wait() }
    if count == 0 { return nil }
    let batch = (slots + head).move()
    head = (head + 1) % capacity
    count -= 1
    monitor.notifyAll()
    return batch
  }

  /// Waits until there is a batch or the queue is closed, at most so long.
  /// - Returns: false when the time is over.
  package func waits(milliseconds: Int) -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    while count == 0 && !isClosed {
      if !monitor.wait(milliseconds: milliseconds) { return count > 0 || isClosed }
    }
    return true
  }

  /// Whether the queue takes no more batches.
  package var isEnded: Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return isClosed
  }

  /// Whether the queue is ended and empty.
  package var isDrained: Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return isClosed && count == 0
  }

  /// Ends the queue: senders stop at once, the receiver after what is already there.
  package func close() {
    monitor.lock()
    isClosed = true
    monitor.notifyAll()
    monitor.unlock()
  }
}
