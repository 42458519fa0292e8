import Foundation
import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The same decimal is the same double, the nearest one, whatever format brings it.
///
/// `UPSURGE_DECIMALS=1000000 swift test --filter OneNumber` tries a million.
@Suite("One number, one value") struct OneNumberTests {
  let scratch = Scratch()

  private func load(_ source: String, into database: String, _ change: (inout LoadOptions) -> Void = { _ in })
    -> RunSummary
  {
    var options = LoadOptions()
    options.rules.key = ["id"]
    change(&options)
    let summary = LoadJob(database: database, table: "t", sources: [source], options: options).run()
    #expect(summary.error == nil && summary.ledger.isBalanced, "\(summary.error?.description ?? "")")
    return summary
  }

  private func expectUnchanged(_ summary: RunSummary, _ count: Int, _ what: String) {
    #expect(
      summary.ledger.unchanged == UInt64(count) && summary.ledger.read == UInt64(count),
      "\(what): \(summary.ledger)")
  }

  @Test(
    "CSV, NDJSON, JSON, rows of a database and values of a program store the same doubles",
    arguments: ["REAL", "NUMERIC", "REAL STRICT"])
  func formats(type: String) throws {
    let seed =
      getenv("UPSURGE_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0..<1_000_000_000)
    print("UPSURGE_SEED=\(seed) makes the decimals")
    let texts = Decimals.texts(Decimals.count, seed: seed)
    let path = scratch.file("a.db")
    let words = type.split(separator: " ")
    try Database(path).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, r \(words[0]))\(words.count > 1 ? " STRICT" : "")")
    let csv = scratch.write("id,r\n" + texts.enumerated().map { "\($0),\($1)\n" }.joined(), to: "in.csv")
    let ndjson = scratch.write(
      texts.enumerated().map { "{\"id\":\($0),\"r\":\($1)}\n" }.joined(), to: "in.ndjson")
    let strings = scratch.write(
      texts.enumerated().map { "{\"id\":\($0),\"r\":\"\($1)\"}\n" }.joined(), to: "text.ndjson")
    let json = scratch.write(
      "[" + texts.enumerated().map { "{\"r\":\($1),\"id\":\($0)}" }.joined(separator: ",\n") + "]",
      to: "in.json")
    #expect(load(csv, into: path).ledger.inserted == UInt64(texts.count))
    var wrong = 0
    for (text, stored) in zip(texts, try Database(path).rows("SELECT CAST(r AS REAL) FROM t ORDER BY id")) {
      let nearest = strtod(text, nil)
      let shown = nearest == 0 ? "0.0" : "\(nearest)"
      if stored != shown, stored != "-" + shown, wrong < 10 {
        wrong += 1
        Issue.record("\(text): \(stored) and not \(shown)")
      }
    }
    expectUnchanged(load(ndjson, into: path), texts.count, "NDJSON")
    expectUnchanged(load(strings, into: path), texts.count, "texts in NDJSON")
    expectUnchanged(load(json, into: path), texts.count, "JSON")
    expectUnchanged(load(csv, into: path), texts.count, "CSV")
    let upsert = try BulkUpsert(
      database: path, table: "t", columns: ["id", "r"], rules: UpsertRules(target: .columns(["id"])),
      returning: [])
    for (index, text) in texts.enumerated() {
      try upsert.append([.integer(Int64(index)), .real(strtod(text, nil))])
    }
    for (index, text) in texts.enumerated() { try upsert.append([.integer(Int64(index)), .text(text)]) }
    let ledger = try upsert.finish()
    #expect(ledger.unchanged == UInt64(2 * texts.count), "values: \(ledger)")
    // Another database that begins with NDJSON; the rows of the first say nothing new.
    let other = scratch.file("b.db")
    try Database(other).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, r \(words[0]))")
    #expect(load(ndjson, into: other).ledger.inserted == UInt64(texts.count))
    expectUnchanged(load("sqlite:\(path)#t", into: other), texts.count, "rows of a database")
    expectUnchanged(load(csv, into: other), texts.count, "CSV behind NDJSON")
  }

  @Test("A table that is packed without SQLite holds the same doubles as one that SQLite has written")
  func packed() throws {
    // Texts that a double holds, so that a new table takes them.
    let texts = Decimals.texts(Decimals.count, seed: 7).map { "\(strtod($0, nil))" }.filter {
      !$0.contains("inf")
    }
    let csv = scratch.write("id,r\n" + texts.enumerated().map { "\($0),\($1)\n" }.joined(), to: "in.csv")
    for direct in [LoadOptions.DirectPolicy.never, .always] {
      let path = scratch.file("\(direct).db")
      #expect(load(csv, into: path) { $0.transaction.direct = direct }.ledger.inserted == UInt64(texts.count))
      #expect(
        try Database(path).rows("SELECT r FROM t ORDER BY id")
          == texts.map { strtod($0, nil) == 0 ? "0.0" : $0 })
    }
  }

  @Test("A record of the quarantine stores them, too")
  func quarantine() throws {
    let path = scratch.file("a.db")
    let texts = Decimals.texts(2_000, seed: 3)
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let csv = scratch.write("id,r\n" + texts.enumerated().map { "\($0),\($1)\n" }.joined(), to: "in.csv")
    #expect(
      load(csv, into: path) { $0.table.contract = .quarantine }.ledger.quarantined == UInt64(texts.count))
    try Database(path).rows("ALTER TABLE t ADD COLUMN r REAL")
    #expect(ReplayJob(database: path).run().ledger.inserted == UInt64(texts.count))
    expectUnchanged(load(csv, into: path), texts.count, "CSV")
  }
}
