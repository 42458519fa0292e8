import Foundation

/// Successive snapshots of a public table, and what has changed from each to the next.
package struct History {
  /// The key column.
  package let key: String
  /// The oldest first.
  package let nights: [Night]

  /// A snapshot and what is known of it.
  package struct Night {
    /// The CSV file.
    package var path: String
    /// How many it has.
    package var rows: UInt64
    /// Against the one before; nil for the first one.
    package var added: UInt64?
    /// As `added`; so are the others.
    package var deleted: UInt64?
    package var changed: UInt64?
    package var unchanged: UInt64?
  }

  /// Unpacks one into a folder.
  /// - Parameter name: `dotgov` or `sp500`.
  package init(_ name: String, in scratch: Scratch) throws {
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
