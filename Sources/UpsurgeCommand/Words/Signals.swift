import Synchronization
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Turns SIGINT, SIGTERM and SIGHUP into a request to end at a commit; a second SIGINT or SIGTERM ends the process at
/// once.
///
/// What the caller ignores stays ignored (`nohup`). A SIGHUP is often followed by another, from the shell and from the
/// kernel, so it never counts as the second signal. Nor does the same signal within a second of the first: `timeout` sends
/// one to the process and one to its group. Reading and writing go on with errors where the terminal is gone.
enum Signals {
  // Set once before the handlers are, then only read.
  nonisolated(unsafe) private static var control: RunControl?
  /// Whether a progress line stands on the screen; it is cleared before the process ends at once.
  static let isProgressDrawn = Atomic<Bool>(false)

  /// The signal that came first, and when, in milliseconds of the system's uptime.
  private static let firstNumber = Atomic<Int32>(0)
  private static let firstTime = Atomic<Int64>(0)
  /// Within so many milliseconds the same signal is the same request.
  private static let repetitionMilliseconds: Int64 = 1_000

  static func forward(to control: RunControl) {
    self.control = control
    // A handler is no place to make them.
    firstNumber.store(0, ordering: .relaxed)
    firstTime.store(0, ordering: .relaxed)
    isProgressDrawn.store(false, ordering: .relaxed)
    signal(SIGPIPE, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number) { Signals.receive($0) }
      if isIgnored(before) { signal(number, SIG_IGN) }
    }
  }

  /// Only what is safe in a signal handler.
  private static func receive(_ number: Int32) {
    guard let control else { return }
    // Where only time was over, this is the first one.
    if control.cancellationSignal == nil || control.isExpired {
      firstTime.store(milliseconds, ordering: .relaxed)
      firstNumber.store(number, ordering: .relaxed)
      return control.cancel(signal: number)
    }
    if number == SIGHUP { return }
    let isRepeated =
      number == firstNumber.load(ordering: .relaxed)
      && milliseconds - firstTime.load(ordering: .relaxed) < repetitionMilliseconds
    if isRepeated { return }
    if isProgressDrawn.load(ordering: .relaxed) { _ = write(STDERR_FILENO, "\r\u{1B}[K", 4) }
    signal(number, SIG_DFL)
    raise(number)
  }

  private static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  #if canImport(Glibc)
    private static func isIgnored(_ handler: __sighandler_t?) -> Bool {
      unsafeBitCast(handler, to: Int.self) == 1
    }
  #else
    private static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
      unsafeBitCast(handler, to: Int.self) == 1
    }
  #endif
}
