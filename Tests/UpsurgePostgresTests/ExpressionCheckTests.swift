import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("SQL of users", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ExpressionCheckTests {
  private static func shape(_ connection: PostgresConnection, _ rules: OrderedRules) throws -> RecordShape {
    let table = try #require(try PostgresTable.read(name: "t", connection))
    return RecordShape(table, key: table.primaryKey, columns: ["id", "n", "a"], rules: rules)
  }

  private static func connection() throws -> PostgresConnection {
    let connection = try Server.database()
    try connection.run(
      "CREATE TABLE t (id int PRIMARY KEY, n int, a text, own int); CREATE TABLE victim (id int)")
    return connection
  }

  @Test("What is one expression is taken, and stores what it says")
  func good() throws {
    let connection = try Self.connection()
    let values = [
      "n + excluded.n", "coalesce(excluded.n, n) -- the newer one",
      "CASE WHEN n > 1 THEN 1 ELSE excluded.n END", "(SELECT max(x) FROM (VALUES (1), (n)) AS v(x))",
      "(1) + (2)", "own", "length(';') /* ; */", "length($$a;b$$)", "t.n",
    ]
    let conditions = [
      "true", "excluded.n > n", "n IS NULL OR a = 'x; y' -- or so", "EXISTS (SELECT FROM victim)",
      "(n = 1) OR (n = 2)",
    ]
    for value in values {
      let shape = try Self.shape(connection, OrderedRules(changes: ["n": .expression(value)]))
      #expect(try ExpressionCheck(shape).objection(connection) == nil, "\(value)")
      try connection.run("TRUNCATE t; INSERT INTO t VALUES (1, 7, 'a', 5)")
      var writer = OrderedWriter(
        connection, OrderedPlan(shape, try Capabilities(of: connection)), slots: [0, 1, 2])
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of([[.integer(1), .integer(3), .text("b")]]))
      #expect(try connection.commit() && outcomes.updated == 1, "\(value)")
    }
    for condition in conditions {
      let shape = try Self.shape(connection, OrderedRules(condition: condition))
      #expect(try ExpressionCheck(shape).objection(connection) == nil, "\(condition)")
    }
  }

  @Test(
    "What is more or less than one expression is refused by the name of its option, and nothing of it runs",
    arguments: [
      "1; DROP TABLE victim", "1); DROP TABLE victim; --", "1) FROM t; DROP TABLE victim; SELECT (1",
      "1) + (2", "true) OR (false", "1 ELSE 2",
      "1 END + CASE WHEN true THEN 2", "n, a", "n AS x", "n FROM victim", "n UNION SELECT 1", "1 /*", "'open",
      "$1", "", "-- nothing", "nowhere",
      "excluded.own", "nothing(n)", "1\u{0}); DROP TABLE victim; --", "true THEN 1 WHEN false",
      "generate_series(1, 2)",
    ])
  func bad(sql: String) throws {
    let connection = try Self.connection()
    let set = try ExpressionCheck(Self.shape(connection, OrderedRules(changes: ["n": .expression(sql)])))
      .objection(connection)
    #expect(set?.code == .usage && set?.description.contains("--set n: ") == true, "\(sql.debugDescription)")
    let condition = try ExpressionCheck(Self.shape(connection, OrderedRules(condition: sql))).objection(
      connection)
    #expect(
      condition?.code == .usage && condition?.description.contains("--update-if: ") == true,
      "\(sql.debugDescription)")
    #expect(try connection.texts("SELECT count(*) FROM pg_class WHERE relname IN ('t', 'victim')") == [["2"]])
  }

  @Test("The words are the server's, and a condition must be true or false")
  func words() throws {
    let connection = try Self.connection()
    let two = try ExpressionCheck(
      Self.shape(connection, OrderedRules(changes: ["n": .expression("1); SELECT (1")]))
    ).objection(connection)
    #expect(two?.said.text.contains("1); SELECT (1") == true)
    let number = try ExpressionCheck(Self.shape(connection, OrderedRules(condition: "n + 1"))).objection(
      connection)
    #expect(
      number?.said.text == "--update-if: argument of CASE/WHEN must be type boolean, not type integer: n + 1")
    // A connection that is gone is not the SQL's fault.
    _ = try? connection.run("SELECT pg_terminate_backend(pg_backend_pid())")
    let shape = Self.lost
    let failure = Server.failure { try ExpressionCheck(shape).objection(connection) }
    #expect(failure?.kind == .connectionLost)
  }

  /// A shape for which no server need be asked.
  private static var lost: RecordShape {
    let column = PostgresColumn(
      number: 1, name: "n", type: 23, typeName: "integer", baseType: 23, modifier: -1, isDomain: false,
      isNotNull: false, hasEquality: true)
    let table = PostgresTable(
      oid: 1, schema: "public", name: "t", kind: .table, columns: [column], uniqueIndexes: [],
      constraints: [], triggers: [], rules: [],
      hasRowSecurity: false, isTemporary: false, isUnlogged: false, hasForeignPartitions: false,
      hasPartitions: false,
      rights: PostgresTable.Rights(selects: true, inserts: true, updates: true, deletes: true))
    return RecordShape(table, key: nil, columns: ["n"], rules: OrderedRules(condition: "true"))
  }
}
