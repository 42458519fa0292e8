import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// A server that has pg_input_is_valid.
enum NewerServer {
  static let skipNote =
    "pg_input_is_valid needs PostgreSQL 16: .ci/postgres-versions names the folder of one in UPSURGE_POSTGRES_BIN"

  static let installation = PostgresServer.installed().first { $0.majorVersion >= 16 }

  static var isPresent: Bool { installation != nil }
}

/// Values that the server reads, on a server that can say which of them are none of their type.
@Suite(
  "Values that only the server reads",
  .enabled(if: NewerServer.isPresent, Comment(rawValue: NewerServer.skipNote)))
struct InputFilterTests {
  private static func connection() throws -> PostgresConnection {
    let server = try PostgresServer.shared(try #require(NewerServer.installation))
    let connection = try Server.connect(server.url())
    let schema = "input_\(UInt32.random(in: 0...UInt32.max))"
    try connection.run("CREATE SCHEMA \(schema); SET search_path = \(schema); SET datestyle = 'ISO, YMD'")
    return connection
  }

  private static func store(_ batch: borrowing Batch, by path: TestedPath, _ connection: PostgresConnection)
    throws -> BatchOutcomes
  {
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let shape = RecordShape(
      table, key: table.primaryKey, columns: table.columns.map(\.name), rules: OrderedRules())
    var store = PathStore(path, connection, shape, try Capabilities(of: connection))
    try connection.run("BEGIN")
    let outcomes = try store.store(batch)
    #expect(try connection.commit())
    return outcomes
  }

  @Test(
    "Three hundred of them are found by few statements, with the server's words",
    arguments: [TestedPath.ordered, .delta, .unnest, .chosen])
  func found(path: TestedPath) throws {
    let connection = try Self.connection()
    try connection.run(
      "CREATE TYPE mood AS ENUM ('ok', 'bad'); CREATE TABLE t (id int PRIMARY KEY, m mood, p inet, j json)")
    let bad = Set((0..<300).map { $0 * 61 % 10_000 })
    let records = (0..<10_000).map { index -> [TestValue] in
      if !bad.contains(index) {
        return [.integer(Int64(index)), .text("ok"), .text("10.0.0.1"), index % 7 == 0 ? .null : .text("{}")]
      }
      switch index % 3 {
      case 0: return [.integer(Int64(index)), .text("odd"), .text("10.0.0.1"), .null]
      case 1: return [.integer(Int64(index)), .text("ok"), .text("10.0.0.256"), .text("{}")]
      default: return [.integer(Int64(index)), .text("ok"), .null, .text("{")]
      }
    }
    let outcomes = try Self.store(Batch.of(records), by: path, connection)
    #expect(outcomes.rejected.map(\.record) == bad.sorted() && outcomes.inserted == 9700)
    // Each is tried once.
    #expect(outcomes.statementCount <= 300 + 40, "\(path) \(outcomes.statementCount)")
    for rejected in outcomes.rejected {
      guard case .failure(let failure) = rejected.cause else {
        Issue.record("\(rejected)")
        continue
      }
      let words = [
        "invalid input value for enum mood: \"odd\"", "invalid input syntax for type inet: \"10.0.0.256\"",
        "invalid input syntax for type json",
      ]
      #expect(failure.sqlState == "22P02" && failure.message == words[rejected.record % 3])
    }
  }

  @Test(
    "A value of another length is found like one that is none of its type",
    arguments: [TestedPath.ordered, .delta, .unnest])
  func casts(path: TestedPath) throws {
    let connection = try Self.connection()
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, b bit(3), v varbit(2), d date)")
    let (bits, days): ([Int: String], [Int: String]) = ([9: "12", 15: "10110"], [11: "Feb 30 2024"])
    let records = (0..<200).map { index -> [TestValue] in
      let values = [bits[index] ?? "101", index == 17 ? "111" : "11", days[index] ?? "Feb 29 2024"]
      return [.integer(Int64(index))] + values.map { TestValue.text($0) }
    }
    let outcomes = try Self.store(Batch.of(records), by: path, connection)
    #expect(
      outcomes.rejected.map(\.record) == [9, 11, 15, 17] && outcomes.inserted == 196
        && outcomes.statementCount < 80,
      "\(outcomes)")
    #expect(try connection.texts("SELECT DISTINCT b, v, d FROM t") == [["101", "11", "2024-02-29"]])
  }

  @Test("A type whose input only knows how to fail is left to the search")
  func hardFailures() throws {
    let connection = try Self.connection()
    // Its input is a function in SQL's own words, which raises.
    try connection.run(
      """
      CREATE FUNCTION odd(int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN IF $1 = 7 THEN RAISE EXCEPTION USING ERRCODE = '22023'; END IF; RETURN true; END $$;
      CREATE DOMAIN d AS int4range CHECK (odd(lower(VALUE))); CREATE TABLE t (id int PRIMARY KEY, r d)
      """)
    let records = (0..<100).map {
      [TestValue.integer(Int64($0)), .text($0 == 41 ? "[7,8)" : $0 == 60 ? "[x,8)" : "[1,2)")]
    }
    let outcomes = try Self.store(Batch.of(records), by: .ordered, connection)
    #expect(outcomes.rejected.map(\.record) == [41, 60] && outcomes.inserted == 98)
  }
}
