import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard input, output and error as a careless caller may have left them.
enum StandardStreams {
  /// Puts something in the place of streams that are closed: the next file that is opened would take their number,
  /// and what is said or printed would go into the database.
  ///
  /// Of the wrong kind, so that reading from there or writing to there is an error and not a silent nothing.
  static func fill() {
    for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}

/// Text on standard output whose loss is noticed.
enum StandardOutput {
  /// What waits to be written, and why writing failed.
  private static let state = Guarded<(text: [UInt8], failure: Int32?)>(([], nil))

  /// Appends a line, or with another end a text.
  static func print(_ text: String, terminator: String = "\n") {
    state.withLock { state in
      state.text += (text + terminator).utf8
      if state.text.count >= 64 << 10 { write(&state) }
    }
  }

  /// Writes out what was printed.
  /// - Returns: false when not all of it could be written. That has been said, unless the reader just went away.
  static func finish() -> Bool {
    let failure = state.withLock { state in
      write(&state)
      return state.failure
    }
    guard let failure else { return true }
    if failure != EPIPE {
      Terminal.say("upsurge: cannot write to standard output: \(String(cString: strerror(failure)))\n")
    }
    return false
  }

  private static func write(_ state: inout (text: [UInt8], failure: Int32?)) {
    // What is printed would stand after a progress line on the same terminal.
    if !state.text.isEmpty, Signals.isProgressDrawn.load(ordering: .relaxed), isatty(STDOUT_FILENO) == 1 {
      Terminal.say("\r\u{1B}[K")
    }
    if state.failure == nil, !Terminal.write(state.text, to: STDOUT_FILENO) { state.failure = errno }
    state.text.removeAll(keepingCapacity: true)
  }
}
