import Upsurge
import UpsurgeBench
import UpsurgeRecords

extension ServerBenchReport {
  /// The report as one page that needs nothing else: no script, no file from outside.
  package var html: String {
    HTMLPage.text(title: "upsurge bench: \(server.name)", style: BenchPage.style) { body in
      body.element("h1", text: "upsurge bench")
      body.element(
        "p",
        text: "\(Words.count(rowCount, "generated row")) (\(Words.bytes(Double(inputByteCount)))) to \(server.name), rows a second.")
      for (suite, entries) in suites {
        body.element("h2", text: suite.title)
        let measured = Self.fastestFirst(entries)
        BenchPage.writeChart(measured.map(bar), to: &body)
        writeTable(measured, to: &body)
      }
      body.element("p", [("class", "small")], text: BenchPage.chartWords)
      BenchPage.writeList("Not measured", entries.compactMap { entry in
        entry.figures.absence.map { "\(entry.figures.name) (\(entry.suite.title)): \($0.reason.text)" }
      }, to: &body)
      body.element("h2", text: "Server, machine and settings")
      let own = [("server", server.version), ("round trip", server.roundTripText)]
      BenchPage.writeFacts(own + server.settings.map { ($0.name, $0.value) } + machine.facts, to: &body)
      BenchPage.writeList("To judge by", notes.map(\.text), to: &body)
      body.element("h2", text: "To repeat it")
      body.element("pre", text: command)
    }
  }

  private static func fastestFirst(_ entries: [Entry]) -> [Entry] {
    entries.filter { $0.figures.median != nil }.sorted { ($0.rowsPerSecond ?? 0) > ($1.rowsPerSecond ?? 0) }
  }

  private func bar(of entry: Entry) -> BenchPage.Bar {
    var bar = BenchPage.Bar(entry.figures, rowCount: entry.rowCount)
    if let ratio = ratio(entry) { bar.remarks.insert(BenchReport.ratio(ratio), at: 0) }
    return bar
  }

  private func writeTable(_ measured: [Entry], to body: inout Markup) {
    let head = ["contender", "what it does", "seconds", "rows/s", "spread", "runs", "vs best", "log", "dead rows"]
    let rows = measured.map { entry in
      [
        entry.figures.name, entry.figures.detail, BenchReport.seconds(entry.figures.median ?? 0),
        Words.count(UInt64(entry.rowsPerSecond ?? 0)),
        entry.figures.spreadText + (entry.figures.isNoisy ? " noisy" : ""),
        entry.figures.runs.map(BenchReport.seconds).joined(separator: " "),
        ratio(entry).map(BenchReport.ratio) ?? "-", entry.logText, entry.deadRowText,
      ]
    }
    BenchPage.writeTable(head, rows, to: &body)
  }
}
