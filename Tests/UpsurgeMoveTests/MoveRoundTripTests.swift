import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeMove

/// A whole database to a server, and back.
@Suite("Moves", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct MoveRoundTripTests {
  let scratch = Scratch()

  @Test("20 tables with circles move to PostgreSQL and back, and nothing is lost")
  func roundTrip() throws {
    let (first, last) = (scratch.file("first.db"), scratch.file("last.db"))
    try Shop.make(first)
    let url = try MoveServer.freshURL()
    let there = MoveServer.move(first, url)
    #expect(there.error == nil, "\(String(describing: there.error))")
    #expect(there.isVerified && there.exitCode == 0)
    #expect(Set(there.tables.map(\.name)) == Set(Shop.tables))
    #expect(there.tables.allSatisfy { $0.digest?.count == 32 })
    #expect(try MoveServer.texts("SELECT count(*) FROM orders", url) == ["3000"])
    let back = MoveServer.move(url, last)
    #expect(back.error == nil, "\(String(describing: back.error))")
    #expect(back.isVerified)
    for table in Shop.tables { #expect(try dump(table, last) == dump(table, first), "\(table)") }
    #expect(try Database(last).rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(try Database(last).rows("SELECT * FROM pragma_foreign_key_check").isEmpty)
    // What it has made is its own: the names of its indexes are not taken by somebody else.
    let again = MoveServer.move(url, last)
    #expect(again.error == nil && again.wasDone, "\(String(describing: again.error))")
  }

  /// All values with their types; a decimal comes back as its text.
  private func dump(_ table: String, _ path: String) throws -> [String] {
    let database = Database(path)
    let name = "\"\(table)\""
    let columns = try Database(path).rows("SELECT name FROM pragma_table_xinfo('\(table)')").map {
      String($0.dropFirst().dropLast())
    }
    let list = columns.map { column in
      let quoted = "\"\(column.replacingDoubled)\""
      return ["price", "any_number"].contains(column) ? "CAST(\(quoted) AS REAL)" : "quote(\(quoted))"
    }
    return try database.rows(
      "SELECT \(list.joined(separator: ", ")) FROM \(name) ORDER BY \(list.joined(separator: ", "))")
  }

  @Test("Types, keys, indexes and foreign keys are those of the source")
  func schema() throws {
    let first = scratch.file("first.db")
    try Shop.make(first)
    let url = try MoveServer.freshURL()
    #expect(MoveServer.move(first, url).error == nil)
    func types(_ table: String) throws -> [String] {
      try MoveServer.texts(
        "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a WHERE attrelid = '\(table)'::regclass AND attnum > 0 ORDER BY attnum",
        url)
    }
    #expect(
      try types("products") == [
        "id|bigint", "category|text", "title|character varying(40)", "price|numeric",
        "weight|double precision", "active|boolean",
      ])
    #expect(
      try types("days") == [
        "id|bigint", "day|date", "moment|timestamp without time zone", "clock|time without time zone",
        "loose|text",
      ])
    #expect(try types("customers") == ["id|bigint", "email|text", "country|text", "born|date", "extra|json"])
    #expect(
      try MoveServer.texts(
        "SELECT conrelid::regclass, confrelid::regclass, confdeltype, condeferred FROM pg_constraint WHERE contype = 'f' AND conrelid = 'employees'::regclass ORDER BY 2",
        url) == ["employees|departments|a|f", "employees|employees|a|t"])
    #expect(try MoveServer.texts("SELECT count(*) FROM pg_constraint WHERE contype = 'f'", url) == ["11"])
    #expect(
      try MoveServer.texts(
        "SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indexrelid = 'orders_open'::regclass", url)
        == ["(state <> 'sent'::text)"])
    #expect(
      try MoveServer.texts(
        "SELECT attgenerated FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'tax'", url)
        == ["s"])
    // The last number was that of a row that is gone.
    #expect(
      try MoveServer.texts("INSERT INTO employees(name, department) VALUES ('New', 1) RETURNING id", url) == [
        "10"
      ])
    #expect(
      try MoveServer.texts("INSERT INTO products(title) VALUES ('x') RETURNING id, price, active", url) == [
        "3|0|t"
      ])
  }

  @Test("What stays is listed with its reason")
  func leftOut() throws {
    let first = scratch.file("first.db")
    try Shop.make(first)
    _ = try Database(first).rows("CREATE TABLE upsurge_feeds(a); INSERT INTO upsurge_feeds VALUES (1)")
    let summary = MoveServer.move(first, try MoveServer.freshURL())
    let left = try #require(summary.plan?.leftOut.map(\.what))
    for what in ["view paid", "trigger noted of notes", "state of mirror jobs (upsurge_feeds)"] {
      #expect(left.contains(what), "\(left)")
    }
  }

  @Test("Types of PostgreSQL move to SQLite and back as they were")
  func serverTypes() throws {
    let url = try MoveServer.freshURL()
    try MoveServer.texts(
      """
      CREATE TYPE mood AS ENUM ('a', 'b');
      CREATE TABLE t (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, n numeric(20, 4), w timestamptz, d date, j jsonb, u uuid, a int[],
        c varchar(9) CHECK (c IN ('x', 'y')), y bytea, f float8, k bool DEFAULT true, m mood, v interval, s smallint, p timestamp);
      INSERT INTO t VALUES (1, 12.3400, '2024-02-29 12:00+02', '2024-02-29', '{"a": 1}', '00000000-0000-0000-0000-00000000000a', '{1,NULL}',
        'x', '\\x00ff', 'NaN', true, 'a', '1 day', 5, '2024-02-29 12:00:00.25'), (2, NULL, NULL, NULL, 'null', NULL, '{}', 'y', '', '-Infinity', false,
        NULL, NULL, NULL, NULL);
      SELECT setval('t_id_seq', 77)
      """, url)
    let file = scratch.file("t.db")
    let there = MoveServer.move(url, file)
    #expect(there.error == nil && there.isVerified, "\(String(describing: there.error))")
    #expect(there.plan?.leftOut.map(\.what).filter { $0.hasPrefix("order of ") } == ["order of t.n"])
    #expect(try Database(file).rows("SELECT seq FROM sqlite_sequence") == ["77"])
    #expect(
      try Database(file).rows("SELECT n, typeof(n), d, k FROM t WHERE id = 1") == [
        "'12.3400'|'text'|'2024-02-29'|1"
      ])
    let other = try MoveServer.freshURL()
    let back = MoveServer.move(file, other)
    #expect(back.error == nil && back.isVerified, "\(String(describing: back.error))")
    let types =
      "SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0"
    #expect(
      try MoveServer.texts(types, other) == [
        "bigint, numeric(20,4), timestamp with time zone, date, jsonb, uuid, text, character varying(9), bytea, double precision, boolean, text, text, "
          + "smallint, timestamp without time zone"
      ])
    let rows = "SELECT id, n, w, d, j, u, a::text, c, y, f, k, m::text, v::text, s, p FROM t ORDER BY id"
    #expect(try MoveServer.texts(rows, other) == MoveServer.texts(rows, url))
    #expect(try MoveServer.texts("INSERT INTO t (c) VALUES ('x') RETURNING id, k", other) == ["78|t"])
  }

  @Test("Only some tables move, and a type can be said")
  func choice() throws {
    let first = scratch.file("first.db")
    try Shop.make(first)
    _ = try Database(first).rows("INSERT INTO log VALUES ('n/a', 'text'), (1.5, 'real')")
    let url = try MoveServer.freshURL()
    let summary = MoveServer.move(first, url) {
      $0.tables = ["log", "orders", "customers"]
      $0.exceptions = ["orders"]
      $0.types = ["log.at:text"]
    }
    #expect(summary.error == nil && summary.isVerified, "\(String(describing: summary.error))")
    #expect(summary.tables.map(\.name).sorted() == ["customers", "log"])
    #expect(
      try MoveServer.texts("SELECT at FROM log WHERE what IN ('text', 'real') ORDER BY 1", url) == [
        "1.5", "n/a",
      ])
  }

  @Test("A plan is made without writing, and shows SQL")
  func plan() throws {
    let first = scratch.file("first.db")
    try Shop.make(first)
    let url = try MoveServer.freshURL()
    let summary = MoveServer.move(first, url) { $0.isPlanOnly = true }
    let plan = try #require(summary.plan)
    #expect(plan.tables.count == 20 && summary.tables.isEmpty)
    #expect(
      try MoveServer.texts("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace", url)
        == ["0"])
    let names = plan.tables.map(\.name)
    #expect(try #require(names.firstIndex(of: "customers")) < #require(names.firstIndex(of: "orders")))
    #expect(try #require(names.firstIndex(of: "orders")) < #require(names.firstIndex(of: "order lines")))
  }
}

extension String {
  /// As a name in quotes has it; `rows` shows texts with doubled single quotes.
  fileprivate var replacingDoubled: String { replacing("''", with: "'").replacing("\"", with: "\"\"") }
}
