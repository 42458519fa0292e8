import Upsurge
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The line that is drawn while a run goes on.
enum ProgressLine {
  /// What is done, how far it is, and how long the rest takes, as far as that is known:
  ///
  ///     loading  [####................] 20 %  12.0 MiB  1,200,000 rows  600,000 rows/s  ETA 0:03
  ///     building the index by_name  0:07  5,800,000 rows
  static func text(_ progress: RunControl.Progress, seconds: Double) -> String {
    var parts = [progress.work?.escapedForTerminal ?? name(of: progress.stage)]
    switch progress.stage {
    case .fetching, .applying, .packing, .replaying, .inspecting, .migrating:
      // An act without a number that grows says how long it has lasted.
      if progress.bytes == 0 && progress.records == 0 {
        parts.append(Words.duration(progress.stageSeconds))
      } else {
        parts += moving(
          progress, seconds: max(progress.stage == .migrating ? progress.stageSeconds : seconds, 0.001))
      }
    case .sorting, .sweeping, .indexing, .finishing:
      parts.append(Words.duration(progress.stageSeconds))
      parts.append(Words.count(progress.records, "row"))
    }
    if progress.rejects > 0 { parts.append("\(Words.count(progress.rejects)) rejected") }
    return parts.joined(separator: "  ")
  }

  /// The share, the counts, the rate, and when it ends.
  private static func moving(_ progress: RunControl.Progress, seconds: Double) -> [String] {
    var parts: [String] = []
    var share: Double?
    if let total = progress.totalBytes, total > 0 {
      share = min(Double(progress.bytes) / Double(total), 1)
    } else if let total = progress.totalRecords, total > 0 {
      share = min(Double(progress.records) / Double(total), 1)
    }
    if let share { parts.append(bar(share)) }
    if progress.bytes > 0 { parts.append(Words.bytes(Double(progress.bytes))) }
    if progress.records == 0 {
      parts.append("\(Words.bytes(Double(progress.bytes) / seconds))/s")
    } else {
      let noun = noun(of: progress.stage)
      let total = progress.totalBytes == nil ? progress.totalRecords : nil
      parts.append(
        "\(Words.count(progress.records))\(total.map { " of \(Words.count($0))" } ?? "") \(noun)")
      parts.append("\(Words.count(UInt64(Double(progress.records) / seconds))) \(noun)/s")
    }
    if let share, share > 0, share < 1 {
      parts.append("ETA \(Words.duration(seconds * (1 - share) / share))")
    }
    return parts
  }

  /// `[####................] 20 %`
  private static func bar(_ share: Double) -> String {
    let filled = Int(share * 20)
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
      + "] \(Int(share * 100)) %"
  }

  private static func name(of stage: RunControl.Stage) -> String {
    switch stage {
    case .fetching: "reading"
    case .applying: "loading"
    case .packing: "packing"
    case .sorting: "sorting keys"
    case .sweeping: "removing rows"
    case .indexing: "making indexes"
    case .finishing: "writing to disk"
    case .replaying: "replaying"
    case .migrating: "changing keys"
    case .inspecting: "looking at the input"
    }
  }

  private static func noun(of stage: RunControl.Stage) -> String {
    switch stage {
    case .replaying, .inspecting: "records"
    case .migrating: "keys"
    default: "rows"
    }
  }

  /// The text as far as it has room: what goes on in a second line of the terminal would not be drawn over.
  static func fitted(_ text: String) -> String {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return text }
    return String(text.prefix(Int(size.ws_col) - 1))
  }
}
