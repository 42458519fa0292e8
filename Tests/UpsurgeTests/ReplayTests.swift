import Foundation
import TestSupport
import Testing
import Upsurge

/// What is kept comes into its table once it has a place, exactly once.
@Suite("Replay")
struct ReplayTests {
  let scratch = Scratch()

  private var database: Database { Database(scratch.file("a.db")) }

  @discardableResult
  private func load(
    _ text: String, into table: String = "t", _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.table.contract = .quarantine
    options.table.createsTable = false
    change(&options)
    let source = scratch.write(text, to: "input")
    let summary = LoadJob(
      database: scratch.file("a.db"), table: table, sources: [source], options: options
    ).run()
    #expect(summary.ledger.isBalanced)
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    return summary
  }

  @discardableResult
  private func replay(commitEvery: Int = 10_000) -> ReplaySummary {
    var options = ReplayOptions()
    options.commitEvery = commitEvery
    let summary = ReplayJob(database: scratch.file("a.db"), options: options).run()
    #expect(summary.ledger.isBalanced)
    #expect(summary.tables.allSatisfy { $0.ledger.isBalanced })
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    return summary
  }

  private func words(_ ledger: Ledger) -> String {
    ledger.entries.filter { $0.count > 0 }.map { "\($0.word) \($0.count)" }.joined(separator: " ")
  }

  @Test("Records wait for their columns, and go once these are there")
  func columnsComeOneByOne() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    load("{\"id\":1,\"b\":1}\n{\"id\":2,\"c\":2}\n{\"id\":3,\"b\":3,\"c\":3,\"a\":\"x\"}\n")
    let first = replay()
    #expect(words(first.ledger) == "read 3 quarantined 3" && first.exitCode == 2)
    #expect(
      first.tables.flatMap { $0.waiting.map { "\($0.count) \($0.columns): \($0.reason)" } } == [
        #"1 ["b"]: table t lacks column b"#, #"1 ["c"]: table t lacks column c"#,
        #"1 ["b", "c"]: table t lacks columns b, c"#,
      ])
    try database.rows("ALTER TABLE t ADD COLUMN b")
    let second = replay()
    #expect(words(second.ledger) == "read 3 inserted 1 quarantined 2" && second.exitCode == 2)
    #expect(try database.rows("SELECT * FROM t") == ["1|NULL|1"])
    try database.rows("ALTER TABLE t ADD COLUMN C TEXT")
    let third = replay()
    #expect(words(third.ledger) == "read 2 inserted 2" && third.exitCode == 0)
    #expect(try database.rows("SELECT * FROM t") == ["1|NULL|1|NULL", "2|NULL|NULL|'2'", "3|'x'|3|'3'"])
    #expect(replay().ledger.read == 0)
  }

  @Test("A table that comes later converts the texts of a CSV as a load into it does")
  func missingTable() throws {
    let text = "id,n,r,s,b\n1,007,1.50,1.50,x\n2,abc,1,,\n"
    load(text) { $0.rules.key = ["id"] }
    #expect(replay().tables.first?.waiting.map(\.reason) == ["there is no table t"])
    let columns = "(id INTEGER PRIMARY KEY, n INTEGER, r REAL, s TEXT, b)"
    try database.rows("CREATE TABLE t\(columns); CREATE TABLE u\(columns)")
    let summary = replay()
    #expect(words(summary.ledger) == "read 2 inserted 2")
    load(text, into: "u")
    let cells = "SELECT id, n, typeof(n), r, typeof(r), s, typeof(s), b, typeof(b) FROM"
    #expect(try database.rows("\(cells) t") == database.rows("\(cells) u"))
    #expect(try database.rows("SELECT n, s FROM t") == ["7|'1.50'", "'abc'|NULL"])
  }

  @Test("Kept records are stored by the rules of their load")
  func ownRules() throws {
    try database.rows(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, at INT, n INT, s);
      INSERT INTO t VALUES (1, 5, 10, 'a'), (2, 5, 10, 'b'), (3, 5, 10, 'c'), (4, 5, 10, 'd')
      """)
    load("{\"id\":1,\"at\":4,\"x\":1}\n{\"id\":2,\"at\":6,\"x\":1}\n") {
      $0.rules.merge.newer = Merge.Newer(column: "at")
    }
    load("{\"id\":3,\"n\":5,\"s\":null,\"x\":2}\n") {
      $0.rules.merge = Merge(.coalesce)
      $0.rules.merge.columns["n"] = .sum
    }
    load("{\"id\":4,\"s\":\"no\",\"x\":3}\n{\"id\":5,\"s\":\"new\",\"x\":3}\n") { $0.rules.mode = .ignore }
    load("{\"id\":6,\"s\":\"no\",\"x\":3}\n{\"id\":1,\"s\":\"set\",\"x\":4}\n") {
      $0.rules.mode = .update
      $0.rules.merge.columns["n"] = .expression("n * 2 + excluded.id")
    }
    #expect(
      try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["7"], "SQL over the row takes no place"
    )
    try database.rows("ALTER TABLE t ADD COLUMN x")
    let summary = replay(commitEvery: 2)
    #expect(words(summary.ledger) == "read 7 inserted 1 updated 3 stale 1 ignored 2")
    #expect(
      try database.rows("SELECT * FROM t") == [
        "1|5|21|'set'|4", "2|6|10|'b'|1", "3|5|15|'c'|2", "4|5|10|'d'|NULL", "5|NULL|NULL|'new'|3",
      ])
  }

  @Test("Increments are all kept and all stored, whatever was stored between", arguments: [false, true])
  func increments(isSQL: Bool) throws {
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 100), (2, 100)")
    func add(_ text: String, _ change: (inout LoadOptions) -> Void = { _ in }) {
      load(text) {
        $0.rules.merge.columns["n"] = isSQL ? .expression("t.n + excluded.n") : .sum
        change(&$0)
      }
    }
    add("{\"id\":1,\"n\":1,\"x\":1}\n{\"id\":1,\"n\":2,\"x\":2}\n{\"id\":2,\"n\":4,\"x\":4}\n")
    add("{\"id\":1,\"n\":8}\n")
    add("{\"id\":1,\"n\":16,\"x\":null}\n")
    add("{\"id\":2,\"gone\":1}\n") { $0.rules.tombstone = Tombstone(column: "gone", value: "1") }
    #expect(
      try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["2"], "only the delete took a place")
    try database.rows("ALTER TABLE t ADD COLUMN x")
    #expect(words(replay().ledger) == "read 2 updated 2")
    #expect(try database.rows("SELECT * FROM t") == ["1|127|2"])
  }

  @Test("What the table rejects stays, with its reason and the place where it stood")
  func rejects() throws {
    load("id,n\n1,5\n2,500\n3,7\n,8\n") { $0.rules.key = ["id"] }
    try database.rows("CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n INT CHECK (n < 100))")
    let summary = replay()
    #expect(words(summary.ledger) == "read 4 inserted 2 rejected 2" && summary.exitCode == 2)
    #expect(summary.rejectsByReason.map(\.code.rawValue) == ["check", "null-key"])
    #expect(summary.rejects.map(\.position.line) == [3, 5])
    #expect(summary.rejects.map(\.position.file) == [scratch.file("input"), scratch.file("input")])
    #expect(summary.rejects.first?.reason.contains("breaks the CHECK") == true)
    #expect(
      try database.rows("SELECT record FROM upsurge_quarantine") == [
        #"'{"id":"2","n":"500"}'"#, #"'{"id":null,"n":"8"}'"#,
      ])
    try database.rows(
      "UPDATE upsurge_quarantine SET record = replace(replace(record, '500', '50'), 'null', '\"x\"')")
    #expect(words(replay().ledger) == "read 2 inserted 2")
  }

  @Test("A table without the key that the rules ask for is no place yet")
  func missingKey() throws {
    load("id,n\n1,5\n") { $0.rules.key = ["id"] }
    try database.rows("CREATE TABLE t(id INT, n INT)")
    let summary = replay()
    #expect(summary.exitCode == 2)
    #expect(
      summary.tables.first?.waiting.first?.reason.contains("no PRIMARY KEY or UNIQUE index on (id)") == true)
    try database.rows("CREATE UNIQUE INDEX i ON t(id)")
    #expect(words(replay().ledger) == "read 1 inserted 1")
  }

  @Test("A transaction that cannot be committed costs only the records to blame")
  func deferredForeignKeys() throws {
    load("id,p\n1,1\n2,9\n3,1\n") { $0.rules.key = ["id"] }
    try database.rows(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE t(id INTEGER PRIMARY KEY, p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)
      """)
    let summary = replay()
    #expect(words(summary.ledger) == "read 3 inserted 2 rejected 1")
    #expect(try database.rows("SELECT id FROM t") == ["1", "3"])
    #expect(summary.rejects.first?.reason.contains("refers by (p) to p (id), which has no such row") == true)
    #expect(try database.rows("SELECT key FROM upsurge_quarantine") == ["'[2]'"])
  }

  @Test("What nobody can read is said and stays")
  func unreadable() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    load("{\"id\":1,\"b\":1}\n{\"id\":2,\"b\":1}\n{\"id\":3,\"b\":1}\n")
    try database.rows(
      """
      ALTER TABLE t ADD COLUMN b;
      UPDATE upsurge_quarantine SET record = '{"id":' WHERE id = 1;
      UPDATE upsurge_quarantine SET rules = '{"mode":"?"}' WHERE id = 2
      """)
    let summary = replay()
    #expect(words(summary.ledger) == "read 3 inserted 1 rejected 2")
    #expect(summary.rejectsByReason.map(\.code.rawValue) == ["unreadable"])
  }

  @Test(
    "A later record about the row that replay stores first takes the place of an older one that still waits")
  func replaySupersedesOlder() throws {
    // The table is missing, so "7" and 7 are not known to be one key.
    load("{\"id\":\"7\",\"b\":1,\"a\":\"old\"}\n{\"id\":7,\"a\":\"new\"}\n") { $0.rules.key = ["id"] }
    #expect(try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["2"])
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    #expect(words(replay().ledger) == "read 2 inserted 1 quarantined 1")
    #expect(try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["0"])
    #expect(try database.rows("SELECT * FROM t") == ["7|'new'"])
  }

  /// Records that came in any order, some of them kept for a while, leave the table as if it had had all its columns
  /// from the start.
  @Test("Load, wait and replay come to the same as a table that had a place", arguments: 0..<60)
  func equalsATableWithAllColumns(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let table =
      "(id \(["INT", "TEXT", "TEXT COLLATE NOCASE"].randomElement(using: &random)!) PRIMARY KEY, at INT"
    let isTableThere = Bool.random(using: &random)
    try database.rows("CREATE TABLE u\(table), x, y)")
    if isTableThere { try database.rows("CREATE TABLE t\(table))") }
    let isNewer = Bool.random(using: &random)
    let hasTombstones = Bool.random(using: &random)
    var deliveries = Int.random(in: 2...6, using: &random)
    var missing = ["x", "y"].shuffled(using: &random)
    func change(_ options: inout LoadOptions) {
      options.rules.key = ["id"]
      if isNewer { options.rules.merge.newer = Merge.Newer(column: "at") }
      if hasTombstones { options.rules.tombstone = Tombstone(column: "gone", value: "1") }
      options.transaction.commitEvery = .records(Int.random(in: 1...10, using: &random))
    }
    while deliveries > 0 {
      deliveries -= 1
      let text = delivery(&random, hasTombstones: hasTombstones)
      load(text, change)
      load(text, into: "u", change)
      if Int.random(in: 0..<3, using: &random) == 0 { replay() }
      if isTableThere, !missing.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
        try database.rows("ALTER TABLE t ADD COLUMN \(missing.removeLast())")
      }
    }
    if !isTableThere { try database.rows("CREATE TABLE t\(table))") }
    for column in missing {
      try database.rows("ALTER TABLE t ADD COLUMN \(column)")
      if Bool.random(using: &random) { replay(commitEvery: Int.random(in: 1...10, using: &random)) }
    }
    let last = replay()
    #expect(last.ledger.quarantined + last.ledger.rejected == 0)
    #expect(try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["0"], "seed \(seed)")
    // A key that is spelled in two ways keeps the spelling that came first into the table.
    let query = "SELECT lower(id), at, x, y FROM"
    #expect(
      try database.rows("\(query) t ORDER BY id") == database.rows("\(query) u ORDER BY id"), "seed \(seed)")
  }

  /// Whole records: each speaks of every column.
  private func delivery(_ random: inout SeededGenerator, hasTombstones: Bool) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...25, using: &random) {
      let id = ["1", "2", "3", "\"a\"", "\"b\"", "\"A\""].prefix(Int.random(in: 1...6, using: &random)).last!
      let at = ["null", "1", "2", "3"].randomElement(using: &random)!
      let (x, y) = (
        Int.random(in: -3...9, using: &random), ["null", "\"é\\n\"", "0.1"].randomElement(using: &random)!
      )
      text += "{\"id\":\(id),\"at\":\(at),\"x\":\(x < 0 ? "null" : "\(x)"),\"y\":\(y)"
      if hasTombstones { text += ",\"gone\":\(Int.random(in: 0...4, using: &random))" }
      text += "}\n"
    }
    return text
  }
}
