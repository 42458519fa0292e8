import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `--metrics`: the file that a run leaves for whoever collects it.
@Suite("Metrics files") struct MetricsFileTests {
  let scratch = Scratch()

  @Test("A run writes its ledgers to the file, and replaces that of the run before it as a whole")
  func runs() throws {
    let job = scratch.write(
      """
      defaults: { key: [id], rejects: table, kind: snapshot, sweep: hard, guards: { max-delete: 50% } }
      tables:
        one: { source: one.csv }
        two: { source: two.csv, sweep: none, kind: delta }
      """, to: "job.yaml")
    let database = scratch.file("a.db")
    try Database(database).rows(
      "CREATE TABLE one(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE two(id INTEGER PRIMARY KEY, v INTEGER)"
    )
    let path = scratch.file("m.prom")
    let deliveries = [
      (one: "id,v\n1,1\n2,2\n3,3\n4,4\n", two: "id,v\n1,1\nx,2\n"),
      (one: "id,v\n1,1\n2,7\n4,4\n5,5\n", two: "id,v\n1,1\n2,2\n3,3\n"),
    ]
    for (number, delivery) in deliveries.enumerated() {
      _ = scratch.write(delivery.one, to: "one.csv")
      _ = scratch.write(delivery.two, to: "two.csv")
      // A collector that reads while the run replaces the file has all of the one before it.
      let collector = number == 0 ? -1 : open(path, O_RDONLY)
      let former = number == 0 ? [] : try readFile(path)
      let start = Date().timeIntervalSince1970.rounded(.down)
      let outcome = try Command.run(["mirror", database, job, "--summary", "-", "--metrics", path])
      #expect(outcome.exitCode == (number == 0 ? 2 : 0), "\(outcome.talk)")
      #expect(access(path + ".tmp", F_OK) != 0)
      if number > 0 {
        var bytes = [UInt8](repeating: 0, count: former.count + 1)
        let count = read(collector, &bytes, bytes.count)
        #expect(count == former.count && Array(bytes.prefix(max(count, 0))) == former)
        close(collector)
      }
      var expected = try figures(ofSummary: outcome.output)
      for table in ["one", "two"] { expected["upsurge_mirror_failures{table=\"\(table)\"}"] = 0 }
      var found = try figures(at: path)
      for table in ["one", "two"] {
        let good = found.removeValue(forKey: "upsurge_mirror_good_timestamp_seconds{table=\"\(table)\"}") ?? 0
        #expect(good >= start && good <= Date().timeIntervalSince1970, "\(table)")
      }
      // The summary has six decimals.
      let name = "upsurge_mirror_duration_seconds"
      let (seconds, shown) = (found.removeValue(forKey: name), expected.removeValue(forKey: name))
      #expect(abs((seconds ?? -1) - (shown ?? 0)) < 1e-5)
      #expect(found == expected)
    }
  }

  @Test("Of a job that fails, too")
  func failing() throws {
    let job = scratch.write("tables: { one: { source: one.csv, key: id } }\n", to: "job.yaml")
    let database = scratch.file("a.db")
    _ = scratch.write("id\n1\n", to: "one.csv")
    let path = scratch.file("m.prom")
    #expect(try Command.run(["mirror", database, job, "--metrics", path]).exitCode == 0)
    #expect(try figures(at: path)["upsurge_mirror_exit_code{table=\"one\"}"] == 0)
    unlink(scratch.file("one.csv"))
    for count in 1...2 {
      #expect(try Command.run(["mirror", database, job, "--metrics", path]).exitCode == 66)
      let found = try figures(at: path)
      #expect(found["upsurge_mirror_exit_code{table=\"one\"}"] == 66)
      #expect(found["upsurge_mirror_failures{table=\"one\"}"] == Double(count))
      #expect(found["upsurge_mirror_records{table=\"one\",outcome=\"inserted\"}"] == 0)
    }
  }

  /// The samples of a file, by name and labels. Each name has its help and its kind.
  private func figures(at path: String) throws -> [String: Double] {
    var found: [String: Double] = [:]
    var named: Set<Substring> = []
    let text = String(decoding: try readFile(path), as: UTF8.self)
    #expect(text.hasSuffix("\n"))
    for line in text.split(separator: "\n") {
      if line.hasPrefix("#") {
        let words = line.split(separator: " ")
        #expect(words.count > 3 && ["HELP", "TYPE"].contains(words[1]), "\(line)")
        if words[1] == "TYPE" { named.insert(words[2]) }
        continue
      }
      let parts = line.split(separator: " ")
      let value = try #require(parts.count == 2 ? Double(parts[1]) : nil, "\(line)")
      #expect(named.contains(parts[0].prefix { $0 != "{" }), "\(line)")
      #expect(found.updateValue(value, forKey: String(parts[0])) == nil, "\(line)")
    }
    return found
  }

  /// What the summary of the same run says, as samples.
  private func figures(ofSummary text: String) throws -> [String: Double] {
    let summary = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    var expected: [String: Double] = [:]
    expected["upsurge_mirror_duration_seconds"] = (summary["seconds"] as? NSNumber)?.doubleValue
    let tables = try #require(summary["tables"] as? [String: [String: Any]])
    for (name, table) in tables {
      let ledger = try #require(table["ledger"] as? [String: NSNumber])
      // The words of the ledger but what was read, and what is no record.
      #expect(ledger.count == 11, "\(ledger)")
      for (word, count) in ledger where word != "read" && word != "swept" {
        expected["upsurge_mirror_records{table=\"\(name)\",outcome=\"\(word)\"}"] = count.doubleValue
      }
      expected["upsurge_mirror_swept_rows{table=\"\(name)\"}"] = ledger["swept"]?.doubleValue
      expected["upsurge_mirror_exit_code{table=\"\(name)\"}"] = (table["exit_code"] as? NSNumber)?.doubleValue
    }
    return expected
  }
}
