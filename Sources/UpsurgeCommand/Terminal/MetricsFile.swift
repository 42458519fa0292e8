import Upsurge
import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file of `--metrics`: replaced as a whole, so that whoever collects it never reads half of one.
struct MetricsFile {
  let path: String
  private let file: SummaryFile

  /// Makes the file beside it, so that a path that cannot be written costs nothing.
  /// - Throws: `cannotCreate`.
  init(_ path: String) throws(UpsurgeError) {
    self.path = path
    file = try SummaryFile(opening: path + ".tmp", option: "--metrics", noun: "metrics")
  }

  /// - Returns: false when the system refuses, which has been said.
  func write(_ summary: MirrorSummary) -> Bool {
    let feeds = (try? FeedStatus.all(database: summary.database)) ?? []
    guard file.write(Array(MetricsText.text(summary, feeds).utf8)) else { return false }
    // Collectors run as others.
    fchmod(file.descriptor, 0o644)
    if rename(path + ".tmp", path) == 0 { return true }
    let reason = String(cString: strerror(errno))
    Terminal.say("upsurge: cannot write the metrics \(Terminal.visible(path)): \(reason)\n")
    return false
  }
}
