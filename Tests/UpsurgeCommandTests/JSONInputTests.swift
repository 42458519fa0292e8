import TestSupport
import Testing
import Upsurge

/// JSON that is neither one document nor one value a line, loaded by the command.
@Suite("JSON as it comes")
struct JSONInputTests {
  let scratch = Scratch()

  /// Loads a text into `t` of the scratch database.
  private func load(_ text: String, _ arguments: [String] = [], to name: String = "in.json") throws
    -> Command.Outcome
  {
    try Command.run(["load", scratch.file("a.db"), "t", scratch.write(text, to: name)] + arguments)
  }

  private func rows(_ sql: String = "SELECT * FROM t ORDER BY rowid") throws -> [String] {
    try Database(scratch.file("a.db")).rows(sql)
  }

  @Test(
    "Values that follow one another are records",
    arguments: [
      "{\"id\":1,\"v\":\"a\"}{\"id\":2,\"v\":\"b\"}",
      "{\n\"id\":1,\n\"v\":\"a\"\n}\n{\"id\":2,\n\"v\":\"b\"}\n",
      "[{\"id\":1,\"v\":\"a\"}]\n[{\"id\":2,\"v\":\"b\"}]\n",
      "[][{\"id\":1,\"v\":\"a\"}] {\"id\":2,\"v\":\"b\"}",
      "\u{1E}{\"id\":1,\"v\":\"a\"}\n\u{1E}{\"id\":2,\"v\":\"b\"}\n",
      "{\"id\":1,\"v\":\"a\"}\n\u{FEFF}{\"id\":2,\"v\":\"b\"}",
      "\u{1E}{\n\"id\":1,\"v\":\"a\"}\n\u{1E}{\"id\":2,\n\"v\":\"b\"}\n",
    ])
  func sequences(text: String) throws {
    for arguments in [[], ["--format", "json"]] {
      let outcome = try load(text, arguments + ["--key", "id"])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try rows() == ["1|'a'", "2|'b'"])
    }
  }

  @Test("Arrays that follow a long one are read, too")
  func longArrays() throws {
    let array = "[" + (0..<60_000).map { "{\"id\":\($0),\"v\":\"some text\"}" }.joined(separator: ",\n") + "]"
    #expect(array.utf8.count > 1 << 20)
    #expect(try load(array + "\n" + array + "[{\"id\":-1}]").exitCode == 0)
    #expect(try rows("SELECT count(*), count(DISTINCT id), min(id) FROM t") == ["120001|60001|-1"])
  }

  // MARK: - Keys without a name

  private func columns() throws -> [String] { try rows("SELECT name FROM pragma_table_info('t')") }

  @Test(
    "The empty key has a column of its own, and the load says so",
    arguments: [
      "{\"id\":1,\"\":\"a\"}\n{\"id\":2,\"\":\"b\"}\n", "[{\"\":\"a\",\"id\":1},{\"id\":2,\"\":\"b\"}]",
      "{\"id\":1}\n{\"id\":2,\"\":\"b\"}\n{\"\":\"a\",\"id\":1}\n",
    ])
  func emptyKey(text: String) throws {
    for round in 1...2 {
      let outcome = try load(text, ["--key", "id"])
      #expect(
        outcome.exitCode == 0
          && outcome.talk.contains("values under the empty key \"\" stored in column unnamed"),
        "\(outcome.talk)")
      #expect(try rows("SELECT id, unnamed FROM t ORDER BY id") == ["1|'a'", "2|'b'"], "round \(round)")
    }
  }

  @Test("A key that is missing makes no column, and options find the empty key")
  func emptyKeyOptions() throws {
    #expect(try load("{\"id\":1,\"\":2,\"b\":3}\n", ["--columns", "id,unnamed"]).exitCode == 0)
    #expect(try columns() == ["'id'", "'unnamed'"])
    try Database(scratch.file("a.db")).rows("DROP TABLE t; CREATE TABLE t(id, \"\")")
    let outcome = try load("{\"id\":1,\"\":2}\n")
    #expect(outcome.exitCode == 4 && outcome.talk.contains("a key \"\""), "\(outcome.talk)")
  }

  @Test("Names of arrays that are empty get a name as in a CSV header")
  func emptyName() throws {
    let outcome = try load("[\"id\",\"\",\"column_2\",\"\"]\n[1,2,3,4]\n")
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try columns() == ["'id'", "'column_2_2'", "'column_2'", "'column_4'"])
    #expect(outcome.talk.contains("header name"), "\(outcome.talk)")
  }

  // MARK: - Arrays

  static let arrays: [(text: String, arguments: [String], columns: [String], rows: [String])] = [
    ("[1,\"a\"]\n[2,\"b\"]\n", ["--names", "id,v"], ["'id'", "'v'"], ["1|'a'", "2|'b'"]),
    ("[[1,\"a\"],\n[2,\"b\"]]\n", ["--names", "id,v"], ["'id'", "'v'"], ["1|'a'", "2|'b'"]),
    ("[1,\"a\"]\n", ["--names", "id,v"], ["'id'", "'v'"], ["1|'a'"]),
    ("[\n1,\n\"a\"\n]\n[\n2,\n\"b\"]", ["--names", "id,v"], ["'id'", "'v'"], ["1|'a'", "2|'b'"]),
    ("[1,\"a\"][2,\"b\"]", ["--names", "id,v"], ["'id'", "'v'"], ["1|'a'", "2|'b'"]),
    ("[1,[2]]\n[3,{\"x\":4}]\n", ["--no-header"], ["'c1'", "'c2'"], ["1|'[2]'", "3|'{\"x\":4}'"]),
    ("[[\"a\",\"b\"],[\"c\",\"d\"]]", ["--no-header"], ["'c1'", "'c2'"], ["'a'|'b'", "'c'|'d'"]),
    ("[\"a\",\"b\"]\n[\"c\",\"d\"]\n", ["--names", "x,y"], ["'x'", "'y'"], ["'a'|'b'", "'c'|'d'"]),
    ("[\"a\",\"b\"]\n[1,2]\n", ["--names", "x,y"], ["'x'", "'y'"], ["1|2"]),
    ("[[\"a\",\"b\"],[1,2]]\n", ["--names", "x,y"], ["'x'", "'y'"], ["1|2"]),
    ("[\"x\",\"y\"]\n[\"c\",\"d\"]\n", ["--names", "x,y"], ["'x'", "'y'"], ["'c'|'d'"]),
    ("[\"a\",\"b\"]\n[1,2]\n", ["--names", "x,y", "--no-header"], ["'x'", "'y'"], ["'a'|'b'", "'1'|'2'"]),
    (
      "[\"a\",\"b\"]\n[\"c\",\"d\"]\n", ["--names", "x,y", "--header-lines", "1"], ["'x'", "'y'"], ["'c'|'d'"]
    ),
    ("[NaN,1]\n[2,3]\n", ["--no-header", "--json-nan", "null"], ["'c1'", "'c2'"], ["NULL|1", "2|3"]),
    (
      "[1,\"a\",3]\n[2,\"b\",4]\n", ["--names", "id,v,w", "--columns", "id,w"], ["'id'", "'w'"],
      ["1|3", "2|4"]
    ),
  ]

  @Test("--names and --no-header count for arrays", arguments: arrays.indices)
  func arrayNames(index: Int) throws {
    let (text, arguments, columns, rows) = Self.arrays[index]
    let outcome = try load(text, arguments)
    #expect(outcome.exitCode == 0, "\(text): \(outcome.talk)")
    #expect(try self.columns() == columns && self.rows() == rows, "\(text)")
  }

  @Test("An array of another length than the names is a reject, which can be tried again")
  func raggedArray() throws {
    let outcome = try load(
      "[1,\"a\"]\n[2]\n[3,\"c\"]\n", ["--no-header", "--on-error", "reject", "--rejects", "table"])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try rows() == ["1|'a'", "3|'c'"])
    try Database(scratch.file("a.db")).rows("UPDATE upsurge_rejects SET raw = '[2,\"b\"]'")
    #expect(try Command.run(["replay", scratch.file("a.db")]).exitCode == 0)
    #expect(try rows("SELECT c1, c2 FROM t ORDER BY c1") == ["1|'a'", "2|'b'", "3|'c'"])
  }

  // MARK: - Numbers that are none

  static let notFinite =
    "{\"id\":1,\"v\":NaN}\n{\"id\":2,\"v\":-Infinity}\n{\"id\":3,\"v\":Infinity}\n{\"id\":4,\"v\":0.5}\n"

  @Test("--json-nan null stores NULL, in lines, documents and arrays")
  func nanIsNull() throws {
    let lines = Self.notFinite
    let document = "[" + lines.split(separator: "\n").joined(separator: ",\n") + "]"
    let arrays = "[\"id\",\"v\"]\n[1,NaN]\n[2,-Infinity ]\n[3,Infinity]\n[4,0.5]\n"
    for text in [lines, document, arrays] {
      let outcome = try load(text, ["--json-nan", "null", "--key", "id"])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try rows() == ["1|NULL", "2|NULL", "3|NULL", "4|0.5"])
    }
  }

  @Test("Otherwise they are rejects, in a document as well, and the hint names the option")
  func nanIsReject() throws {
    let document = "[" + Self.notFinite.split(separator: "\n").joined(separator: ",\n") + "]"
    let arguments = ["--key", "id", "--on-error", "reject"]
    for text in [Self.notFinite, document] {
      let outcome = try load(text, arguments + ["--rejects", "table"])
      #expect(outcome.exitCode == 2, "\(outcome.talk)")
      #expect(try rows() == ["4|0.5"])
      #expect(
        try rows("SELECT reason FROM upsurge_rejects ORDER BY rowid LIMIT 1") == [
          "'NaN is no JSON value, found at byte 12 of the record'"
        ])
      try Database(scratch.file("a.db")).rows("DELETE FROM upsurge_rejects")
    }
    let stopped = try load(Self.notFinite)
    #expect(stopped.exitCode == 65 && stopped.talk.contains("--json-nan null"), "\(stopped.talk)")
    #expect(try load("{\"id\":5,\"v\":Nan}\n", ["--json-nan", "null"]).exitCode == 65)
    #expect(try load("{\"id\":5,\"v\":NaNs}\n", ["--json-nan", "null"]).exitCode == 65)
  }

  // MARK: - Wrappers

  static let wrapped: [(text: String, path: String)] = [
    ("{\"data\":[{\"id\":1},{\"id\":2}]}", "data"),
    ("{\"meta\":{\"n\":2},\"items\":[{\"id\":1},{\"id\":2}]}\n", "items"),
    ("{\n \"a\":{\"b\":{\"c\":[{\"id\":1},{\"id\":2}]}}\n}", "a.b.c"),
    ("{\"x.y\":[{\"id\":1},{\"id\":2}]}", "'\"x.y\"'"),
    ("{\"it's\":[{\"id\":1},{\"id\":2}],\"e\":[]}", "'it'\\''s'"),
    ("{\"\":[{\"id\":1},{\"id\":2}]}", "'\"\"'"),
    ("{\"ok\":true,\"d\":[{\"id\":1},{\"id\":2}],\"m\":{\"l\":[{\"h\":1}]}}", "d"),
    ("{\"$d\":[{\"id\":1,\"sub\":[{\"n\":1}]},{\"id\":2}],\"next\":null}", "'\"$d\"'"),
  ]

  @Test(
    "An object that only wraps records is refused with the path that would do", arguments: wrapped.indices)
  func wrapper(index: Int) throws {
    let (text, path) = Self.wrapped[index]
    let outcome = try load(text)
    #expect(outcome.exitCode == 65, "\(text): \(outcome.talk)")
    let hint = "fix: --json-path \(path) reads its records; --json-path '$' takes the object as one record"
    #expect(outcome.talk.contains(hint), "\(outcome.talk)")
    #expect(try rows("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == ["0"])
    // Followed as a shell would.
    let script = "exec \"$0\" load \"$1\" t \"$2\" --json-path \(path)"
    let followed = try Command.start([scratch.file("a.db"), scratch.file("in.json")], script: script).finish()
    #expect(followed.exitCode == 0, "\(followed.talk)")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["1", "2"])
    #expect(
      try load(text, ["--json-path", "$"], to: "one.json").exitCode == 4, "the table has other columns")
  }

  @Test("With --json-path $ the object is the record, and so it is where the table has its column")
  func wrapperIsRecord() throws {
    #expect(try load("{\"data\":[{\"id\":1}]}", ["--json-path", "$"]).exitCode == 0)
    #expect(try load("{\"data\":[{\"id\":2}]}").exitCode == 0)
    #expect(try rows() == ["'[{\"id\":1}]'", "'[{\"id\":2}]'"])
  }

  @Test("An object with values of its own is a record, and a note names the path")
  func parent() throws {
    let outcome = try load("{\"count\":2,\"next\":null,\"results\":[{\"id\":1},{\"id\":2}]}")
    #expect(outcome.exitCode == 0)
    #expect(
      outcome.talk.contains(
        "the input is one object with an array of records, results; --json-path results reads its records; "
          + "--json-path '$' takes the object as one record"), "\(outcome.talk)")
  }

  @Test(
    "What is no wrapper is loaded without a word",
    arguments: [
      "{\"id\":1,\"tags\":[\"a\",\"b\"]}\n", "{\"d\":[{\"id\":1}]}\n{\"d\":[{\"id\":2}]}\n",
      "[{\"d\":[{\"id\":1}]}]",
      "{\"id\":1,\"none\":[]}", "{\"d\":[[1,2]]}",
    ])
  func noWrapper(text: String) throws {
    let outcome = try load(text)
    #expect(outcome.exitCode == 0 && !outcome.talk.contains("--json-path"), "\(outcome.talk)")
  }

  @Test("A long wrapper is known by its beginning")
  func longWrapper() throws {
    let text =
      "{\"data\":[" + (0..<60_000).map { "{\"id\":\($0),\"v\":\"some text\"}" }.joined(separator: ",") + "]}"
    let outcome = try load(text)
    #expect(outcome.exitCode == 65 && outcome.talk.contains("--json-path data"), "\(outcome.talk)")
    #expect(try load(text, ["--json-path", "data"]).exitCode == 0)
    #expect(try rows("SELECT count(*) FROM t") == ["60000"])
  }

  // MARK: - Byte order marks

  static let joints: [(text: String, name: String)] = [
    ("\u{FEFF}id,v\n1,a\n\u{FEFF}2,b\n", "in.csv"), ("id\tv\r\n1\ta\r\n\u{FEFF}2\tb\r\n", "in.tsv"),
    ("id,v\n1,a\n\u{FEFF}\"2\",\"b\"\n", "in.csv"), ("id;v\n1;a\n\u{FEFF}\n\u{FEFF}\u{FEFF}2;b", "in.csv"),
    ("{\"id\":1,\"v\":\"a\"}\n\u{FEFF}{\"id\":2,\"v\":\"b\"}\n", "in.ndjson"),
    ("\u{FEFF}[{\"id\":1,\"v\":\"a\"}]\n\u{FEFF}[{\"id\":2,\"v\":\"b\"}]\n", "in.json"),
    ("[\"id\",\"v\"]\n[1,\"a\"]\n\u{FEFF}[2,\"b\"]\n", "in.ndjson"),
  ]

  @Test("A byte order mark at a joint of files is no data, and is counted", arguments: joints.indices)
  func joint(index: Int) throws {
    let (text, name) = Self.joints[index]
    let outcome = try load(text, ["--key", "id"], to: name)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.talk.contains("byte order mark"), "\(outcome.talk)")
    #expect(try rows() == ["1|'a'", "2|'b'"])
    #expect(try rows("SELECT DISTINCT typeof(id) FROM t") == ["'integer'"])
  }

  @Test("Inside a record the mark is data")
  func markInside() throws {
    #expect(try load("id,v\n1,\u{FEFF}a\n2,\"x\n\u{FEFF}y\"\n", to: "in.csv").exitCode == 0)
    #expect(try rows("SELECT hex(v) FROM t") == ["'EFBBBF61'", "'780AEFBBBF79'"])
  }
}
