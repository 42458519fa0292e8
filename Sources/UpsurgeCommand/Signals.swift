import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Turns SIGINT, SIGTERM and SIGHUP into a request to end at a commit; the second one ends the process at once.
enum Signals {
  // Set once before the handlers are, then only read.
  nonisolated(unsafe) private static var control: RunControl?

  static func forward(to control: RunControl) {
    self.control = control
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        Signals.control?.cancel(signal: number)
        signal(number, SIG_DFL)
      }
    }
    signal(SIGPIPE, SIG_IGN)
  }
}
