import UpsurgeRecords

/// How the name of a source, or any path, stands in messages: what a position, a record of a run or a stream has of it.
package enum SourceName {
  /// The name of standard input in positions and messages.
  static let standardInput = "-"

  /// The name as it is shown: `standard input`, or the path or URL with control characters made visible.
  package static func shown(_ name: String) -> String {
    Source(name).isStandardInput ? "standard input" : redacted(name).escapedForTerminal
  }

  /// The name as it may be shown and stored: without the credentials that a URL holds (`https://***@host/…`), nor the
  /// values of parameters that are called like secrets (`?token=***`).
  package static func redacted(_ name: String) -> String {
    switch Source.Opening(name) {
    case .url: URLText.redacted(name)
    case .command: URLText.redacted(within: name)
    case .server: ServerSource.redacted(name)
    case .file: ServerSource.misspelling(name).map { $0 + "***" } ?? name
    case .standardInput, .database, .program: name
    }
  }

  /// Whether it is the URL of a database server.
  package static func isServer(_ name: String) -> Bool {
    ServerSource.isServer(name)
  }

  /// A URL that is no source, such as that of a database server, as it may be shown and stored: without its credentials, nor the
  /// values of parameters that are called like secrets.
  package static func redactedURL(_ url: String) -> String { URLText.redactedServer(url).escapedForTerminal }

  /// The name as an argument that can be pasted into a shell; empty for what is no file of its own.
  static func asShellArgument(_ name: String) -> String {
    // No other program finds a member of an archive by its path.
    guard let path = Source(name).filePath, ArchivePath(path) == nil else { return "" }
    return " " + (name.hasPrefix("-") ? "./" + name : name).quotedForShell
  }

  /// The way around a format that is not read here: `bzip2 -dc feed.bz2 | upsurge load DB TABLE -`.
  static func piped(_ command: String, _ name: String) -> String {
    let source = Source(name)
    if source.isURL { return "upsurge load DB TABLE 'exec:curl -fsSL URL | \(command)'" }
    if source.isFeed { return "upsurge load DB TABLE 'exec:COMMAND | \(command)'" }
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
