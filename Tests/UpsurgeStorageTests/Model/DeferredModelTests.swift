import CSQLite
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Deferred foreign keys against an oracle: single-row statements, once more from the transaction's start without the
/// records that have set what is open at its end, until nothing is.
@Suite struct DeferredModelTests {
  private enum Rule: CaseIterable { case replace, coalesce, keep, newer }

  /// What became of everything.
  private struct Result: Equatable {
    var rows: [[Value]] = []
    var ledger: [String: Int] = [:]
    var rejects: [String] = []
  }

  private struct Case {
    var setup: String
    var rule: Rule
    var records: [[Value]]
    var cut: Cut

    init(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &generator)] }
      let isWithoutRowid = pick([false, false, true])
      let deferred = "DEFERRABLE INITIALLY DEFERRED"
      let unique = pick(["UNIQUE", "UNIQUE", ""])
      let action = pick(["", "ON DELETE CASCADE ON UPDATE CASCADE", "ON DELETE SET NULL"])
      setup = """
        CREATE TABLE par(p INTEGER PRIMARY KEY); INSERT INTO par VALUES(1),(2);
        CREATE TABLE t(id INTEGER NOT NULL PRIMARY KEY, u TEXT \(unique), p INTEGER REFERENCES par(p) \(deferred),
          up INTEGER REFERENCES t(id) \(action) \(deferred), n INTEGER, ts INTEGER)\(isWithoutRowid ? " WITHOUT ROWID" : "");
        INSERT INTO t VALUES(1, 'a', 1, NULL, 0, 5),(2, NULL, 2, 1, 0, 5);
        """
      rule = pick(Rule.allCases)
      let count = pick([2, 4, 8, 14, 40])
      let last: Int64 = pick([4, 7, 12, 40])
      var records: [[Value]] = []
      for _ in 0..<count {
        let id = Int64.random(in: 1..<last, using: &generator)
        let up: Value = pick([true, false]) ? .null : .integer(.random(in: 1...last, using: &generator))
        records.append([
          .integer(id), pick([nil, nil, "a", "b", "c"]), pick([nil, 1, 1, 2, 2, 9, 8]), up,
          .integer(.random(in: 0..<3, using: &generator)), .integer(.random(in: 0..<9, using: &generator)),
        ])
      }
      self.records = records
      cut = Cut()
      cut.batchSize = pick([1, 2, 3, 7, 1000])
      cut.commitEvery = pick([1, 2, 3, 5, count, 1000])
    }
  }

  @Test(arguments: 0..<8) func equalsRecordsOneByOne(_ group: UInt64) throws {
    for seed in group * 50..<group * 50 + 50 {
      let given = Case(seed: seed)
      let result = try load(given)
      let expected = try oracle(given)
      #expect(result == expected, "seed \(seed): \(given)")
      if result != expected { return }
    }
  }

  private func load(_ given: Case) throws -> Result {
    let connection = try TemporaryDatabase().open(given.setup)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var maker = BatchMaker(["id", "u", "p", "up", "n", "ts"])
    var rules = UpsertRules()
    switch given.rule {
    case .replace: break
    case .coalesce: rules.merge = Merge(.coalesce)
    case .keep: rules.merge = Merge(.keep)
    case .newer: rules.merge.newer = Merge.Newer(column: "ts")
    }
    let plan = try UpsertPlan(schema: schema, rules: rules, columns: maker.columns)
    var settings = WriterSettings()
    settings.onError = .reject
    settings.commitEvery.records = given.cut.commitEvery
    let kept = Kept()
    let writer = try TableWriter(connection: connection, plan: plan, sourceNames: ["in"], settings: settings)
    { (reject) throws(UpsurgeError) in kept.rejects.append(reject) }
    var at = 0
    while at < given.records.count {
      let end = min(at + given.cut.batchSize, given.records.count)
      var batch = maker.batch(Array(given.records[at..<end]))
      try writer.write(&batch)
      at = end
    }
    try writer.finish()
    var result = Result()
    result.rows = try connection.rows("SELECT * FROM t ORDER BY id")
    for entry in writer.ledger.entries where entry.count > 0 && entry.word != "read" {
      result.ledger["\(entry.word)"] = Int(entry.count)
    }
    result.rejects = kept.rejects.map { "\($0.position.record ?? 0) \($0.code.rawValue)" }
    return result
  }

  // MARK: - The oracle

  private func oracle(_ given: Case) throws -> Result {
    let connection = try TemporaryDatabase().open(given.setup)
    var result = Result()
    var start = 0
    while start < given.records.count {
      let end = min(start + given.cut.commitEvery, given.records.count)
      var culprits: Set<Int> = []
      try connection.execute("BEGIN")
      while true {
        try connection.execute("SAVEPOINT start")
        var setters: [String: Int] = [:]
        var outcomes: [(Int, String)] = []
        for index in start..<end {
          let outcome =
            culprits.contains(index)
            ? "foreign-key" : try store(given.records[index], given.rule, index, connection, &setters)
          outcomes.append((index, outcome))
        }
        let open = try connection.rows(
          """
          SELECT 'p' || id FROM t WHERE p IS NOT NULL AND p NOT IN (SELECT p FROM par)
          UNION ALL SELECT 'up' || id FROM t WHERE up IS NOT NULL AND up NOT IN (SELECT id FROM t)
          """)
        if open.isEmpty {
          for (index, outcome) in outcomes {
            let isReject = outcome == "foreign-key" || outcome == "unique"
            if isReject { result.rejects.append("\(index + 1) \(outcome)") }
            result.ledger[isReject ? "rejected" : outcome, default: 0] += 1
          }
          break
        }
        for case .text(let name) in open.map({ $0[0] }) { culprits.insert(try #require(setters[name])) }
        try connection.execute("ROLLBACK TO start; RELEASE start")
      }
      try connection.execute("COMMIT")
      start = end
    }
    result.rows = try connection.rows("SELECT * FROM t ORDER BY id")
    return result
  }

  private func store(
    _ record: [Value], _ rule: Rule, _ index: Int, _ connection: Connection, _ setters: inout [String: Int]
  ) throws -> String {
    let old = try connection.rows("SELECT * FROM t WHERE id = \(record[0])").first
    var new = record
    if let old {
      for column in 1..<record.count {
        if rule == .coalesce, record[column] == .null { new[column] = old[column] }
        if rule == .keep, old[column] != .null { new[column] = old[column] }
      }
      if new == old { return "unchanged" }
      if rule == .newer, case (.integer(let now), .integer(let was)) = (record[5], old[5]), now < was {
        return "stale"
      }
    }
    let values = new.map(\.description)
    let names = ["id", "u", "p", "up", "n", "ts"]
    do throws(UpsurgeError) {
      try connection.execute(
        old == nil
          ? "INSERT INTO t VALUES(\(values.joined(separator: ", ")))"
          : "UPDATE t SET \(zip(names, values).map { "\($0) = \($1)" }.joined(separator: ", ")) WHERE id = \(values[0])"
      )
    } catch { return "unique" }
    for (place, name) in [(2, "p"), (3, "up")] where old == nil || old?[place] != new[place] {
      setters[name + values[0]] = index
    }
    return old == nil ? "inserted" : "updated"
  }
}
