import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("Which path", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PathChoiceTests {
  struct Case: CustomStringConvertible {
    var ddl: String
    var base: PathChoice.Path
    var reason: String
    var rules = OrderedRules()
    var appends = true
    var walks = true

    var description: String { ddl }

    static let trigger = "; CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()"
    static let all = [
      Case(ddl: "CREATE TABLE t (id int PRIMARY KEY, v text)", base: .delta, reason: "records of different keys have nothing to do with one another"),
      Case(ddl: "CREATE TABLE t (id int PRIMARY KEY, v text UNIQUE)", base: .ordered, reason: "t_v_key is a second unique key"),
      Case(
        ddl: "CREATE TABLE t (id text COLLATE \"C\" PRIMARY KEY, v text)", base: .delta,
        reason: "records of different keys have nothing to do with one another"),
      Case(
        ddl: "CREATE TABLE t (id text COLLATE \"en_US\" PRIMARY KEY, v text)", base: .delta,
        reason: "records of different keys have nothing to do with one another", walks: false),
      Case(
        ddl: "CREATE TABLE t (id int PRIMARY KEY, v int REFERENCES t)", base: .ordered, reason: "t_v_fkey points to the same table", walks: false),
      Case(
        ddl: "CREATE TABLE t (id int PRIMARY KEY, v text)\(trigger)", base: .ordered, reason: "the trigger tr runs for each row", appends: false,
        walks: false),
      Case(
        ddl: "CREATE TABLE t (id int PRIMARY KEY, v text)", base: .ordered, reason: "SQL decides what becomes of a row",
        rules: OrderedRules(condition: "v < excluded.v"), walks: false),
      Case(ddl: "CREATE TABLE t (id int, v text)", base: .ordered, reason: "there is no key", walks: false),
      Case(ddl: "CREATE TABLE t (id int PRIMARY KEY, v json)", base: .delta, reason: "records of different keys have nothing to do with one another", walks: false),
      Case(
        ddl: "CREATE TABLE t (id int PRIMARY KEY, v point)", base: .delta, reason: "records of different keys have nothing to do with one another",
        appends: false),
      Case(
        ddl: "CREATE TABLE t (id int PRIMARY KEY, v int, EXCLUDE (v WITH =))", base: .ordered, reason: "t_v_excl excludes rows"),
    ]
  }

  @Test("Tables and their paths", arguments: Case.all)
  func table(test: Case) throws {
    let connection = try Server.database()
    guard Server.failure({ try connection.run(test.ddl) }) == nil else { return }
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let shape = RecordShape(table, key: table.primaryKey, columns: ["id", "v"], rules: test.rules)
    let choice = PathChoice(shape, try Capabilities(of: connection))
    #expect(choice.base == .init(path: test.base, reason: test.reason))
    #expect((choice.appendObjection == nil) == test.appends, "\(choice.appendObjection ?? "")")
    #expect((choice.walkObjection == nil) == test.walks, "\(choice.walkObjection ?? "")")
  }

  @Test("Batches and their paths")
  func batches() throws {
    let connection = try Server.database()
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, v text)")
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let shape = RecordShape(table, key: table.primaryKey, columns: ["id", "v"], rules: OrderedRules())
    let choice = PathChoice(shape, try Capabilities(of: connection))
    #expect(choice.path(recordCount: 9000, isRangeFree: true, isDense: false).path == .append)
    #expect(choice.path(recordCount: 9000, isRangeFree: false, isDense: true).path == .walk)
    #expect(choice.path(recordCount: 9000, isRangeFree: false, isDense: false).path == .delta)
    #expect(choice.path(recordCount: 900, isRangeFree: false, isDense: false).path == .unnest)
    var writer = PathWriter(connection, shape, try Capabilities(of: connection), slots: [0, 1])
    func store(_ ids: Range<Int64>, _ value: String) throws -> BatchOutcomes {
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of(ids.map { [.integer($0), .text(value)] }))
      #expect(try connection.commit())
      return outcomes
    }
    #expect(try store(0..<8000, "a").inserted == 8000 && writer.batchCounts == [.append: 1])
    #expect(try store(8000..<16_000, "a").inserted == 8000 && writer.batchCounts == [.append: 2])
    #expect(try store(0..<8000, "b").updated == 8000 && writer.batchCounts == [.append: 2, .delta: 1])
    #expect(try store(0..<8000, "b").unchanged == 8000 && writer.batchCounts == [.append: 2, .delta: 1, .walk: 1])
    #expect(try store(7990..<16_000, "a").updated == 10 && writer.batchCounts == [.append: 2, .delta: 1, .walk: 2, .unnest: 1])
    #expect(try store(10..<20, "c").updated == 10)
  }

  @Test("A role that makes no temporary tables stores all the same")
  func noTemporaryTables() throws {
    let url = try Server.freshURL()
    let connection = try Server.connect(url)
    let role = "poor_\(connection.database)"
    try connection.run(
      """
      CREATE ROLE \(role); REVOKE TEMPORARY ON DATABASE \(connection.database) FROM PUBLIC;
      CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL CHECK (v <> 'z')); GRANT SELECT, INSERT, UPDATE ON t TO \(role); SET ROLE \(role)
      """)
    let capabilities = try Capabilities(of: connection)
    #expect(!capabilities.hasTemporaryTables)
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let shape = RecordShape(table, key: table.primaryKey, columns: ["id", "v"], rules: OrderedRules())
    #expect(PathChoice(shape, capabilities).base == .init(path: .unnest, reason: "no temporary table can be made here"))
    var writer = PathWriter(connection, shape, capabilities, slots: [0, 1])
    for (value, expected) in [("a", \BatchOutcomes.inserted), ("b", \.updated), ("b", \.unchanged)] {
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of((0..<25_000).map { [.integer($0), .text($0 % 5000 == 4 ? "z" : value)] }))
      #expect(try connection.commit())
      #expect(outcomes[keyPath: expected] == 24_995 && outcomes.rejected.map(\.record) == [4, 5004, 10_004, 15_004, 20_004])
    }
    #expect(writer.batchCounts[.delta] == nil && writer.batchCounts[.ordered] == nil)
  }
}
