import UpsurgeRecords

/// The batches between who has rows and the thread that stores them: full ones go one way, empty ones come back.
///
/// Whoever has rows waits for an empty batch, so that memory stays bounded however many rows there are.
final class BulkFeed: @unchecked Sendable {
  // Sendable because `full`, `isEnded`, `wasCancelled` and `isStopped` are only touched while `monitor` is locked.

  /// A batch in a box, so that it can wait in a stream.
  final class Box: @unchecked Sendable {
    // Sendable because it is handed over: one side has it at a time.

    var row = RowEncoder()
  }

  private static let batchCount = 3

  private let empty: AsyncStream<Box>
  private let giveEmpty: AsyncStream<Box>.Continuation
  private var full: [Box] = []
  private var isEnded = false
  private var wasCancelled = false
  private var isStopped = false
  private let monitor = Monitor()

  init() {
    (empty, giveEmpty) = AsyncStream.makeStream(of: Box.self)
    for _ in 0..<BulkFeed.batchCount { giveEmpty.yield(Box()) }
  }

  /// The empty batches; ends when the task is cancelled, and when no more are taken.
  var emptyBoxes: AsyncStream<Box>.Iterator { empty.makeAsyncIterator() }

  /// Hands over a full one.
  func send(_ box: Box) { change { full.append(box) } }

  /// No more will come.
  /// - Parameter isCancelled: whether what was sent is to be taken back.
  func end(isCancelled: Bool) {
    change {
      isEnded = true
      if isCancelled { wasCancelled = true }
    }
  }

  /// Whether what was sent is to be taken back.
  var isCancelled: Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return wasCancelled
  }

  /// Whether rows are still stored; they are not after an error.
  var takesRows: Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return !isStopped
  }

  // MARK: - The database's thread

  /// Waits for a full one; nil at the end.
  func receive() -> Box? {
    monitor.lock()
    defer { monitor.unlock() }
    while full.isEmpty && !isEnded { monitor.wait() }
    return full.isEmpty || wasCancelled ? nil : full.removeFirst()
  }

  /// Gives one back, empty.
  func giveBack(_ box: Box) {
    box.row.batch.reset()
    giveEmpty.yield(box)
  }

  /// Takes no more.
  func stop() {
    change { isStopped = true }
    giveEmpty.finish()
  }

  private func change(_ body: () -> Void) {
    monitor.lock()
    body()
    monitor.notifyAll()
    monitor.unlock()
  }
}
