import Foundation
import TestSupport
import Testing
import Upsurge

/// What becomes of records with columns that the table lacks, through the command.
@Suite("Contract")
struct ContractTests {
  let scratch = Scratch()

  private var database: Database { Database(scratch.file("a.db")) }

  private func load(_ files: [String], _ arguments: [String]) throws -> Command.Outcome {
    try Command.run(["load", scratch.file("a.db"), "t"] + files + arguments + ["--summary", "-"])
  }

  private func ledger(_ outcome: Command.Outcome) throws -> [String: Int] {
    let summary = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    let ledger = try #require(summary?["ledger"] as? [String: Int], "\(outcome.talk)")
    #expect(
      ledger["read"]
        == ledger.filter { $0.key != "read" && $0.key != "swept" }.values.reduce(0, +), "\(ledger)")
    return ledger.filter { $0.value > 0 }
  }

  // MARK: - Freeze

  @Test(
    "freeze is the default; a header is refused before the first write",
    arguments: [[], ["--contract", "freeze"]])
  func freezeHeader(words: [String]) throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let file = scratch.write("id,a,b,c\n1,x,y,z\n", to: "in.csv")
    let outcome = try load([file], words)
    #expect(outcome.exitCode == 4)
    #expect(outcome.talk.contains("has fields for which the table t has no column: b, c"), "\(outcome.talk)")
    #expect(outcome.talk.contains("fix: --alter adds columns"))
    #expect(outcome.talk.contains("nothing of this run is in the database"))
    #expect(try ledger(outcome) == [:])
    #expect(try database.rows("SELECT * FROM t") == [])
    #expect(try database.rows("SELECT name FROM sqlite_schema") == ["'t'"])
  }

  @Test("freeze refuses a JSON key where it comes, and what was committed stands", arguments: [1_000, 2])
  func freezeKey(commitEvery: Int) throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let text = (1...5).map { "{\"id\":\($0)}\n" }.joined() + "{\"id\":6,\"new\":1}\n{\"id\":7}\n"
    let file = scratch.write(text, to: "in.ndjson")
    let outcome = try load([file], ["--commit-every", "\(commitEvery)"])
    #expect(outcome.exitCode == 4)
    #expect(outcome.talk.contains("has a key \"new\" for which table t has no column"), "\(outcome.talk)")
    #expect(outcome.talk.contains("line 6, record 6"))
    let kept = commitEvery == 2 ? 4 : 0
    #expect(try database.rows("SELECT count(*) FROM t") == ["\(kept)"])
    #expect(outcome.talk.contains(kept == 0 ? "nothing of this run" : "4 records are committed"))
    #expect(try database.rows("SELECT name FROM pragma_table_info('t')") == ["'id'", "'a'"])
  }

  @Test("freeze refuses the header of a later file; what came before it is rolled back")
  func freezeLaterFile() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let files = [scratch.write("id,a\n1,x\n", to: "1.csv"), scratch.write("id,b\n2,x\n", to: "2.csv")]
    let outcome = try load(files, [])
    #expect(outcome.exitCode == 4)
    #expect(try database.rows("SELECT * FROM t") == [])
  }

  // MARK: - Evolve

  @Test("evolve adds columns, never more", arguments: [["--alter"], ["--contract", "evolve"]])
  func evolve(words: [String]) throws {
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL DEFAULT 'd'); INSERT INTO t VALUES(9, 'old')")
    let files = [
      scratch.write("id,b\n1,7\n", to: "1.csv"), scratch.write("id,a,c d\n2,x,1.5\n9,y,\n", to: "2.csv"),
      scratch.write("{\"id\":3,\"e\":[1]}\n{\"id\":4,\"a\":\"z\",\"B\":8,\"f\":true}\n", to: "3.ndjson"),
    ]
    let outcome = try load(files, words)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try ledger(outcome) == ["read": 5, "inserted": 4, "updated": 1])
    #expect(
      try database.rows("SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info('t')") == [
        "'id'|'INTEGER'|0|NULL", "'a'|''|1|''d''", "'b'|'INTEGER'|0|NULL", "'c d'|'REAL'|0|NULL",
        "'e'|'TEXT'|0|NULL", "'f'|'INTEGER'|0|NULL",
      ])
    #expect(
      try database.rows("SELECT * FROM t ORDER BY id") == [
        "1|'d'|7|NULL|NULL|NULL", "2|'x'|NULL|1.5|NULL|NULL", "3|'d'|NULL|NULL|'[1]'|NULL",
        "4|'z'|8|NULL|NULL|1", "9|'y'|NULL|NULL|NULL|NULL",
      ])
    #expect(outcome.talk.contains("1 column added in column b"), "\(outcome.talk)")
  }

  @Test("--alter and another contract contradict each other")
  func contradiction() throws {
    #expect(
      try load([scratch.write("a\n1\n", to: "a.csv")], ["--alter", "--contract", "freeze"]).exitCode == 64)
  }

  // MARK: - Quarantine

  @Test("quarantine keeps the records with a value in a missing column, whole, and stores the others")
  func quarantine() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let files = [
      scratch.write("id,a,b\n1,x,\n2,y,007\n", to: "1.csv"), scratch.write("id,c\n3,1.50\n", to: "2.csv"),
      scratch.write(
        "{\"id\":4,\"b\":null}\n{\"id\":5,\"d\":{\"e\":1}}\n{\"id\":6,\"a\":1}\n", to: "3.ndjson"),
    ]
    let outcome = try load(files, ["--contract", "quarantine"])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try ledger(outcome) == ["read": 6, "inserted": 3, "quarantined": 3])
    #expect(outcome.talk.contains("quarantined 3"))
    #expect(outcome.talk.contains("upsurge replay"))
    #expect(try database.rows("SELECT * FROM t") == ["1|'x'", "4|NULL", "6|1"])
    #expect(
      try database.rows(
        "SELECT \"table\", key, columns, record, file = ?, number, line, byte FROM upsurge_quarantine"
          .replacingOccurrences(of: "?", with: "'\(files[1])'")) == [
          #"'t'|'[2]'|'["b"]'|'{"id":2,"a":"y","b":"007"}'|0|2|3|12"#,
          #"'t'|'[3]'|'["c"]'|'{"id":3,"c":"1.50"}'|1|1|2|5"#,
          #"'t'|'[5]'|'["d"]'|'{"id":5,"d":"{\"e\":1}"}'|0|2|2|18"#,
        ])
  }

  @Test("Under quarantine a table that is not there keeps every record, and the database is made")
  func missingTable() throws {
    let file = scratch.write("{\"id\":1,\"a\":1.0}\n{\"id\":2,\"b\":null}\n", to: "in.ndjson")
    let outcome = try load([file], ["--contract", "quarantine", "--key", "id"])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try ledger(outcome) == ["read": 2, "quarantined": 2])
    #expect(outcome.talk.contains("there is no table t: its records are kept"), "\(outcome.talk)")
    #expect(
      try database.rows("SELECT \"table\", key, rules, columns, record FROM upsurge_quarantine") == [
        #"'t'|'[1]'|'{"key":["id"]}'|'["id","a"]'|'{"id":1,"a":1.0}'"#,
        #"'t'|'[2]'|'{"key":["id"]}'|'["id"]'|'{"id":2,"b":null}'"#,
      ])
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == ["0"])
    let made = try load([file], ["--contract", "quarantine", "--create", "auto"])
    #expect(made.exitCode == 0, "\(made.talk)")
    #expect(try database.rows("SELECT * FROM t") == ["1|1.0|NULL", "2|NULL|NULL"])
  }

  @Test("Nothing is kept, and no table made for it, by a run without such records or one that stops")
  func noTrace() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL)")
    let good = scratch.write("id,a,b\n1,x,\n", to: "good.csv")
    #expect(try load([good], ["--contract", "quarantine"]).exitCode == 0)
    let bad = scratch.write("id,a,b\n2,x,1\n3,,\n", to: "bad.csv")
    #expect(try load([bad], ["--contract", "quarantine"]).exitCode == 65)
    #expect(try database.rows("SELECT * FROM t") == ["1|'x'"])
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'upsurge%'") == ["0"])
  }

  @Test("A later delivery of the same key takes the place of a kept record, whatever its contract")
  func supersede() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let kept = scratch.write("id,a,b\n1,old,1\n2,old,1\n3,old,1\n4,old,1\n", to: "1.csv")
    #expect(try load([kept], ["--contract", "quarantine"]).exitCode == 2)
    let again = scratch.write("id,a,b\n2,new,2\n", to: "2.csv")
    #expect(try load([again], ["--contract", "quarantine"]).exitCode == 2)
    let stored = scratch.write("id,a\n1,new\n5,new\n", to: "3.csv")
    let outcome = try load([stored], [])
    #expect(outcome.exitCode == 0)
    #expect(outcome.talk.contains("1 kept record superseded"), "\(outcome.talk)")
    let deleted = scratch.write("id,gone\n3,1\n", to: "4.csv")
    let tombstone = try load([deleted], ["--delete-when", "gone=1", "--contract", "quarantine"])
    #expect(tombstone.exitCode == 0, "\(tombstone.talk)")
    #expect(
      try database.rows("SELECT record FROM upsurge_quarantine ORDER BY id") == [
        #"'{"id":4,"a":"old","b":"1"}'"#, #"'{"id":2,"a":"new","b":"2"}'"#,
      ])
  }

  @Test("A run that keeps nothing in the end does not speak of replay")
  func allSuperseded() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let feed = scratch.write("{\"id\":1,\"a\":1,\"b\":1}\n{\"id\":1,\"a\":2}\n", to: "1.ndjson")
    let outcome = try load([feed], ["--contract", "quarantine"])
    #expect(outcome.exitCode == 2 && outcome.talk.contains("1 kept record superseded"), "\(outcome.talk)")
    #expect(!outcome.talk.contains("upsurge replay"), "\(outcome.talk)")
    let other = scratch.write("{\"id\":2,\"b\":1}\n", to: "2.ndjson")
    #expect(try load([other], ["--contract", "quarantine"]).talk.contains("`upsurge replay"))
    let broken = scratch.write("{\"id\":3,\"b\":1}\noops\n", to: "3.ndjson")
    let stopped = try load([broken], ["--contract", "quarantine", "--commit-every", "1"])
    #expect(stopped.exitCode == 3 && stopped.talk.contains("`upsurge replay"), "\(stopped.talk)")
  }

  @Test("Ten thousand records in many batches, mixed with stored ones, all end up somewhere once")
  func many() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    var text = ""
    for id in 1...10_000 {
      text += id % 3 == 0 ? "{\"id\":\(id),\"b\(id % 7)\":1}\n" : "{\"id\":\(id),\"a\":1}\n"
    }
    let outcome = try load(
      [scratch.write(text, to: "in.ndjson")], ["--contract", "quarantine", "--commit-every", "700"])
    #expect(
      try ledger(outcome) == ["read": 10_000, "inserted": 6_667, "quarantined": 3_333], "\(outcome.talk)")
    #expect(
      try database.rows(
        """
        SELECT count(*), count(DISTINCT id), max(id) FROM
          (SELECT id FROM t UNION ALL SELECT record ->> 'id' FROM upsurge_quarantine)
        """) == ["10000|10000|10000"])
  }

  @Test("--explain and --dry-run say what would be kept, and keep nothing", arguments: [true, false])
  func preview(isTableThere: Bool) throws {
    try database.rows(isTableThere ? "CREATE TABLE t(id INTEGER PRIMARY KEY)" : "CREATE TABLE u(x)")
    let file = scratch.write("id,b\n1,\n2,y\n", to: "in.csv")
    let explained = try Command.run([
      "load", scratch.file("a.db"), "t", file, "--contract", "quarantine", "--explain",
    ])
    #expect(explained.exitCode == 0, "\(explained.talk)")
    #expect(
      (explained.output + explained.talk).contains(
        isTableThere
          ? "records with a value in b are kept" : "the table does not exist, so every record is kept"))
    let tried = try load([file], ["--contract", "quarantine", "--dry-run"])
    #expect(tried.exitCode == 2)
    #expect(
      try ledger(tried)
        == (isTableThere ? ["read": 2, "inserted": 1, "quarantined": 1] : ["read": 2, "quarantined": 2]))
    #expect(try database.rows("SELECT count(*) FROM sqlite_schema") == ["1"])
  }

  @Test("A stored record that is taken back at the commit leaves what was kept of its row")
  func takenBack() throws {
    try database.rows(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE t(id INTEGER PRIMARY KEY, p REFERENCES p(id))
      """)
    let kept = scratch.write("id,p,b\n1,1,x\n2,1,x\n", to: "1.csv")
    #expect(try load([kept], ["--contract", "quarantine"]).exitCode == 2)
    let stored = scratch.write("id,p\n1,9\n2,1\n", to: "2.csv")
    let outcome = try load([stored], ["--foreign-keys", "deferred", "--on-error", "reject"])
    #expect(try ledger(outcome) == ["read": 2, "inserted": 1, "rejected": 1], "\(outcome.talk)")
    #expect(try database.rows("SELECT id FROM t") == ["2"])
    #expect(try database.rows("SELECT key FROM upsurge_quarantine") == ["'[1]'"])
  }
}
