import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeInput

@testable import UpsurgePostgres

/// What `upsurge inspect postgres://…` shows.
@Suite(
  "Inspecting PostgreSQL", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct InspectTests {
  let url: String
  let connection: PostgresConnection

  init() throws {
    PostgresModule.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
    try connection.run(
      """
      CREATE SCHEMA sales; CREATE TABLE people (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL);
      CREATE TABLE sales.orders (a int, "b,c" text, id uuid DEFAULT gen_random_uuid(), person bigint REFERENCES people,
        total numeric(10,2) CHECK (total >= 0), twice numeric GENERATED ALWAYS AS (total * 2) STORED, UNIQUE (a, "b,c"));
      CREATE UNIQUE INDEX orders_open ON sales.orders (lower("b,c")) WHERE total > 0; CREATE INDEX orders_total ON sales.orders (total, a);
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER audit BEFORE INSERT OR UPDATE ON sales.orders FOR EACH ROW EXECUTE FUNCTION f();
      CREATE TRIGGER late AFTER DELETE ON sales.orders EXECUTE FUNCTION f(); ALTER TABLE sales.orders DISABLE TRIGGER late;
      ALTER TABLE sales.orders ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON sales.orders AS RESTRICTIVE FOR SELECT USING (a > 0); CREATE POLICY other ON sales.orders WITH CHECK (a < 9);
      CREATE VIEW v AS SELECT a FROM sales.orders; INSERT INTO people(name) SELECT 'x' FROM generate_series(1, 1234); ANALYZE people
      """)
  }

  private func describe(_ table: String? = nil) throws -> ServerDescription {
    try ServerDescription(of: try #require(Source(url).serverParts), table: table)
  }

  @Test("Tables, columns, keys, indexes, triggers and policies")
  func all() throws {
    let found = try describe()
    #expect(found.tables.map(\.sourceName) == ["people", "v", "sales.orders"])
    #expect(found.tables.map(\.kind) == ["table", "view", "table"])
    #expect(
      found.server.hasPrefix("PostgreSQL 1") && found.encoding == "UTF8"
        && found.database == connection.database)
    #expect(!found.name.contains("sesame") && found.name.hasPrefix("postgres://upsurge@127.0.0.1"))
    let people = found.tables[0]
    #expect(people.rowEstimate == 1_234 && people.referencingTables == ["sales.orders"])
    #expect(
      people.columns.map(\.type) == ["bigint", "text"] && people.columns.map(\.isNotNull) == [true, true])
    #expect(
      people.columns.map(\.generation) == ["ALWAYS AS IDENTITY", nil]
        && people.columns.map(\.collation) == [nil, "C"])
    #expect(people.keys.map(\.option) == ["--key id"] && people.keys.map(\.kind) == ["PRIMARY KEY"])
    let orders = found.tables[2]
    #expect(orders.rowEstimate == nil)
    #expect(
      orders.keys.map(\.option) == [
        #"--key 'a,"b,c"'"#, #"--key 'lower("b,c")' --key-where '(total > (0)::numeric)'"#,
      ])
    #expect(
      orders.keys.map(\.kind) == ["UNIQUE", "UNIQUE INDEX"]
        && orders.keys.map(\.indexName) == [nil, "orders_open"])
    #expect(orders.indexes.map(\.name) == ["orders_total"] && orders.indexes[0].parts == ["total", "a"])
    #expect(orders.columns.map(\.type) == ["integer", "text", "uuid", "bigint", "numeric(10,2)", "numeric"])
    #expect(orders.columns[2].defaultExpression == "gen_random_uuid()")
    #expect(
      orders.columns[5].generation == "ALWAYS AS ((total * (2)::numeric))"
        && orders.columns[5].defaultExpression == nil)
    #expect(
      orders.foreignKeys.map(\.columns) == [["person"]] && orders.foreignKeys.map(\.parentTable) == ["people"]
    )
    #expect(
      orders.foreignKeys.map(\.parentColumns) == [["id"]]
        && orders.checks.map(\.expression) == ["(total >= (0)::numeric)"])
    #expect(
      orders.triggers.map(\.moment) == [
        "BEFORE INSERT OR UPDATE, for each row", "AFTER DELETE, for each statement",
      ])
    #expect(orders.triggers.map(\.isEnabled) == [true, false])
    #expect(orders.rowSecurity == .bypassed && orders.policies.map(\.name) == ["other", "own"])
    #expect(
      orders.policies.map(\.command) == ["ALL", "SELECT"]
        && orders.policies.map(\.roles) == [["PUBLIC"], ["PUBLIC"]])
    #expect(
      orders.policies.map(\.isPermissive) == [true, false] && orders.policies[1].using == "(a > 0)"
        && orders.policies[0].check == "(a < 9)")
  }

  @Test("The keys that are shown are keys that a load takes")
  func keys() throws {
    let summary = try Command.run([
      "load", url, "people", "exec:printf 'id,name\\n7,seven\\n'", "--key", "id", "--columns", "id,name",
    ])
    // It is the server that gives the number.
    #expect(summary.exitCode == 4, "\(summary.talk)")
    try connection.run("CREATE TABLE u (a int, b text, UNIQUE (a, b))")
    let option = try #require(try describe("u").tables.first?.keys.first?.option)
    let load = try Command.run(
      ["load", url, "u", "exec:printf 'a,b\\n7,seven\\n'"] + option.split(separator: " ").map(String.init))
    #expect(load.exitCode == 0, "\(load.talk)")
  }

  @Test("One table only, and none")
  func one() throws {
    #expect(try describe("sales.orders").tables.map(\.name) == ["orders"])
    #expect(try describe("v").tables.map(\.kind) == ["view"])
    let error = #expect(throws: UpsurgeError.self) { _ = try describe("nope") }
    #expect(
      error?.code == .unreadableInput && error?.hint == "it has: people, v, sales.orders",
      "\(String(describing: error))")
  }

  @Test("The command shows it, and writes it as JSON")
  func command() throws {
    let scratch = Scratch()
    let file = scratch.file("summary.json")
    let outcome = try Command.run(["inspect", url, "--summary", file])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    for line in [
      "table people: about 1,234 rows", "table sales.orders: rows not counted (ANALYZE counts them)",
      "view v",
      "  key: --key id  (PRIMARY KEY)", "  trigger: late, AFTER DELETE, for each statement, disabled",
      "  row-level security: on, and this user is not bound by it",
      "  policy: own for SELECT to PUBLIC, restrictive, using (a > 0)",
      "  foreign key: person -> people (id)", "  referenced by: sales.orders",
      "  name  text NOT NULL COLLATE C",
    ] {
      #expect(outcome.output.split(separator: "\n").contains { $0 == line }, "\(line) in \(outcome.output)")
    }
    #expect(!outcome.output.contains("sesame"))
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(readFile(file))) as? [String: Any])
    #expect(!String(decoding: try readFile(file), as: UTF8.self).contains("sesame"))
    let tables = try #require(json["tables"] as? [[String: Any]])
    #expect(
      tables.map { $0["name"] as? String } == ["people", "orders"]
        && (json["views"] as? [[String: Any]])?.count == 1)
    let keys = try #require(tables[1]["keys"] as? [[String: Any]])
    #expect(
      keys.map { $0["option"] as? String } == [
        #"--key 'a,"b,c"'"#, #"--key 'lower("b,c")' --key-where '(total > (0)::numeric)'"#,
      ])
    #expect((tables[0]["rows"] as? Int) == 1_234 && (tables[0]["rows_exact"] as? Bool) == false)
    let single = try Command.run(["inspect", url + "#people"])
    #expect(
      single.exitCode == 0 && single.output.contains("table people") && !single.output.contains("orders:"),
      "\(single.output)")
    #expect(try Command.run(["inspect", url + "#nope"]).exitCode == 66)
    #expect(try Command.run(["inspect", "postgres://u:s3cret@127.0.0.1:1/d"]).exitCode == 75)
  }

  @Test("What a query gives is looked at as any source, and a table with --check is read")
  func sources() throws {
    let query = try Command.run([
      "inspect", url + "?query=SELECT id, name, '2024-01-02'::date AS d FROM people",
    ])
    #expect(
      query.exitCode == 0 && query.output.contains("DATE") && query.output.contains("CREATE TABLE"),
      "\(query.output) \(query.talk)")
    let check = try Command.run(["inspect", url + "#people", "--check"])
    #expect(check.exitCode == 0 && check.output.contains("1,234 records"), "\(check.output) \(check.talk)")
  }
}
