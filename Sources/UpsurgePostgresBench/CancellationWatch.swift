import Upsurge
import UpsurgeRecords

/// Passes the cancellation of a benchmark on to what waits for the server.
final class CancellationWatch {
  let cancellation = ReadCancellation()
  private let completion = Completion()
  private var thread: WorkerThread?

  /// - Throws: `database` when the system has no thread left.
  init(_ control: RunControl) throws(UpsurgeError) {
    thread = try WorkerThread { [cancellation, completion] in
      while !completion.wait(milliseconds: 50) {
        if control.cancellationSignal != nil { cancellation.request() }
      }
    }
  }

  deinit { end() }

  /// Ends the watch; waits are not ended any more.
  func end() {
    completion.finish()
    thread?.join()
    thread = nil
  }
}
