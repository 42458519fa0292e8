import Upsurge
import UpsurgeRecords

extension BenchReport {
  /// The report as a table for a terminal.
  package var text: String {
    var lines = ["\(input) (\(Words.bytes(Double(inputByteCount)))), \(suiteWords)", ""]
    let measured = entries.filter { $0.median != nil }
    let width = max(measured.map(\.name.count).max() ?? 0, 10)
    let columns = FigureColumn.measured + [FigureColumn("vs upsurge load", width: 17)]
    lines.append(FigureColumn.line("", width, zip(columns, columns.map(\.name))))
    for entry in measured {
      let values = entry.measuredTexts(rowsPerSecond: rowsPerSecond(entry)) + [ratio(entry).map(Self.ratio) ?? "-"]
      lines.append(FigureColumn.line(entry.name, width, zip(columns, values)) + (entry.isNoisy ? "  noisy" : ""))
    }
    let absent = entries.compactMap(\.absenceText)
    lines += absent.isEmpty ? [] : [""] + absent
    lines.append("")
    lines.append(machine.words)
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

  /// Three digits after the point.
  package static func seconds(_ value: Double) -> String { decimal(value, digits: 3) }

  /// `1.20 x`
  package static func ratio(_ value: Double) -> String { decimal(value, digits: 2) + " x" }

  package static func decimal(_ value: Double, digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = UInt64(max(value * Double(scale), 0).rounded())
    let rest = String(scaled % UInt64(scale))
    return "\(scaled / UInt64(scale)).\(String(repeating: "0", count: digits - rest.count))\(rest)"
  }
}

extension BenchReport.Entry {
  /// What stands in `FigureColumn.measured`.
  package func measuredTexts(rowsPerSecond: Double?) -> [String] {
    [
      BenchReport.seconds(median ?? 0), Words.count(UInt64(rowsPerSecond ?? 0)), spreadText, "\(runs.count)",
    ]
  }

  /// `12 %`, or a dash of a single run.
  package var spreadText: String { spread.map { "\(Int(($0 * 100).rounded())) %" } ?? "-" }

  /// Why there is no figure; nil where there is one.
  package var absenceText: String? {
    absence.map { "\($0.isFailure ? "failed" : "not measured"): \(name): \($0.reason.text)" }
  }
}
