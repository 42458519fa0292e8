import Foundation
import TestSupport
import Testing
import Upsurge

/// Rejected records that are tried again end up as if they had never been rejected.
@Suite("Replay of rejects")
struct RejectReplayTests {
  let scratch = Scratch()

  /// An input, and how it is loaded.
  struct Input: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var texts: [[UInt8]]
    var change: @Sendable (inout LoadOptions) -> Void

    init(
      _ name: String, _ texts: String..., bytes: [[UInt8]] = [],
      change: @escaping @Sendable (inout LoadOptions) -> Void = { _ in }
    ) {
      testDescription = name
      self.texts = texts.map { Array($0.utf8) } + bytes
      self.change = change
    }
  }

  static let inputs: [Input] = [
    Input("quotes and line ends", "id,a,b\n1,\"x,\"\"y\"\"\nz\",007\n2,\"\",1.50\n3,,\n") {
      $0.rules.key = ["id"]
    },
    Input("marks of its own", "id;a;b\n1;'x\\';y';NA\n2;NA;'NA'\n3;\u{e9};9e3\n") {
      $0.input.csv.delimiter = [UInt8(ascii: ";")]
      $0.input.csv.quote = .byte(UInt8(ascii: "'"))
      $0.input.csv.escape = .byte(UInt8(ascii: "\\"))
      $0.input.csv.nullSpellings = [Array("NA".utf8)]
    },
    Input("a delimiter of two bytes", "id||a||b\n1||x|y||2\n2||\"||\"||3\n") {
      $0.input.csv.delimiter = Array("||".utf8)
    },
    Input(
      "a delimiter that is no text",
      bytes: [Array("id".utf8) + [0xFF] + Array("a\n1".utf8) + [0xFF, 0x78, 0x0A]]
    ) {
      $0.input.csv.delimiter = [0xFF]
      $0.input.encoding = .utf8
    },
    Input("tab-separated", "id\ta\tb\n1\tx\t2\n2\t\t-0.0\n"),
    Input(
      "Windows-1252", bytes: [Array("id,a\n1,caf".utf8) + [0xE9, 0x0A] + Array("2,".utf8) + [0x80, 0x0A]]),
    Input(
      "UTF-16",
      bytes: [[0xFF, 0xFE] + "id,a\n1,é\n2,😀\n".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }]),
    Input("CRLF, comments, preamble", "made by x\r\n\r\nid,a\r\n#no\r\n1,x\r\n2,y\r\n") {
      $0.input.csv.skippedLineCount = 2
      $0.input.csv.commentPrefix = [UInt8(ascii: "#")]
    },
    Input("no header", "1,x\n2,y\n") {
      $0.input.csv.headerLineCount = 0
      $0.input.csv.columnNames = ["id", "a"]
    },
    Input("padded", "id,a,b\n1\n2,x\n3,x,1,,\n") {
      $0.input.csv.ragged = .pad
      $0.input.csv.delimiter = [UInt8(ascii: ",")]
    },
    Input("surplus fields", "id,a\n1\n2,x\n3,x,\"1,\",2\n") { $0.input.csv.ragged = .extra },
    Input("some fields under other names", "id,n,zz,y\n1,x,5,4\n2,,6,1\n") {
      $0.table.columns = ["id", "n", "y"]
      $0.table.renames = ["n": "a", "y": "b"]
    },
    Input("values by column", "id;a;b\n1;31/12/2024;1.234,5\n2;n/a; 2,50 \n3; 1/2/2024 ;\n") {
      ValueLoadTests.formats(&$0.input.values)
      ($0.input.values.dates, $0.input.values.truths) = (["a": "%d/%m/%Y"], [:])
      $0.input.values.nulls = ["a": ["n/a"]]
    },
    Input(
      "values by column, of JSON",
      "{\"id\":1,\"a\":20241231,\"c\":\"ja\"}\n{\"id\":2,\"b\":\"1.234,5\",\"c\":false}\n"
    ) {
      ($0.input.values.decimal, $0.input.values.thousands) = (.comma, ".")
      ($0.input.values.dates, $0.input.values.truths) = (["a": "%Y%m%d"], ["c": .usual])
    },
    Input("BLOBs in hex", "id,c\n1,00ff\n2,\\x4142\n") { $0.table.blobEncoding = .hex },
    Input(
      "BLOBs in base64",
      "{\"id\":1,\"c\":\"AQI=\"}\n{\"id\":2,\"a\":{\"$base64\":true,\"encoded\":\"AA==\"}}\n"
    ) {
      $0.table.blobEncoding = .base64
    },
    Input("files of one load that differ", "id,a\n1,x\n", "b,id\n7,2\n", "{\"id\":3,\"c\":[1, 2]}\n"),
    Input(
      "NDJSON",
      "{\"id\":1,\"a\":\"x\\u00e9\\n\\ud83d\\ude00\"}\n{\"b\":1.0,\"id\":9223372036854775807}\n{\"id\":3,\"c\":{\"k\":[1,null]}}\n"
    ),
    Input(
      "flattened", "{\"id\":1,\"a\":{\"x\":1,\"y\":null}}\n{\"id\":2,\"a\":{\"y\":\"z\"},\"skipped\":1}\n"
    ) {
      $0.input.flattenSeparator = "_"
      $0.table.columns = ["id", "a_x", "a_y"]
      $0.table.renames = ["a_x": "b", "a_y": "a"]
    },
    Input("keys twice", "{\"id\":1,\"a\":1,\"a\":2}\n{\"id\":2,\"a\":3}\n"),
    Input(
      "a document on several lines",
      "{\"data\":[\n{\n \"id\": 1,\n \"a\": \"x\"\n},\n{\"id\":2,\"c\":[\n1]}]}\n"
    ) {
      $0.input.jsonPath = ["data"]
    },
    Input("arrays", "[\"id\",\"b\"]\n[1,2.5]\n[2,null]\n"),
    Input("a document of arrays", "[[\"id\",\"a\"],\n[1,\n\"x\"],[2,\"y\"]]"),
    Input("sums", "id,b\n1,1\n1,2\n2,4\n") {
      $0.rules.key = ["id"]
      $0.rules.merge.columns["b"] = .sum
    },
    Input("the newer one", "id,a,b\n1,new,2\n1,old,1\n2,x,\n") {
      $0.rules.key = ["id"]
      $0.rules.merge.newer = Merge.Newer(column: "b")
    },
    Input("deletes among changes", "id,a,op\n1,x,I\n2,y,I\n3,,D\n") {
      $0.rules.key = ["id"]
      $0.rules.tombstone = Tombstone(column: "op", value: "D")
    },
    Input("partial records", "{\"id\":1,\"a\":\"x\",\"b\":1}\n{\"id\":1,\"b\":2}\n{\"id\":2,\"a\":\"y\"}\n") {
      $0.rules.key = ["id"]
    },
  ]

  private static let table = """
    CREATE TABLE t(id INTEGER, a TEXT, b REAL, c BLOB, extra); CREATE UNIQUE INDEX t_id ON t(id)
    """

  /// The table's rows with their types.
  private static func content(_ database: Database) throws -> [String] {
    try database.rows(
      """
      SELECT typeof(id), id, typeof(a), a, typeof(b), b, typeof(c), c, typeof(extra), extra FROM t ORDER BY id
      """)
  }

  private func load(_ input: Input, into name: String, rejects: RejectsTarget?) throws -> RunSummary {
    var options = LoadOptions()
    options.rejects.onError = .reject
    input.change(&options)
    options.rejects.target = rejects
    let sources = input.texts.enumerated().map { scratch.write($0.element, to: "in\($0.offset)") }
    let job = LoadJob(database: scratch.file(name), table: "t", sources: sources, options: options)
    let summary = job.run()
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    return summary
  }

  private func replay(file: String?, commitEvery: Int = 10_000) -> ReplaySummary {
    var options = ReplayOptions()
    options.commitEvery = commitEvery
    let summary = ReplayJob(database: scratch.file("a.db"), file: file, options: options).run()
    #expect(summary.ledger.isBalanced)
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    return summary
  }

  @Test("All records of any input come in as a load brings them in", arguments: inputs, [true, false])
  func equalsALoad(input: Input, isFile: Bool) throws {
    let path = scratch.file("bad")
    let database = Database(scratch.file("a.db"))
    try database.rows(
      Self.table + "; CREATE TRIGGER no BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'not now'); END")
    try Database(scratch.file("b.db")).rows(Self.table)
    let first = try load(input, into: "a.db", rejects: isFile ? .file(path) : .table)
    #expect(first.ledger.rejected > 0)
    #expect(first.ledger.inserted == 0)
    try database.rows("DROP TRIGGER no")
    let oracle = try load(input, into: "b.db", rejects: nil)
    let summary = replay(file: isFile ? path : nil, commitEvery: 2)
    #expect(summary.ledger.rejected == 0, "\(summary.rejects.map(\.reason)) \(summary.tables)")
    #expect(summary.ledger.inserted == oracle.ledger.inserted)
    #expect(summary.exitCode == 0)
    #expect(try Self.content(database) == Self.content(Database(scratch.file("b.db"))))
    #expect(replay(file: isFile ? path : nil).ledger.read == 0)
    #expect(
      try database.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'upsurge%' AND type = 'table'")
        == (isFile ? [] : ["'upsurge_reject_contexts'", "'upsurge_rejects'"]))
    if !isFile {
      #expect(
        try database.rows(
          "SELECT (SELECT count(*) FROM upsurge_rejects), (SELECT count(*) FROM upsurge_reject_contexts)")
          == ["0|0"])
    }
  }

  @Test("The first line says how the records were read; another one stands where that changes")
  func contexts() throws {
    let path = scratch.file("bad")
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a CHECK (a <> 'x'), b)")
    _ = try load(
      Input("", "id,a\n1,x\n2,y\n3,x\n", "id;b;a\n4;;x\n", "id;b;a\n5;;x\n"), into: "a.db",
      rejects: .file(path))
    let lines = try lines(path)
    let isContext = lines.map { $0.hasPrefix("{\"upsurge_rejects\":1,\"table\":\"t\",\"rules\":{") }
    #expect(isContext == [true, false, false, true, false, false])
    #expect(lines[0].contains("\"fields\":[\"id\",\"a\"]") && lines[3].contains("\"delimiter\":\";\""))
    #expect(lines.filter { $0.contains("\"code\":\"check\"") }.count == 4)
  }

  @Test("A run without a reject leaves an empty file, which replay takes for what it is")
  func empty() throws {
    let path = scratch.file("bad")
    _ = try load(Input("", "id\n1\n"), into: "a.db", rejects: .file(path))
    #expect(try readFile(path) == [])
    let summary = replay(file: path)
    #expect(summary.ledger.read == 0)
    #expect(summary.exitCode == 0)
    #expect(try readFile(path) == [])
  }

  @Test("What is rolled back leaves the table of rejects too, and a dry run leaves nothing")
  func rollback() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a CHECK (a <> 'x'))")
    let source = scratch.write("id,a\n1,x\n2,y\n3,x\n4,x\n", to: "in")
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.rejects.target = .table
    options.transaction.resume = .never
    func run() -> RunSummary {
      LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options).run()
    }
    options.output.dryRun = .count
    #expect(run().ledger.rejected == 3)
    #expect(try database.rows("SELECT name FROM sqlite_schema") == ["'t'"])
    options.output.dryRun = nil
    options.rejects.limit = .count(2)
    #expect(run().exitCode == 65)
    #expect(try database.rows("SELECT name FROM sqlite_schema") == ["'t'"])
    options.transaction.commitEvery = 1
    #expect(run().exitCode == 3)
    #expect(
      try database.rows("SELECT record, line, byte, raw FROM upsurge_rejects") == [
        "1|2|5|'1,x'", "3|4|13|'3,x'",
      ])
    options.rejects.limit = nil
    options.transaction.commitEvery = 100
    #expect(run().exitCode == 2)
    #expect(try database.rows("SELECT count(*), count(DISTINCT context) FROM upsurge_rejects") == ["5|1"])
  }

  @Test(
    "A run that goes on goes on in its file of rejects, below the same first line, and in the table",
    arguments: [true, false])
  func resumed(isFile: Bool) throws {
    let path = scratch.file("bad")
    let text = "id,a\n" + (1...40).map { "\($0),\($0 % 4 == 0 ? "x" : "y")\n" }.joined()
    let source = scratch.write(text, to: "in")
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a CHECK (a <> 'x'))")
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.rejects.target = isFile ? .file(path) : .table
    options.transaction.commitEvery = 5
    options.rejects.limit = .count(5)
    let job = {
      LoadJob(database: self.scratch.file("a.db"), table: "t", sources: [source], options: options).run()
    }
    #expect(job().exitCode == 3)
    options.rejects.limit = nil
    let last = job()
    #expect(last.exitCode == 2 && last.ledger.rejected == 10, "\(last.ledger)")
    let expected = (1...10).map { $0 * 4 }
    if isFile {
      let lines = try lines(path)
      #expect(lines.count == 11 && lines[0].hasPrefix("{\"upsurge_rejects\":1,"))
      #expect(zip(lines.dropFirst(), expected).allSatisfy { $0.contains("\"record\":\($1),") })
    } else {
      #expect(try database.rows("SELECT record FROM upsurge_rejects ORDER BY id") == expected.map { "\($0)" })
    }
  }

  @Test("A table of the user's that has the name is left alone, and said before anything is loaded")
  func othersTable() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE upsurge_rejects(id, note)")
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", "-", "--on-error", "reject", "--rejects", "table"],
      input: Array("a\n1\n".utf8))
    #expect(outcome.exitCode == 4)
    #expect(
      outcome.talk.contains("upsurge_rejects that is not Upsurge's: it has no column table"),
      "\(outcome.talk)")
    #expect(try database.rows("SELECT name FROM sqlite_schema") == ["'upsurge_rejects'"])
  }

  @Test("A file called table is given as ./table")
  func fileCalledTable() {
    #expect(RejectsTarget(text: "table") == .table)
    #expect(RejectsTarget(text: "./table") == .file("./table"))
  }

  @Test("What is rejected again keeps its place and says why; what cannot be tried stays as it is")
  func staying() throws {
    let path = scratch.file("bad")
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT CHECK (a <> 'x'))")
    let long = "5," + String(repeating: "y", count: 70_000) + ",z"
    _ = try load(
      Input("", "id,a\n1,x\n2\n3,x\n4,a\n\(long)\n") { $0.rules.key = ["id"] }, into: "a.db",
      rejects: .file(path))
    var text = try lines(path).joined(separator: "\n") + "\n"
    text = text.replacing("\"raw\":\"2\"", with: "\"raw\":\"2,x\"").replacing("\"3,x\"", with: "\"3,ok\\n\"")
    text += "not JSON\n\n{\"raw\":7}\n"
    _ = scratch.write(text, to: "bad")
    let summary = replay(file: path)
    #expect(summary.ledger.inserted == 1)
    #expect(summary.exitCode == 2)
    #expect(
      summary.rejectsByReason.map { "\($0.count) \($0.code.rawValue)" } == [
        "2 check", "2 unreadable", "1 raw-cut",
      ])
    let after = try lines(path)
    #expect(after.count == 6)
    #expect(
      after[1].contains("\"record\":1,\"line\":2,\"byte\":5,") && after[1].contains("\"code\":\"check\""))
    #expect(
      after[2].contains("\"record\":2,\"line\":3,\"byte\":9,") && after[2].contains("\"code\":\"check\""))
    #expect(after[3].contains("\"raw_cut\":true") && after[3].contains("\"code\":\"ragged\""))
    #expect(Array(after[4...]) == ["not JSON", "{\"raw\":7}"])
    #expect(try database.rows("SELECT id, a FROM t") == ["3|'ok'", "4|'a'"])
    // Nothing changes when nothing is stored.
    let bytes = try readFile(path)
    #expect(replay(file: path).ledger.rejected == 5)
    #expect(try readFile(path) == bytes)
    #expect(!FileManager.default.fileExists(atPath: path + ".replay"))
  }

  @Test("A spelling that a new table refused is refused again, until the column is one of text")
  func spelling() throws {
    let path = scratch.file("bad")
    let numbers = (1...40_000).map { "\($0),\($0)\n" }.joined()
    _ = try load(Input("", "id,zip\n\(numbers)", "id,zip\n50000,007\n"), into: "a.db", rejects: .file(path))
    #expect(replay(file: path).rejectsByReason.map(\.code) == [.wouldChange])
    let database = Database(scratch.file("a.db"))
    try database.rows("ALTER TABLE t RENAME TO old; CREATE TABLE t(id INTEGER, zip TEXT)")
    #expect(replay(file: path).ledger.inserted == 1)
    #expect(try database.rows("SELECT * FROM t") == ["50000|'007'"])
  }

  @Test(
    "A table, column or key that is gone is said, and the records stay",
    arguments: [
      ("ALTER TABLE t RENAME TO u", "there is no table t"),
      ("ALTER TABLE t DROP COLUMN a", "table t has no column a, which the records have"),
      ("DROP INDEX i", "table t has no PRIMARY KEY or UNIQUE index on (id)"),
    ], [true, false])
  func noPlace(change: (sql: String, words: String), isFile: Bool) throws {
    let database = Database(scratch.file("a.db"))
    let path = scratch.file("bad")
    try database.rows(
      """
      CREATE TABLE t(id INT, a TEXT, n INT CHECK (n < 9)); CREATE UNIQUE INDEX i ON t(id)
      """)
    let rows = Input("", "id,a,n\n1,x,50\n2,y,60\n") { $0.rules.key = ["id"] }
    _ = try load(rows, into: "a.db", rejects: isFile ? .file(path) : .table)
    let before = isFile ? try readFile(path) : []
    try database.rows(change.sql)
    let summary = replay(file: isFile ? path : nil)
    #expect(summary.exitCode == 2)
    #expect(summary.ledger.rejected == 2)
    let untried = try #require(summary.tables.first?.untried.first)
    #expect(
      untried.count == 2 && untried.code.rawValue == "no-place" && untried.reason.contains(change.words))
    #expect(untried.first.line == 2)
    if isFile {
      #expect(try readFile(path) == before)
    } else {
      #expect(try database.rows("SELECT code FROM upsurge_rejects") == ["'check'", "'check'"])
    }
  }

  @Test(
    "A parent that never comes costs only its record, also where that is seen at the commit",
    arguments: [true, false])
  func deferred(isFile: Bool) throws {
    let database = Database(scratch.file("a.db"))
    let path = scratch.file("bad")
    try database.rows(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY);
      CREATE TABLE t(id INTEGER PRIMARY KEY, p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)
      """)
    let rows = Input("", "id,p\n1,1\n2,9\n3,1\n") { $0.rules.key = ["id"] }
    let first = try load(rows, into: "a.db", rejects: isFile ? .file(path) : .table)
    #expect(first.ledger.rejected == 3)
    try database.rows("INSERT INTO p VALUES (1)")
    let summary = replay(file: isFile ? path : nil)
    #expect(summary.ledger.inserted == 2 && summary.rejects.map(\.position.line) == [3])
    #expect(try database.rows("SELECT id FROM t") == ["1", "3"])
    try database.rows("INSERT INTO p VALUES (9)")
    #expect(replay(file: isFile ? path : nil).exitCode == 0)
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
