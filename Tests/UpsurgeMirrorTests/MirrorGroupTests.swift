import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Several tables of a job in one transaction.
@Suite("Mirrors of several tables at once") struct MirrorGroupTests {
  let scratch = Scratch()

  private func table(_ name: String, sweep: RowSweep = .hard) -> MirrorTable {
    var table = MirrorTable(name: name, sources: [scratch.file("\(name).csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.options.rejects.target = .table
    table.sweep = sweep
    table.guards.maximumDeletes = .percent(50)
    return table
  }

  private func job(_ names: [String], _ atomic: MirrorJob.Atomicity = .job) -> MirrorJob {
    var job = MirrorJob(database: scratch.file("a.db"), tables: names.map { table($0) })
    job.atomicity = atomic
    return job
  }

  private func deliver(_ name: String, _ lines: [String]) {
    _ = scratch.write(lines.map { $0 + "\n" }.joined(), to: "\(name).csv")
  }

  private func deliver(_ name: String, version: Int, count: Int = 100) {
    deliver(name, ["id,v"] + (0..<count).map { "\($0),\(version)" })
  }

  private func versions(_ names: [String]) throws -> [String] {
    let database = Database(scratch.file("a.db"))
    return try names.map { try database.rows("SELECT DISTINCT v FROM \($0)").joined(separator: ",") }
  }

  @Test("atomic: job stores all tables, old and new ones, and notes each of them")
  func whole() throws {
    let job = job(["a", "b", "c"])
    for name in ["a", "b", "c"] { deliver(name, version: 1) }
    let first = job.run()
    #expect(first.exitCode == 0, "\(first.tables.map { $0.failure?.description })")
    #expect(first.tables.map(\.ledger.inserted) == [100, 100, 100])
    let second = job.run()
    #expect(second.exitCode == 0 && second.ledger.read == 0)
    deliver("b", ["id,v"] + (1..<100).map { "\($0),2" })
    let third = job.run()
    #expect(third.exitCode == 0 && third.ledger.read == 99)
    #expect(third.tables[1].ledger.updated == 99 && third.tables[1].ledger.swept == 1)
    let database = Database(job.database)
    #expect(try database.rows("SELECT count(*), sum(failures) FROM upsurge_feeds") == ["3|0"])
    #expect(try database.rows("SELECT state, count(*) FROM upsurge_runs GROUP BY 1") == ["'done'|4"])
  }

  @Test("With atomic: job a table that fails takes all others back, rejects, files and history with them")
  func failure() throws {
    var job = job(["a", "b", "c"])
    let rejects = scratch.file("rejects.ndjson")
    job.tables[0].options.rejects.target = .file(rejects)
    job.tables[0].sweep = .none
    for name in ["a", "b", "c"] { deliver(name, version: 1) }
    #expect(job.run().exitCode == 0)
    let before = try Database(job.database).rows("SELECT * FROM upsurge_runs")
    deliver("a", ["id,v"] + (0..<100).map { "\($0),2" } + ["1,2,3"])
    _ = scratch.write("id,v\n1,2\n2,", to: "b.csv")
    deliver("c", version: 2)
    let broken = job.run()
    #expect(broken.exitCode == 65, "\(broken.exitCode)")
    #expect(try versions(["a", "b", "c"]) == ["1", "1", "1"])
    #expect(broken.tables.map(\.exitCode) == [65, 65, 65])
    #expect(broken.tables[1].failure?.message.contains("atomic") == false)
    let words = "nothing of the job is stored, as table b has failed (atomic: job)"
    #expect(broken.tables[0].failure?.message == words && broken.tables[2].failure?.message == words)
    #expect(
      broken.tables.allSatisfy {
        $0.loads.allSatisfy { $0.progress.committedCount == 0 && $0.ledger.swept == 0 }
      })
    #expect(try Database(job.database).rows("SELECT * FROM upsurge_runs") == before)
    #expect(
      try Database(job.database).rows("SELECT failures, exit_code FROM upsurge_feeds") == [
        "1|65", "1|65", "1|65",
      ])
    let left = try readFile(rejects)
    #expect(left.isEmpty, "\(String(decoding: left, as: UTF8.self))")
    deliver("b", version: 2)
    let mended = job.run()
    #expect(mended.exitCode == 2, "\(mended.tables.map { $0.failure?.description })")
    #expect(mended.tables[0].ledger.rejected == 1)
    #expect(try versions(["a", "b", "c"]) == ["2", "2", "2"])
    #expect(try !readFile(rejects).isEmpty)
    #expect(try Database(job.database).rows("SELECT sum(failures) FROM upsurge_feeds") == ["0"])
  }

  @Test("A feed that is not there takes the job back, too; nothing is left of a new database")
  func missing() throws {
    let job = job(["a", "b"])
    deliver("a", version: 1)
    let summary = job.run()
    #expect(summary.exitCode == 66, "\(summary.exitCode)")
    #expect(!job.databaseIsThere)
  }

  @Test("A guard that speaks keeps rows from being swept, and nothing else", arguments: [true, false])
  func guarded(hasReferences: Bool) throws {
    let job = job(["a", "b"], hasReferences ? .table : .job)
    let reference = hasReferences ? "REFERENCES a(id)" : ""
    try Database(job.database).rows(
      "CREATE TABLE a(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE b(id INTEGER PRIMARY KEY \(reference), v INTEGER)"
    )
    deliver("a", version: 1)
    deliver("b", version: 1)
    #expect(job.run().exitCode == 0)
    deliver("a", ["id,v"] + (0..<99).map { "\($0),2" })
    // Fewer than half of the last one.
    deliver("b", version: 2, count: 10)
    let summary = job.run()
    #expect(summary.exitCode == 4)
    #expect(summary.tables[1].failure?.message.contains("min-ratio") == true)
    let counts = try Database(job.database).rows(
      "SELECT count(*) FROM b WHERE v = 2 UNION ALL SELECT count(*) FROM b")
    #expect(counts == ["10", "100"])
    // A row of b still refers to the one that is gone from a.
    #expect(summary.tables[0].ledger.updated == 99)
    #expect(summary.tables[0].ledger.swept == (hasReferences ? 0 : 1))
    #expect(summary.tables[0].exitCode == (hasReferences ? 4 : 0))
  }

  @Test("With atomic: table a table that fails leaves those to which it refers as they became")
  func oneFails() throws {
    let job = job(["child", "parent"], .table)
    try Database(job.database).rows(
      "CREATE TABLE parent(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE child(id INTEGER PRIMARY KEY, v INTEGER REFERENCES parent)"
    )
    deliver("parent", version: 7)
    deliver("child", version: 50)
    let first = job.run()
    #expect(first.exitCode == 0, "\(first.tables.map { $0.failure?.description })")
    // Those to which others refer come first.
    #expect(first.tables.map(\.name) == ["parent", "child"])
    deliver("parent", version: 8)
    _ = scratch.write("id,v\n1,51\n2,", to: "child.csv")
    let second = job.run()
    #expect(
      second.exitCode == 3 && second.tables.map(\.exitCode) == [0, 65], "\(second.tables.map(\.exitCode))")
    #expect(try versions(["parent", "child"]) == ["8", "50"])
    let state = "SELECT \"table\", failures FROM upsurge_feeds ORDER BY 1"
    #expect(try Database(job.database).rows(state) == ["'child'|1", "'parent'|0"])
  }

  @Test("Rows go children first; rows that others keep stay, and nothing dangles")
  func sweeps() throws {
    let job = job(["child", "parent"], .table)
    let database = Database(job.database)
    try database.rows(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY, v INTEGER);
      CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER REFERENCES parent(id));
      CREATE TABLE other(p INTEGER REFERENCES parent(id));
      """)
    deliver("parent", ["id,v"] + (0..<20).map { "\($0),1" })
    deliver("child", ["id,p"] + (0..<20).map { "\($0),\($0)" })
    #expect(job.run().exitCode == 0)
    deliver("parent", ["id,v"] + (0..<19).map { "\($0),1" })
    deliver("child", ["id,p"] + (0..<19).map { "\($0),\($0)" })
    let swept = job.run()
    #expect(swept.exitCode == 0 && swept.tables.map(\.ledger.swept) == [1, 1])
    try database.rows("INSERT INTO other VALUES(18)")
    deliver("parent", ["id,v"] + (0..<18).map { "\($0),1" })
    deliver("child", ["id,p"] + (0..<18).map { "\($0),\($0)" })
    let kept = job.run()
    #expect(kept.exitCode == 4 && kept.tables.map(\.ledger.swept) == [0, 1])
    #expect(kept.tables[0].failure?.message.contains("child, other refer to rows") == true)
    #expect(try database.rows("PRAGMA foreign_key_check").isEmpty)
    #expect(
      try database.rows("SELECT count(*) FROM parent UNION ALL SELECT count(*) FROM child") == ["19", "18"])
  }

  @Test("A record waits for its parent, whose feed alone comes the next night")
  func waits() throws {
    let job = job(["child", "parent"], .table)
    let database = Database(job.database)
    try database.rows(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY, v INTEGER);
      CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES parent(id));
      """)
    deliver("parent", ["id,v", "1,1"])
    deliver("child", ["id,p", "1,1", "2,2", "3,3"])
    let first = job.run()
    #expect(
      first.exitCode == 2 && first.tables[1].ledger.quarantined == 2 && first.tables[1].ledger.inserted == 1)
    let reasons = try database.rows("SELECT reason FROM upsurge_quarantine ORDER BY id")
    #expect(
      reasons == [
        "'FOREIGN KEY (p) REFERENCES parent (id): there is no such row (2)'",
        "'FOREIGN KEY (p) REFERENCES parent (id): there is no such row (3)'",
      ])
    #expect(job.run().exitCode == 2)
    deliver("parent", ["id,v", "1,1", "2,1"])
    let second = job.run()
    #expect(second.tables[1].replayed.inserted == 1 && second.tables[1].ledger.read == 0)
    #expect(second.exitCode == 2)
    // One that somebody else has made counts as well.
    try database.rows("INSERT INTO parent VALUES(3, 1)")
    let third = job.run()
    #expect(third.exitCode == 0 && third.tables[1].replayed.inserted == 1, "\(third.exitCode)")
    #expect(try database.rows("SELECT count(*) FROM child") == ["3"])
    #expect(try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["0"])
    #expect(job.run().exitCode == 0)
    #expect(String(decoding: third.json, as: UTF8.self).contains(#""replayed":{"read":1,"inserted":1}"#))
  }

  @Test("upsurge replay stores one whose parent has come, and leaves the others")
  func replay() throws {
    let job = job(["child", "parent"], .table)
    let database = Database(job.database)
    try database.rows(
      "CREATE TABLE parent(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER REFERENCES parent)"
    )
    deliver("parent", ["id,v", "1,1"])
    deliver("child", ["id,p", "1,1", "2,2", "3,3"])
    #expect(job.run().exitCode == 2)
    try database.rows("INSERT INTO parent VALUES(3, 1)")
    let summary = ReplayJob(database: job.database).run()
    #expect(summary.ledger.inserted == 1 && summary.ledger.quarantined == 1 && summary.ledger.rejected == 0)
    #expect(summary.tables.first?.waiting.first?.reason.contains("are not there") == true)
    #expect(
      try database.rows("SELECT count(*) FROM child UNION ALL SELECT count(*) FROM upsurge_quarantine") == [
        "2", "1",
      ])
  }

  @Test("Rows of one table that refer to each other come in any order, and sweep with what refers to them")
  func tree() throws {
    var job = job(["node"], .table)
    job.tables[0].guards.maximumDeletes = .percent(100)
    job.tables[0].guards.leastRatio = 0
    let database = Database(job.database)
    try database.rows("CREATE TABLE node(id INTEGER PRIMARY KEY, up INTEGER REFERENCES node(id), v)")
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let lines = (1..<300).map { "\($0),\($0 / 2 == 0 ? "" : "\($0 / 2)"),1" }
    deliver("node", ["id,up,v"] + (lines + ["500,501,1", "501,502,1"]).shuffled(using: &random))
    let first = job.run()
    #expect(first.exitCode == 2, "\(first.tables.map { $0.failure?.description })")
    #expect(first.ledger.inserted == 299 && first.ledger.quarantined == 2, "seed \(seed)")
    // Another delivery has no more what waited.
    deliver("node", ["id,up,v"] + lines.prefix(150).shuffled(using: &random))
    let second = job.run()
    #expect(second.exitCode == 0, "\(second.tables[0].failure?.description ?? "")")
    #expect(second.ledger.swept == 149 && second.ledger.unchanged == 150, "seed \(seed)")
    #expect(try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["0"])
  }

  @Test("A dry run of tables that refer to each other says what would be, and leaves everything as it is")
  func dryRun() throws {
    var job = job(["child", "parent"], .job)
    let database = Database(job.database)
    try database.rows(
      "CREATE TABLE parent(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER REFERENCES parent)"
    )
    deliver("parent", ["id,v", "1,1"])
    deliver("child", ["id,p", "1,1", "2,2"])
    job.dryRun = .count
    let trial = job.run()
    #expect(trial.exitCode == 2 && trial.ledger.inserted == 2 && trial.ledger.quarantined == 1)
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema") == ["2"])
    #expect(try database.rows("SELECT count(*) FROM parent") == ["0"])
    job.dryRun = nil
    let run = job.run()
    #expect(run.ledger == trial.ledger)
  }

  @Test("Files of a folder are taken one after the other, each once, in the transaction of the job")
  func folder() throws {
    var job = job(["child", "parent"], .job)
    let database = Database(job.database)
    try database.rows(
      "CREATE TABLE parent(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER REFERENCES parent)"
    )
    deliver("parent", ["id,v", "1,1", "2,1", "3,1"])
    try FileManager.default.createDirectory(atPath: scratch.file("drop"), withIntermediateDirectories: true)
    for (number, lines) in ["id,p\n1,1\n2,2\n", "id,p\n1,1\n3,3\n", "id,p\n3,1\n4,9\n"].enumerated() {
      _ = scratch.write(lines, to: "drop/\(number).csv")
    }
    job.tables[0].sources = [Source(scratch.file("drop"))]
    job.tables[0].guards.maximumDeletes = .percent(100)
    job.tables[0].folder.done = .delete
    let run = job.run()
    #expect(run.exitCode == 2, "\(run.tables.map { $0.failure?.description })")
    let child = run.tables[1]
    #expect(child.loads.map(\.ledger.swept) == [0, 0, 2] && child.ledger.quarantined == 1)
    #expect(try database.rows("SELECT * FROM child") == ["3|1"])
    #expect(try database.rows("SELECT count(*) FROM upsurge_files") == ["3"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("drop")).isEmpty)
    #expect(job.run().ledger.read == 0)
  }

  @Test("What a trigger rolls back with all of the transaction is told, and nothing is half done")
  func rolledBack() throws {
    let job = job(["a", "b"])
    let database = Database(job.database)
    try database.rows(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, v INTEGER); CREATE TABLE b(id INTEGER PRIMARY KEY, v INTEGER);
      CREATE TRIGGER no BEFORE INSERT ON b WHEN new.id = 50 BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
      """)
    deliver("a", version: 1)
    deliver("b", version: 1)
    let run = job.run()
    #expect(run.exitCode == 65 || run.exitCode == 1, "\(run.exitCode)")
    #expect(run.tables.allSatisfy { $0.failure != nil })
    #expect(try database.rows("SELECT count(*) FROM a UNION ALL SELECT count(*) FROM b") == ["0", "0"])
  }

  @Test("Children that are swept in the same transaction keep no parent", arguments: [true, false])
  func checkOfReferences(isShared: Bool) throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY, a INT REFERENCES a(id))"
    )
    let warnings = try job(["a", "b"], isShared ? .table : .bounded).check()
    #expect(warnings.map(\.code) == (isShared ? [] : [.keptByReferences]))
  }
}
