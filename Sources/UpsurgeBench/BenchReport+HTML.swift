import Upsurge
import UpsurgeRecords

extension BenchReport {
  /// The report as one page that needs nothing else: no script, no file from outside.
  package var html: String {
    HTMLPage.text(title: "upsurge bench: \(input)", style: BenchPage.style) { body in
      body.element("h1", text: "upsurge bench")
      body.element("p", text: "\(input) (\(Words.bytes(Double(inputByteCount)))), \(suiteWords).")
      body.element("h2", text: "Rows a second")
      BenchPage.writeChart(measured.map(bar), to: &body)
      body.element("p", [("class", "small")], text: "\(BenchPage.chartWords) 2.00 x took twice as long as upsurge load.")
      writeTable(to: &body)
      BenchPage.writeList("Not measured", entries.filter { $0.absence != nil }.map {
        "\($0.name): \($0.absence?.reason.text ?? "")"
      }, to: &body)
      writeFacts(to: &body)
    }
  }

  /// The fastest first.
  private var measured: [Entry] {
    entries.filter { $0.median != nil }.sorted { ($0.median ?? 0) < ($1.median ?? 0) }
  }

  private func bar(of entry: Entry) -> BenchPage.Bar {
    var bar = BenchPage.Bar(entry, rowCount: rowCount)
    if entry.kind != .upsurge, let ratio = ratio(entry) { bar.remarks.insert(Self.ratio(ratio), at: 0) }
    return bar
  }

  private func writeTable(to body: inout Markup) {
    let head = ["contender", "what it does", "seconds", "rows/s", "spread", "runs", "vs upsurge load"]
    let rows = measured.map { entry in
      [
        entry.name, entry.detail, Self.seconds(entry.median ?? 0),
        Words.count(UInt64(rowsPerSecond(entry) ?? 0)), entry.spreadText + (entry.isNoisy ? " noisy" : ""),
        entry.runs.map(Self.seconds).joined(separator: " "), ratio(entry).map(Self.ratio) ?? "-",
      ]
    }
    BenchPage.writeTable(head, rows, to: &body)
  }

  private func writeFacts(to body: inout Markup) {
    body.element("h2", text: "Machine and settings")
    let own = [("SQLite", sqlite.version), ("compiled with", sqlite.options.joined(separator: " "))]
    BenchPage.writeFacts(machine.facts + own + settings.map { ($0.name, $0.value) }, to: &body)
    BenchPage.writeList("To judge by", notes.map(\.text), to: &body)
    body.element("h2", text: "To repeat it")
    body.element("pre", text: commands.joined(separator: "\n"))
  }
}
