import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeState

@Suite struct RowStateKeeperTests {
  /// SQLite makes a list that does not depend on the row anew with each look at one row.
  @Test("What is noted of one row is looked up by its key", arguments: ["id", "stored", "key"])
  func lookUp(key: String) throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(\"\(key)\" TEXT PRIMARY KEY, v)")
    try RowStateTable.layout.prepare(on: connection)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let plan = try UpsertPlan(schema: schema, key: [key], mode: .upsert, columns: BatchMaker([key, "v"]).columns)
    var rules = RowStateRules()
    rules.owner = "a"
    let rowState = try RowStateKeeper(rules, plan, on: connection)
    for term in [rowState.ownTerm, rowState.sweptTerm] {
      let statement = try connection.prepare("EXPLAIN QUERY PLAN SELECT \(term) FROM t WHERE \"\(key)\" = ?1")
      var steps: [String] = []
      while try statement.step() { steps.append(statement.text(at: 3) ?? "") }
      #expect(!steps.contains { $0.contains("LIST SUBQUERY") || $0.hasPrefix("SCAN") }, "\(steps)")
      #expect(steps.contains { $0.contains("upsurge_rows USING PRIMARY KEY (key=? AND table=?") }, "\(steps)")
    }
  }
}
