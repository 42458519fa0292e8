import TestSupport
import Testing

/// `--key rowid` in tables that have no primary key.
@Suite("Rowid as the key", .serialized)
struct RowidKeyTests {
  let scratch = Scratch()
  private var path: String { scratch.file("d.db") }

  private static let setup =
    "CREATE TABLE t(name, tag TEXT); INSERT INTO t VALUES ('first', 'a'), ('second', 'b'), ('third', 'c')"
  private static let question = "SELECT rowid, name, tag FROM t ORDER BY rowid"

  private func load(_ text: String, _ arguments: [String], setup: String = setup) throws -> Command.Outcome {
    try Database(path).rows(setup)
    return try Command.run(["load", path, "t", scratch.write(text, to: "in.txt")] + arguments)
  }

  struct Case: CustomTestStringConvertible {
    var text: String
    var arguments: [String]
    var rows: [String]
    var says: String
    var code: Int32 = 0
    var testDescription: String { "\(arguments) \(text.prefix(40))" }
  }

  static let cases = [
    Case(
      text: "rowid,name,tag\n2,changed,b\n7,new,n\n3,third,c\n", arguments: ["--key", "rowid"],
      rows: ["1|'first'|'a'", "2|'changed'|'b'", "3|'third'|'c'", "7|'new'|'n'"],
      says: "inserted 1"),
    Case(
      text: "OID,name\n2,changed\n", arguments: ["--key", "oid"],
      rows: ["1|'first'|'a'", "2|'changed'|'b'", "3|'third'|'c'"], says: "updated 1"),
    Case(
      text: "{\"_rowid_\": 3, \"name\": \"json\"}\n{\"_rowid_\": 9, \"tag\": \"z\"}\n",
      arguments: ["--key", "_rowid_"],
      rows: ["1|'first'|'a'", "2|'second'|'b'", "3|'json'|'c'", "9|NULL|'z'"], says: "inserted 1"),
    Case(
      text: "rowid,name\n2,changed\n8,none\n", arguments: ["--key", "rowid", "--mode", "update"],
      rows: ["1|'first'|'a'", "2|'changed'|'b'", "3|'third'|'c'"], says: "ignored 1"),
    Case(
      text: "rowid,name\n2,changed\n8,more\n", arguments: ["--key", "rowid", "--mode", "ignore"],
      rows: ["1|'first'|'a'", "2|'second'|'b'", "3|'third'|'c'", "8|'more'|NULL"], says: "ignored 1"),
    Case(
      text: "rowid\n2\n8\n", arguments: ["--key", "rowid", "--mode", "delete"],
      rows: ["1|'first'|'a'", "3|'third'|'c'"], says: "deleted 1"),
    Case(
      text: "rowid,tag\n1,\n2,y\n", arguments: ["--key", "rowid", "--merge", "coalesce"],
      rows: ["1|'first'|'a'", "2|'second'|'y'", "3|'third'|'c'"], says: "updated 1"),
    Case(
      text: "rowid,name\ntwo,x\n1,y\n", arguments: ["--key", "rowid", "--on-error", "reject"],
      rows: ["1|'y'|'a'", "2|'second'|'b'", "3|'third'|'c'"], says: "rejected 1", code: 2),
  ]

  @Test("Rows are found and made by their rowid", arguments: cases)
  func rows(_ item: Case) throws {
    let outcome = try load(item.text, item.arguments)
    #expect(outcome.exitCode == item.code, "\(outcome.talk)")
    #expect(outcome.talk.contains(item.says), "\(outcome.talk)")
    #expect(try Database(path).rows(Self.question) == item.rows)
  }

  @Test("Two thousand records in any order, twice, with an index and a second column that comes late")
  func many() throws {
    let records = (0..<2_000).map { ($0 * 7_919) % 2_003 + 1 }
    let text = "rowid,name\n" + records.map { "\($0),n\($0)\n" }.joined()
    let setup = "CREATE TABLE t(name TEXT, tag TEXT); CREATE INDEX i ON t(name)"
    #expect(try load(text, ["--key", "rowid"], setup: setup).talk.contains("inserted 2"))
    let again = try Command.run([
      "load", path, "t", scratch.file("in.txt"), "--key", "rowid", "--resume", "never",
    ])
    #expect(again.talk.contains("unchanged 2"), "\(again.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM t WHERE name IS NOT 'n' || rowid") == ["0"])
    #expect(try Database(path).rows("SELECT count(*) FROM t; PRAGMA integrity_check") == ["2000", "'ok'"])
    let more = scratch.write("rowid,name,size\n5,five,5\n", to: "more.csv")
    let alter = try Command.run(["load", path, "t", more, "--key", "rowid", "--alter"])
    #expect(alter.exitCode == 0, "\(alter.talk)")
    #expect(try Database(path).rows("SELECT name, size FROM t WHERE rowid = 5") == ["'five'|5"])
    #expect(
      try Database(path).rows("SELECT group_concat(name) FROM pragma_table_info('t')") == ["'name,tag,size'"])
  }

  @Test("A mirror updates, inserts and sweeps by rowid")
  func mirror() throws {
    try Database(path).rows(Self.setup)
    let feed = scratch.write("rowid,name,tag\n1,first,a\n2,changed,b\n5,new,n\n", to: "feed.csv")
    let arguments = [
      "mirror", path, "--table", "t", "--source", feed, "--key", "rowid", "--sweep", "hard", "--max-delete",
      "90%",
    ]
    let outcome = try Command.run(arguments)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows(Self.question) == ["1|'first'|'a'", "2|'changed'|'b'", "5|'new'|'n'"])
    _ = scratch.write("rowid,name,tag\n1,first,a\n5,newer,n\n", to: "feed.csv")
    let next = try Command.run(arguments)
    #expect(next.exitCode == 0, "\(next.talk)")
    #expect(try Database(path).rows(Self.question) == ["1|'first'|'a'", "5|'newer'|'n'"])
  }

  @Test(
    "A field rowid without a key is refused with what helps",
    arguments: [
      (
        "CREATE TABLE t(name)",
        "--key rowid takes it for the number of the row; --columns A,B loads only some"
      ),
      (
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name)",
        "--rename rowid=id: the rowid of table t is its column id"
      ),
      (
        "CREATE TABLE t(code TEXT PRIMARY KEY, name)",
        "--columns A,B loads only some; --rename OLD=NEW gives another name"
      ),
    ])
  func hint(_ setup: String, _ hint: String) throws {
    let outcome = try load("rowid,name\n1,x\n", [], setup: setup)
    #expect(outcome.exitCode == 4)
    #expect(
      outcome.talk.contains("has a field for which the table t has no column: rowid\n  fix: \(hint)\n"),
      "\(outcome.talk)")
  }

  @Test("The hint for a table whose rowid has a name leads to the right rows")
  func renamed() throws {
    let setup = "CREATE TABLE t(id INTEGER PRIMARY KEY, name); INSERT INTO t VALUES (1, 'old')"
    let outcome = try load("rowid,name\n1,x\n2,y\n", ["--rename", "rowid=id"], setup: setup)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT * FROM t") == ["1|'x'", "2|'y'"])
  }
}
