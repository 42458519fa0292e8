import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// A table, rules, and records that are stored in batches, and one by one by SQL of a test's own.
struct OrderedScenario: CustomStringConvertible {
  /// A column of the records: what it holds, mostly and seldom.
  struct Column {
    var name: String
    var type: String
    var good: [String?]
    var bad: [String?] = []
  }

  var name: String
  /// What the table `t` is; `t` is empty before it.
  var ddl: String
  var columns: [Column]
  /// The index that is the key; nil is the primary key.
  var index: String?
  /// How a row `t` is found by a record `excluded`.
  var match: String
  var rules = OrderedRules()
  /// The rules' SQL with all names qualified.
  var expressions: [String: String] = [:]
  var condition = "true"
  /// Columns that an update does not write.
  var keyColumns: [String]

  var description: String { name }

  typealias Record = [String?]

  func record(dirt: Double, _ generator: inout SeededGenerator) -> Record {
    columns.map { column in
      let isBad = !column.bad.isEmpty && Double.random(in: 0..<1, using: &generator) < dirt
      return (isBad ? column.bad : column.good).randomElement(using: &generator)!
    }
  }

  /// Whether the server can make the table.
  func isPossible(on connection: PostgresConnection) throws -> Bool {
    try !ddl.contains("provider = icu") || connection.hasICU()
  }

  /// How many of its values no row may have.
  func badCount(_ record: Record) -> Int { zip(columns, record).count { $0.bad.contains($1) } }

  // MARK: - One by one

  struct Result: Equatable {
    var inserted = 0
    var updated = 0
    var unchanged = 0
    var kept = 0
    /// A trigger has left out the rows that they were to become.
    var left = 0
    var rejected: [Int] = []
  }

  /// Stores a record by an UPDATE, and an INSERT where there is no row.
  func storeAlone(_ records: [Record], _ connection: PostgresConnection) throws -> (result: Result, states: [String]) {
    var (result, states) = (Result(), [String]())
    for (index, record) in records.enumerated() {
      if let key = nullKey(record) {
        result.rejected.append(index)
        states.append("null \(key)")
        continue
      }
      do {
        try connection.run("BEGIN")
        let outcome = try storeAlone(record, connection)
        try #require(try connection.commit())
        result[keyPath: outcome] += 1
      } catch let failure as PostgresFailure {
        connection.rollback()
        guard failure.kind == .record else { throw failure }
        result.rejected.append(index)
        states.append(failure.sqlState)
      }
    }
    return (result, states)
  }

  private func nullKey(_ record: Record) -> String? {
    zip(columns, record).first { keyColumns.contains($0.name) && $1 == nil }?.0.name
  }

  private func storeAlone(_ record: Record, _ connection: PostgresConnection) throws -> WritableKeyPath<Result, Int> {
    let values = zip(columns, record).map { column, value in
      "\(value.map { "'" + $0.replacing("'", with: "''") + "'" } ?? "NULL")::text::\(column.type) AS \(column.name)"
    }
    let excluded = "(SELECT \(values.joined(separator: ", "))) AS excluded"
    let names = columns.map(\.name)
    let changed = names.filter { !keyColumns.contains($0) }
    let new = changed.map { expressions[$0] ?? "excluded.\($0)" }
    func compared(_ list: [String]) -> String { "(" + list.map { "(\($0))::text" }.joined(separator: ", ") + ")" }
    let isOther = "\(compared(changed.map { "t.\($0)" })) IS DISTINCT FROM \(compared(new))"
    let exists = try connection.texts("SELECT (\(isOther)), (\(condition)) IS TRUE FROM t, \(excluded) WHERE \(match)")
    if let row = exists.first {
      // Texts may differ where values are equal: the UPDATE says it.
      let sets = zip(changed, new).map { "\($0) = \($1)" }.joined(separator: ", ")
      let equal = zip(changed, new).map { name, new in
        columns.first { $0.name == name }!.type.hasPrefix("json") && name != "jb" || name == "pt"
          ? "(t.\(name)::text IS DISTINCT FROM (\(new))::text)" : "(t.\(name) IS DISTINCT FROM \(new))"
      }
      let isDifferent = equal.joined(separator: " OR ")
      if row[1] == "f" {
        let different = try connection.texts("SELECT FROM t, \(excluded) WHERE \(match) AND (\(isDifferent))")
        return different.isEmpty ? \.unchanged : \.kept
      }
      let count = try connection.run("UPDATE t SET \(sets) FROM \(excluded) WHERE \(match) AND (\(isDifferent))")
      return count.last?.affectedCount == 1 ? \.updated : \.unchanged
    }
    let count = try connection.run("INSERT INTO t (\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE SELECT * FROM \(excluded)").last?.affectedCount
    return count == 1 ? \.inserted : \.left
  }

  // MARK: - In batches

  func storeOrdered(
    _ records: [Record], batchSize: Int, _ connection: PostgresConnection
  ) throws -> (result: Result, states: [String]) {
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let key = index.flatMap { name in table.uniqueIndexes.first { $0.name == name } } ?? table.primaryKey
    let plan = OrderedPlan(
      table, key: key, columns: columns.map(\.name), rules: rules, capabilities: try Capabilities(of: connection))
    var writer = OrderedWriter(connection, plan, slots: Array(columns.indices))
    var stored = StoredRecords()
    var first = 0
    while first < records.count {
      let part = records[first..<min(first + batchSize, records.count)]
      let batch = Batch.of(part.map { $0.map { $0.map { .text($0) } ?? .null } })
      try connection.run(plan.needsSnapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN")
      let outcomes = try writer.store(batch)
      try #require(try connection.commit())
      stored.add(outcomes, first: first)
      first += batchSize
    }
    return (stored.result, stored.states)
  }
}

/// What became of records that were stored in batches.
struct StoredRecords {
  private(set) var result = OrderedScenario.Result()
  /// Why each rejected record was: the server's SQLSTATE, or the column whose key is NULL.
  private(set) var states: [String] = []

  /// - Parameter first: the number of the batch's first record.
  mutating func add(_ outcomes: BatchOutcomes, first: Int) {
    result.inserted += outcomes.inserted
    result.updated += outcomes.updated
    result.unchanged += outcomes.unchanged
    result.kept += outcomes.kept
    result.left += outcomes.missing
    for rejected in outcomes.rejected {
      result.rejected.append(first + rejected.record)
      switch rejected.cause {
      case .nullKey(let column): states.append("null \(column)")
      case .fault(let fault, _): states.append(fault.sqlState ?? "")
      case .failure(let failure): states.append(failure.sqlState)
      }
    }
  }
}
