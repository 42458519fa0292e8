import Foundation
import PostgresSupport
import Synchronization
import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

@testable import UpsurgePostgres

/// Rows of a server arrive as those of SQLite would.
@Suite(
  "postgres:// sources", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SourceValueTests {
  let scratch = Scratch()
  let connection: PostgresConnection
  let url: String
  private var target: String { scratch.file("target.db") }

  init() throws {
    PostgresModule.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
  }

  private func job(_ rows: String = "#t", key: [String] = ["id"], table: String = "t") -> LoadJob {
    var job = LoadJob(database: target, table: table, sources: [Source(url + rows)])
    job.options.rules.key = key
    return job
  }

  private func types(_ table: String = "t") throws -> [String] {
    try Database(target).rows("SELECT name, type FROM pragma_table_info('\(table)')")
  }

  /// A value of PostgreSQL, what SQLite has of it then, and how the column is declared.
  struct Value: Sendable, CustomTestStringConvertible {
    var sql: String
    var stored: String
    var type: String
    var testDescription: String { sql }

    init(_ sql: String, _ stored: String, _ type: String) {
      (self.sql, self.stored, self.type) = (sql, stored, type)
    }
  }

  static let values: [Value] = {
    let digits = String(repeating: "1234567890", count: 10)
    return [
      Value("NULL::int", "NULL", "INTEGER"), Value("(-32768)::int2", "-32768", "INTEGER"),
      Value("2147483647::int4", "2147483647", "INTEGER"),
      Value("9223372036854775807", "9223372036854775807", "INTEGER"),
      Value("(-9223372036854775808)::int8", "-9223372036854775808", "INTEGER"),
      Value("9007199254740993::int8", "9007199254740993", "INTEGER"),
      Value("0.1::float8", "0.1", "REAL"), Value("0.1::float4", "0.1", "REAL"),
      Value("5e-324::float8", "5e-324", "REAL"),
      Value("1.7976931348623157e308::float8", "1.7976931348623157e+308", "REAL"),
      Value("2::float8", "2.0", "REAL"),
      Value("'Infinity'::float8", "inf", "REAL"), Value("'-Infinity'::float4", "-inf", "REAL"),
      Value("'NaN'::float8", "'NaN'", "REAL"),
      Value("\(digits).\(digits)::numeric", "'\(digits).\(digits)'", "TEXT"),
      Value("1.50::numeric(10,2)", "'1.50'", "TEXT"),
      Value("'NaN'::numeric", "'NaN'", "TEXT"), Value("0.000::numeric", "'0.000'", "TEXT"),
      Value("(-1e-20)::numeric", "'-0.00000000000000000001'", "TEXT"),
      Value("true", "1", "BOOLEAN"), Value("false", "0", "BOOLEAN"), Value("NULL::bool", "NULL", "BOOLEAN"),
      Value("''::text", "''", "TEXT"), Value("'007'::text", "'007'", "TEXT"),
      Value("'1e5'::varchar(9)", "'1e5'", "TEXT"),
      Value(#"E'line\nend\r\t"\\ \u20AC\U0001F600\u0001'::text"#, "'line\nend\r\t\"\\ €😀\u{1}'", "TEXT"),
      Value("'ab'::char(4)", "'ab  '", "TEXT"),
      Value("'x'::name", "'x'", "TEXT"), Value(#"'\x'::bytea"#, "x''", "BLOB"),
      Value(#"'\x00ff10'::bytea"#, "x'0ff10'", "BLOB"),
      Value("NULL::bytea", "NULL", "BLOB"),
      Value("'2024-02-29'::date", "'2024-02-29'", "DATE"), Value("'infinity'::date", "'infinity'", "DATE"),
      Value("'0044-03-15 BC'::date", "'0044-03-15 BC'", "DATE"),
      Value("'12:30:00.25'::time", "'12:30:00.25'", "TIME"),
      Value("'2024-02-29 12:30:00.000001'::timestamp", "'2024-02-29 12:30:00.000001'", "TIMESTAMP"),
      Value("'2024-02-29 12:30:00+02'::timestamptz", "'2024-02-29 10:30:00+00'", "TIMESTAMPTZ"),
      Value("'-infinity'::timestamptz", "'-infinity'", "TIMESTAMPTZ"),
      Value("'00000000-0000-0000-0000-000000000012'::uuid", "'00000000-0000-0000-0000-000000000012'", "TEXT"),
      Value(#"'{"a": [1, "x"]}'::jsonb"#, #"'{"a": [1, "x"]}'"#, "TEXT"),
      Value("' 1.0 '::json", "' 1.0 '", "TEXT"), Value("'12'::jsonb", "'12'", "TEXT"),
      Value("ARRAY[1, NULL, 3]", "'{1,NULL,3}'", "TEXT"), Value("ARRAY['a b', '']", #"'{"a b",""}'"#, "TEXT"),
      Value("'1 day 02:00'::interval", "'1 day 02:00:00'", "TEXT"),
      Value("'10.0.0.1/8'::inet", "'10.0.0.1/8'", "TEXT"),
      Value("point(1, 2)", "'(1,2)'", "TEXT"), Value("int4range(1, 5)", "'[1,5)'", "TEXT"),
      Value("'a'::mood", "'a'", "TEXT"),
      Value("5::small", "5", "INTEGER"), Value("'12:00+02'::timetz", "'12:00:00+02'", "TEXT"),
      Value("B'101'::bit(3)", "'101'", "TEXT"),
      Value("1::oid", "'1'", "TEXT"),
    ]
  }()

  private func fill() throws {
    let columns = Self.values.enumerated().map { "\($0.element.sql) AS c\($0.offset)" }.joined(
      separator: ", ")
    try connection.run(
      """
      CREATE TYPE mood AS ENUM ('a', 'b'); CREATE DOMAIN small AS int CHECK (VALUE < 10);
      SET timezone = 'Asia/Tokyo'; SET datestyle = 'German'; CREATE TABLE t AS SELECT 1::bigint AS id, \(columns)
      """)
  }

  @Test(
    "Every type, from a table and from a query",
    arguments: ["#t", "#public.t", "?query=SELECT * FROM t -- all", "?query=SELECT * FROM t ; ", "#\"t\""])
  func types(rows: String) throws {
    try fill()
    // What the role says of dates and bytes is no matter.
    try connection.run("ALTER ROLE upsurge IN DATABASE \(connection.database) SET datestyle = 'SQL, DMY'")
    try connection.run("ALTER ROLE upsurge IN DATABASE \(connection.database) SET bytea_output = 'escape'")
    let summary = job(rows).run()
    #expect(summary.exitCode == 0, "\(String(describing: summary.error)) \(summary.rejectsByReason)")
    #expect(
      try types() == ["'id'|'INTEGER'"]
        + Self.values.enumerated().map { "'c\($0.offset)'|'\($0.element.type)'" })
    for (index, value) in Self.values.enumerated() {
      #expect(try Database(target).rows("SELECT c\(index) FROM t") == [value.stored], "\(value.sql)")
    }
    // The only text that a column of numbers holds is NaN, which SQLite does not have.
    #expect(
      summary.warnings.entries.map(\.code.rawValue) == ["text-in-number-column"],
      "\(summary.warnings.entries)")
    let again = job(rows).run()
    #expect(again.ledger.unchanged == 1 && again.ledger.updated == 0, "\(again.ledger)")
  }

  @Test("The same rows from SQLite give the same table")
  func asSQLite() throws {
    let values = [
      "NULL", "0", "-1", "9223372036854775807", "1e308", "0.1", "'it''s'", "''", "'007'",
    ]
    let cells = { (index: Int) in (0..<4).map { column in values[(index * 5 + column * 3) % values.count] } }
    let source = scratch.file("source.db")
    try Database(source).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB)")
    try connection.run("CREATE TABLE t (id bigint PRIMARY KEY, i bigint, r float8, s text, b bytea)")
    for index in 0..<50 {
      let picked = cells(index)
      let number =
        picked[0].contains("'") || picked[0].contains(".") || picked[0].contains("e") ? "\(index)" : picked[0]
      let real = picked[1].contains("'") ? "\(index).5" : picked[1]
      let text = picked[2].contains("'") ? picked[2] : "'\(picked[2])'"
      try Database(source).rows(
        "INSERT INTO t VALUES (\(index), \(number), \(real), \(text), x'00\(index % 10)f')".replacing(
          "00\(index % 10)f", with: "0\(index % 10)ff"))
      try connection.run(
        "INSERT INTO t VALUES (\(index), \(number), \(real), \(text), '\\x0\(index % 10)ff')")
    }
    #expect(job().run().exitCode == 0)
    var oracle = LoadJob(
      database: scratch.file("oracle.db"), table: "t", sources: [Source("sqlite:\(source)#t")])
    oracle.options.rules.key = ["id"]
    #expect(oracle.run().exitCode == 0)
    let dump = "SELECT *, typeof(i), typeof(r), typeof(s), typeof(b) FROM t ORDER BY id"
    #expect(try Database(target).rows(dump) == Database(oracle.database).rows(dump))
    #expect(try types() == Database(oracle.database).rows("SELECT name, type FROM pragma_table_info('t')"))
  }

  @Test("Only the columns that are wanted, under other names, and in a STRICT table")
  func picked() throws {
    try connection.run(
      "CREATE TABLE t (id int, a numeric, \"B c\" date, d bool); INSERT INTO t VALUES (1, 1.50, '2024-01-02', true)"
    )
    var job = job()
    job.options.table.columns = ["id", "A", "b C", "d"]
    job.options.table.renames = ["a": "z"]
    job.options.table.isStrict = true
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(String(describing: summary.error))")
    #expect(try types() == ["'id'|'INTEGER'", "'z'|'TEXT'", "'B c'|'ANY'", "'d'|'ANY'"])
    #expect(try Database(target).rows("SELECT * FROM t") == ["1|'1.50'|'2024-01-02'|1"])
    job.options.table.columns = ["id", "nope"]
    #expect(job.run().exitCode == 64)
  }

  @Test("100,000 rows, and values of any size")
  func many() throws {
    try connection.run(
      "CREATE TABLE t AS SELECT i::int8 AS id, repeat(chr(65 + i % 26), i % 300) AS s, i / 8.0::float8 AS r FROM generate_series(1, 100000) i"
    )
    let summary = job().run()
    #expect(summary.ledger.inserted == 100_000, "\(String(describing: summary.error))")
    #expect(
      try Database(target).rows("SELECT count(*), sum(id), sum(length(s)), CAST(sum(r) AS integer) FROM t")
        == connection.texts("SELECT count(*), sum(id), sum(length(s)), CAST(sum(r) AS integer) FROM t").map {
          $0.map { $0 ?? "" }.joined(separator: "|")
        }
    )
    try connection.run(
      """
      CREATE TABLE u (id int, b bytea, s text);
      INSERT INTO u SELECT n, decode(repeat('00ff', n / 2), 'hex') || decode(repeat('07', n % 2), 'hex'), repeat('ä"' || chr(10), n)
      FROM unnest(ARRAY[1, 49151, 49152, 49153, 700000]) AS n
      """)
    #expect(job("#u", table: "u").run().exitCode == 0)
    let sizes = try connection.texts("SELECT id, length(b), length(s), md5(b) FROM u ORDER BY id")
    #expect(
      try Database(target).rows("SELECT id, length(b), length(s) FROM u ORDER BY id")
        == sizes.map { $0.prefix(3).map { $0 ?? "" }.joined(separator: "|") })
    #expect(
      try Database(target).rows(
        "SELECT count(*) FROM u WHERE s = replace(hex(zeroblob(id)), '00', 'ä\"' || char(10))") == ["5"])
    // The bytes of the middle, too.
    #expect(
      try Database(target).rows("SELECT hex(substr(b, 49150, 4)) FROM u WHERE id = 700000") == ["'FF00FF00'"])
  }

  @Test("All rows are of one state, whatever others commit meanwhile")
  func snapshot() throws {
    try connection.run(
      "CREATE TABLE t AS SELECT i AS id, repeat('x', 60) AS v FROM generate_series(1, 60000) i")
    let address = url
    let isDone = Atomic<Bool>(false)
    let summary = job().run(
      note: { _ in
        // It says something when the table is made, for which rows were looked at.
        if isDone.exchange(true, ordering: .relaxed) { return }
        _ = try? Server.connect(address).run("DELETE FROM t WHERE id > 30000; UPDATE t SET v = 'new'")
      })
    let hasChanged = isDone.load(ordering: .relaxed)
    #expect(hasChanged && summary.ledger.inserted == 60_000, "\(String(describing: summary.error))")
    #expect(try Database(target).rows("SELECT count(*) FROM t WHERE v = 'new'") == ["0"])
    #expect(try connection.texts("SELECT count(*) FROM t") == [["30000"]])
  }

  @Test("What a job reads of one database for several tables is of one state")
  func jobSnapshot() throws {
    try connection.run(
      "CREATE TABLE t AS SELECT 1 AS id, 'old' AS v UNION SELECT 2, 'old'; CREATE TABLE u AS SELECT * FROM t")
    let tables = [("t", "#t"), ("u", "#public.u"), ("w", "?query=SELECT id, v FROM u WHERE id = 1")].map {
      name, rows in
      var table = MirrorTable(name: name, sources: [Source(url + rows)])
      table.options.rules.key = ["id"]
      return table
    }
    let job = MirrorJob(database: target, tables: tables)
    let address = url
    let isDone = Atomic<Bool>(false)
    let change = { @Sendable (said: RunNote) in
      if isDone.exchange(true, ordering: .relaxed) { return }
      _ = try? Server.connect(address).run("UPDATE t SET v = 'new'; UPDATE u SET v = 'new'")
    }
    let all =
      "SELECT v, count(*) FROM (SELECT v FROM t UNION ALL SELECT v FROM u UNION ALL SELECT v FROM w) GROUP BY v"
    let first = job.run(note: change)
    #expect(first.exitCode == 0, "\(first.tables.compactMap { $0.failure?.description })")
    let hasChanged = isDone.load(ordering: .relaxed)
    #expect(hasChanged)
    #expect(try Database(target).rows(all) == ["'old'|5"])
    #expect(job.run().exitCode == 0)
    #expect(try Database(target).rows(all) == ["'new'|5"])
  }

  @Test("Views, partitioned tables, other schemas, names with dots and quotes, and no rows")
  func names() throws {
    try connection.run(
      """
      CREATE SCHEMA sales; CREATE TABLE sales.orders (id int); INSERT INTO sales.orders VALUES (1), (2);
      CREATE VIEW v AS SELECT id * 2 AS id FROM sales.orders; CREATE TABLE "a.b" (id int); INSERT INTO "a.b" VALUES (5);
      CREATE TABLE p (id int, k int) PARTITION BY LIST (k); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
      CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2); INSERT INTO p VALUES (1, 1), (2, 2); CREATE TABLE empty (id int, s text)
      """)
    for (number, (rows, count)) in [
      ("#sales.orders", 2), ("#v", 2), ("#a.b", 1), ("#\"a.b\"", 1), ("#p", 2), ("#empty", 0),
    ].enumerated() {
      let summary = job(rows, table: "n\(number)").run()
      #expect(
        summary.exitCode == 0 && summary.ledger.inserted == count,
        "\(rows): \(String(describing: summary.error))")
    }
    #expect(try types("n5") == ["'id'|'INTEGER'", "'s'|'TEXT'"])
  }

  @Test("Row-level security that leaves rows out is said")
  func rowSecurity() throws {
    try connection.run(
      """
      CREATE TABLE t AS SELECT i AS id FROM generate_series(1, 4) i; ALTER TABLE t ENABLE ROW LEVEL SECURITY;
      CREATE POLICY few ON t FOR SELECT USING (id < 3);
      DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$; GRANT SELECT ON t TO reader
      """)
    let server = try PostgresServer.shared()
    let notes = Guarded<[String]>([])
    var job = job()
    job.sources = [Source(server.socketURL(database: connection.database, user: "reader") + "#t")]
    let summary = job.run(note: { said in notes.withLock { $0.append(said.text) } })
    #expect(summary.ledger.inserted == 2, "\(String(describing: summary.error))")
    #expect(
      notes.withLock {
        $0.contains { $0.contains("row-level security decides which rows of t this user reads") }
      })
    // Who owns the table sees all, and nothing is said.
    notes.withLock { $0 = [] }
    var own = self.job()
    own.database = scratch.file("own.db")
    #expect(own.run(note: { said in notes.withLock { $0.append(said.text) } }).ledger.inserted == 4)
    #expect(notes.withLock { !$0.contains { $0.contains("security") } })
  }
}
