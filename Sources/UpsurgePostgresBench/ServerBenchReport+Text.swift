import Upsurge
import UpsurgeBench
import UpsurgeRecords

extension ServerBenchReport {
  /// The report as tables for a terminal, one for each suite.
  package var text: String {
    var lines = ["\(Words.count(rowCount, "generated row")) (\(Words.bytes(Double(inputByteCount)))) to \(server.name)"]
    let width = max(entries.filter { $0.figures.median != nil }.map(\.figures.name.count).max() ?? 0, 18)
    for (suite, entries) in suites {
      lines.append("")
      lines.append(FigureColumn.line(suite.title, width, zip(columns, columns.map(\.name))))
      lines += entries.filter { $0.figures.median != nil }.map { line(of: $0, width) }
    }
    let absent = entries.compactMap { entry in
      entry.figures.absenceText.map { "\($0) (\(entry.suite.title))" }
    }
    lines += absent.isEmpty ? [] : [""] + absent
    lines += ["", "\(server.version), round trip \(server.roundTripText)"]
    lines.append(server.settings.map { "\($0.name): \($0.value)" }.joined(separator: "; "))
    lines.append("from upsurge \(upsurgeVersion) on \(machine.words)")
    lines += notes.map { "note: \($0.text)" }
    return lines.map(\.escapedForTerminal).joined(separator: "\n") + "\n"
  }

  /// Columns that nobody knows a figure of are left out.
  private var columns: [FigureColumn] {
    FigureColumn.measured + [FigureColumn("vs best", width: 10)]
      + (hasLog ? [FigureColumn("log", width: 11)] : [])
      + (hasDeadRows ? [FigureColumn("dead rows", width: 11)] : [])
  }

  private var hasLog: Bool { entries.contains { $0.logByteCount != nil } }
  private var hasDeadRows: Bool { entries.contains { $0.deadRowCount != nil } }

  private func line(of entry: Entry, _ width: Int) -> String {
    let values =
      entry.figures.measuredTexts(rowsPerSecond: entry.rowsPerSecond)
      + [ratio(entry).map(BenchReport.ratio) ?? "-"]
      + (hasLog ? [entry.logText] : []) + (hasDeadRows ? [entry.deadRowText] : [])
    return FigureColumn.line(entry.figures.name, width, zip(columns, values)) + (entry.figures.isNoisy ? "  noisy" : "")
  }
}

extension ServerBenchReport.Entry {
  /// `12.3 MiB`, or a dash.
  var logText: String { logByteCount.map { Words.bytes(Double($0)) } ?? "-" }
  /// `200,000`, or a dash.
  var deadRowText: String { deadRowCount.map { Words.count(UInt64(max($0, 0))) } ?? "-" }
}
