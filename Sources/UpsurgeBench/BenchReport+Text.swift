import Upsurge
import UpsurgeRecords

extension BenchReport {
  /// The report as a table for a terminal.
  package var text: String {
    var lines = ["\(input) (\(Words.bytes(Double(inputByteCount)))), \(suiteWords)", ""]
    let measured = entries.filter { $0.median != nil }
    let width = max(measured.map(\.name.count).max() ?? 0, 10)
    lines.append(
      Self.row("", width, ["seconds", "rows/s", "spread", "runs", "vs upsurge load"]))
    for entry in measured {
      lines.append(
        Self.row(
          entry.name, width,
          [
            Self.seconds(entry.median ?? 0), Words.count(UInt64(rowsPerSecond(entry) ?? 0)),
            entry.spread.map { "\(Int(($0 * 100).rounded())) %" } ?? "-", "\(entry.runs.count)",
            ratio(entry).map(Self.ratio) ?? "-",
          ]) + (entry.isNoisy ? "  noisy" : ""))
    }
    let absent = entries.filter { $0.absence != nil }
    if !absent.isEmpty { lines.append("") }
    for entry in absent {
      lines.append(
        "\(entry.absence?.isFailure == true ? "failed" : "not measured"): \(entry.name): \(entry.absence?.reason.text ?? "")"
      )
    }
    lines.append("")
    lines.append(machineWords)
    lines.append(
      "upsurge \(upsurgeVersion), SQLite \(sqlite.version); "
        + settings.map { "\($0.name): \($0.value)" }.joined(separator: "; "))
    lines += notes.map { "note: \($0.text)" }
    return lines.map(\.escapedForTerminal).joined(separator: "\n") + "\n"
  }

  package var suiteWords: String {
    switch suite {
    case .new: "into a new table"
    case .changed: "upserted where all are there, and all have changed"
    case .unchanged: "upserted where all are there as they are"
    }
  }

  package var machineWords: String {
    "\(machine.processor), \(machine.coreCount) \(machine.coreCount == 1 ? "core" : "cores"), "
      + "\(Words.bytes(Double(machine.memoryByteCount))) of memory, \(machine.fileSystem), \(machine.system)"
  }

  private static func row(_ name: String, _ width: Int, _ values: [String]) -> String {
    let widths = [9, 12, 8, 6, 17]
    var line = name + String(repeating: " ", count: max(width - name.count, 0))
    for (value, width) in zip(values, widths) {
      line += String(repeating: " ", count: max(width - value.count, 1)) + value
    }
    return line
  }

  /// Three digits after the point.
  static func seconds(_ value: Double) -> String { decimal(value, digits: 3) }

  /// `1.20 x`
  static func ratio(_ value: Double) -> String { decimal(value, digits: 2) + " x" }

  static func decimal(_ value: Double, digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = UInt64(max(value * Double(scale), 0).rounded())
    let rest = String(scaled % UInt64(scale))
    return "\(scaled / UInt64(scale)).\(String(repeating: "0", count: digits - rest.count))\(rest)"
  }
}
