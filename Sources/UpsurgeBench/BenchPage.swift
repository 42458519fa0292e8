import Upsurge
import UpsurgeRecords

/// The parts that the page of a benchmark is made of.
package enum BenchPage {
  /// One bar of the chart, as long as its rows a second.
  package struct Bar {
    let name: String
    let kind: BenchReport.Kind
    /// Rows a second of each run, and of the median.
    let rates: [Double]
    let rate: Double
    /// What stands after the figure.
    package var remarks: [String]

    /// - Parameter rowCount: the rows of each run.
    package init(_ entry: BenchReport.Entry, rowCount: UInt64) {
      (name, kind) = (entry.name, entry.kind)
      rates = entry.runs.filter { $0 > 0 }.map { Double(rowCount) / $0 }
      rate = entry.median.flatMap { $0 > 0 ? Double(rowCount) / $0 : nil } ?? 0
      remarks = entry.isNoisy ? ["noisy"] : []
    }
  }

  /// What a chart shows.
  package static let chartWords =
    "Medians; longer is better. The thin lines lead from the slowest to the fastest run."

  /// Writes the bars, each with a line from its slowest to its fastest run.
  package static func writeChart(_ bars: [Bar], to body: inout Markup) {
    guard let most = bars.flatMap(\.rates).max(), most > 0 else { return }
    body.element("div", [("class", "chart")]) { chart in
      for bar in bars { write(bar, most: most, to: &chart) }
    }
  }

  private static func write(_ bar: Bar, most: Double, to chart: inout Markup) {
    let runs = bar.rates.map { $0 / most }
    var spread: (from: Double, to: Double)?
    if runs.count > 1, let least = runs.min(), let most = runs.max() { spread = (least, most) }
    let words = Words.count(UInt64(bar.rate)) + " rows/s"
    chart.element("div", [("class", "name")], text: bar.name)
    chart.element("div") { cell in
      HTMLBar([(bar.kind.rawValue, bar.rate / most)], spread: spread, height: 18, label: words).write(to: &cell)
    }
    chart.element("div", [("class", "value")]) { cell in
      cell.element("span", [("class", "number")], text: words)
      for remark in bar.remarks { cell.add(", " + remark) }
    }
  }

  /// Writes a table of results; on a narrow screen each value has the name of its column.
  package static func writeTable(_ head: [String], _ rows: [[String]], to body: inout Markup) {
    body.element("table", [("class", "results")]) { table in
      table.element("thead") {
        $0.element("tr") { row in for name in head { row.element("th", text: name) } }
      }
      table.element("tbody") { body in
        for values in rows {
          body.element("tr") { row in
            for (name, value) in zip(head, values) { row.element("td", [("data-name", name)], text: value) }
          }
        }
      }
    }
  }

  /// Writes names and values, one pair a line.
  package static func writeFacts(_ facts: [(String, String)], to body: inout Markup) {
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
  }

  /// Writes a heading and a list, where there is anything in it.
  package static func writeList(_ title: String, _ items: [String], to body: inout Markup) {
    if items.isEmpty { return }
    body.element("h2", text: title)
    body.element("ul") { list in for item in items { list.element("li", text: item) } }
  }

  package static let style = """
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
