import Foundation
import TestSupport

/// Successive snapshots of a public table, and what has changed from each to the next.
struct History {
  let key: String
  let nights: [Night]

  struct Night {
    var path: String
    var rows: UInt64
    /// nil for the first one.
    var added: UInt64?
    var deleted: UInt64?
    var changed: UInt64?
    var unchanged: UInt64?
  }

  /// Unpacks one into a folder.
  /// - Parameter name: `dotgov` or `sp500`.
  init(_ name: String, in scratch: Scratch) throws {
    key = name == "dotgov" ? "Domain name" : "Symbol"
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/bin/sh")
    tar.arguments = [
      "-c", "zstd -dc \"$0\" | tar -xf - -C \"$1\"", SharedData.path("history/\(name)_history.tar.zst"),
      scratch.path,
    ]
    try tar.run()
    tar.waitUntilExit()
    let table = String(decoding: try SharedData.bytes("history/\(name)_stats.tsv"), as: UTF8.self)
    nights = table.split(separator: "\n").dropFirst().map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      return Night(
        path: scratch.file("\(name)_history/\(fields[1])"), rows: UInt64(fields[5]) ?? 0,
        added: UInt64(fields[8]),
        deleted: UInt64(fields[9]), changed: UInt64(fields[10]), unchanged: UInt64(fields[11]))
    }
  }
}
