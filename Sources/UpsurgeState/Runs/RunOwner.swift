import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process that is at work on a run, as text: `pid:start:namespace:number`.
///
/// A process id alone may be another process's by now, so the time when it was started stands beside it (Linux:
/// /proc/PID/stat, field 22, in clock ticks since boot), and the pid namespace, in which the id means something. The
/// number distinguishes the runs of one process.
package final class RunOwner: Sendable {
  package let text: String
  private let number: UInt64

  private static let live = Guarded<(last: UInt64, numbers: Set<UInt64>)>((0, []))

  /// A run of this process, as long as the object lives.
  package init() {
    number = Self.live.withLock { live in
      live.last += 1
      live.numbers.insert(live.last)
      return live.last
    }
    text = "\(Self.processText(getpid())):\(number)"
  }

  deinit {
    let number = self.number
    _ = Self.live.withLock { $0.numbers.remove(number) }
  }

  /// The process id of an owner that may still be at work; nil when it has ended.
  package static func livePID(_ text: String) -> Int32? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4, let pid = Int32(parts[0]), let number = UInt64(parts[3]) else { return nil }
    // Of another container nothing can be seen; its commits change the text all the same, and that is looked at.
    guard parts[2] == namespace else { return nil }
    if pid == getpid() && parts[1] == startTime(pid) {
      return live.withLock { $0.numbers.contains(number) } ? pid : nil
    }
    guard kill(pid, 0) == 0 || errno == EPERM else { return nil }
    return startTime(pid) == parts[1] ? pid : nil
  }

  private static func processText(_ pid: Int32) -> String { "\(pid):\(startTime(pid)):\(namespace)" }

  /// When a process was started, in the system's own unit; empty where that cannot be told, `dead` where it has ended
  /// and its parent has not asked yet.
  private static func startTime(_ pid: Int32) -> String {
    #if os(Linux)
      guard let fields = status(pid) else { return "" }
      if fields.first == "Z" || fields.first == "X" { return "dead" }
      return fields.count > 19 ? String(fields[19]) : ""
    #else
      return ""
    #endif
  }

  #if os(Linux)
    /// Whether a process has ended or is about to: killed, and not gone yet.
    static func isEnding(_ pid: Int32) -> Bool {
      guard let fields = status(pid), fields.count > 28 else { return true }
      let isExiting = UInt64(fields[6]).map { $0 & 0x4 != 0 } ?? false
      let isKilled = UInt64(fields[28]).map { $0 & (1 << UInt64(SIGKILL - 1)) != 0 } ?? false
      return fields[0] == "Z" || fields[0] == "X" || isExiting || isKilled
    }

    /// The fields of /proc/PID/stat from the third on: state, ..., flags (6), ..., start (19), ..., signals (28).
    private static func status(_ pid: Int32) -> [Substring]? {
      // The second field is the program's name in parentheses, which may hold anything.
      guard let text = contents(of: "/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else {
        return nil
      }
      return text[text.index(after: end)...].split(separator: " ")
    }
  #endif

  private static let namespace: String = {
    #if os(Linux)
      var target = [CChar](repeating: 0, count: 128)
      let count = readlink("/proc/self/ns/pid", &target, target.count - 1)
      guard count > 0 else { return "" }
      return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self).filter(
        \.isNumber)
    #else
      return ""
    #endif
  }()

  private static func contents(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = fread(&bytes, 1, bytes.count, file)
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}
