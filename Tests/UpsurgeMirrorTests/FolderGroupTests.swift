import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Many small files of a delta, which are stored in groups.
@Suite("Small files of a drop folder") struct FolderGroupTests {
  let scratch = Scratch()
  private static let fileCount = 150

  private func job() throws -> MirrorJob {
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    var table = MirrorTable(name: "t", sources: [scratch.file("in")])
    table.kind = .delta
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.options.rejects.target = .table
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func write(_ number: Int, _ text: String) {
    _ = scratch.write(text, to: "in/\(1_000 + number).csv")
  }

  /// Each file changes a row of the one before it, and every tenth has a record that is rejected.
  private func writeAll() {
    for number in 0..<Self.fileCount {
      let reject = number % 10 == 0 ? "x,1,2\n" : ""
      write(number, "id,v\n\(number),new\n\(number + 1),old\n\(reject)")
    }
  }

  private var database: Database { Database(scratch.file("a.db")) }

  @Test("Each file has its own ledger, run, rejects and place, and the last change counts")
  func ledgers() throws {
    let job = try job()
    writeAll()
    let summary = job.run()
    let loads = summary.tables[0].loads
    #expect(
      summary.exitCode == 2 && loads.count == Self.fileCount,
      "\(summary.tables[0].failure?.description ?? "")")
    for (number, load) in loads.enumerated() {
      #expect(load.sources == [scratch.file("in/\(1_000 + number).csv")])
      #expect(load.ledger.inserted == (number == 0 ? 2 : 1) && load.ledger.updated == (number == 0 ? 0 : 1))
      #expect(
        load.ledger.rejected == (number % 10 == 0 ? 1 : 0) && load.exitCode == (number % 10 == 0 ? 2 : 0))
    }
    #expect(try database.rows("SELECT count(*), sum(v = 'new') FROM t") == ["151|150"])
    #expect(try database.rows("SELECT count(*), count(DISTINCT name) FROM upsurge_files") == ["150|150"])
    #expect(try database.rows("SELECT state, count(*) FROM upsurge_runs GROUP BY 1") == ["'done'|150"])
    #expect(try database.rows("SELECT count(*) FROM upsurge_rejects") == ["15"])
    #expect(job.run().ledger.read == 0)
  }

  @Test("The first file that fails stops those after it; those before it are stored, and taken once")
  func failing() throws {
    let job = try job()
    writeAll()
    // Cut in a quoted field, in the second group.
    write(100, "id,v\n100,new\n101,\"old")
    var failing = job
    failing.tables[0].options.rejects.onError = .stop
    failing.tables[0].options.rejects.target = nil
    for number in 0..<Self.fileCount where number % 10 == 0 && number != 100 {
      write(number, "id,v\n\(number),new\n\(number + 1),old\n")
    }
    let summary = failing.run()
    #expect(summary.tables[0].loads.count == 101 && summary.tables[0].loads.last?.error?.code == .badInput)
    #expect(try database.rows("SELECT count(*), max(id), sum(v = 'new') FROM t") == ["101|100|100"])
    #expect(try database.rows("SELECT count(*) FROM upsurge_files") == ["100"])
    write(100, "id,v\n100,new\n101,old\n")
    let again = failing.run()
    #expect(again.exitCode == 0 && again.tables[0].loads.count == 50)
    #expect(try database.rows("SELECT count(*), max(id), sum(v = 'new') FROM t") == ["151|150|150"])
    #expect(try database.rows("SELECT count(*) FROM upsurge_files") == ["150"])
  }

  @Test("Files with the same content are taken once, and files that are done are moved after the commit")
  func same() throws {
    var job = try job()
    job.tables[0].folder.done = .delete
    for number in 0..<20 { write(number, "id,v\n\(number / 2),\(number / 2)\n") }
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.tables[0].loads.count == 10)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("in")).isEmpty)
    #expect(try database.rows("SELECT count(*) FROM t") == ["10"])
  }

  @Test("Killed at any moment, the files that are stored are the first ones, and each is stored once")
  func killed() throws {
    let job = try job()
    writeAll()
    let file = scratch.write(
      "tables:\n  t: { source: \(scratch.file("in"))/, key: id, kind: delta, rejects: table, merge: replace }\n",
      to: "job.yaml")
    var microseconds: UInt32 = 10_000
    var killCount = 0
    for _ in 0..<60 {
      let child = try Command.start(["mirror", job.database, file])
      usleep(microseconds)
      child.send(signal: SIGKILL)
      let code = try child.finish().exitCode
      if code != 1_000 + SIGKILL { break }
      killCount += 1
      microseconds += UInt32.random(in: 0...20_000)
      guard FileManager.default.fileExists(atPath: job.database),
        try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 't'") == ["1"]
      else { continue }
      let state = try database.rows("SELECT count(*) - 1, max(id), sum(v = 'new') FROM t")[0].split(
        separator: "|")
      #expect(Set(state).count == 1, "\(state)")
    }
    #expect(killCount > 0)
    let last = try Command.run(["mirror", job.database, file])
    #expect([0, 2].contains(last.exitCode), "\(last.talk)")
    #expect(try database.rows("SELECT count(*), sum(v = 'new') FROM t") == ["151|150"])
    #expect(try database.rows("SELECT count(*) FROM upsurge_files") == ["150"])
    #expect(try database.rows("SELECT count(*) FROM upsurge_rejects") == ["15"])
    #expect(try database.rows("SELECT state, count(*) FROM upsurge_runs GROUP BY 1") == ["'done'|150"])
  }

  // MARK: - All at once, and one by one

  /// What a folder of files brings, told by what is in the database, and by each ledger.
  private struct Outcome {
    var rows: [String] = []
    var ledgers: [Ledger] = []
    var files: [String] = []
    var runs: [String] = []
    var rejects: [String] = []
    var refusals: [String] = []
    var last: Int32 = 0
    var failure = ""
  }

  /// - Parameter mark: what of the paths is not compared.
  private func outcome(_ database: String, _ summaries: [MirrorSummary], mark: String) throws -> Outcome {
    let base = Database(database)
    let tables = try base.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
    func rows(_ table: String, _ sql: String) throws -> [String] {
      if !tables.contains("'\(table)'") { return [] }
      return try base.rows(sql).map { $0.replacingOccurrences(of: mark, with: "") }
    }
    let loads = summaries.flatMap { $0.tables[0].loads }
    let failure = loads.last?.error ?? loads.last?.guardRefusal
    return Outcome(
      rows: try rows("t", "SELECT id, v, gone IS NULL FROM t ORDER BY id"), ledgers: loads.map(\.ledger),
      files: try rows("upsurge_files", "SELECT name FROM upsurge_files ORDER BY 1"),
      runs: try rows("upsurge_runs", "SELECT state, exit_code, job FROM upsurge_runs ORDER BY job"),
      rejects: try rows("upsurge_rejects", "SELECT file, code FROM upsurge_rejects ORDER BY 1, 2"),
      refusals: try rows("upsurge_refusals", "SELECT guards, rows_known FROM upsurge_refusals ORDER BY 1"),
      last: loads.last?.exitCode ?? 0,
      failure: (failure?.message ?? "").replacingOccurrences(of: mark, with: ""))
  }

  @Test("A folder taken at once is what it is taken file by file", arguments: 0..<40)
  func oneByOne(index: Int) throws {
    let seed =
      getenv("UPSURGE_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0...999_999) &* 40
    var random = SeededGenerator(seed: seed &+ UInt64(index))
    let kind = ["delta", "none", "hard", "soft", "scope"].randomElement(using: &random)!
    let isJSON = Int.random(in: 0..<4, using: &random) == 0
    let fileCount = Int.random(in: 2...40, using: &random)
    let texts = (0..<fileCount).map { number in
      Self.text(number, isJSON: isJSON, isOdd: Int.random(in: 0..<20, using: &random) == 0, &random)
    }
    let hasGuard = Bool.random(using: &random)
    var outcomes: [Outcome] = []
    for isAtOnce in [true, false] {
      let name = isAtOnce ? "once" : "each"
      let folder = scratch.file("\(name)-\(index)/in")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let database = scratch.file("\(name)-\(index).db")
      try Database(database).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v, gone)")
      try Database(database).rows("INSERT INTO t(id, v) VALUES (2, 'here'), (900, 'here')")
      var table = MirrorTable(name: "t", sources: [folder])
      table.kind = kind == "delta" ? .delta : .snapshot
      switch kind {
      case "hard": table.sweep = .hard
      case "soft": table.sweep = .soft(column: "gone")
      case "scope": (table.sweep, table.scope) = (.hard, "id < 500")
      default: break
      }
      table.guards.maximumDeletes = .percent(hasGuard ? 60 : 100)
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.options.rejects.target = .table
      let job = MirrorJob(database: database, tables: [table])
      var summaries: [MirrorSummary] = []
      for (number, text) in texts.enumerated() {
        let path = "\(folder)/\(100 + number).\(isJSON ? "ndjson" : "csv")"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        if isAtOnce { continue }
        summaries.append(job.run())
        let loads = summaries.last!.tables[0].loads
        if loads.contains(where: { !$0.isWhole || $0.guardRefusal != nil }) { break }
      }
      if isAtOnce { summaries = [job.run()] }
      for load in summaries.flatMap({ $0.tables[0].loads }) { #expect(load.ledger.isBalanced) }
      outcomes.append(try outcome(database, summaries, mark: "\(name)-\(index)/"))
    }
    let (once, each) = (outcomes[0], outcomes[1])
    let place: Comment = "UPSURGE_SEED=\(seed), \(index): \(kind)"
    #expect(once.rows == each.rows && once.ledgers == each.ledgers, place)
    #expect(once.files == each.files && once.runs == each.runs, place)
    #expect(once.rejects == each.rejects && once.refusals == each.refusals, place)
    #expect(once.last == each.last && once.failure == each.failure, place)
  }

  /// A file with a few rows, or an odd one: broken, empty, with another header or with records that are rejected.
  private static func text(
    _ number: Int, isJSON: Bool, isOdd: Bool, _ random: inout SeededGenerator
  ) -> String {
    let first = Int.random(in: 0...8, using: &random)
    // So alike that most deliveries pass the guards.
    let count = Int.random(in: 7...12, using: &random)
    var odd = isOdd ? Int.random(in: 0..<7, using: &random) : -1
    if isJSON {
      var lines = (first..<first + count).map { "{\"id\":\($0),\"v\":\"n\(number)\"}" }
      switch odd {
      case 0: lines.append("{\"id\":")
      case 1: lines = []
      case 2: lines = lines.map { _ in "{\"v\":\"no key\"}" }
      case 3: lines.append("{\"id\":1,\"v\":2,\"other\":3}")
      default: break
      }
      return lines.map { $0 + "\n" }.joined()
    }
    if odd > 5 { odd = -1 }
    var header = "id,v"
    var lines = (first..<first + count).map { "\($0),n\(number)" }
    switch odd {
    case 0: lines.append("7,\"never closed")
    case 1: (header, lines) = ("", [])
    case 2: lines = []
    case 3:
      (header, lines) = ("v,id", lines.map { $0.split(separator: ",").reversed().joined(separator: ",") })
    case 4: lines.append("x,y,z,too,many")
    case 5: lines.append("9,first\n9,second")
    default: break
    }
    return header.isEmpty ? "" : ([header] + lines).map { $0 + "\n" }.joined()
  }
}
