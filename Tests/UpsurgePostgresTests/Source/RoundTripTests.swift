import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge

@testable import UpsurgePostgres

/// Out of one store and into the other, and back, each by one load.
@Suite("Round trips", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct RoundTripTests {
  let scratch = Scratch()
  let url: String

  init() throws {
    PostgresModule.register()
    url = try Server.freshURL()
  }

  private func load(_ source: String, into database: String, key: [String] = ["id"], table: String = "t")
    -> RunSummary
  {
    var job = LoadJob(database: database, table: table, sources: [Source(source)])
    job.options.rules.key = key
    return job.run()
  }

  @Test("SQLite, PostgreSQL, SQLite: nothing is lost")
  func fromSQLite() throws {
    let (first, last) = (scratch.file("first.db"), scratch.file("last.db"))
    try Database(first).rows(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB, f BOOLEAN);
      INSERT INTO t VALUES (1, 9223372036854775807, 0.1, '', x'', 1), (2, -9223372036854775808, 9e999, '007', x'00ff', 0),
        (3, NULL, NULL, NULL, NULL, NULL), (4, 0, -9e999, 'it''s' || char(10) || char(9) || 'ä€😀\\ "', randomblob(100000), 1),
        (5, 9007199254740993, 5e-324, '1.0', x'31', 0), (6, -1, 1e308, ' x ', zeroblob(3), 1)
      """)
    #expect(load("sqlite:\(first)#t", into: url).ledger.inserted == 6)
    let back = load(url + "#t", into: last)
    #expect(back.ledger.inserted == 6, "\(String(describing: back.error))")
    let dump =
      "SELECT id, i, r, s, hex(b), f, typeof(i), typeof(r), typeof(s), typeof(b), typeof(f) FROM t ORDER BY id"
    #expect(try Database(last).rows(dump) == Database(first).rows(dump))
    #expect(
      try Database(last).rows("SELECT name, type FROM pragma_table_info('t')")
        == Database(first).rows("SELECT name, type FROM pragma_table_info('t')"))
    #expect(load("sqlite:\(last)#t", into: url).ledger.unchanged == 6)
  }

  @Test("Infinities are no numbers of 1,000 digits in a column of numeric, and rejects where it has no place for them")
  func infinities() throws {
    let path = scratch.file("infinite.db")
    try Database(path).rows(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, n NUMERIC, p NUMERIC, r REAL);
      INSERT INTO t VALUES (1, 9e999, 1.5, 9e999), (2, -9e999, NULL, -9e999), (3, 2.5, 9e999, 1.5)
      """)
    let connection = try Server.connect(url)
    try connection.run("CREATE TABLE t (id int8 PRIMARY KEY, n numeric, p numeric(10, 2), r float8)")
    var job = LoadJob(database: url, table: "t", sources: [Source("sqlite:\(path)#t")])
    job.options.rules.key = ["id"]
    job.options.rejects.onError = .reject
    let hasInfinity = try connection.texts("SELECT current_setting('server_version_num')::int >= 140000") == [["t"]]
    for isFirst in [true, false] {
      let summary = job.run()
      let stored = summary.ledger.inserted + summary.ledger.unchanged
      #expect(stored == (hasInfinity ? 2 : 0) && summary.ledger.rejected == (hasInfinity ? 1 : 3), "\(summary.ledger)")
      #expect(summary.ledger.inserted == (isFirst ? stored : 0))
    }
    let rows = try connection.texts("SELECT id, n, p, r FROM t ORDER BY id")
    #expect(rows == (hasInfinity ? [["1", "Infinity", "1.50", "Infinity"], ["2", "-Infinity", nil, "-Infinity"]] : []))
    // A text of the same digits is a number, as in an INSERT.
    let csv = scratch.write("id,n\n9,9e999\n", to: "digits.csv")
    #expect(load(csv, into: url).ledger.inserted == 1)
    #expect(try connection.texts("SELECT n = 9e999::numeric AND n < 1e1000::numeric FROM t WHERE id = 9") == [["t"]])
  }

  @Test("PostgreSQL, another table there: the types are kept")
  func besides() throws {
    let connection = try Server.connect(url)
    try connection.run(
      """
      CREATE TYPE mood AS ENUM ('a', 'b');
      CREATE TABLE t (id int PRIMARY KEY, n numeric(20, 4), w timestamptz, d date, j jsonb, u uuid, a int[], c varchar(9), y bytea, f float4,
        k bool, m mood, v interval);
      INSERT INTO t VALUES (1, 12.3400, '2024-02-29 12:00+02', '0044-03-15 BC', '{"a": 1}', '00000000-0000-0000-0000-00000000000a', '{1,NULL}',
        'x', '\\x00ff', 0.1, true, 'a', '1 day'), (2, 'NaN', 'infinity', NULL, 'null', NULL, '{}', '', '', 'NaN', false, NULL, NULL)
      """)
    let summary = load(url + "#t", into: url, table: "copy")
    #expect(summary.ledger.inserted == 2, "\(String(describing: summary.error))")
    let types =
      "SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'copy'::regclass AND attnum > 0"
    #expect(
      try connection.texts(types) == [
        [
          "integer, numeric(20,4), timestamp with time zone, date, jsonb, uuid, integer[], character varying(9), bytea, real, boolean, text, interval"
        ]
      ])
    let rest = "id, n, w, d, j, u, a, c, y, f, k, m::text, v"
    #expect(try connection.texts("SELECT \(rest) FROM copy EXCEPT SELECT \(rest) FROM t") == [])
    #expect(load(url + "#t", into: url, table: "copy").ledger.unchanged == 2)
  }

  @Test("PostgreSQL, SQLite, PostgreSQL: values come back as they were")
  func fromPostgres() throws {
    let connection = try Server.connect(url)
    let middle = scratch.file("middle.db")
    let columns =
      "(id int8 PRIMARY KEY, n numeric, w timestamptz, d date, h time, j jsonb, u uuid, a int[], s text, y bytea, f float8, k bool)"
    try connection.run(
      """
      CREATE TABLE t \(columns); CREATE TABLE back \(columns);
      INSERT INTO t VALUES (1, \(String(repeating: "123456789", count: 12)).10, '2024-02-29 12:00:00.000001+02', '0044-03-15 BC', '23:59:59.9',
        '{"a": [1.10]}', '00000000-0000-0000-0000-00000000000a', '{1,NULL}', E'\\n', '\\x00ff', 'NaN', true),
        (2, 'NaN', '-infinity', 'infinity', '24:00', '"x"', NULL, '{}', '', '', '-Infinity', false),
        (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
      """)
    #expect(load(url + "#t", into: middle).ledger.inserted == 3)
    let back = load("sqlite:\(middle)#t", into: url, table: "back")
    #expect(back.ledger.inserted == 3, "\(String(describing: back.error)) \(back.rejectsByReason)")
    #expect(try connection.texts("SELECT count(*) FROM back") == [["3"]])
    #expect(try connection.texts("SELECT * FROM t EXCEPT SELECT * FROM back") == [])
  }
}
