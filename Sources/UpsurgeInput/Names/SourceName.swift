import UpsurgeRecords

/// How a source's name is understood and shown.
package enum SourceName {
  /// The name of standard input in positions and messages.
  package static let standardInput = "-"

  /// Whether the name stands for standard input: `-`, `/dev/stdin`, `/dev/fd/0` or `/proc/self/fd/0`.
  package static func isStandardInput(_ name: String) -> Bool {
    name == standardInput || name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0"
  }

  /// The name as it is shown: `standard input`, or the path or URL with control characters made visible.
  package static func shown(_ name: String) -> String {
    isStandardInput(name) ? "standard input" : redacted(name).escapedForTerminal
  }

  /// The name as an argument that can be pasted into a shell; empty for what is no file.
  static func asShellArgument(_ name: String) -> String {
    if isStandardInput(name) || isFeed(name) { return "" }
    return " " + (name.hasPrefix("-") ? "./" + name : name).quotedForShell
  }

  /// The way around a format that is not read here: `bzip2 -dc feed.bz2 | upsurge load DB TABLE -`.
  static func piped(_ command: String, _ name: String) -> String {
    if isURL(name) { return "upsurge load DB TABLE 'exec:curl -fsSL URL | \(command)'" }
    if isFeed(name) { return "upsurge load DB TABLE '\(commandMark)COMMAND | \(command)'" }
    return "\(command)\(asShellArgument(name)) | upsurge load DB TABLE -"
  }

  /// What to do about a file that was damaged on its way: `get it again; zstd -t feed.zst checks it`.
  static func fetchAgain(_ name: String, check: String) -> String {
    let argument = asShellArgument(name)
    return argument.isEmpty ? "get it again" : "get it again; \(check)\(argument) checks it"
  }
}

/// A size as `--memory` understands it: `3GiB`, `128MiB`; parts of a MiB are rounded up, or else dropped.
func sizeText(_ byteCount: UInt64, roundsUp: Bool = true) -> String {
  let mebibytes = byteCount >> 20 + (roundsUp && byteCount & (1 << 20 - 1) != 0 ? 1 : 0)
  return mebibytes > 0 && mebibytes % 1024 == 0 ? "\(mebibytes >> 10)GiB" : "\(mebibytes)MiB"
}
