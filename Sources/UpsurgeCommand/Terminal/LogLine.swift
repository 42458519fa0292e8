import Upsurge
import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One event of `--log json`: an object on a line of its own, with `time`, `level`, `event` and `message`, and what else
/// there is to the event.
struct LogLine {
  enum Level: String { case debug, info, warning, error }

  private var json = JSONText()

  /// - Parameter message: for people; control characters are JSON's to hide.
  init(_ level: Level, _ event: String, _ message: String, table: String? = nil, time: String = Self.now) {
    json.beginObject()
    for (key, value) in [
      ("time", time), ("level", level.rawValue), ("event", event), ("table", table), ("message", message),
    ] {
      guard let value else { continue }
      json.key(key)
      json.string(value)
    }
  }

  /// The line with its end.
  var bytes: [UInt8] {
    var json = json
    json.endObject()
    json.newline()
    return json.bytes
  }

  /// The time as RFC 3339 has it, in UTC, with milliseconds: `2026-11-22T03:15:00.120Z`.
  static var now: String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return text(time)
  }

  static func text(_ time: timespec) -> String {
    var seconds = time.tv_sec
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ value: Int32, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
    }
    let day = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
    let clock = "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
    return "\(day)T\(clock).\(digits(Int32(time.tv_nsec / 1_000_000), 3))Z"
  }
}

extension LogLine {
  init(_ note: RunNote) {
    let level: Level =
      switch note.level {
      case .detail: .debug
      case .info: .info
      case .warning: .warning
      }
    self.init(level, "note", note.text, table: note.table)
  }

  /// Why something came to nothing.
  init(_ error: UpsurgeError, table: String? = nil) {
    self.init(.error, "error", error.message, table: table)
    json.failure("error", error)
  }

  init(_ progress: RunControl.Progress, seconds: Double) {
    let message = ProgressLine.text(progress, seconds: seconds)
    self.init(.info, "progress", message, table: progress.table)
    json.key("stage")
    json.string("\(progress.stage)")
    let counts = [
      ("records", progress.records), ("rejects", progress.rejects), ("bytes", progress.bytes),
      ("total_bytes", progress.totalBytes),
    ]
    for (key, count) in counts {
      guard let count else { continue }
      json.key(key)
      json.number(count)
    }
  }

  /// What became of a table.
  init(_ table: MirrorSummary.Table) {
    let error = table.failure
    var message = error?.message ?? ""
    if error == nil {
      let counts = table.ledger.entries.filter { $0.word == "read" || $0.count > 0 }
      message = counts.map { "\($0.word) \(Words.count($0.count))" }.joined(separator: ", ")
      if table.loads.isEmpty {
        message = "the delivery is still the last one, nothing was read" + (table.exitCode == 2 ? LedgerText.leftBehind : "")
      }
    }
    self.init(Self.level(table.exitCode), "table", message, table: table.name)
    if let since = table.unchangedSince, table.loads.isEmpty {
      json.key("unchanged_since")
      json.string(since)
    }
    json.key("deliveries")
    json.number(UInt64(table.loads.count))
    json.member(table.ledger)
    json.member(table.localEdits)
    json.ending(error, exitCode: table.exitCode)
  }

  /// The end of a job.
  init(_ summary: MirrorSummary) {
    let count = Words.count(UInt64(summary.tables.count), "table")
    let failures = summary.tables.count { ![0, 2].contains($0.exitCode) }
    let state =
      summary.error?.message ?? (failures == 0 ? "\(count) in step" : "\(failures) of \(count) failed")
    let signal = summary.signal.map { "ended by signal \($0); " } ?? ""
    self.init(Self.level(summary.exitCode), "end", signal + state)
    json.key("database")
    json.string(summary.database)
    json.key("seconds")
    json.number(summary.seconds)
    json.member(summary.ledger)
    json.ending(summary.error, exitCode: summary.exitCode)
  }

  private static func level(_ exitCode: Int32) -> Level {
    exitCode == 0 ? .info : exitCode == 2 ? .warning : .error
  }
}
