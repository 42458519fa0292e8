import Upsurge
import UpsurgeRecords

extension BenchReport {
  /// The report as one page that needs nothing else: no script, no file from outside.
  package var html: String {
    var page = Markup()
    page.addLiteral("<!DOCTYPE html>\n")
    page.element("html", [("lang", "en")]) { page in
      page.element("head") { head in
        head.element("meta", [("charset", "utf-8")])
        head.element("meta", [("name", "viewport"), ("content", "width=device-width, initial-scale=1")])
        head.element(
          "meta",
          [
            ("http-equiv", "Content-Security-Policy"),
            ("content", "default-src 'none'; style-src 'unsafe-inline'"),
          ])
        head.element("title", text: "upsurge bench: \(input)")
        head.element("style") { $0.addLiteral(Self.style) }
      }
      page.element("body") { body in
        body.element("h1", text: "upsurge bench")
        body.element("p", text: "\(input) (\(Words.bytes(Double(inputByteCount)))), \(suiteWords).")
        body.element("h2", text: "Seconds")
        writeChart(to: &body)
        writeTable(to: &body)
        writeAbsences(to: &body)
        writeFacts(to: &body)
      }
    }
    return page.text + "\n"
  }

  private var measured: [Entry] { entries.filter { $0.median != nil } }

  // MARK: - Chart

  /// One bar a contender, as long as its median, with a line from its shortest to its longest run.
  private func writeChart(to body: inout Markup) {
    let longest = measured.compactMap { $0.runs.max() }.max() ?? 0
    guard longest > 0 else { return }
    let (left, width, step) = (300, 420, 30)
    let height = measured.count * step + 10
    func x(_ seconds: Double) -> String {
      Self.decimal(Double(left) + Double(width) * seconds / longest, digits: 1)
    }
    body.element(
      "svg",
      [
        ("xmlns", "http://www.w3.org/2000/svg"), ("viewBox", "0 0 880 \(height)"), ("role", "img"),
        ("aria-label", "Median seconds of each contender; shorter is better"),
      ]
    ) { chart in
      for (index, entry) in measured.enumerated() {
        let top = index * step + 6
        let median = entry.median ?? 0
        chart.element(
          "text", [("x", "\(left - 8)"), ("y", "\(top + 14)"), ("text-anchor", "end")], text: entry.name)
        chart.element(
          "rect",
          [
            ("class", entry.kind.rawValue), ("x", "\(left)"), ("y", "\(top)"),
            ("width", Self.decimal(Double(width) * median / longest, digits: 1)), ("height", "18"),
          ])
        if let least = entry.runs.min(), let most = entry.runs.max(), entry.runs.count > 1 {
          chart.element(
            "line",
            [
              ("class", "spread"), ("x1", x(least)), ("x2", x(most)), ("y1", "\(top + 9)"),
              ("y2", "\(top + 9)"),
            ])
        }
        let end = max(median, entry.runs.max() ?? 0)
        chart.element(
          "text",
          [
            ("x", Self.decimal(Double(left + 6) + Double(width) * end / longest, digits: 1)),
            ("y", "\(top + 14)"),
          ],
          text: Self.seconds(median) + " s"
            + (ratio(entry).map { entry.kind == .upsurge ? "" : ", " + Self.ratio($0) } ?? "")
            + (entry.isNoisy ? ", noisy" : ""))
      }
    }
    body.element(
      "p", [("class", "small")],
      text:
        "Medians; the thin lines lead from the shortest to the longest run. 2.00 x took twice as long as upsurge load."
    )
  }

  // MARK: - Tables

  private func writeTable(to body: inout Markup) {
    let head = ["contender", "what it does", "seconds", "rows/s", "spread", "runs", "vs upsurge load"]
    body.element("div", [("class", "wide")]) { body in
      body.element("table") { table in
        table.element("thead") {
          $0.element("tr") { row in for name in head { row.element("th", text: name) } }
        }
        table.element("tbody") { rows in
          for entry in measured {
            rows.element("tr") { row in
              row.element("td", text: entry.name)
              row.element("td", text: entry.detail)
              for value in [
                Self.seconds(entry.median ?? 0), Words.count(UInt64(rowsPerSecond(entry) ?? 0)),
                (entry.spread.map { "\(Int(($0 * 100).rounded())) %" } ?? "-")
                  + (entry.isNoisy ? " noisy" : ""),
                entry.runs.map(Self.seconds).joined(separator: " "), ratio(entry).map(Self.ratio) ?? "-",
              ] { row.element("td", [("class", "number")], text: value) }
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
    body.element("table") { table in
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
    :root { color-scheme: light dark; --ink: #1d2330; --paper: #ffffff; --line: #d5d9e2; --soft: #5b6475;
      --floor: #a9b1c0; --pattern: #7a8cab; --peer: #c29a5b; --upsurge: #1b7f5c; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --paper: #14171d; --line: #333a48; --soft: #98a2b5;
      --floor: #5a6475; --pattern: #7388ad; --peer: #c69f62; --upsurge: #3fb98c; } }
    body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
      margin: 2rem auto; padding: 0 1rem; }
    h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
    svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 13px; }
    rect.floor { fill: var(--floor); } rect.pattern { fill: var(--pattern); } rect.peer { fill: var(--peer); }
    rect.upsurge { fill: var(--upsurge); } line.spread { stroke: var(--ink); stroke-width: 2; }
    table { border-collapse: collapse; font-size: 0.9rem; } .wide { overflow-x: auto; }
    th, td { text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line);
      vertical-align: top; }
    td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
    .small { color: var(--soft); font-size: 0.85rem; }
    pre { overflow-x: auto; padding: 0.8rem; border: 1px solid var(--line); white-space: pre-wrap; }
    """
}
