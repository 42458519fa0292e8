import Upsurge
import UpsurgeRecords

extension BenchReport {
  /// The report as one page that needs nothing else: no script, no file from outside.
  package var html: String {
    HTMLPage.text(title: "upsurge bench: \(input)", style: Self.style) { body in
      body.element("h1", text: "upsurge bench")
      body.element("p", text: "\(input) (\(Words.bytes(Double(inputByteCount)))), \(suiteWords).")
      body.element("h2", text: "Rows a second")
      writeChart(to: &body)
      writeTable(to: &body)
      writeAbsences(to: &body)
      writeFacts(to: &body)
    }
  }

  /// The fastest first.
  private var measured: [Entry] {
    entries.filter { $0.median != nil }.sorted { ($0.median ?? 0) < ($1.median ?? 0) }
  }

  // MARK: - Chart

  /// One bar a contender, as long as its rows a second, with a line from its slowest to its fastest run.
  private func writeChart(to body: inout Markup) {
    let rates = measured.flatMap(\.runs).filter { $0 > 0 }.map { Double(rowCount) / $0 }
    guard let most = rates.max(), most > 0 else { return }
    body.element("div", [("class", "chart")]) { chart in
      for entry in measured { writeBar(of: entry, most: most, to: &chart) }
    }
    body.element(
      "p", [("class", "small")],
      text: "Medians; longer is better. The thin lines lead from the slowest to the fastest run. "
        + "2.00 x took twice as long as upsurge load."
    )
  }

  private func writeBar(of entry: Entry, most: Double, to chart: inout Markup) {
    let rate = rowsPerSecond(entry) ?? 0
    let runs = entry.runs.filter { $0 > 0 }.map { Double(rowCount) / $0 / most }
    var spread: (from: Double, to: Double)?
    if runs.count > 1, let least = runs.min(), let most = runs.max() { spread = (least, most) }
    let words = Words.count(UInt64(rate)) + " rows/s"
    chart.element("div", [("class", "name")], text: entry.name)
    chart.element("div") { cell in
      HTMLBar([(entry.kind.rawValue, rate / most)], spread: spread, height: 18, label: words).write(to: &cell)
    }
    chart.element("div", [("class", "value")]) { cell in
      cell.element("span", [("class", "number")], text: words)
      let more =
        (ratio(entry).flatMap { entry.kind == .upsurge ? nil : ", " + Self.ratio($0) } ?? "")
        + (entry.isNoisy ? ", noisy" : "")
      if !more.isEmpty { cell.add(more) }
    }
  }

  // MARK: - Tables

  private func writeTable(to body: inout Markup) {
    let head = ["contender", "what it does", "seconds", "rows/s", "spread", "runs", "vs upsurge load"]
    body.element("table", [("class", "results")]) { table in
      table.element("thead") {
        $0.element("tr") { row in for name in head { row.element("th", text: name) } }
      }
      table.element("tbody") { rows in
        for entry in measured {
          let values = [
            entry.name, entry.detail, Self.seconds(entry.median ?? 0),
            Words.count(UInt64(rowsPerSecond(entry) ?? 0)),
            (entry.spread.map { "\(Int(($0 * 100).rounded())) %" } ?? "-") + (entry.isNoisy ? " noisy" : ""),
            entry.runs.map(Self.seconds).joined(separator: " "), ratio(entry).map(Self.ratio) ?? "-",
          ]
          rows.element("tr") { row in
            for (name, value) in zip(head, values) {
              row.element("td", [("data-name", name)], text: value)
            }
          }
        }
      }
    }
  }

  private func writeAbsences(to body: inout Markup) {
    let absent = entries.filter { $0.absence != nil }
    if absent.isEmpty { return }
    body.element("h2", text: "Not measured")
    body.element("ul") { list in
      for entry in absent { list.element("li", text: "\(entry.name): \(entry.absence?.reason.text ?? "")") }
    }
  }

  private func writeFacts(to body: inout Markup) {
    body.element("h2", text: "Machine and settings")
    let facts =
      [
        ("processor", machine.processor), ("cores", "\(machine.coreCount)"),
        ("memory", Words.bytes(Double(machine.memoryByteCount))),
        ("file system of the scratch folder", machine.fileSystem), ("system", machine.system),
        ("load when it began", Self.decimal(machine.load, digits: 2)), ("upsurge", upsurgeVersion),
        ("SQLite", sqlite.version),
        ("compiled with", sqlite.options.joined(separator: " ")),
      ] + settings.map { ($0.name, $0.value) }
    body.element("table", [("class", "facts")]) { table in
      table.element("tbody") { rows in
        for (name, value) in facts {
          rows.element("tr") { row in
            row.element("th", text: name)
            row.element("td", text: value)
          }
        }
      }
    }
    if !notes.isEmpty {
      body.element("h2", text: "To judge by")
      body.element("ul") { list in for note in notes { list.element("li", text: note.text) } }
    }
    body.element("h2", text: "To repeat it")
    body.element("pre", text: commands.joined(separator: "\n"))
  }

  private static let style = """
    :root { --floor: #a9b1c0; --pattern: #7a8cab; --peer: #c29a5b; --upsurge: #1b7f5c; }
    @media (prefers-color-scheme: dark) { :root { --floor: #5a6475; --pattern: #7388ad; --peer: #c69f62;
      --upsurge: #3fb98c; } }
    rect.floor { fill: var(--floor); } rect.pattern { fill: var(--pattern); } rect.peer { fill: var(--peer); }
    rect.upsurge { fill: var(--upsurge); }
    line.spread { stroke: var(--ink); stroke-width: 2; vector-effect: non-scaling-stroke; }
    .chart { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr 14rem; gap: 0.4rem 0.8rem;
      align-items: center; font-size: 0.9rem; margin: 0.5rem 0 1rem; }
    .chart .name { text-align: right; }
    table.results td, table.facts td { font-variant-numeric: tabular-nums; }
    table.facts td { overflow-wrap: anywhere; } table.facts th { min-width: 8rem; }
    @media (max-width: 45rem) {
      table.results thead { display: none; } table.results tr, table.results td { display: block; }
      table.results tr { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
      table.results td { border: 0; padding: 0; } table.results td:first-child { font-weight: 600; }
      table.results td:nth-child(n+3)::before { content: attr(data-name) ": "; color: var(--soft); }
      .chart { grid-template-columns: 1fr; gap: 0.1rem; } .chart .name { text-align: left; }
      .chart .value { margin-bottom: 0.6rem; color: var(--soft); }
    }
    """
}
