import Upsurge
import UpsurgeMirror

/// The file of `--metrics`.
struct MetricsFile {
  private let file: PageFile

  /// - Throws: `cannotCreate`.
  init(_ path: String) throws(UpsurgeError) {
    // Collectors run as others.
    file = try PageFile(path, option: "--metrics", noun: "metrics", isForOthers: true)
  }

  /// - Returns: false when the system refuses, which has been said.
  func write(_ summary: MirrorSummary) -> Bool {
    let feeds = (try? FeedStatus.all(database: summary.place ?? summary.database)) ?? []
    return file.write(Array(MetricsText.text(summary, feeds).utf8))
  }
}
