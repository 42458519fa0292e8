import Synchronization
import Upsurge
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends waits for a server when the move was asked to end.
final class SignalWatch: Sendable {
  private let isOver = Atomic<Bool>(false)

  /// Watches until `end` is called.
  static func begin(_ control: RunControl, _ cancellation: ReadCancellation) throws(UpsurgeError)
    -> SignalWatch
  {
    let watch = SignalWatch()
    _ = try WorkerThread {
      WorkerThread.blockSignals()
      while !watch.isOver.load(ordering: .relaxed) {
        if control.cancellationSignal != nil { return cancellation.request() }
        usleep(50_000)
      }
    }
    return watch
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}
