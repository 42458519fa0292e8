import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

/// Mirrors whose sources are tables of another database.
@Suite("Mirrors of sqlite: sources") struct DatabaseSourceMirrorTests {
  let scratch = Scratch()
  private var source: String { scratch.file("source.db") }
  private var target: String { scratch.file("target.db") }

  @Test("What a job reads of one database for several tables is of one state")
  func jobSnapshot() throws {
    let database = Database(source)
    try database.rows(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'old'), (2, 'old');
      CREATE TABLE u(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO u SELECT * FROM t
      """)
    #expect(symlink(source, scratch.file("link.db")) == 0)
    // However it is called.
    let tables = [
      ("t", source + "#t"), ("u", scratch.file("./source.db") + "#u"),
      ("w", scratch.file("link.db") + "?query=SELECT id, v FROM u WHERE id = 1"),
    ].map { name, rows in
      var table = MirrorTable(name: name, sources: ["sqlite:\(rows)"])
      table.options.rules.key = ["id"]
      return table
    }
    let job = MirrorJob(database: target, tables: tables)
    let path = source
    let isDone = Atomic<Bool>(false)
    let change = { @Sendable (said: RunNote) in
      // It says something when the first table is made, for which rows were looked at.
      if isDone.exchange(true, ordering: .relaxed) { return }
      _ = try? Database(path).rows("BEGIN IMMEDIATE; UPDATE t SET v = 'new'; UPDATE u SET v = 'new'; COMMIT")
    }
    let all =
      "SELECT v, count(*) FROM (SELECT v FROM t UNION ALL SELECT v FROM u UNION ALL SELECT v FROM w) GROUP BY v"
    #expect(job.run(note: change).exitCode == 0)
    let hasChanged = isDone.load(ordering: .relaxed)
    #expect(hasChanged)
    #expect(try Database(target).rows(all) == ["'old'|5"])
    #expect(try database.rows("SELECT DISTINCT v FROM t") == ["'new'"])
    #expect(job.run().exitCode == 0)
    #expect(try Database(target).rows(all) == ["'new'|5"])
  }

  @Test(
    "A database can be written as soon as the last table that reads it is done",
    arguments: MirrorJob.Atomicity.allCases)
  func jobSnapshotEnd(atomicity: MirrorJob.Atomicity) throws {
    let database = Database(source)
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); CREATE TABLE u AS SELECT * FROM t")
    let write = "printf 'id\\n2\\n' | '\(Command.path)' load '\(source)' t - --key id"
    let tables = [
      ("a", "sqlite:\(source)#t"), ("b", "sqlite:\(source)#none"), ("c", "sqlite:\(source)#u"),
      ("d", "exec:\(write) && printf 'id\\n1\\n'"),
    ].filter { atomicity != .job || $0.0 != "b" }.map { name, source in
      var table = MirrorTable(name: name, sources: [source])
      table.options.rules.key = ["id"]
      return table
    }
    var job = MirrorJob(database: target, tables: tables)
    job.atomicity = atomicity
    let summary = job.run()
    #expect(
      summary.tables.filter { $0.name != "b" }.allSatisfy { $0.failure == nil },
      "\(summary.tables.compactMap { $0.failure?.description })")
    #expect(try database.rows("SELECT count(*) FROM t") == ["2"])
  }

  @Test("A table that cannot be read does not keep its database from the tables behind it")
  func jobSnapshotFailure() throws {
    try Database(source).rows("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
    let tables = [("a", "#none"), ("b", "?query=SELECT nothing FROM t"), ("c", "#t")].map { name, rows in
      var table = MirrorTable(name: name, sources: ["sqlite:\(source)\(rows)"])
      table.options.rules.key = ["id"]
      return table
    }
    let summary = MirrorJob(database: target, tables: tables).run()
    #expect(summary.tables.map { $0.failure == nil } == [false, false, true])
    #expect(try Database(target).rows("SELECT count(*) FROM c") == ["1"])
  }

  @Test("A mirror goes on behind a row that is too large, and sweeps nothing then")
  func tooLargeMirror() throws {
    let database = Database(source)
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
    var table = MirrorTable(name: "t", sources: ["sqlite:\(source)#t"])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.options.rejects.target = .table
    table.options.transaction.memory = .mebibytes(16)
    table.sweep = .hard
    table.guards.maximumDeletes = .percent(50)
    let job = MirrorJob(database: target, tables: [table])
    #expect(job.run().exitCode == 0)
    try database.rows(
      "DELETE FROM t WHERE id = 1; UPDATE t SET b = zeroblob(5000000) WHERE id = 2; UPDATE t SET b = 'new' WHERE id = 4"
    )
    let summary = job.run()
    #expect(summary.exitCode == 4 && summary.ledger.rejected == 1 && summary.ledger.updated == 1)
    #expect(summary.ledger.swept == 0 && summary.ledger.isBalanced)
    #expect(try Database(target).rows("SELECT id, b FROM t") == ["1|1", "2|2", "3|3", "4|'new'"])
  }

  @Test("A mirror of a table follows it, and one of another state of the same file is the same feed")
  func mirror() throws {
    let database = Database(source)
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, ''), (4, x'')"
    )
    let yaml = scratch.write(
      "tables: {t: {source: 'sqlite:source.db#t', key: id, sweep: hard, guards: {max-delete: 2}}}",
      to: "job.yaml")
    #expect(try Command.run(["mirror", target, yaml]).exitCode == 0)
    let plain = Database(target)
    let all = "SELECT id, v, typeof(v) FROM t"
    #expect(try plain.rows(all) == (try database.rows(all)))
    try database.rows(
      "DELETE FROM t WHERE id = 2; UPDATE t SET v = 7 WHERE id = 1; INSERT INTO t VALUES (9, 1.5)")
    let second = try Command.run(["mirror", target, yaml, "--summary", "-"])
    #expect(second.exitCode == 0 && second.output.contains("\"swept\":1"), "\(second.talk)")
    #expect(try plain.rows(all) == (try database.rows(all)))
    // Another table of the file is another feed; an empty one sweeps nothing.
    let other = scratch.write(
      "tables: {t: {source: 'sqlite:source.db?query=SELECT * FROM t WHERE id < 0', key: id, sweep: hard}}",
      to: "other.yaml")
    #expect(try Command.run(["mirror", target, other]).exitCode == 4)
    #expect(try Command.run(["mirror", target, other, "--accept-change"]).exitCode == 4)
    #expect(try plain.rows(all) == (try database.rows(all)))
  }

  @Test("A query that never ends is ended")
  func endless() throws {
    try Database(source).rows("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    var table = MirrorTable(
      name: "t",
      sources: [
        "sqlite:\(source)?query=WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n WHERE i < 0"
      ])
    table.options.rules.key = ["id"]
    table.unattended.deadline = 1
    let start = ContinuousClock.now
    let summary = MirrorJob(database: target, tables: [table]).run()
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(
      summary.exitCode == 1 && summary.tables[0].failure?.code == .deadline,
      "\(String(describing: summary.tables[0].failure))")
  }
}
