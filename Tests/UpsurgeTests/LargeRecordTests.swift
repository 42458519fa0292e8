import Foundation
import TestSupport
import Testing
import Upsurge

/// Signals and deadlines while one large record after another is read, sorted, packed or stored.
@Suite("Ends inside records and long loops", .serialized)
struct LargeRecordTests {
  let scratch = Scratch()

  static let records: [(name: String, text: String, options: [String])] = [
    ("in.ndjson", "{\"id\":1" + String(repeating: ",\"a\":1", count: 400_000) + "}\n", []),
    (
      "in.ndjson", "{\"id\":1" + String(repeating: ",\"a\":{\"x\":1}", count: 200_000) + "}\n",
      ["--flatten", "."]
    ),
    ("in.csv", "1,\"" + String(repeating: "x\"\"y\n", count: 600_000) + "\"\n", ["--no-header"]),
    (
      "in.csv", "1,2" + String(repeating: ",x", count: 1_000_000) + "\n",
      ["--no-header", "--ragged", "extra"]
    ),
  ]

  /// Writes a record again and again to a pipe until nobody reads any more.
  private func pour(_ text: String, into path: String) -> Thread {
    let thread = Thread {
      signal(SIGPIPE, SIG_IGN)
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      defer { close(descriptor) }
      let bytes = Array(text.utf8)
      while true {
        var rest = bytes[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
          if count <= 0 { return }
          rest = rest.dropFirst(count)
        }
      }
    }
    thread.start()
    return thread
  }

  @Test("SIGTERM ends a load inside a record", arguments: records.indices)
  func terminated(index: Int) throws {
    let (_, text, options) = Self.records[index]
    let path = scratch.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t(id, a); PRAGMA journal_mode=WAL")
    let isJSON = text.hasPrefix("{")
    let child = try Command.start(
      [
        "load", scratch.file("a.db"), "t", path, "--format", isJSON ? "ndjson" : "csv", "--alter",
        "--on-error", "reject",
      ]
        + options)
    let thread = pour(text, into: path)
    child.waitForHandlers()
    usleep(300_000)
    let start = ContinuousClock.now
    child.send(signal: SIGTERM)
    let outcome = try child.finish(seconds: 60)
    // Half a second for a release build that has a processor of its own; Benchmarks/run doublings asks for that.
    #expect(ContinuousClock.now - start < .seconds(5), "\(outcome.talk)")
    // A fast machine may have refused the record by then.
    #expect([143, 64, 65].contains(outcome.exitCode), "\(outcome.talk)")
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    withExtendedLifetime(thread) {}
  }

  @Test(
    "A cancellation ends the packing, sorting and storing of rows with nothing or a prefix",
    arguments: ["direct", "sorted"])
  func sorting(way: String) throws {
    let rows = (0..<400_000).map { "\(($0 &* 7_919) % 400_009),\($0)\n" }.joined()
    let source = scratch.write("id,b\n" + rows, to: "in.csv")
    let database = Database(scratch.file("a.db"))
    if way == "sorted" {
      try database.rows("CREATE TABLE t(id TEXT PRIMARY KEY, b); PRAGMA journal_mode=WAL")
    }
    for milliseconds in [50, 150, 300, 600, 1_200] {
      let control = RunControl()
      var options = LoadOptions()
      options.rules.key = ["id"]
      let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options)
      let timer = Thread {
        usleep(UInt32(milliseconds) * 1_000)
        control.cancel(signal: SIGTERM)
      }
      timer.start()
      let summary = job.run(control: control)
      #expect(summary.error == nil && [0, 143].contains(summary.exitCode), "\(summary)")
      if !FileManager.default.fileExists(atPath: scratch.file("a.db")) { continue }
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    }
    var options = LoadOptions()
    options.rules.key = ["id"]
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options)
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(String(describing: summary.error))")
    #expect(try database.rows("SELECT count(*), sum(b) FROM t") == ["400000|79999800000"])
    // One of the others may have been done before it was told to end.
    let ledger = summary.ledger
    #expect(ledger.read == 400_000 && ledger.inserted + ledger.unchanged == 400_000, "\(ledger)")
  }
}
