import Upsurge
import UpsurgeRecords

// The engine names options as its command does. Who has a job file is told its keys.

/// Hints and messages in the words of a job file: `--on-error reject` is `on-error: reject` there.
package enum JobWording {
  /// Options whose key says more than they do, or is called otherwise.
  private static let phrases = [
    "alter": "contract: evolve", "atomic": "atomic: table", "stop-after": "fewer records in the feed",
    "verify": "--verify",
  ]

  /// Options without a value.
  package static let flags: Set<String> = [
    "no-header", "create-key", "any-key", "strict", "input-order", "json-nan", "row-state",
  ]

  /// Options with a value that are keys of a table.
  package static let values: Set<String> = [
    "format", "compression", "delimiter", "quote", "escape", "header-lines", "names", "skip-lines", "comment",
    "null", "encoding", "ragged", "columns", "rename", "type", "flatten", "json-path", "json-nan",
    "duplicate-keys",
    "infer",
    "max-ratio", "memory", "key", "key-where", "key-index", "null-keys", "mode", "merge", "set", "update-if",
    "delete-when", "create", "not-null", "default", "contract", "index", "indexes", "fts", "triggers",
    "foreign-keys", "blob", "blob-folder", "init", "on-error", "rejects", "max-rejects", "durability",
    "commit-every", "wal-limit", "busy-timeout", "direct", "kind", "sweep", "scope", "owned-by",
    "local-edits",
    "keep-runs", "keep-files", "keep-rejects", "keep-quarantine", "deadline", "retries", "retry-after",
    "changes",
    "date", "decimal", "thousands", "bool", "trim", "let", "where", "add", "json-map", "sheet", "widths",
    "dialect", "quotes", "quoted-empty", "columns-gone",
  ]

  /// Values that are words of small letters, as they stand behind an option in a message.
  private static let words: Set<String> = [
    "reject", "stop", "table", "evolve", "freeze", "quarantine", "never", "auto", "sample", "full", "normal",
    "off",
    "keep", "defer", "run", "guarded", "deferred", "on", "insert", "upsert", "ignore", "update", "delete",
    "replace",
    "coalesce", "pad", "extra", "none", "zstd", "gzip", "csv", "tsv", "ndjson", "json", "sqlite", "base64",
    "hex",
    "file", "latin-1", "windows-1252", "utf-8", "utf-16", "first-wins", "last-wins", "text", "integer",
    "null",
  ]

  /// A text in the words of a job file. What stands in a command line (`upsurge runs DB --forget 7`) stays.
  package static func ofJob(_ text: String) -> String {
    var parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    var isCommand = false
    var index = 0
    while index < parts.count {
      defer { index += 1 }
      if parts[index].hasSuffix("upsurge") { isCommand = true }
      defer { if let last = parts[index].last, ";,)`".contains(last) { isCommand = false } }
      if isCommand { continue }
      let (start, word, end) = trimmed(parts[index])
      guard word.hasPrefix("--") else { continue }
      let pieces = word.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = pieces.first else { continue }
      if let phrase = phrases[name] {
        parts[index] = start + phrase + end
      } else if flags.contains(name) {
        parts[index] = start + "\(name): true" + end
      } else if values.contains(name), pieces.count == 2 {
        parts[index] = start + "\(name): \(value(pieces[1]))" + end
      } else if values.contains(name) {
        parts[index] = start + name + end
        guard end.isEmpty, index + 1 < parts.count else { continue }
        let next = trimmed(parts[index + 1])
        guard next.start.isEmpty, isValue(next.word) else { continue }
        parts[index] = start + name + ":"
        parts[index + 1] = value(next.word) + next.end
      }
    }
    return parts.joined(separator: " ")
  }

  /// The punctuation in front of a word, the word, and that behind it.
  private static func trimmed(_ part: String) -> (start: String, word: String, end: String) {
    let start = part.prefix { "(`'\"".contains($0) }
    let rest = part.dropFirst(start.count)
    let end = rest.reversed().prefix { ";,.:)`'\"".contains($0) }
    return (String(start), String(rest.dropLast(end.count)), String(end.reversed()))
  }

  /// Whether a word behind an option is its value and no part of the sentence: `COLS`, `A,B`, `16MiB`, `reject`.
  private static func isValue(_ word: String) -> Bool {
    if words.contains(word) { return true }
    guard let first = word.first, !word.hasPrefix("--") else { return false }
    let isPlaceholder = word.allSatisfy { $0.isUppercase || $0.isNumber || "_,:=|%.…".contains($0) }
    return isPlaceholder && (first.isUppercase || first.isNumber) || word.contains("=") || word.hasPrefix("/")
      || first.isNumber
  }

  /// `A,B` is `[A, B]`, and `OLD=NEW` is `{OLD: NEW}`.
  private static func value(_ word: String) -> String {
    let names = word.split(separator: ",")
    if names.count > 1 { return "[\(names.joined(separator: ", "))]" }
    let pair = word.split(separator: "=", maxSplits: 1)
    return pair.count == 2 ? "{\(pair[0]): \(pair[1])}" : word
  }
}

extension UpsurgeError {
  /// The same in the words of a job file.
  var ofJob: UpsurgeError {
    var error = self
    error.message = JobWording.ofJob(message)
    error.hint = hint.map(JobWording.ofJob)
    return error
  }
}

extension MirrorJob {
  /// Tells notes in the words of the job file, where there is one.
  func wording(_ note: @escaping @Sendable (RunNote) -> Void) -> @Sendable (RunNote) -> Void {
    if file == nil { return note }
    return { said in
      var said = said
      said.text = JobWording.ofJob(said.text)
      note(said)
    }
  }
}
