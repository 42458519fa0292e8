import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Command {
  /// How a run on a terminal has ended.
  package struct Session {
    package var exitCode: Int32
    /// What was written to the terminal, as it came.
    package var screen: String
    /// The texts that a progress line has had, one after the other: each stood until the line was drawn anew or cleared.
    package var drawn: [String] {
      screen.components(separatedBy: "\r\u{1B}[K").dropFirst().dropLast()
        .filter { !$0.isEmpty && !$0.contains(where: \.isNewline) }
    }
  }

  /// Runs the command to its end on a terminal of its own (a pseudo terminal), which is its input, output and error.
  /// - Parameter columns: how wide the terminal is.
  package static func runOnTerminal(
    _ arguments: [String], columns: UInt16 = 100, seconds: Int = 300
  ) throws -> Session {
    let (terminal, other) = try openTerminal()
    defer { close(terminal) }
    // Held open, so that reading begins before the child has opened it.
    let held = open(other, O_RDWR | O_NOCTTY)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in 0...2 as ClosedRange<Int32> {
      posix_spawn_file_actions_addopen(&actions, descriptor, other, O_RDWR | O_NOCTTY, 0)
    }
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    defer { words.forEach { free($0) } }
    words.append(nil)
    var identifier: pid_t = 0
    guard posix_spawn(&identifier, path, &actions, nil, words, environ) == 0 else {
      throw MissingFile(path: path)
    }
    var bytes: [UInt8] = []
    var code: Int32 = 0
    var hasEnded = false
    for _ in 0..<seconds * 20 {
      if !hasEnded { hasEnded = waitpid(identifier, &code, WNOHANG) == identifier }
      var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 50) > 0 else {
        if hasEnded { break }
        continue
      }
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = read(terminal, &buffer, buffer.count)
      if count <= 0 { break }
      bytes += buffer.prefix(count)
    }
    close(held)
    if !hasEnded {
      kill(identifier, SIGKILL)
      waitpid(identifier, &code, 0)
    }
    let exitCode = code & 0x7F == 0 ? (code >> 8) & 0xFF : 1_000 + (code & 0x7F)
    return Session(exitCode: exitCode, screen: String(decoding: bytes, as: UTF8.self))
  }

  /// - Returns: the end that a person would see, and the path of the one for programs.
  private static func openTerminal() throws -> (descriptor: Int32, path: String) {
    let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    if descriptor < 0 { throw MissingFile(path: "/dev/ptmx") }
    #if os(Linux)
      // grantpt, unlockpt and ptsname, which Glibc's module does not have: TIOCSPTLCK and TIOCGPTN of ioctl_tty(2).
      var (locked, number): (Int32, Int32) = (0, 0)
      guard ioctl(descriptor, 0x4004_5431, &locked) == 0, ioctl(descriptor, 0x8004_5430, &number) == 0 else {
        throw MissingFile(path: "/dev/pts")
      }
      return (descriptor, "/dev/pts/\(number)")
    #else
      guard grantpt(descriptor) == 0, unlockpt(descriptor) == 0, let name = ptsname(descriptor) else {
        throw MissingFile(path: "/dev/ptmx")
      }
      return (descriptor, String(cString: name))
    #endif
  }
}
