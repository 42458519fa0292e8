import Upsurge

private let people = "id,name\n1,Ann\n2,Bob\n"

extension Example {
  static let loading = [
    Example(name: "load", files: ["people.csv.zst": people], run: load),
    Example(name: "events", files: ["people.csv.zst": people], run: showEvents),
    Example(name: "sources", run: importOwnSources),
    Example(name: "resume", files: ["feed.csv.zst": "id,total\n1,10\nx\n"], run: resume),
    Example(name: "stages", files: ["people.csv.gz": people], run: showStages),
  ]
}

private func load() {
  var options = LoadOptions()
  options.rules.key = ["id"]
  let job = LoadJob(database: "app.db", table: "people", sources: ["people.csv.zst"], options: options)
  let summary = job.run()
  print(summary.ledger.inserted, summary.ledger.updated, summary.exitCode)
}

private func showEvents() async {
  func show(_ records: UInt64) {}
  func log(_ text: String) {}
  var options = LoadOptions()
  options.rules.key = ["id"]

  let importer = Importer(database: "app.db", table: "people", from: ["people.csv.zst"], options: options)
  for await event in importer.events() {
    switch event {
    case .progress(let progress): show(progress.records)
    case .note(let note): log(note.text)
    case .ended(let summary): print(summary.ledger.inserted, summary.error?.message ?? "done")
    }
  }
}

/// Records that the program makes.
private struct Numbers: RecordProducer {
  let name = "numbers"
  let count: Int64

  func produce(into output: RecordOutput) throws {
    for number in 1...count {
      try output.append(["id": .integer(number), "square": .integer(number * number)])
    }
  }
}

/// A format of the program's own: `key=value` lines.
private struct KeyValueLines: FormatParser {
  func parse(_ input: ByteInput, into output: RecordOutput) throws {
    while let line = try input.readLine() {
      let parts = line.split(separator: "=", maxSplits: 1)
      try output.append(["key": .text(String(parts[0])), "value": .text(String(parts[1]))])
    }
  }
}

private struct Settings: ByteProducer {
  let name = "settings"

  func produce(into output: ByteOutput) throws { try output.write(Array("colour=red\nsize=7\n".utf8)) }
}

private func importOwnSources() async {
  let numbers = Importer(database: "app.db", table: "numbers", from: [.records(Numbers(count: 1_000))])
  print(await numbers.run().ledger.inserted)
  let settings = Importer(
    database: "app.db", table: "settings", from: [.bytes(Settings())], parser: KeyValueLines())
  print(await settings.run().ledger.inserted)
}

private func resume() {
  var options = LoadOptions()
  options.rejects.onError = .reject
  options.rejects.target = .file("bad.ndjson")
  let job = LoadJob(database: "shop.db", table: "orders", sources: ["feed.csv.zst"], options: options)
  let summary = job.run()
  print(summary.progress.resumedCount, summary.ledger.read, summary.progress.isResumable)
}

private func showStages() {
  let summary = LoadJob(database: "app.db", table: "people", sources: ["people.csv.gz"]).run()
  for stage in summary.metrics.stages { print(stage.name, stage.seconds) }
  print(summary.bottleneck ?? "nothing was measured")
}
