import Upsurge
import UpsurgeModels

extension Example {
  static let upserting = [
    Example(
      name: "rules", files: ["feed.csv": "email,name,updated_at,visits,deleted\na@x,Ann,2,1,0\n"],
      run: useRules),
    Example(name: "bulk", run: storeRecords),
    Example(name: "returning", run: storeAndReturn),
    Example(name: "plan", run: showPlan),
    Example(name: "replay", files: ["feed.csv": "id,customer\n1,7\n"], run: replay),
  ]
}

/// Runs SQL in a database.
private func prepare(_ sql: String) async throws { try await Database("app.db").execute("\(raw: sql)") }

private func useRules() async throws {
  try await prepare(
    """
    CREATE TABLE people(email TEXT UNIQUE, name TEXT, updated_at INTEGER, visits INTEGER);
    INSERT INTO people VALUES ('a@x', 'Anna', 1, 4);
    """)
  var rules = UpsertRules(target: .columns(["email"]))
  rules.merge = Merge(.coalesce)
  rules.merge.newer = Merge.Newer(column: "updated_at")
  rules.merge.columns["visits"] = .sum
  rules.tombstone = Tombstone(column: "deleted", value: "1")

  var options = LoadOptions()
  options.rules = rules
  let summary = LoadJob(database: "app.db", table: "people", sources: ["feed.csv"], options: options).run()
  print(summary.ledger.updated, summary.error?.message ?? "done")
}

private func makePlayers() async throws {
  try await prepare(
    "CREATE TABLE players(id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER)")
}

private func storeRecords() async throws {
  try await makePlayers()
  let upsert = try BulkUpsert(
    database: "app.db", table: "players", columns: ["name", "score"],
    rules: UpsertRules(target: .columns(["name"]), merge: Merge(.coalesce)), returning: ["id"])
  try upsert.append([.text("Arthur"), .integer(1000)])
  for row in try upsert.takeReturned() { print(row.outcome, row.values ?? []) }
  let ledger = try upsert.finish()
  print(ledger.inserted)
}

private func storeAndReturn() async throws {
  try await makePlayers()
  let upsert = try BulkUpsert(
    database: "app.db", table: "players", columns: ["name", "score"],
    rules: UpsertRules(target: .columns(["name"])), returning: ["id"])
  try upsert.append([.text("Arthur"), .integer(1000)])
  try upsert.append([.text("Barbara"), .null])
  for row in try upsert.takeReturned() {
    print(row.record, row.outcome, row.values ?? [])
  }
  let ledger = try upsert.finish()
  print(ledger.inserted)
}

private func showPlan() async throws {
  try await makePlayers()
  let plan = try UpsertPlan(
    database: "app.db", table: "players", columns: ["name", "score"],
    rules: UpsertRules(target: .columns(["name"])))
  print(plan.mode, plan.keys, try plan.statements())
}

private func replay() async throws {
  try await prepare(
    """
    CREATE TABLE customers(id INTEGER PRIMARY KEY);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers);
    """)
  var options = LoadOptions()
  options.rejects.onError = .reject
  options.rejects.target = .file("bad.ndjson")
  _ = LoadJob(database: "app.db", table: "orders", sources: ["feed.csv"], options: options).run()
  try await prepare("INSERT INTO customers VALUES (7)")
  // ... correct the table, the rows that are referred to, or the raw text in the file ...
  let summary = ReplayJob(database: "app.db", file: "bad.ndjson").run()
  print(summary.ledger.inserted, summary.ledger.rejected)
}
