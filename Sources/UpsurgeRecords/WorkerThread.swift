#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One long-lived thread with a stack of 8 MiB; one that nobody joins goes on by itself until its body has ended.
package final class WorkerThread: @unchecked Sendable {
  // Sendable because `handle` is written once, before anyone else can see it, and only joined by the owner.

  private var handle: pthread_t?

  /// Starts `body` on a new thread.
  /// - Throws: `database` with errno when the system has no thread left.
  package init(_ body: @escaping @Sendable () -> Void) throws(UpsurgeError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 8 << 20)
    let start = Unmanaged.passRetained(Start(body: body))
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let result = pthread_create(
      &thread, &attributes,
      { argument in
        #if canImport(Glibc)
          guard let argument else { return nil }
        #endif
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.body()
        return nil
      }, start.toOpaque())
    if result != 0 {
      start.release()
      throw UpsurgeError(
        .database, "cannot start a thread: \(String(cString: strerror(result)))",
        underlyingCode: result)
    }
    handle = thread
  }

  deinit {
    if let handle { pthread_detach(handle) }
  }

  /// Lets no signal be handled on the calling thread. A write to a pipe without a reader then fails with EPIPE and
  /// ends nothing, whatever the process does about SIGPIPE.
  package static func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }

  /// Waits until the thread has ended; once only.
  package func join() {
    if let handle { pthread_join(handle, nil) }
    handle = nil
  }

  private final class Start: Sendable {
    let body: @Sendable () -> Void
    init(body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
