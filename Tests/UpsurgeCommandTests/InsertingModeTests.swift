import Foundation
import TestSupport
import Testing
import Upsurge

/// Modes `insert` and `ignore` keep to the key: NULL in it is a reject, and so is a conflict with another key.
@Suite("Keys in modes insert and ignore")
struct InsertingModeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var schema: String
    var options: [String]
    var input: String
    /// What the table holds then.
    var rows: [String]
    /// `record code column reason` of each reject.
    var rejects: [String] = []
    /// Words and counts of the ledger that are not 0.
    var ledger: String
  }

  private static let keyed =
    "CREATE TABLE t(k TEXT UNIQUE, e TEXT UNIQUE, v INT); INSERT INTO t VALUES ('a', 'x', 0);"
  private static let both =
    "another row of table t has this UNIQUE (e); records are matched by UNIQUE (k)"

  static let cases: [Case] = [
    Case(
      testDescription: "insert with a key rejects NULL in it", schema: keyed,
      options: ["--key", "k", "--mode", "insert"], input: "k,e,v\n,y,1\nb,z,2\n",
      rows: ["'a'|'x'|0", "'b'|'z'|2"],
      rejects: ["1|null-key|k|the key column k is NULL, so the record matches no row"],
      ledger: "read 2 inserted 1 rejected 1"),
    Case(
      testDescription: "ignore rejects NULL in the key", schema: keyed,
      options: ["--key", "k", "--mode", "ignore"], input: "k,e,v\n,y,1\na,y,2\nb,z,3\n",
      rows: ["'a'|'x'|0", "'b'|'z'|3"],
      rejects: ["1|null-key|k|the key column k is NULL, so the record matches no row"],
      ledger: "read 3 inserted 1 ignored 1 rejected 1"),
    Case(
      testDescription: "--null-keys insert stores them in both", schema: keyed,
      options: ["--key", "k", "--mode", "ignore", "--null-keys", "insert"], input: "k,e,v\n,y,1\n,z,2\n",
      rows: ["NULL|'y'|1", "NULL|'z'|2", "'a'|'x'|0"], ledger: "read 2 inserted 2"),
    Case(
      testDescription: "an integer primary key that is NULL gets its number",
      schema: "CREATE TABLE t(k INTEGER PRIMARY KEY, v INT); INSERT INTO t VALUES (7, 0);", options: ["--key", "k"],
      input: "k,v\n,1\n7,2\n", rows: ["7|2", "8|1"], ledger: "read 2 inserted 1 updated 1"),
    Case(
      testDescription: "--null-keys reject rejects it",
      schema: "CREATE TABLE t(k INTEGER PRIMARY KEY, v INT); INSERT INTO t VALUES (7, 0);",
      options: ["--key", "k", "--null-keys", "reject"], input: "k,v\n,1\n7,2\n", rows: ["7|2"],
      rejects: ["1|null-key|k|the key column k is NULL, so the record matches no row"],
      ledger: "read 2 updated 1 rejected 1"),
    Case(
      testDescription: "--null-keys reject rejects it in a new table", schema: "",
      options: ["--key", "k", "--null-keys", "reject"], input: "k,v\n,1\n1,2\n,3\n", rows: ["1|2"],
      rejects: [
        "1|null-key|k|the key column k is NULL, so the record matches no row",
        "3|null-key|k|the key column k is NULL, so the record matches no row",
      ],
      ledger: "read 3 inserted 1 rejected 2"),
    Case(
      testDescription: "ignore rejects a conflict with another key", schema: keyed,
      options: ["--key", "k", "--mode", "ignore"], input: "k,e,v\nb,x,1\na,x,2\nc,y,3\n",
      rows: ["'a'|'x'|0", "'c'|'y'|3"], rejects: ["1|unique|e|\(both)"],
      ledger: "read 3 inserted 1 ignored 1 rejected 1"),
    Case(
      testDescription: "a row with the key comes before a conflict with another one",
      schema: keyed
        + "INSERT INTO t VALUES ('b', 'y', 0);",
      options: ["--key", "k", "--mode", "ignore"], input: "k,e,v\na,y,1\n",
      rows: ["'a'|'x'|0", "'b'|'y'|0"], ledger: "read 1 ignored 1"),
    Case(
      testDescription: "--any-key ignores both", schema: keyed,
      options: ["--any-key", "--mode", "ignore"], input: "k,e,v\nb,x,1\n,x,2\n,,3\n",
      rows: ["'a'|'x'|0"],
      rejects: ["3|null-key|k|the key column k is NULL, so the record matches no row"],
      ledger: "read 3 ignored 2 rejected 1"),
    Case(
      testDescription: "without a key, ignore ignores every conflict", schema: keyed,
      options: ["--mode", "ignore"], input: "k,e,v\nb,x,1\na,z,2\n,,3\n", rows: ["NULL|NULL|3", "'a'|'x'|0"],
      ledger: "read 3 inserted 1 ignored 2"),
    Case(
      testDescription: "without a key, insert takes NULL",
      schema: "CREATE TABLE t(k TEXT PRIMARY KEY, e, v INT);", options: ["--mode", "insert"],
      input: "k,e,v\n,y,1\n", rows: ["NULL|'y'|1"], ledger: "read 1 inserted 1"),
    Case(
      testDescription: "the primary key is the key of mode ignore",
      schema: "CREATE TABLE t(k TEXT PRIMARY KEY, e TEXT UNIQUE, v INT); INSERT INTO t VALUES ('a', 'x', 0);",
      options: ["--mode", "ignore"], input: "k,e,v\nb,x,1\n,y,2\n", rows: ["'a'|'x'|0"],
      rejects: [
        "1|unique|e|another row of table t has this UNIQUE (e); records are matched by PRIMARY KEY (k)",
        "2|null-key|k|the key column k is NULL, so the record matches no row",
      ], ledger: "read 2 rejected 2"),
    Case(
      testDescription: "a rowid that records do not have is no other key",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE); INSERT INTO t VALUES (1, 'a');",
      options: ["--key", "k", "--mode", "ignore"], input: "k\na\nb\n", rows: ["1|'a'", "2|'b'"],
      ledger: "read 2 inserted 1 ignored 1"),
    Case(
      testDescription: "an INTEGER PRIMARY KEY that is NULL gets its number",
      schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE); INSERT INTO t VALUES (1, 'a');",
      options: ["--key", "id", "--mode", "ignore"], input: "id,k\n,b\n1,c\n2,x\n7,a\n",
      rows: ["1|'a'", "2|'b'"],
      rejects: [
        "4|unique|k|another row of table t has this UNIQUE (k); records are matched by PRIMARY KEY (id)"
      ],
      ledger: "read 4 inserted 1 ignored 2 rejected 1"),
    Case(
      testDescription: "a key that holds the INTEGER PRIMARY KEY",
      schema: """
        CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT, v INT, UNIQUE (k, id)); INSERT INTO t VALUES (1, 'a', 0);
        """,
      options: ["--key", "k,id", "--mode", "ignore"], input: "id,k,v\n1,a,1\n1,b,2\n2,b,3\n",
      rows: ["1|'a'|0", "2|'b'|3"],
      rejects: [
        "2|unique|id|another row of table t has this PRIMARY KEY (id); records are matched by UNIQUE (k, id)"
      ],
      ledger: "read 3 inserted 1 ignored 1 rejected 1"),
    Case(
      testDescription: "a key on an expression",
      schema: """
        CREATE TABLE t(k TEXT, e TEXT UNIQUE, v INT); CREATE UNIQUE INDEX low ON t(lower(k)); INSERT INTO t VALUES ('a', 'x', 0);
        """,
      options: ["--key", "lower(k)", "--mode", "ignore"], input: "k,e,v\nA,y,1\nb,x,2\n,z,3\nc,z,4\n",
      rows: ["'a'|'x'|0", "'c'|'z'|4"],
      rejects: [
        "2|unique|e|another row of table t has this UNIQUE (e); records are matched by UNIQUE (lower(k))",
        "3|null-key|lower(k)|the key column lower(k) is NULL, so the record matches no row",
      ], ledger: "read 4 inserted 1 ignored 1 rejected 2"),
    Case(
      testDescription: "a partial key",
      schema: """
        CREATE TABLE t(k TEXT, e TEXT UNIQUE, v INT); CREATE UNIQUE INDEX part ON t(k) WHERE v > 0; INSERT INTO t VALUES ('a', 'x', 1);
        """,
      options: ["--key", "k", "--key-where", "v > 0", "--mode", "ignore"],
      input: "k,e,v\na,y,1\na,z,0\nb,x,1\n", rows: ["'a'|'x'|1", "'a'|'z'|0"],
      rejects: [
        "3|unique|e|another row of table t has this UNIQUE (e); records are matched by UNIQUE (k) WHERE v > 0"
      ],
      ledger: "read 3 inserted 1 ignored 1 rejected 1"),
  ]

  @Test("What becomes of the records", arguments: cases)
  func outcome(_ given: Case) throws {
    let scratch = Scratch()
    let path = scratch.file("a.db")
    try Database(path).rows(given.schema)
    let outcome = try Command.run(
      [
        "load", path, "t", scratch.write(given.input, to: "in.csv"), "--on-error", "reject", "--rejects",
        "table",
        "--null", "", "--summary", "-",
      ] + given.options)
    #expect(outcome.exitCode == (given.rejects.isEmpty ? 0 : 2), "\(outcome.talk)")
    let database = Database(path)
    #expect(try database.rows("SELECT * FROM t ORDER BY 1, 2") == given.rows)
    if !given.rejects.isEmpty {
      let rejects = try database.rows(
        "SELECT record, code, \"column\", reason FROM upsurge_rejects ORDER BY id")
      #expect(rejects.map { $0.replacing("'", with: "") } == given.rejects)
    }
    let ledger = try #require(try Self.ledger(outcome.output))
    #expect(ledger == given.ledger)
  }

  /// The words of a summary's ledger that are not 0.
  private static func ledger(_ summary: String) throws -> String? {
    let json = try JSONSerialization.jsonObject(with: Data(summary.utf8)) as? [String: Any]
    guard let counts = json?["ledger"] as? [String: Int] else { return nil }
    let words = ["read", "inserted", "updated", "unchanged", "stale", "ignored", "deleted", "rejected"]
    return words.filter { counts[$0] ?? 0 > 0 }.map { "\($0) \(counts[$0] ?? 0)" }.joined(separator: " ")
  }
}
