import Upsurge
import UpsurgeRecords

extension MirrorReport {
  /// The report as one page that needs nothing else: no script, no file from outside.
  package var html: String {
    let name = database.split(separator: "/").last.map(String.init) ?? database
    return HTMLPage.text(title: "Mirrors of \(name)", style: Self.style) { body in
      body.element("h1", text: "Mirrors of \(name)")
      body.element("p", text: headline)
      var facts = "As of \(Self.time(madeAt)) UTC, by upsurge \(upsurgeVersion)."
      if let maximumAge { facts += " A table may be \(AgeText.text(maximumAge)) old." }
      body.element("p", [("class", "small")], text: facts)
      if tables.contains(where: { !$0.runs.isEmpty }) { writeLegend(to: &body) }
      for table in tables { body.element("section") { write(table, to: &$0) } }
    }
  }

  private var headline: String {
    if tables.isEmpty { return "This database mirrors nothing yet." }
    let bad = tables.filter { !isGood($0) }
    let all = Words.count(UInt64(tables.count), "table")
    if bad.isEmpty { return "\(all), in step with \(tables.count == 1 ? "its" : "their") feeds." }
    return "\(all); not in step: \(bad.map(\.name).joined(separator: ", "))."
  }

  private func writeLegend(to body: inout Markup) {
    body.element("p", [("class", "legend small")]) { line in
      for name in Self.shown {
        line.element("span", [("class", "swatch \(name)")]) { $0.add(" ") }
        line.element("span", [("class", "word")], text: "\(name) ")
      }
    }
  }

  // MARK: - One table

  private func write(_ table: Table, to body: inout Markup) {
    body.element("h2") { head in
      head.add("\(table.name) ")
      let isGood = isGood(table)
      head.element(
        "span", [("class", isGood ? "badge good" : "badge bad")], text: isGood ? "in step" : "not in step")
    }
    for feed in table.feeds { write(feed, to: &body) }
    writeRuns(of: table, to: &body)
    writeGuards(of: table, to: &body)
    writeWaiting(of: table, to: &body)
  }

  private func write(_ feed: FeedStatus, to body: inout Markup) {
    if let owner = feed.ownedBy { body.element("h3", text: "Feed \(owner)") }
    var facts = "Never in step yet"
    if let goodAt = feed.goodAt, let age = feed.age {
      let start = feed.isGood(maximumAge: maximumAge) ? "In step" : "Last in step"
      facts = "\(start) \(AgeText.text(age)) ago (\(Self.time(goodAt)))"
    }
    if let count = feed.recordCount { facts += ", \(Words.count(count, "record"))" }
    if let deliveredAt = feed.deliveredAt { facts += ", delivered \(Self.time(deliveredAt))" }
    body.element("p", text: facts + ".")
    if let maximumAge, maximumAge > 0, let age = feed.age {
      let share = age / maximumAge
      body.element("div", [("class", "age")]) { cell in
        HTMLBar(
          [(share > 1 ? "late" : "young", min(share, 1))], height: 8, label: "age against the limit"
        ).write(to: &cell)
        cell.element(
          "p", [("class", "small")],
          text: "\(AgeText.text(age)) of \(AgeText.text(maximumAge))\(share > 1 ? ": too old" : "")")
      }
    }
    if feed.failureCount > 0 || feed.isBetweenTries {
      let runs =
        feed.isBetweenTries
        ? "The last try"
        : feed.failureCount == 1 ? "The last run" : "The last \(feed.failureCount) runs"
      var words = "\(runs) failed, exit code \(feed.exitCode) at \(Self.time(feed.checkedAt))"
      if let message = feed.message { words += ": \(message)" }
      body.element("p", [("class", "failure")], text: words)
    }
    if let loss = feed.loss { body.element("p", [("class", "failure")], text: "The last delivery: \(loss)") }
  }

  // MARK: - Runs

  /// What has a colour, in the order of a bar.
  private static let shown = ["inserted", "updated", "swept", "rejected"]

  private static func count(_ word: String, _ ledger: Ledger) -> UInt64 {
    ledger.entries.first { $0.word == word }?.count ?? 0
  }

  private func writeRuns(of table: Table, to body: inout Markup) {
    if table.runs.isEmpty { return }
    let most = table.runs.map { run in Self.shown.reduce(0) { $0 + Self.count($1, run.ledger) } }.max() ?? 0
    let longest = table.runs.map(\.seconds).max() ?? 0
    body.element("h3", text: "Last runs")
    body.element("ol", [("class", "runs")]) { list in
      for run in table.runs {
        list.element("li") { write(run, most: Double(max(most, 1)), longest: longest, to: &$0) }
      }
    }
  }

  private func write(_ run: PastRun, most: Double, longest: Double, to item: inout Markup) {
    item.element("span", [("class", "when number")], text: Self.time(run.startedAt))
    let changes = run.ledger.entries.filter { $0.word != "read" && $0.word != "unchanged" && $0.count > 0 }
    var words = changes.map { "\(Words.count($0.count)) \($0.word)" }.joined(separator: ", ")
    if words.isEmpty { words = "nothing changed" }
    let duration = run.seconds < 0.01 ? "under 0.01 s" : Words.seconds(run.seconds)
    item.element("div", [("class", "bars")]) { cell in
      HTMLBar(
        Self.shown.map { ($0, Double(Self.count($0, run.ledger)) / most) }, label: words
      ).write(to: &cell)
      if longest > 0 {
        HTMLBar([("time", run.seconds / longest)], height: 4, label: "duration \(duration)")
          .write(to: &cell)
      }
    }
    item.element("span", [("class", "what")]) { cell in
      cell.add("\(words) of \(Words.count(run.ledger.read)), \(duration)")
      if let state = Self.words(run) { cell.element("strong", [("class", "failure")], text: ", \(state)") }
    }
  }

  /// What is said of a run that did not go as one wishes.
  private static func words(_ run: PastRun) -> String? {
    if run.guardWords != nil { return "refused by a guard" }
    switch run.state {
    case .running: return "at work"
    case .stopped: return "ended early"
    case .unseen: return nil
    case .ended:
      guard let code = run.exitCode, code != 0, code != 2 else { return nil }
      return "exit code \(code)"
    }
  }

  // MARK: - What needs somebody

  private func writeGuards(of table: Table, to body: inout Markup) {
    if table.refusals.isEmpty { return }
    body.element("h3", text: "Guards that spoke")
    body.element("ul") { list in
      for refusal in table.refusals {
        list.element("li") { item in
          item.add("\(Self.time(refusal.refusedAt)): \(refusal.reason)")
          item.element("br")
          item.element("code", text: Wording.option(.acceptDelivery, refusal.digest))
          item.add(" lets this delivery through, once.")
        }
      }
    }
  }

  private func writeWaiting(of table: Table, to body: inout Markup) {
    let kinds = [("In quarantine", "wait for", table.waiting), ("Rejected", "for", table.rejects)]
    for (title, link, reasons) in kinds where !reasons.isEmpty {
      body.element("h3", text: title)
      body.element("ul") { list in
        for (reason, count) in reasons {
          list.element("li", text: "\(Words.count(count, "record")) \(link) \(reason)")
        }
      }
    }
    if table.waiting.isEmpty && table.rejects.isEmpty { return }
    body.element("p", [("class", "small")]) { line in
      line.element("code", text: "upsurge replay \(database.quotedForShell)")
      line.add(" stores those whose place is there by now.")
    }
  }

  /// `2026-11-26 03:15`, of what SQLite has noted.
  private static func time(_ text: String) -> String {
    guard text.utf8.count >= 16, text.dropFirst(10).first == "T" else { return text }
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
  }

  private static let style = """
    :root { --inserted: #1b7f5c; --updated: #3468b5; --swept: #b7791f; --rejected: #b3261e; --time: #a9b1c0; }
    @media (prefers-color-scheme: dark) { :root { --inserted: #3fb98c; --updated: #6d9ff0; --swept: #e0a94a;
      --rejected: #ff8a80; --time: #5a6475; } }
    h3 { font-size: 1rem; margin: 1.2rem 0 0.3rem; }
    section { border-top: 1px solid var(--line); margin-top: 1.5rem; }
    h2, li, p { overflow-wrap: anywhere; }
    .badge { font-size: 0.8rem; font-weight: 600; padding: 0.1rem 0.5rem; border: 1px solid currentColor;
      border-radius: 1rem; white-space: nowrap; }
    .good { color: var(--good); } .bad, .failure { color: var(--bad); }
    .age { max-width: 24rem; } .age p { margin: 0.2rem 0; }
    .inserted { fill: var(--inserted); } .updated { fill: var(--updated); } .swept { fill: var(--swept); }
    .rejected { fill: var(--rejected); } .time, .young { fill: var(--time); } .late { fill: var(--bad); }
    .swatch { display: inline-block; width: 0.8rem; height: 0.8rem; margin: 0 0.3rem 0 0; vertical-align: -0.1rem; }
    .swatch.inserted { background: var(--inserted); } .swatch.updated { background: var(--updated); }
    .swatch.swept { background: var(--swept); } .swatch.rejected { background: var(--rejected); }
    .word { margin-right: 0.8rem; }
    .runs { list-style: none; padding: 0; margin: 0; font-size: 0.9rem; }
    .runs li { display: grid; grid-template-columns: 9.5rem 1fr 20rem; gap: 0.1rem 0.8rem; align-items: center;
      padding: 0.25rem 0; border-bottom: 1px solid var(--line); }
    .bars { min-width: 0; } .bars svg + svg { margin-top: 2px; }
    ul { padding-left: 1.2rem; }
    @media (max-width: 45rem) { .runs li { grid-template-columns: 1fr; } }
    """
}
