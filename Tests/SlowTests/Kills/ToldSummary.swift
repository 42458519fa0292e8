import Foundation

/// The summary of a process that may have been killed while it wrote it.
enum ToldSummary {
  /// The parts that do not depend on the time; nil where it is not whole.
  static func text(of path: String) -> String? {
    guard let data = FileManager.default.contents(atPath: path),
      let summary = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
    else { return nil }
    let keys = ["ledger", "rejects_by_reason", "warnings", "committed_records", "superseded", "exit_code"]
    let part = summary.filter { keys.contains($0.key) }
    let text = try? JSONSerialization.data(withJSONObject: part, options: [.sortedKeys])
    return text.map { String(decoding: $0, as: UTF8.self) }
  }
}
