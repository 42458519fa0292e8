import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads over several connections, as the command makes them.
@Suite(
  "Loads over several connections",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralTests {
  let scratch = Scratch()
  let connection: PostgresConnection
  let url: String

  init() throws {
    PostgresStores.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
  }

  private func reset(_ ddl: String) throws {
    try connection.run(
      "SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public; \(ddl)")
  }

  private func load(_ text: String, connections: Int = 3, _ change: (inout LoadOptions) -> Void = { _ in })
    -> RunSummary
  {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.connections = connections
    options.transaction.commitEvery = .records(20)
    options.tuning.batchSizes.recordCount = 15
    change(&options)
    return LoadJob(
      database: url, table: "t", sources: [scratch.write(text, to: "feed.csv")], options: options
    ).run()
  }

  @Test("Table, ledger and rejects are those of one connection, whatever is loaded")
  func property() throws {
    let first = SeededGenerator.firstSeed()
    var rejectedCount: UInt64 = 0
    for seed in first..<first + UInt64(SeededGenerator.some(12, most: 500)) {
      let load = SeveralLoad(seed: seed)
      let source = scratch.write(load.text, to: load.sourceName)
      func result(_ connections: Int) throws -> SeveralLoad.Result {
        try reset(load.ddl)
        let path = scratch.file("bad")
        unlink(path)
        let options = load.options(connections: connections, rejectsPath: path)
        let summary = LoadJob(database: url, table: "t", sources: [source], options: options).run()
        #expect(summary.error == nil, "seed \(seed), \(connections): \(summary.error?.description ?? "")")
        #expect(try connection.texts("SELECT run FROM upsurge_runs") == [], "seed \(seed)")
        return try load.result(summary, connection, rejectsPath: path)
      }
      let one = try result(1)
      rejectedCount += one.ledger.rejected
      for connections in [2, 3 + Int(seed % 6)] {
        #expect(try result(connections) == one, "seed \(seed), \(connections) connections")
        #expect(try connection.texts("SELECT * FROM upsurge_connections") == [])
      }
    }
    #expect(rejectedCount > 0, "seeds from \(first)")
  }

  @Test(
    "A reject that ends the run leaves nothing of its round, and the one that is said comes first in the input"
  )
  func stops() throws {
    let text = "id,n\n" + (1...300).map { "\($0),\([201, 207, 215].contains($0) ? 95 : 1)\n" }.joined()
    try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90))")
    let stopped = load(text)
    #expect(stopped.error?.code == .badInput && stopped.error?.position?.record == 201)
    let count = stopped.ledger.inserted
    #expect(stopped.exitCode == 3 && stopped.ledger.read == count && (1...200).contains(count))
    #expect(try connection.texts("SELECT count(*), max(id) FROM t") == [["\(count)", "\(count)"]])
    let resumed = load(text) { $0.rejects.onError = .reject }
    #expect(resumed.error == nil && resumed.ledger.inserted == 297 && resumed.ledger.rejected == 3)
    #expect(resumed.progress.resumedCount == count)
    try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90))")
    let refused = load("id,n\n1,1\n2,95\n3,1\n")
    #expect(refused.exitCode == 65)
    #expect(
      try connection.texts("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM upsurge_runs)") == [
        ["0", "0"]
      ])
  }

  @Test("Rejects of all connections are counted together", arguments: [2, 3])
  func limit(most: UInt64) throws {
    let text = "id,n\n" + (1...60).map { "\($0),\($0 % 20 == 7 ? 95 : 1)\n" }.joined()
    try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90))")
    let summary = load(text) { ($0.rejects.onError, $0.rejects.limit) = (.reject, .count(most)) }
    #expect((summary.error == nil) == (most == 3))
    #expect(summary.ledger.rejected == (most == 3 ? 3 : 0) && summary.ledger.inserted == (most == 3 ? 57 : 0))
    #expect(try connection.texts("SELECT count(*) FROM t") == [[most == 3 ? "57" : "0"]])
  }

  @Test("A run that resumes keeps its number of connections, whatever is asked for")
  func number() throws {
    let text = "id,n\n" + (1...300).map { "\($0),\($0 == 250 ? 95 : 1)\n" }.joined()
    for (before, after) in [(3, 1), (4, 2), (1, 3)] {
      try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90))")
      let stopped = load(text, connections: before)
      #expect(stopped.exitCode == 3, "\(before)")
      let notes = RunNotes()
      var options = LoadOptions()
      (options.rules.key, options.rejects.onError) = (["id"], .reject)
      options.transaction.connections = after
      let source = scratch.file("feed.csv")
      let resumed = LoadJob(database: url, table: "t", sources: [source], options: options).run(note: {
        notes.add($0.text)
      })
      #expect(
        resumed.error == nil && resumed.ledger.inserted == 299 && resumed.ledger.rejected == 1,
        "\(before), \(after)")
      #expect(
        notes.all.contains { $0.contains("the run was begun with \(before) connection") }, "\(notes.all)")
    }
  }

  @Test(
    "What needs the order of all records is refused by name, before anything is written",
    arguments: SeveralTests.refusals)
  func refused(ddl: String, words: String) throws {
    try reset(ddl)
    let summary = load("id,n\n1,1\n") { if ddl.contains("no key") { $0.rules.key = [] } }
    #expect(
      summary.exitCode == 64 && summary.error?.message.contains(words) == true,
      "\(summary.error?.description ?? "")")
    #expect(summary.error?.hint == "leave out --connections")
    #expect(try connection.texts("SELECT to_regclass('upsurge_runs')") == [[nil]])
  }

  private static let refusals: [(String, String)] = [
    ("CREATE TABLE t (id bigint, n bigint) /* no key */", "its records have no key"),
    ("CREATE TABLE t (id numeric PRIMARY KEY, n bigint)", "spelled in several ways"),
    ("CREATE TABLE t (id bigint PRIMARY KEY, n bigint UNIQUE)", "t_n_key is a second unique key"),
    ("CREATE TABLE t (id bigint PRIMARY KEY, n bigint REFERENCES t)", "points to the same table"),
    ("CREATE UNLOGGED TABLE t (id bigint PRIMARY KEY, n bigint)", "it is UNLOGGED"),
    (
      """
      CREATE TABLE t (id bigint PRIMARY KEY, n bigint);
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER later AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION f()
      """, "the trigger later may look at other rows"
    ),
  ]

  @Test(
    "Deletes that go on to rows of another table are refused, and others are not",
    arguments: ["CASCADE", "NO ACTION"])
  func cascades(action: String) throws {
    try reset(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, n bigint); INSERT INTO t SELECT i, 1 FROM generate_series(1, 9) i;
      CREATE TABLE pair (a bigint, b bigint REFERENCES t, CONSTRAINT pair_a FOREIGN KEY (a) REFERENCES t ON DELETE \(action))
      """)
    let summary = load("id,n,gone\n1,1,yes\n2,3,no\n") {
      $0.rules.tombstone = Tombstone(column: "gone", value: "yes")
    }
    let isRefused = action == "CASCADE"
    #expect(summary.exitCode == (isRefused ? 64 : 0) && summary.ledger.deleted == (isRefused ? 0 : 1))
    let words = summary.error?.message ?? ""
    #expect(
      words.contains("the foreign key pair_a of another table goes on to rows there") == isRefused, "\(words)"
    )
  }

  @Test("SQL that asks for other rows is refused, and other SQL is not")
  func queries() throws {
    for sql in ["n + (SELECT count(*) FROM t)", "n + excluded.n"] {
      try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint); INSERT INTO t VALUES (1, 1)")
      let summary = load("id,n\n1,4\n") { $0.rules.merge.columns = ["n": .expression(sql)] }
      let isQuery = sql.contains("SELECT")
      #expect(summary.exitCode == (isQuery ? 64 : 0), "\(summary.error?.description ?? "")")
      #expect(try connection.texts("SELECT n FROM t") == [[isQuery ? "1" : "5"]])
    }
  }

  @Test("Options that are about one connection are refused beside several")
  func options() throws {
    try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)")
    let atomic = load("id,n\n1,1\n") { $0.transaction.isAtomic = true }
    #expect(
      atomic.exitCode == 64
        && atomic.error?.hint == "leave out one of them; a mirror has atomic: bounded for many")
    let evolving = load("id,n\n1,1\n") { $0.table.contract = .evolve }
    #expect(
      evolving.exitCode == 64 && evolving.error?.hint == "add the columns first, or leave out --connections")
    let changes = scratch.file("changes.ndjson")
    let told = load("id,n\n1,1\n") { $0.output.changesPath = changes }
    #expect(told.exitCode == 64 && told.error?.hint == "leave out --connections, or --changes")
    #expect(!FileManager.default.fileExists(atPath: changes))
    #expect(try connection.texts("SELECT to_regclass('upsurge_runs')") == [[nil]])
    for count in [0, 65] { #expect(load("id,n\n1,1\n", connections: count).exitCode == 64) }
    #expect(load("id,n\n1,1\n") { $0.output.dryRun = .count }.error == nil)
  }

  @Test("A trial tells over one connection what several would change", arguments: [1, 3])
  func trial(connections: Int) throws {
    try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint); INSERT INTO t VALUES (2, 2), (3, 3)")
    let file = scratch.file("changes.ndjson")
    let summary = load("id,n\n1,1\n2,5\n3,3\n", connections: connections) {
      ($0.output.dryRun, $0.output.changesPath) = (.diff, file)
    }
    #expect(summary.error == nil, "\(summary.error?.description ?? "")")
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 2, "\(lines)")
    #expect(
      lines.first?.contains("\"op\":\"insert\"") == true
        && lines.last?.contains("\"before\":{\"n\":2}") == true, "\(lines)")
    #expect(try connection.texts("SELECT count(*) FROM t") == [["2"]])
  }

  @Test("A new table is filled over one connection, which is said")
  func newTable() throws {
    try reset("")
    let notes = RunNotes()
    var options = LoadOptions()
    (options.rules.key, options.transaction.connections) = (["id"], 4)
    let source = scratch.write("id,n\n1,1\n2,2\n", to: "feed.csv")
    let summary = LoadJob(database: url, table: "t", sources: [source], options: options).run(note: {
      notes.add($0.text)
    })
    #expect(summary.error == nil && summary.ledger.inserted == 2)
    #expect(notes.all.contains { $0.contains("--connections 4 is for a table that is there") })
    #expect(try connection.texts("SELECT to_regclass('upsurge_connections')") == [[nil]])
  }

  @Test("A server that has no room for so many transactions says so before anything is written")
  func room() throws {
    let role = "several_narrow"
    try reset(
      "CREATE TABLE t (id bigint PRIMARY KEY, n bigint); CREATE ROLE \(role) LOGIN CONNECTION LIMIT 4")
    try connection.run("GRANT ALL ON SCHEMA public TO \(role); GRANT ALL ON t TO \(role)")
    defer { _ = try? connection.run("DROP OWNED BY \(role); DROP ROLE \(role)") }
    var options = LoadOptions()
    (options.rules.key, options.transaction.connections) = (["id"], 6)
    options.tuning.connectSeconds = []
    let narrow = try PostgresServer.shared().socketURL(database: connection.database, user: role)
    let source = scratch.write("id,n\n1,1\n", to: "feed.csv")
    let summary = LoadJob(database: narrow, table: "t", sources: [source], options: options).run()
    #expect(
      summary.error?.message.contains("has room for 3 transactions at the same time") == true,
      "\(summary.error?.description ?? "")")
    #expect(try connection.texts("SELECT to_regclass('upsurge_runs')") == [[nil]])
  }

  @Test("A table of the name of ours that is somebody else's is left alone")
  func foreignTable() throws {
    try reset("CREATE TABLE t (id bigint PRIMARY KEY, n bigint); CREATE TABLE upsurge_connections (a int)")
    let summary = load("id,n\n1,1\n")
    #expect(
      summary.error?.hint == "give that table another name: connections of runs are kept in one of this name")
    #expect(try connection.texts("SELECT count(*) FROM t") == [["0"]])
  }
}
