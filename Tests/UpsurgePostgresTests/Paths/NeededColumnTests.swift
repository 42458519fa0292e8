import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite(
  "NULL in columns that are NOT NULL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct NeededColumnTests {
  /// What a record becomes that is not rejected.
  enum Outcome { case updated, unchanged, kept }

  /// A table, and what is stored in it.
  struct Case: CustomStringConvertible, Sendable {
    var name: String
    var ddl: String
    var rules = OrderedRules()
    /// Whether the client finds a NULL in `a`.
    var isFound = true
    /// What the record (2, NULL, …) becomes, whose row exists with other values.
    var outcome: Outcome?

    var description: String { name }

    static let all = [
      Case(name: "plain", ddl: "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text)"),
      Case(
        name: "a trigger that comes after",
        ddl:
          "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text); \(function) CREATE TRIGGER g AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()"
      ),
      Case(
        name: "a trigger that fills it",
        ddl:
          "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text); \(function) CREATE TRIGGER g BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()",
        isFound: false, outcome: .updated),
      Case(
        name: "a default", ddl: "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL DEFAULT 5, b text)",
        isFound: false),
      Case(
        name: "a domain",
        ddl: "CREATE DOMAIN d AS int NOT NULL; CREATE TABLE t (id int PRIMARY KEY, a d, b text)",
        isFound: false),
      Case(
        name: "a check", ddl: "CREATE TABLE t (id int PRIMARY KEY, a int CHECK (a IS NOT NULL), b text)",
        isFound: false),
      Case(
        name: "partitions",
        ddl:
          "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text) PARTITION BY RANGE (id); CREATE TABLE u PARTITION OF t DEFAULT",
        isFound: false),
      Case(
        name: "SQL that makes a value", ddl: "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text)",
        rules: OrderedRules(changes: ["a": .expression("coalesce(excluded.a, a)")]), isFound: false),
      Case(
        name: "rows that stay", ddl: "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text)",
        rules: OrderedRules(.ignore), isFound: false,
        outcome: .unchanged),
      Case(
        name: "a condition", ddl: "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text)",
        rules: OrderedRules(condition: "excluded.a > a"),
        isFound: false, outcome: .kept),
    ]

    private static let function =
      "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.a IS NULL THEN NEW.a := 6; END IF; RETURN NEW; END $$;"
  }

  @Test(
    "They are found in the client where the server would say the same, whatever it has", arguments: Case.all)
  func found(one: Case) throws {
    let connection = try Server.database()
    try connection.run("\(one.ddl); INSERT INTO t VALUES (2, 1, 'x')")
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let shape = RecordShape(table, key: table.primaryKey, columns: ["id", "a", "b"], rules: one.rules)
    #expect(shape.neededFields.contains(1) == one.isFound)
    var writer = PathWriter(connection, shape, try Capabilities(of: connection), slots: [0, 1, 2])
    let records: [[TestValue]] = [
      [.integer(1), .integer(1), .null], [.integer(2), .null, .text("y")],
      [.integer(3), .integer(3), .text("z")],
    ]
    try connection.run("BEGIN")
    let outcomes = try writer.store(Batch.of(records))
    #expect(try connection.commit())
    if let outcome = one.outcome {
      let count =
        switch outcome {
        case .updated: outcomes.updated
        case .unchanged: outcomes.unchanged
        case .kept: outcomes.kept
        }
      #expect(outcomes.rejected.isEmpty && count == 1, "\(outcomes)")
      return
    }
    let rejected = try #require(outcomes.rejected.first)
    #expect(outcomes.rejected.count == 1 && rejected.record == 1 && outcomes.inserted == 2)
    switch rejected.cause {
    case .fault(let fault, let column): #expect(one.isFound && fault.sqlState == "23502" && column == "a")
    case .failure(let failure):
      #expect(!one.isFound && failure.sqlState == (one.name == "a check" ? "23514" : "23502"))
    case .nullKey: Issue.record("\(rejected)")
    }
    // The server says the same of it alone.
    if one.isFound {
      let alone = Server.failure { try connection.run("UPDATE t SET a = NULL, b = 'y' WHERE id = 2") }
      #expect(alone?.sqlState == "23502" && alone?.column == "a")
    }
  }

  @Test(
    "A value that its type does not take is said first, and a record that lacks the column is not asked for it"
  )
  func order() throws {
    let connection = try Server.database()
    try connection.run(
      "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int); INSERT INTO t VALUES (1, 1, 1)")
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let capabilities = try Capabilities(of: connection)
    func stored(_ columns: [String], _ record: [TestValue]) throws -> BatchOutcomes {
      let shape = RecordShape(table, key: table.primaryKey, columns: columns, rules: OrderedRules())
      var writer = PathWriter(connection, shape, capabilities, slots: Array(columns.indices))
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of([record]))
      #expect(try connection.commit())
      return outcomes
    }
    #expect(
      try stored(["id", "a", "b"], [.integer(1), .null, .text("x")]).rejected.first?.cause
        == .fault(.syntax, column: "b"))
    #expect(
      try stored(["id", "a", "b"], [.null, .null, .integer(1)]).rejected.first?.cause
        == .nullKey(column: "id"))
    #expect(
      try stored(["id", "a", "b"], [.integer(1), .absent, .integer(1)]).rejected.first?.cause
        == .fault(.null, column: "a"))
    #expect(try stored(["id", "b"], [.integer(1), .integer(2)]).updated == 1)
    // A column of which some rows are not looked at yet may hold NULL.
    if connection.versionNumber >= 18_00_00 {
      try connection.run(
        "CREATE TABLE u (id int PRIMARY KEY, a int); INSERT INTO u VALUES (1, NULL); ALTER TABLE u ADD CONSTRAINT c NOT NULL a NOT VALID"
      )
      #expect(try PostgresTable.read(name: "u", connection)?.column("a")?.isProvenNotNull == false)
    }
    #expect(table.column("a")?.isProvenNotNull == true && table.column("b")?.isProvenNotNull == false)
  }
}
