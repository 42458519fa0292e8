#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An event that happens once and can be waited for with a time limit.
package final class Completion: @unchecked Sendable {
  // Sendable because `isFinished` is only touched while `mutex` is held.

  private var isFinished = false
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    #if os(Linux)
      // A clock that is set must not stop the ticks.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(changed, &attributes)
      pthread_condattr_destroy(&attributes)
    #else
      pthread_cond_init(changed, nil)
    #endif
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    mutex.deallocate()
    changed.deallocate()
  }

  package func finish() {
    pthread_mutex_lock(mutex)
    isFinished = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for the event, at most so long.
  /// - Returns: whether it has happened.
  package func wait(milliseconds: Int) -> Bool {
    var deadline = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_MONOTONIC, &deadline)
    #else
      clock_gettime(CLOCK_REALTIME, &deadline)
    #endif
    deadline.tv_nsec += milliseconds * 1_000_000
    deadline.tv_sec += deadline.tv_nsec / 1_000_000_000
    deadline.tv_nsec %= 1_000_000_000
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isFinished {
      if pthread_cond_timedwait(changed, mutex, &deadline) != 0 { break }
    }
    return isFinished
  }
}
