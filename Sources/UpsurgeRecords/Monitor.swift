#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock with one condition to wait for: what the threads of the pipeline meet at.
package final class Monitor: @unchecked Sendable {
  // Sendable because a mutex and a condition variable are made to be used from many threads.

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    #if os(Linux)
      // A clock that somebody sets must not lengthen a wait.
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

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Gives up the lock until `notifyAll()`, then takes it again; may return early.
  package func wait() { pthread_cond_wait(changed, mutex) }

  /// Gives up the lock until `notifyAll()`, for at most so long from now, then takes it again; may return early.
  /// - Returns: false when the time is over.
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
    return pthread_cond_timedwait(changed, mutex, &deadline) == 0
  }

  /// Wakes all that wait.
  package func notifyAll() { pthread_cond_broadcast(changed) }
}
