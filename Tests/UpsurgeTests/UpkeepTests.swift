import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Indexes and FTS5 tables that are set aside during a load are afterwards what they would have been.
@Suite("Upkeep")
struct UpkeepTests {
  let scratch = Scratch()

  private static let tables = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b TEXT COLLATE NOCASE, title TEXT, body TEXT);
    CREATE INDEX t_a ON t(a);
    CREATE INDEX "t b" ON t(b DESC, a) WHERE a > 100;
    CREATE INDEX t_low ON t(lower(title));
    CREATE UNIQUE INDEX t_u ON t(id, a);
    CREATE VIRTUAL TABLE ft USING fts5(title, body, content='t', content_rowid='id', tokenize='porter unicode61');
    CREATE VIRTUAL TABLE fb USING fts5(body, content=[t], columnsize=0, prefix='2');
    CREATE TRIGGER t_ai AFTER INSERT ON t BEGIN
      INSERT INTO ft(rowid, title, body) VALUES (new.id, new.title, new.body);
    END;
    CREATE TRIGGER t_ad AFTER DELETE ON t BEGIN
      INSERT INTO ft(ft, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
    END;
    CREATE TRIGGER t_au AFTER UPDATE ON t BEGIN
      INSERT INTO ft(ft, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
      INSERT INTO ft(rowid, title, body) VALUES (new.id, new.title, new.body);
    END;
    CREATE TRIGGER b_ai AFTER INSERT ON t BEGIN INSERT INTO fb(rowid, body) VALUES (new.rowid, new.body); END;
    CREATE TRIGGER b_ad AFTER DELETE ON t BEGIN INSERT INTO fb(fb, rowid, body) VALUES ('delete', old.id, old.body); END;
    CREATE TRIGGER b_au AFTER UPDATE ON t BEGIN
      INSERT INTO fb(fb, rowid, body) VALUES ('delete', old.id, old.body);
      INSERT INTO fb(rowid, body) VALUES (new.id, new.body);
    END;
    """

  /// A delivery: rows with ids of a range, words of few so that searches find much, some NULL.
  private func delivery(_ ids: some Sequence<Int>, seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    let words = ["run", "running", "café", "node", "tree", "late", "Nodes", "über", "x1", "leaf"]
    func text(_ count: Int) -> String {
      (0..<count).map { _ in words.randomElement(using: &random)! }.joined(separator: " ")
    }
    var csv = "id,a,b,title,body\n"
    for id in ids {
      csv += "\(id),\(Int.random(in: 0..<300, using: &random)),\(text(1)),"
      csv += Bool.random(using: &random) ? "\(text(3)),\(text(8))\n" : ",\(text(2))\n"
    }
    return csv
  }

  private func load(_ csv: String, into database: String, _ change: (inout LoadOptions) -> Void = { _ in })
    -> RunSummary
  {
    let source = scratch.write(csv, to: "input.csv")
    var options = LoadOptions()
    options.rules.key = ["id"]
    change(&options)
    return LoadJob(database: scratch.file(database), table: "t", sources: [source], options: options).run()
  }

  /// All that can be seen of a database: the schema, the rows, what searches find, that everything is sound.
  private func picture(_ name: String) throws -> [String] {
    let database = Database(scratch.file(name))
    var seen = try database.rows(
      """
      SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name != 'upsurge_runs' ORDER BY name;
      SELECT * FROM t ORDER BY id
      """)
    for (table, searches) in [
      (
        "ft",
        [
          "run", "node NOT leaf", "title: tree", "\"late node\"", "ub*", "node NEAR leaf", "zzz",
          "body: cafe",
        ]
      ),
      ("fb", ["x1", "no*", "tree OR leaf"]),
    ] {
      for search in searches {
        seen +=
          ["\(table) \(search)"]
          + (try database.rows(
            "SELECT rowid, rank FROM \(table)('\(search)') ORDER BY rank, rowid"))
      }
      try database.rows("INSERT INTO \(table)(\(table), rank) VALUES ('integrity-check', 1)")
    }
    seen += try database.rows("SELECT id FROM t INDEXED BY t_a WHERE a BETWEEN 50 AND 150 ORDER BY a, id")
    seen += try database.rows("SELECT id FROM t INDEXED BY \"t b\" WHERE a > 100 ORDER BY b DESC, a, id")
    return seen + (try database.rows("PRAGMA integrity_check"))
  }

  @Test("Searches, indexes and rows are the same whatever is set aside", arguments: [1, 2, 3] as [UInt64])
  func sameResults(seed: UInt64) throws {
    let deliveries = [
      delivery(0..<3_000, seed: seed), delivery(stride(from: 0, to: 6_000, by: 3), seed: seed + 10),
      delivery(5_000..<5_050, seed: seed + 20), delivery(0..<3_000, seed: seed),
    ]
    var pictures: [[[String]]] = []
    var ledgers: [[Ledger]] = []
    for (name, upkeep) in [("keep.db", Upkeep.keep), ("defer.db", .defer), ("auto.db", .auto)] {
      try Database(scratch.file(name)).rows(Self.tables)
      pictures.append([])
      ledgers.append([])
      for (number, csv) in deliveries.enumerated() {
        let summary = load(csv, into: name) {
          ($0.indexes.upkeep, $0.indexes.fullTextUpkeep) = (upkeep, upkeep)
          $0.transaction.commitEvery = 700
          if number == 2 { $0.rules.mode = .delete }
        }
        #expect(summary.error == nil, "\(summary.error?.description ?? "")")
        if upkeep == .defer {
          #expect(summary.upkeep.map(\.upkeep) == Array(repeating: .defer, count: 5), "\(summary.upkeep)")
          #expect(
            summary.metrics.stages.contains { $0.name == "index" }
              && summary.metrics.stages.contains { $0.name == "fts" })
        }
        pictures[pictures.count - 1].append(
          try picture(name))
        ledgers[ledgers.count - 1].append(summary.ledger)
      }
    }
    for number in deliveries.indices {
      #expect(ledgers.allSatisfy { $0[number] == ledgers[0][number] }, "delivery \(number)")
      for mode in 1..<pictures.count {
        let isSame = pictures[mode][number] == pictures[0][number]
        #expect(isSame, "delivery \(number), mode \(mode)")
      }
    }
  }

  @Test("Where rows may stay as they are, the first records decide")
  func decidesOnTheWay() throws {
    try Database(scratch.file("a.db")).rows(Self.tables)
    let first = load(delivery(0..<40_000, seed: 1), into: "a.db")
    #expect(first.upkeep.allSatisfy { $0.upkeep == .defer }, "an empty table: \(first.upkeep)")
    let same = load(delivery(0..<40_000, seed: 1), into: "a.db")
    #expect(same.ledger.unchanged == 40_000 && same.wal.bytesWritten == 0)
    #expect(same.upkeep.allSatisfy { $0.upkeep == .keep }, "\(same.upkeep)")
    let changed = load(delivery(0..<40_000, seed: 2), into: "a.db")
    #expect(changed.error == nil && changed.ledger.updated > 39_000)
    #expect(changed.upkeep.filter { $0.upkeep == .defer }.count >= 2, "\(changed.upkeep)")
    try Database(scratch.file("b.db")).rows(Self.tables)
    _ = load(delivery(0..<40_000, seed: 2), into: "b.db") {
      ($0.indexes.upkeep, $0.indexes.fullTextUpkeep) = (.keep, .keep)
    }
    let isSame =
      try picture("a.db")
      == picture("b.db")
    #expect(isSame)
  }

  @Test("Unchanged rows write nothing, even where indexes were asked to be set aside")
  func unchanged() throws {
    try Database(scratch.file("a.db")).rows(Self.tables)
    let csv = delivery(0..<2_000, seed: 3)
    _ = load(csv, into: "a.db")
    let holder = Database(scratch.file("a.db"))
    try holder.rows("PRAGMA wal_autocheckpoint=0; CREATE TABLE other(x)")
    let before = try readFile(scratch.file("a.db-wal"))
    let summary = load(csv, into: "a.db") {
      ($0.indexes.upkeep, $0.indexes.fullTextUpkeep) = (.defer, .defer)
    }
    #expect(
      summary.ledger.unchanged == 2_000 && summary.progress.committedCount == 2_000 && summary.exitCode == 0)
    let isSame = try readFile(scratch.file("a.db-wal")) == before
    #expect(isSame, "\(summary.wal.bytesWritten) bytes")
    #expect(
      try holder.rows("SELECT count(*) FROM sqlite_schema WHERE tbl_name = 't' AND type <> 'table'") == ["10"]
    )
  }

  @Test("A run that stops leaves indexes, triggers and rows as they were")
  func stops() throws {
    try Database(scratch.file("a.db")).rows(Self.tables)
    _ = load(delivery(0..<500, seed: 4), into: "a.db")
    let before = try picture("a.db")
    let summary = load(delivery(0..<3_000, seed: 5) + "9000,1\n", into: "a.db") {
      ($0.indexes.upkeep, $0.indexes.fullTextUpkeep) = (.defer, .defer)
      $0.transaction.commitEvery = 100
    }
    #expect(summary.exitCode == 65 && summary.progress.committedCount == 0)
    let isSame = try picture("a.db") == before
    #expect(isSame)
  }

  @Test("What ANALYZE found about an index outlives its setting aside")
  func statistics() throws {
    try Database(scratch.file("a.db")).rows(Self.tables)
    _ = load(delivery(0..<500, seed: 4), into: "a.db")
    try Database(scratch.file("a.db")).rows("ANALYZE")
    let sql = "SELECT * FROM sqlite_stat1 WHERE tbl = 't' ORDER BY idx"
    let before = try Database(scratch.file("a.db")).rows(sql)
    _ = load(delivery(0..<600, seed: 5), into: "a.db") { $0.indexes.upkeep = .defer }
    #expect(try Database(scratch.file("a.db")).rows(sql) == before)
    #expect(before.count == 4)
  }

  @Test(
    "The statements are those for many rows once triggers and indexes are gone, and the log may pass its limit"
  )
  func oneTransaction() throws {
    try Database(scratch.file("a.db")).rows(Self.tables)
    let summary = load(delivery(0..<40_000, seed: 6), into: "a.db") {
      ($0.indexes.upkeep, $0.indexes.fullTextUpkeep) = (.defer, .defer)
      $0.transaction.walLimit = .mebibytes(4)
      $0.transaction.commitEvery = 1_000
    }
    #expect(summary.error == nil && summary.wal.bytesPeak > 4 << 20)
    #expect(try Database(scratch.file("a.db")).rows("SELECT count(*) FROM t") == ["40000"])
  }

  @Test("A new table gets its indexes, whenever they are made", arguments: Upkeep.allCases)
  func newTable(upkeep: Upkeep) throws {
    let summary = load(delivery(0..<3_000, seed: 7), into: "a.db") {
      $0.indexes.wanted = [["a"], ["b", "Title"], ["id"], ["a"]]
      $0.indexes.upkeep = upkeep
      $0.transaction.commitEvery = 500
    }
    #expect(summary.error == nil)
    #expect(summary.upkeep.map(\.name) == ["t_a_idx", "t_b_title_idx"])
    #expect(summary.upkeep.allSatisfy { $0.upkeep == (upkeep == .keep ? .keep : .defer) })
    let database = Database(scratch.file("a.db"))
    #expect(
      try database.rows("SELECT sql FROM sqlite_schema WHERE type = 'index' ORDER BY name") == [
        "'CREATE INDEX \"t_a_idx\" ON \"t\" (\"a\")'",
        "'CREATE INDEX \"t_b_title_idx\" ON \"t\" (\"b\", \"title\")'",
      ])
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'upsurge_pending'") == ["0"])
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    let again = load(delivery(0..<3_000, seed: 7), into: "a.db") {
      $0.indexes.wanted = [["a"], ["b", "title"]]
    }
    #expect(again.ledger.unchanged == 3_000 && again.wal.bytesWritten == 0)
  }

  @Test(
    "A table that lacks an index gets it, also together with what is set aside", arguments: Upkeep.allCases)
  func missingIndex(upkeep: Upkeep) throws {
    try Database(scratch.file("a.db")).rows(Self.tables)
    let summary = load(delivery(0..<3_000, seed: 8), into: "a.db") {
      $0.indexes.wanted = [["body"]]
      ($0.indexes.upkeep, $0.indexes.fullTextUpkeep) = (upkeep, upkeep)
    }
    #expect(summary.error == nil)
    let database = Database(scratch.file("a.db"))
    #expect(try database.rows("SELECT count(*) FROM pragma_index_list('t')") == ["5"])
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'upsurge_pending'") == ["0"])
    _ = try picture("a.db")
  }

  @Test("An index on a column that is not there is refused before anything is written")
  func unknownColumn() throws {
    let summary = load("id,a\n1,2\n", into: "a.db") { $0.indexes.wanted = [["a"], ["x"]] }
    #expect(summary.exitCode == 64)
    #expect(summary.error?.message == "--index names x, which is not a column of table t")
    #expect(throws: (any Error).self) { try readFile(scratch.file("a.db")) }
  }

  @Test("An index that an earlier run has promised is made by the next")
  func pending() throws {
    let broken = delivery(0..<3_000, seed: 9) + "9000,1\n"
    let first = load(broken, into: "a.db") {
      $0.indexes.wanted = [["a"], ["b", "a"]]
      $0.transaction.commitEvery = 500
    }
    #expect(first.exitCode == 3 && first.progress.committedCount == 3_000)
    let database = Database(scratch.file("a.db"))
    let indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name"
    #expect(try database.rows(indexes) == [])
    #expect(try database.rows("SELECT * FROM upsurge_pending").count == 3)
    let second = load(delivery(0..<10, seed: 9), into: "a.db")
    #expect(second.ledger.unchanged == 10 && second.exitCode == 0)
    #expect(
      second.upkeep.map(\.reason) == Array(repeating: "an earlier run ended before it was built", count: 2))
    #expect(try database.rows(indexes) == ["'t_a_idx'", "'t_b_a_idx'"])
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'upsurge_pending'") == ["0"])
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  @Test("A promise for a table that was dropped since is forgotten")
  func obsoletePromise() throws {
    let first = load(delivery(0..<3_000, seed: 9) + "9000,1\n", into: "a.db") {
      $0.indexes.wanted = [["a"], ["title"]]
      $0.transaction.commitEvery = 500
    }
    #expect(first.exitCode == 3)
    let database = Database(scratch.file("a.db"))
    try database.rows("DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, body)")
    let second = load("id,a\n1,2\n", into: "a.db")
    #expect(second.exitCode == 0)
    #expect(try database.rows("SELECT name FROM sqlite_schema WHERE type = 'index'") == ["'t_a_idx'"])
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'upsurge_pending'") == ["0"])
  }

  @Test("A dry run and --explain say what would be done, and do nothing")
  func trial() throws {
    try Database(scratch.file("a.db")).rows("PRAGMA journal_mode=WAL;" + Self.tables)
    _ = load(delivery(0..<500, seed: 4), into: "a.db")
    let before = try readFile(scratch.file("a.db"))
    for isExplained in [false, true] {
      let summary = load(delivery(0..<600, seed: 5), into: "a.db") {
        ($0.indexes.upkeep, $0.indexes.fullTextUpkeep) = (.defer, .defer)
        $0.indexes.wanted = [["body"]]
        if isExplained { $0.output.isExplained = true } else { $0.output.dryRun = .count }
      }
      #expect(summary.error == nil)
      if isExplained {
        let text = (summary.explanation ?? "").split(separator: "\n").map {
          $0.split(separator: " ").joined(separator: " ")
        }
        for line in [
          "index t_a built after the rows: as asked for", "fts ft built after the rows: as asked for",
          "index t_body_idx built after the rows: the table lacks it",
        ] { #expect(text.contains(line), "\(text)") }
      } else {
        #expect(summary.ledger.updated + summary.ledger.inserted == 600)
      }
    }
    let isSame = try readFile(scratch.file("a.db")) == before
    #expect(isSame)
  }

  @Test(
    "A key is made in the transaction in which indexes are set aside",
    arguments: ["id,v,w\n1,a,b\n", "id,v,w\n"])
  func createdKey(csv: String) throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t(id INTEGER, v, w); CREATE INDEX ix ON t(v)")
    let outcome = try Command.run([
      "load", scratch.file("a.db"), "t", scratch.write(csv, to: "c.csv"), "--key", "id", "--create-key",
      "--indexes", "defer",
    ])
    #expect(
      outcome.exitCode == 0 && outcome.talk.contains("index ix: built after the rows"), "\(outcome.talk)")
    #expect(
      try database.rows("SELECT name, \"unique\" FROM pragma_index_list('t') ORDER BY \"unique\"").map {
        $0.hasSuffix("1") ? "key" : $0
      } == ["'ix'|0", "key"])
    #expect(try database.rows("SELECT * FROM t") == (csv.contains("a") ? ["1|'a'|'b'"] : []))
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  @Test("A column that is added stays, though no row changed and the indexes were set aside")
  func onlyColumnAdded() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE INDEX ix ON t(v); INSERT INTO t VALUES(1, 'a')")
    let outcome = try Command.run([
      "load", scratch.file("a.db"), "t", scratch.write("id,v,w\n1,a,\n", to: "c.csv"), "--key", "id",
      "--alter",
      "--indexes", "defer",
    ])
    #expect(outcome.exitCode == 0 && outcome.talk.contains("unchanged 1"), "\(outcome.talk)")
    #expect(outcome.talk.contains("1 column added in column w"), "\(outcome.talk)")
    #expect(try database.rows("SELECT name FROM pragma_table_info('t')") == ["'id'", "'v'", "'w'"])
    #expect(
      try database.rows("SELECT name FROM pragma_index_list('t'); PRAGMA integrity_check") == [
        "'ix'", "'ok'",
      ])
  }

  @Test("An input whose length nobody knows changes nothing by itself")
  func pipe() throws {
    try Database(scratch.file("a.db")).rows(Self.tables)
    let path = scratch.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let child = try Command.start(["load", scratch.file("a.db"), "t", path, "-v"])
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    let bytes = Array(delivery(0..<100, seed: 1).utf8)
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 0)
    #expect(
      outcome.talk.contains(
        "index t_a: kept up with every row: how much there is to load is not known beforehand"),
      "\(outcome.talk)")
  }

  @Test(
    "Killed at any moment, a table that existed is as it was, and a new one gets its indexes with the next run"
  )
  func killed() throws {
    let csv = delivery(0..<30_000, seed: 11)
    let path = scratch.write(csv, to: "big.csv")
    try Database(scratch.file("old.db")).rows("PRAGMA journal_mode=WAL;" + Self.tables)
    _ = load(delivery(0..<2_000, seed: 12), into: "old.db")
    let before = try picture("old.db")
    try Database(scratch.file("whole.db")).rows(Self.tables)
    _ = load(delivery(0..<2_000, seed: 12), into: "whole.db")
    _ = load(csv, into: "whole.db")
    let complete = try picture("whole.db")
    var (whole, partial, finished) = (0, 0, 0)
    for delay in stride(from: 20_000, through: 420_000, by: 80_000) as StrideThrough<useconds_t> {
      let child = try Command.start([
        "load", scratch.file("old.db"), "t", path, "--indexes", "defer", "--fts", "defer", "--commit-every",
        "1000",
      ])
      usleep(delay)
      child.send(signal: SIGKILL)
      _ = try child.finish()
      let after = try picture("old.db")
      if after != before {
        // It came after the commit.
        finished += 1
        let isComplete = after == complete
        #expect(isComplete, "killed after \(delay) us")
        break
      }
      whole += 1
    }
    for delay in stride(from: 0, through: 80_000, by: 20_000) as StrideThrough<useconds_t> {
      let name = "new\(delay).db"
      let words = ["load", scratch.file(name), "t", path, "--key", "id", "--commit-every", "500"]
      let child = try Command.start(words + ["--index", "a", "--index", "b,title"])
      awaitPromise(in: name)
      usleep(delay)
      child.send(signal: SIGKILL)
      _ = try child.finish()
      let database = Database(scratch.file(name))
      if try !database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_pending'").isEmpty {
        partial += 1
      }
      #expect(try Command.run(words).exitCode == 0)
      #expect(
        try database.rows("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name") == [
          "'t_a_idx'", "'t_b_title_idx'",
        ], "killed \(delay) us after the first commit")
      #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'upsurge_pending'") == ["0"])
      #expect(try database.rows("SELECT count(*) FROM t; PRAGMA integrity_check") == ["30000", "'ok'"])
    }
    #expect(
      whole > 0 && partial > 0,
      "\(whole) kills before the end, \(partial) between commits, \(finished) too late")
  }

  /// Waits until a run's first commit has recorded the indexes to make; ten seconds at most.
  private func awaitPromise(in name: String) {
    for _ in 0..<5_000 {
      let isThere = access(scratch.file(name), F_OK) == 0
      if isThere, let rows = try? Database(scratch.file(name)).rows("SELECT 1 FROM upsurge_pending"),
        !rows.isEmpty
      {
        return
      }
      usleep(2_000)
    }
  }
}
