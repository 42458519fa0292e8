import Synchronization
import Upsurge
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends what a move waits for when it was asked to end.
final class SignalWatch: Sendable {
  private let isOver = Atomic<Bool>(false)

  /// Watches until `end` is called.
  static func begin(_ control: RunControl, _ interruption: Interruption) throws(UpsurgeError)
    -> SignalWatch
  {
    let watch = SignalWatch()
    _ = try WorkerThread {
      WorkerThread.blockSignals()
      while !watch.isOver.load(ordering: .relaxed) {
        // Again and again, as each statement is one of its own.
        if control.cancellationSignal != nil { interruption.request() }
        usleep(50_000)
      }
    }
    return watch
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}
