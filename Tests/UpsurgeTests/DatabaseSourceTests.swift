import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge

/// Rows of another database arrive as SQLite itself would copy them.
@Suite("sqlite: sources") struct DatabaseSourceTests {
  let scratch = Scratch()
  private var source: String { scratch.file("source.db") }
  private var target: String { scratch.file("target.db") }

  /// Values of every kind, as SQL.
  private static let values = [
    "NULL", "0", "1", "-1", "9223372036854775807", "-9223372036854775808", "9007199254740993", "1e308", "1.0",
    "-0.0", "9e999", "-9e999",
    "0.1", "0.30000000000000004", "5e-324", "2.2250738585072014e-308", "1e16", "1e-5", "123456789012345680.0",
    "''",
    "'a'", "'007'", "'1e5'", "' 12 '", "'12'", "'1.0'", "'null'", "'true'",
    "'{\"$base64\":true,\"encoded\":\"AQI=\"}'",
    "'it''s \"quoted\" \\ / '", "'line' || char(10) || 'end' || char(13, 9, 8, 12, 1, 31, 127)",
    "'nul' || char(0) || 'behind'",
    "char(233, 8364, 128512, 65279)", "x''", "x'00'", "x'0102ff'", "zeroblob(1000)", "CAST('text' AS BLOB)",
  ]

  /// A database with one row for each value, and some more at random.
  private func fill(_ columns: String, seed: UInt64) throws {
    let database = Database(source)
    try database.rows("PRAGMA journal_mode = WAL; CREATE TABLE t(\(columns))")
    var random = SeededGenerator(seed: seed)
    let width = try database.rows("SELECT name FROM pragma_table_info('t')").count - 1
    for row in 0..<200 {
      var cells: [String] = []
      for column in 0..<width {
        if row < Self.values.count {
          cells.append(Self.values[(row + column) % Self.values.count])
        } else {
          switch Int.random(in: 0..<5, using: &random) {
          case 0: cells.append("\(Int64.random(in: .min ... .max, using: &random))")
          case 1:
            cells.append(
              "\(Double(bitPattern: UInt64.random(in: 0..<0x7FF0_0000_0000_0000, using: &random)))")
          case 2: cells.append("'\(Int.random(in: 0..<100, using: &random))'")
          case 3:
            cells.append("x'\(String(UInt64.random(in: 0 ... .max, using: &random) | 1 << 63, radix: 16))'")
          default: cells.append("NULL")
          }
        }
      }
      try database.rows("INSERT INTO t VALUES (\(row), \(cells.joined(separator: ", ")))")
    }
  }

  private func dump(_ path: String) throws -> [String] {
    let database = Database(path)
    let names = try database.rows("SELECT name FROM pragma_table_info('t')").map { $0.dropFirst().dropLast() }
    return try database.rows(
      "SELECT \(names.map { "\($0), typeof(\($0))" }.joined(separator: ", ")) FROM t ORDER BY id")
  }

  private func job(_ rows: String = "#t") -> LoadJob {
    var job = LoadJob(database: target, table: "t", sources: ["sqlite:\(source)\(rows)"])
    job.options.rules.key = ["id"]
    return job
  }

  @Test(
    "Every value is what INSERT … SELECT makes of it, in columns of every affinity",
    arguments: [
      "(id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB, a, n NUMERIC)",
      "(id INTEGER PRIMARY KEY, a, b, c, d)", "(id TEXT PRIMARY KEY, a BLOB, b NUMERIC, c INTEGER, d REAL)",
      "(id INTEGER NOT NULL PRIMARY KEY, a ANY, b ANY) STRICT, WITHOUT ROWID",
    ])
  func affinities(definition: String) throws {
    let seed = UInt64.random(in: 0 ... .max)
    // The source holds every kind of value in every column.
    try fill("id INTEGER PRIMARY KEY, c1, c2, c3, c4, c5, c6", seed: seed)
    let oracle = scratch.file("oracle.db")
    for path in [oracle, target] { try Database(path).rows("CREATE TABLE t\(definition)") }
    let columns = try Database(target).rows("SELECT name FROM pragma_table_info('t')").map {
      String($0.dropFirst().dropLast())
    }
    let picked = columns.enumerated().map { number, name in
      // A real in a column of text is spelled in another way, which is documented.
      let value = number == 0 ? "id" : "c\(number)"
      return (name == "s" ? "CASE typeof(\(value)) WHEN 'real' THEN 1 ELSE \(value) END" : value)
        + " AS \(name)"
    }
    let select = "SELECT \(picked.joined(separator: ", ")) FROM"
    try Database(oracle).rows("ATTACH '\(source)' AS s; INSERT INTO main.t \(select) s.t")
    let summary = job("?query=\(select) t").run()
    #expect(
      summary.exitCode == 0 && summary.ledger.inserted == 200,
      "seed \(seed): \(String(describing: summary.error)) \(summary.rejectsByReason)")
    let (expected, found) = (try dump(oracle), try dump(target))
    for (left, right) in zip(expected, found) where left != right {
      Issue.record("seed \(seed): expected \(left), found \(right)")
    }
    #expect(expected.count == found.count)
    // The same rows in columns of the same types leave all as it is.
    var again = job()
    again.sources = [Source("sqlite:\(oracle)#t")]
    let second = again.run()
    #expect(second.ledger.unchanged == 200, "seed \(seed): \(second.ledger)")
  }

  @Test("A table that is made has the columns and types of the rows")
  func made() throws {
    try Database(source).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, price REAL, photo BLOB, \"a b\" INT, e, d DECIMAL(10, 2)); INSERT INTO t VALUES (1, '1', 2.0, x'01', 3, NULL, 1.50)"
    )
    #expect(job().run().exitCode == 0)
    #expect(
      try Database(target).rows("SELECT name, type FROM pragma_table_info('t')") == [
        "'id'|'INTEGER'", "'name'|'TEXT'", "'price'|'REAL'", "'photo'|'BLOB'", "'a b'|'INTEGER'", "'e'|''",
        "'d'|''",
      ])
    #expect(try Database(target).rows("SELECT * FROM t") == ["1|'1'|2.0|x'1'|3|NULL|1.5"])
  }

  @Test("Only the columns that are wanted, under other names")
  func picked() throws {
    try Database(source).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT); INSERT INTO t VALUES (1, 'x', 'y')")
    var job = job()
    job.options.table.columns = ["id", "A"]
    job.options.table.renames = ["a": "c"]
    #expect(job.run().exitCode == 0)
    #expect(
      try Database(target).rows("SELECT name, type FROM pragma_table_info('t')") == [
        "'id'|'INTEGER'", "'c'|'TEXT'",
      ])
    #expect(try Database(target).rows("SELECT * FROM t") == ["1|'x'"])
    job.options.table.columns = ["id", "nope"]
    #expect(job.run().exitCode == 64)
  }

  @Test("All rows are of one state, whatever others commit meanwhile")
  func snapshot() throws {
    let database = Database(source)
    try database.rows(
      """
      PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT);
      WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      INSERT INTO t SELECT i, printf('%060d', i) FROM n
      """)
    let path = source
    let isDone = Atomic<Bool>(false)
    let summary = job().run(
      note: { _ in
        // It says something when the table is made, for which rows were looked at.
        if isDone.exchange(true, ordering: .relaxed) { return }
        _ = try? Database(path).rows("DELETE FROM t WHERE id > 30000; UPDATE t SET v = 'new'")
      })
    let hasChanged = isDone.load(ordering: .relaxed)
    #expect(hasChanged)
    #expect(
      summary.exitCode == 0 && summary.ledger.inserted == 60_000, "\(String(describing: summary.error))")
    #expect(try Database(target).rows("SELECT count(*) FROM t WHERE v = 'new'") == ["0"])
    #expect(try database.rows("SELECT count(*) FROM t") == ["30000"])
  }

  @Test("Values of any size, up to the memory's share of a record")
  func large() throws {
    try Database(source).rows(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB, s TEXT);
      INSERT INTO t VALUES (1, randomblob(2500000), NULL), (2, randomblob(49151), replace(hex(zeroblob(100000)), '0', 'ä"')),
        (3, randomblob(49152), ''), (4, randomblob(49153), replace(hex(zeroblob(24576)), '0', char(10)))
      """)
    #expect(job().run().exitCode == 0)
    let check = Database(target)
    try check.rows("ATTACH '\(source)' AS s")
    #expect(
      try check.rows(
        "SELECT count(*) FROM main.t JOIN s.t o USING (id) WHERE main.t.b = o.b AND main.t.s IS o.s") == ["4"]
    )
    var small = job()
    small.database = scratch.file("small.db")
    small.options.transaction.memory = .mebibytes(16)
    small.options.rejects.onError = .reject
    try Database(source).rows("INSERT INTO t VALUES (5, zeroblob(3500000), NULL)")
    // As text it is larger than a record may be.
    let summary = small.run()
    #expect(summary.exitCode == 2 && summary.ledger.rejected == 1, "\(String(describing: summary.error))")
    #expect(summary.rejectsByReason.map(\.code.rawValue) == ["too-large"])
  }

  @Test(
    "A row that is larger than a record may be is told as it would be of a file, and those behind it are stored",
    arguments: [1, 3], [false, true])
  func tooLarge(firstRow: Int, hasOther: Bool) throws {
    let columns = "id INTEGER PRIMARY KEY, name TEXT, b BLOB" + (hasOther ? ", rowid TEXT, _rowid_ TEXT" : "")
    let blob = [UInt8](repeating: 7, count: 5_000_001)
    try Database(source).rows(
      """
      CREATE TABLE t(\(columns)); CREATE INDEX covering ON t(name, b, id);
      INSERT INTO t(id, name, b) VALUES (-9223372036854775808, 'first', x'01'), (5, 'large', zeroblob(5000001)), (6, 'between', NULL),
        (7, replace(hex(zeroblob(1500000)), '00', 'ä"' || char(10)), NULL), (8, NULL, zeroblob(5000001)), (9, 'last', x'');
      UPDATE t SET b = CAST(replace(hex(b), '00', char(7)) AS BLOB) WHERE id IN (5, 8);
      UPDATE t SET name = replace(hex(zeroblob(1500000)), '00', 'ä"' || char(10)) WHERE id = 8
      """)
    // The last row that there can be is one of them.
    if firstRow == 3 { try Database(source).rows("UPDATE t SET id = 9223372036854775807 WHERE id = 8") }
    let name = String(repeating: #"ä\"\n"#, count: 1_500_000)
    let encoded = Data(blob).base64EncodedString()
    let other = hasOther ? #","rowid":null,"_rowid_":null"# : ""
    let line = { (id: Int, name: String?, b: String?) in
      let bytes = b.map { #"{"$base64":true,"encoded":"\#($0)"}"# } ?? "null"
      return #"{"id":\#(id),"name":\#(name.map { "\"\($0)\"" } ?? "null"),"b":\#(bytes)\#(other)}"# + "\n"
    }
    var lines = [
      line(.min, "first", "AQ=="), line(5, "large", encoded), line(6, "between", nil), line(7, name, nil),
      line(8, name, encoded), line(9, "last", ""),
    ]
    if firstRow == 3 {
      lines.remove(at: 4)
      lines.append(line(.max, name, encoded))
    }
    var job = job()
    job.options.transaction.memory = .mebibytes(16)
    job.options.rejects.onError = .reject
    job.options.rejects.target = .table
    var file = job
    file.database = scratch.file("file.db")
    file.sources = [Source(scratch.write(lines.joined(), to: "feed.ndjson"))]
    for path in [job.database, file.database] { try Database(path).rows("CREATE TABLE t(\(columns))") }
    let (summary, model) = (job.run(), file.run())
    #expect(summary.exitCode == 2 && summary.ledger == model.ledger, "\(String(describing: summary.error))")
    #expect(summary.ledger.rejected == 3 && summary.ledger.inserted == 3 && summary.ledger.isBalanced)
    let rejects =
      "SELECT record, line, byte, code, reason, raw, raw_cut FROM upsurge_rejects ORDER BY record"
    let found = try Database(target).rows(rejects)
    #expect(try found == Database(file.database).rows(rejects))
    #expect(
      found.count == 3 && found[0].hasPrefix("2|2|") && found[0].contains("'too-large'|'the record has "))
    #expect(
      try Database(target).rows("SELECT DISTINCT file FROM upsurge_rejects") == ["'sqlite:\(source)#t'"])
    #expect(
      try Database(target).rows("SELECT id, name, b FROM t") == [
        "-9223372036854775808|'first'|x'1'", "6|'between'|NULL", "9|'last'|x''",
      ])
    // With stop, it ends the load there, and nothing is stored.
    job.database = scratch.file("stop.db")
    job.options.rejects.onError = .stop
    job.options.rejects.target = nil
    job.options.transaction.isAtomic = true
    let stopped = job.run()
    #expect(stopped.exitCode == 65 && stopped.error?.position?.record == 2, "\(stopped.exitCode)")
    #expect(stopped.error?.message.hasSuffix("has room for it [too-large]") == true)
    #expect(!FileManager.default.fileExists(atPath: job.database))
  }

  @Test(
    "Where a row that is too large cannot be read in parts, it ends the load and is named",
    arguments: ["view", "without rowid", "UTF-16", "computed"])
  func tooLargeAsAWhole(kind: String) throws {
    let database = Database(source)
    if kind == "UTF-16" { try database.rows("PRAGMA encoding = 'UTF-16'") }
    let computed = kind == "computed" ? ", c AS (hex(zeroblob(n)))" : ", n2"
    try database.rows(
      """
      CREATE TABLE u(id INTEGER PRIMARY KEY, n\(computed))\(kind == "without rowid" ? " WITHOUT ROWID" : "");
      INSERT INTO u(id, n) VALUES (1, 1), (2, \(kind == "computed" ? "3000000" : "hex(zeroblob(3000000))")), (3, 3)
      """)
    try database.rows(
      kind == "view" ? "CREATE VIEW t AS SELECT * FROM u" : "ALTER TABLE u RENAME TO t")
    var job = job()
    job.options.transaction.memory = .mebibytes(16)
    job.options.rejects.onError = .reject
    let summary = job.run()
    #expect(summary.exitCode == 65)
    let words = "row 2 is larger than the 4.0 MiB that a record may have: "
    #expect(summary.error?.message.contains(words) == true, "\(summary.error?.message ?? "")")
    #expect(summary.error?.hint?.contains("--memory") == true)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var rows: String
    var code: Int32
    var message: String
    var hint = ""
    var testDescription: String { rows }
  }

  @Test(
    "What cannot be read, and why",
    arguments: [
      Refused(rows: "#nope", code: 66, message: "there is no table nope in ", hint: "it has: t"),
      Refused(rows: "", code: 64, message: "names no rows of a database", hint: "give sqlite:PATH#TABLE"),
      Refused(rows: "?query= ", code: 64, message: "names no rows of a database"),
      Refused(rows: "?query=SELEC 1", code: 64, message: "syntax error"),
      Refused(rows: "?query=DELETE FROM t RETURNING id", code: 64, message: "must be a SELECT"),
      Refused(rows: "?query=SELECT 1 AS id; DELETE FROM t", code: 64, message: "this is more"),
      Refused(
        rows: "?query=SELECT id, 1 AS ID FROM t", code: 64, message: "two columns the name ID",
        hint: "SELECT a AS b"),
      Refused(
        rows: "?query=SELECT id, CASE id WHEN 2 THEN zeroblob(7000000) END AS v FROM t", code: 65,
        message: "row 2 is larger than the 4.0 MiB that a record may have", hint: "--memory"),
    ])
  func refused(one: Refused) throws {
    try Database(source).rows("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
    var job = job(one.rows)
    job.options.transaction.memory = .mebibytes(16)
    let before = try readFile(source)
    let summary = job.run()
    #expect(summary.exitCode == one.code, "\(summary.error?.description ?? "")")
    #expect(summary.error?.message.contains(one.message) == true, "\(summary.error?.description ?? "")")
    #expect(
      summary.error?.hint?.contains(one.hint) == true || one.hint.isEmpty,
      "\(summary.error?.description ?? "")")
    #expect(try readFile(source) == before)
    #expect((try? readFile(target)) == nil)
  }

  @Test("A file that is not there, or is no database, and a format that does not fit")
  func files() throws {
    #expect(job().run().exitCode == 66)
    _ = scratch.write("no database, but long enough to be looked at as one", to: "source.db")
    #expect(job().run().exitCode == 65)
    var csv = job()
    csv.options.input.format = .csv
    #expect(csv.run().exitCode == 64)
    #expect(String(decoding: try readFile(source), as: UTF8.self).hasPrefix("no database"))
  }

  @Test("A row that is rejected shows itself, and is replayed as it was")
  func rejects() throws {
    try Database(source).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v, b BLOB); INSERT INTO t VALUES (1, 5, x'01'), (2, 9007199254740993, x'ff00'), (3, NULL, NULL)"
    )
    try Database(target).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v CHECK (v < 10), b BLOB)")
    var job = job()
    job.options.rejects.onError = .reject
    job.options.rejects.target = .table
    #expect(job.run().exitCode == 2)
    #expect(
      try Database(target).rows("SELECT raw FROM upsurge_rejects") == [
        #"'{"id":2,"v":9007199254740993,"b":{"$base64":true,"encoded":"/wA="}}'"#
      ])
    try Database(target).rows(
      """
      CREATE TABLE u(id INTEGER PRIMARY KEY, v, b BLOB); INSERT INTO u SELECT * FROM t; DROP TABLE t;
      ALTER TABLE u RENAME TO t
      """)
    let replay = try Command.run(["replay", target])
    #expect(replay.exitCode == 0, "\(replay.talk)")
    #expect(try Database(target).rows("SELECT * FROM t WHERE id = 2") == ["2|9007199254740993|x'ff0'"])
  }

  @Test("The command reads a table that it names from another folder")
  func command() throws {
    try Database(source).rows("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
    let outcome = try Command.run(
      [scratch.path],
      script: "cd \"$1\" && exec \"$0\" load target.db t 'sqlite:source.db#t' --key id --history")
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(target).rows("SELECT count(*) FROM t") == ["2"])
    let runs = try Command.run(["runs", target, "--json"])
    #expect(runs.output.contains("sqlite:\(SourceName.place(of: source))#t"), "\(runs.output)")
  }
}
