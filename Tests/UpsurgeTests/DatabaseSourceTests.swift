import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

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
    job.options.key = ["id"]
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
    again.sources = ["sqlite:\(oracle)#t"]
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
    job.options.columns = ["id", "A"]
    job.options.renames = ["a": "c"]
    #expect(job.run().exitCode == 0)
    #expect(
      try Database(target).rows("SELECT name, type FROM pragma_table_info('t')") == [
        "'id'|'INTEGER'", "'c'|'TEXT'",
      ])
    #expect(try Database(target).rows("SELECT * FROM t") == ["1|'x'"])
    job.options.columns = ["id", "nope"]
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
    small.options.memory = .mebibytes(16)
    small.options.onError = .reject
    try Database(source).rows("INSERT INTO t VALUES (5, zeroblob(3500000), NULL)")
    // As text it is larger than a record may be.
    let summary = small.run()
    #expect(summary.exitCode == 2 && summary.ledger.rejected == 1, "\(String(describing: summary.error))")
    #expect(summary.rejectsByReason.map(\.code.rawValue) == ["too-large"])
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
    job.options.memory = .mebibytes(16)
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
    csv.options.format = .csv
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
    job.options.onError = .reject
    job.options.rejects = .table
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

  @Test("A mirror of a table follows it, and one of another state of the same file is the same feed")
  func mirror() throws {
    let database = Database(source)
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, ''), (4, x'')"
    )
    let yaml = scratch.write(
      "tables: {t: {source: 'sqlite:source.db#t', key: id, sweep: hard, guards: {max-delete: 2}}}",
      to: "job.yaml")
    #expect(try Command.run(["mirror", target, yaml]).exitCode == 0)
    let plain = Database(target)
    let all = "SELECT id, v, typeof(v) FROM t"
    #expect(try plain.rows(all) == (try database.rows(all)))
    try database.rows(
      "DELETE FROM t WHERE id = 2; UPDATE t SET v = 7 WHERE id = 1; INSERT INTO t VALUES (9, 1.5)")
    let second = try Command.run(["mirror", target, yaml, "--summary", "-"])
    #expect(second.exitCode == 0 && second.output.contains("\"swept\":1"), "\(second.talk)")
    #expect(try plain.rows(all) == (try database.rows(all)))
    // Another table of the file is another feed; an empty one sweeps nothing.
    let other = scratch.write(
      "tables: {t: {source: 'sqlite:source.db?query=SELECT * FROM t WHERE id < 0', key: id, sweep: hard}}",
      to: "other.yaml")
    #expect(try Command.run(["mirror", target, other]).exitCode == 4)
    #expect(try Command.run(["mirror", target, other, "--accept-change"]).exitCode == 4)
    #expect(try plain.rows(all) == (try database.rows(all)))
  }

  @Test("A query that never ends is ended")
  func endless() throws {
    try Database(source).rows("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    var table = MirrorTable(
      name: "t",
      sources: [
        "sqlite:\(source)?query=WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n WHERE i < 0"
      ])
    table.options.key = ["id"]
    table.unattended.deadline = 1
    let start = ContinuousClock.now
    let summary = MirrorJob(database: target, tables: [table]).run()
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(
      summary.exitCode == 1 && summary.tables[0].failure?.code == .deadline,
      "\(String(describing: summary.tables[0].failure))")
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
