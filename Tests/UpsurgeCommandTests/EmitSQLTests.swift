import Foundation
import TestSupport
import Testing
import Upsurge

/// `--emit-sql`: the file, fed to SQLite by itself, makes the same table as the run.
@Suite("Emitted SQL")
struct EmitSQLTests {
  let scratch = Scratch()
  private var path: String { scratch.file("a.db") }
  private var sqlPath: String { scratch.file("out.sql") }

  /// Tables, the options of the load, and its input as NDJSON; records of several shapes, and some that are refused.
  struct Case: CustomStringConvertible {
    var description: String
    var setup = ""
    var options: [String]
    var text: String
    /// Whether a second feeding changes nothing.
    var isRepeatable = true
  }

  private static let cases = [
    Case(
      description: "a new table", setup: "", options: ["--key", "id"],
      text: #"""
        {"id":1,"name":"it's","n":1.5}
        {"id":2,"name":"a\u0000b","n":null}
        {"n":3,"id":9223372036854775807}
        {"id":2,"name":"again"}
        {"id":4,"late":"x"}
        """#),
    Case(
      description: "a new table without a key", setup: "", options: [],
      text: #"""
        {"a":1,"b":"x"}
        {"a":1,"b":"x"}
        {"b":"\"'"}
        """#, isRepeatable: false),
    Case(
      description: "an upsert", options: ["--key", "k", "--on-error", "reject"],
      text: #"""
        {"k":"A","n":1,"v":"x"}
        {"k":"b","v":"y"}
        {"k":null,"v":"lost"}
        {"k":"c","n":-5}
        {"k":"d","n":7,"v":"z"}
        {"k":"d","n":0.1}
        """#),
    Case(
      description: "mode ignore", options: ["--mode", "ignore", "--on-error", "reject"],
      text: #"""
        {"k":"A","n":1,"v":"x"}
        {"k":"new","n":2}
        """#),
    Case(
      description: "columns that are added", options: ["--key", "k", "--alter"],
      text: #"""
        {"k":"A","n":1}
        {"k":"e","extra":"1","n":3}
        {"k":"A","extra":2}
        """#, isRepeatable: false),
    Case(
      description: "modes and tombstones: update", options: ["--mode", "update", "--key", "k"],
      text: #"""
        {"k":"A","n":5,"v":"x"}
        {"k":"none","n":5}
        {"k":"b","v":"it's"}
        """#),
    Case(
      description: "modes and tombstones: delete", options: ["--mode", "delete", "--key", "k"],
      text: #"""
        {"k":"A"}
        {"k":"none"}
        """#),
    Case(
      description: "modes and tombstones: tombstones", options: ["--key", "k", "--delete-when", "v=gone"],
      text: #"""
        {"k":"A","v":"gone"}
        {"k":"b","n":9,"v":"stays"}
        {"k":"q","n":9,"v":"q"}
        {"k":"q","v":"gone"}
        """#),
    Case(
      description: "merge rules",
      options: ["--key", "k", "--merge", "newer:n", "--merge", "coalesce", "--set", "v=excluded.v || '!'"],
      text: #"""
        {"k":"A","n":5,"v":"x"}
        {"k":"b","n":0,"v":"stale"}
        {"k":"new","n":1,"v":"new"}
        """#, isRepeatable: false),
    Case(
      description: "a full-text table",
      setup: "CREATE VIRTUAL TABLE t USING fts5(k, v); INSERT INTO t VALUES ('a', 'x')",
      options: ["--key", "k"],
      text: #"""
        {"k":"a","v":"changed"}
        {"k":"b","v":"new ' one"}
        {"k":"b","v":"again"}
        """#),
    Case(
      description: "a view",
      setup: """
        CREATE TABLE b(k PRIMARY KEY, v); INSERT INTO b VALUES ('a', 1);
        CREATE VIEW t AS SELECT k, v FROM b;
        CREATE TRIGGER i INSTEAD OF INSERT ON t BEGIN INSERT INTO b VALUES (new.k, new.v); END;
        CREATE TRIGGER u INSTEAD OF UPDATE ON t BEGIN UPDATE b SET v = new.v WHERE k = old.k; END;
        """, options: ["--key", "k"],
      text: #"""
        {"k":"a","v":2}
        {"k":"b","v":3}
        """#),
  ].map {
    var made = $0
    if !made.setup.isEmpty || made.description.hasPrefix("a new") { return made }
    made.setup = """
      CREATE TABLE t(k TEXT PRIMARY KEY COLLATE NOCASE, n INT DEFAULT 7 CHECK (n > -1), v);
      INSERT INTO t VALUES ('a', 0, 'old'), ('b', 1, x'00'), ('z', 2, NULL);
      """
    return made
  }

  init() {}

  private func feed(_ sql: String, to name: String, setup: String) throws -> [String] {
    let database = Database(scratch.file(name))
    if !setup.isEmpty { try database.rows(setup) }
    try database.rows(sql)
    return try rows(database)
  }

  private func rows(_ database: Database) throws -> [String] {
    let names = try database.rows(
      "SELECT group_concat('quote(\"' || name || '\"), typeof(\"' || name || '\")') FROM pragma_table_info('t')"
    )[0]
    .dropFirst().dropLast().split(separator: "''").joined(separator: "'")
    return try database.rows("SELECT \(names) FROM t ORDER BY rowid")
  }

  @Test(
    "The file gives the table of the run, and is harmless to feed twice", arguments: cases, [100_000, 1024])
  func sameTable(_ each: Case, _ limit: Int) throws {
    if !each.setup.isEmpty { try Database(path).rows(each.setup) }
    let source = scratch.write(each.text, to: "in.ndjson")
    let words =
      ["load", path, "t", source, "--emit-sql", sqlPath, "--max-statement", "\(limit)"] + each.options
    let tried = try Command.run(words + ["--dry-run"])
    #expect([0, 2].contains(tried.exitCode), "\(tried.talk)")
    let fromTrial = try readFile(sqlPath)
    let real = try Command.run(words)
    #expect(real.exitCode == tried.exitCode, "\(real.talk)")
    #expect(try readFile(sqlPath) == fromTrial)
    let sql = String(decoding: fromTrial, as: UTF8.self)
    #expect(!sql.contains("upsurge_note") && !sql.contains("?"), "\(sql)")
    let expected = try rows(Database(path))
    #expect(!expected.isEmpty)
    #expect(try feed(sql, to: "fed.db", setup: each.setup) == expected, "\(sql)")
    if each.isRepeatable {
      #expect(try feed(sql + sql, to: "twice.db", setup: each.setup) == expected, "\(sql)")
    }
    #expect(statements(sql).allSatisfy { $0.utf8.count <= limit }, "\(sql)")
  }

  private func statements(_ sql: String) -> [String] {
    sql.components(separatedBy: ";\n").filter { !$0.isEmpty }.map { $0 + ";" }
  }

  @Test("A record that SQLite refuses as a new row stands as an UPDATE, with --changes beside it")
  func updateInstead() throws {
    let setup =
      "CREATE TABLE t(k INTEGER PRIMARY KEY, v CHECK (v <> 'bad'), n INT); INSERT INTO t VALUES (1, 'a', 5)"
    try Database(path).rows(setup)
    // Refused as a new row by the CHECK; the row that exists keeps its v.
    let source = scratch.write("k,v,n\n1,bad,6\n2,b,7\n", to: "in.csv")
    let outcome = try Command.run([
      "load", path, "t", source, "--key", "k", "--set", "v=keep", "--emit-sql", sqlPath, "--changes", "-",
    ])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.output.contains(#""before":{"n":5},"after":{"n":6}"#), "\(outcome.output)")
    let sql = String(decoding: try readFile(sqlPath), as: UTF8.self)
    #expect(sql.hasPrefix("UPDATE"), "\(sql)")
    #expect(try feed(sql + sql, to: "fed.db", setup: setup) == rows(Database(path)), "\(sql)")
  }

  @Test("Neighbours of one shape share statements as large as allowed")
  func packing() throws {
    let text = "id,name\n" + (1...5_000).map { "\($0),name of \($0)\n" }.joined()
    let source = scratch.write(text, to: "in.csv")
    let outcome = try Command.run([
      "load", path, "t", source, "--key", "id", "--emit-sql", sqlPath, "--max-statement", "20KiB",
    ])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let sizes = statements(String(decoding: try readFile(sqlPath), as: UTF8.self)).map(\.utf8.count)
    #expect(sizes.allSatisfy { $0 <= 20 << 10 })
    #expect(sizes.count <= 12, "\(sizes)")
  }

  @Test("A record whose statement would be too long is a reject that names --max-statement")
  func tooLarge() throws {
    let text = "id,v\n1,x\n2,\(String(repeating: "y", count: 600))\n3,z\n"
    let source = scratch.write(text, to: "in.csv")
    let outcome = try Command.run([
      "load", path, "t", source, "--key", "id", "--emit-sql", sqlPath, "--max-statement", "512", "--on-error",
      "reject", "--rejects", scratch.file("rejects"), "--memory", "16MiB",
    ])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(outcome.talk.contains("1 too-large"))
    #expect(try Database(path).rows("SELECT id FROM t") == ["1", "3"])
    let reject = String(decoding: try readFile(scratch.file("rejects")), as: UTF8.self)
    #expect(reject.contains("more than the 512 it may"), "\(reject)")
    let stopped = try Command.run([
      "load", scratch.file("b.db"), "t", source, "--emit-sql", sqlPath, "--max-statement", "512",
    ])
    #expect(stopped.exitCode == 65 && stopped.talk.contains("--max-statement"), "\(stopped.talk)")
    #expect(try readFile(sqlPath).isEmpty, "nothing of the run remains")
  }
}
