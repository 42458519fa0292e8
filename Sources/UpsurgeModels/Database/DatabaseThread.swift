import UpsurgeRecords
import UpsurgeSQLite

/// A thread with a connection of its own; what it is given to do is done one after the other.
final class DatabaseThread: Sendable {
  private let queue: WorkQueue

  /// - Parameter open: opens the connection, on the calling thread.
  init(_ open: () throws(UpsurgeError) -> Connection) throws(UpsurgeError) {
    let connection = try open()
    let queue = WorkQueue(connection.interrupter)
    self.queue = queue
    let moved = Moved(connection)
    _ = try WorkerThread {
      let connection = moved.connection
      connection.moveToCurrentThread()
      while let work = queue.next() {
        work.run(connection)
        // What one leaves open is not for the next one to commit.
        if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
      }
    }
  }

  deinit { queue.close() }

  /// Has the thread do `work` when all that was given before is done.
  func add(_ work: @escaping @Sendable (Connection) -> Void) { queue.add(work) {} }

  /// Runs `work` on the thread when all that was given before is done. Where the task is cancelled, it is taken back if it
  /// has not begun, and its statement is ended if it has.
  /// - Throws: what `work` throws; `interrupted` when the task is cancelled; `usage` where the thread waits for the task.
  func perform<Result: Sendable>(
    _ work: @escaping @Sendable (Connection) throws(UpsurgeError) -> Result
  ) async throws(UpsurgeError) -> Result {
    try WaitingDatabase.check(ObjectIdentifier(self))
    let ticket = queue.ticket()
    let result: Swift.Result<Result, UpsurgeError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.add(ticket) { connection in
          do throws(UpsurgeError) { continuation.resume(returning: .success(try work(connection))) } catch {
            continuation.resume(returning: .failure(error.ofCall))
          }
        } cancel: {
          continuation.resume(returning: .failure(UpsurgeError(.interrupted, "the task was cancelled")))
        }
      }
    } onCancel: {
      queue.cancel(ticket)
    }
    return try result.get()
  }

  /// A connection on its way to the thread that owns it from then on.
  private final class Moved: @unchecked Sendable {
    // Sendable because only the thread that it is made for reads it.

    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }
  }
}

/// What a thread has to do.
private final class WorkQueue: @unchecked Sendable {
  // Sendable because every stored property is only touched while `monitor` is locked.

  struct Work {
    var ticket: Int
    var run: @Sendable (Connection) -> Void
    /// Says that it is not run.
    var cancel: @Sendable () -> Void
  }

  private var waiting: [Work] = []
  private var running: Int?
  /// Calls that were cancelled before they came.
  private var cancelled: Set<Int> = []
  private var ticketCount = 0
  private var isClosed = false
  private let interrupter: Interrupter
  private let monitor = Monitor()

  init(_ interrupter: Interrupter) { self.interrupter = interrupter }

  /// A number for work to come.
  func ticket() -> Int {
    monitor.lock()
    defer { monitor.unlock() }
    ticketCount += 1
    return ticketCount
  }

  func add(_ run: @escaping @Sendable (Connection) -> Void, cancel: @escaping @Sendable () -> Void) {
    add(ticket(), run, cancel: cancel)
  }

  func add(
    _ ticket: Int, _ run: @escaping @Sendable (Connection) -> Void, cancel: @escaping @Sendable () -> Void
  ) {
    monitor.lock()
    let isCancelled = cancelled.remove(ticket) != nil
    if !isCancelled { waiting.append(Work(ticket: ticket, run: run, cancel: cancel)) }
    monitor.notifyAll()
    monitor.unlock()
    if isCancelled { cancel() }
  }

  /// Takes work back that has not begun, and ends the statement of what has.
  func cancel(_ ticket: Int) {
    monitor.lock()
    var work: Work?
    if let index = waiting.firstIndex(where: { $0.ticket == ticket }) {
      work = waiting.remove(at: index)
    } else if running == ticket {
      interrupter.interrupt()
    } else if ticket > (running ?? 0) {
      cancelled.insert(ticket)
    }
    monitor.unlock()
    work?.cancel()
  }

  /// Waits for the next; nil when the queue is closed and empty.
  func next() -> Work? {
    monitor.lock()
    defer { monitor.unlock() }
    running = nil
    while waiting.isEmpty && !isClosed { monitor.wait() }
    if waiting.isEmpty { return nil }
    let work = waiting.removeFirst()
    running = work.ticket
    return work
  }

  func close() {
    monitor.lock()
    isClosed = true
    monitor.notifyAll()
    monitor.unlock()
  }
}
