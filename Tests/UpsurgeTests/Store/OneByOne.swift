import UpsurgePlan
import UpsurgeRecords

@testable import Upsurge
@testable import UpsurgePostgres

/// Stores the records of a scenario in PostgreSQL one after the other, each in a transaction, by SQL of the test: the slow and
/// obvious truth about rows, ledger and rejects.
struct OneByOne {
  let scenario: StoreScenario
  let connection: PostgresConnection
  /// Where the table `t` is; the search path begins with it.
  let table: String

  struct Result {
    var ledger = Ledger()
    /// The numbers of rejected records, from 1.
    var rejects: [UInt64] = []
  }

  func store(_ delivery: Int) throws -> Result {
    var result = Result()
    for (index, record) in scenario.deliveries[delivery].enumerated() {
      let outcome = try store(record, mode: mode(of: record, delivery))
      result.ledger.count(outcome)
      if outcome == .rejected { result.rejects.append(UInt64(index + 1)) }
    }
    return result
  }

  private func mode(of record: StoreRecord, _ delivery: Int) -> WriteMode {
    let mark = scenario.rules.tombstone.map { record.value(of: $0.column).text == $0.value } ?? false
    return mark ? .delete : scenario.mode(of: delivery)
  }

  private func store(_ record: StoreRecord, mode: WriteMode) throws -> Outcome {
    if record.isBroken || scenario.key.contains(where: { record.value(of: $0).text == nil }) {
      return .rejected
    }
    do {
      try connection.run("BEGIN")
      let outcome = try outcome(of: record, mode)
      return try connection.commit() ? outcome : .rejected
    } catch let failure as PostgresFailure {
      connection.rollback()
      guard failure.kind == .record else { throw failure }
      return .rejected
    }
  }

  private func outcome(of record: StoreRecord, _ mode: WriteMode) throws -> Outcome {
    // A delete looks at the key, and which is newer.
    let source = source(of: record, columns: mode == .delete ? neededByDeletes : StoreScenario.columns)
    let match = scenario.key.map { "t.\($0) = excluded.\($0)" }.joined(separator: " AND ")
    let merged = mode == .delete ? [] : merged(record)
    let isOther =
      merged.isEmpty
      ? "false" : merged.map { "t.\($0.name) IS DISTINCT FROM \($0.sql)" }.joined(separator: " OR ")
    let found =
      scenario.key.isEmpty
      ? nil
      : try connection.run(
        "SELECT \(isOther), \(isNotOlder) FROM \(table) AS t, \(source) WHERE \(match)"
      ).last?.rows.first
    guard let found else {
      if mode == .update || mode == .delete { return .ignored }
      return try changes("INSERT INTO \(table) (\(Self.names)) SELECT \(Self.names) FROM \(source)")
        ? .inserted : .ignored
    }
    switch mode {
    case .delete:
      if found.flag(1) != true { return .stale }
      return try changes("DELETE FROM \(table) AS t USING \(source) WHERE \(match)") ? .deleted : .ignored
    case .ignore: return .ignored
    case .insert:
      return try changes("INSERT INTO \(table) (\(Self.names)) SELECT \(Self.names) FROM \(source)")
        ? .inserted : .ignored
    case .update, .upsert:
      if found.flag(0) != true { return .unchanged }
      if found.flag(1) != true { return .stale }
      let sets = merged.map { "\($0.name) = \($0.sql)" }.joined(separator: ", ")
      return try changes("UPDATE \(table) AS t SET \(sets) FROM \(source) WHERE \(match)")
        ? .updated : .ignored
    }
  }

  private static let names = StoreScenario.columns.joined(separator: ", ")

  private var neededByDeletes: [String] {
    scenario.key + (scenario.rules.merge.newer.map { [$0.column] } ?? [])
  }

  /// Whether a statement changes a row; a trigger may leave it out.
  private func changes(_ sql: String) throws -> Bool { try connection.run(sql).last?.affectedCount == 1 }

  /// The record as a row `excluded`.
  private func source(of record: StoreRecord, columns: [String]) -> String {
    let values = columns.map { name in
      let type = scenario.isText(name) ? "text" : name == "r" ? "double precision" : "bigint"
      let text = record.value(of: name).text.map { "'" + $0.replacing("'", with: "''") + "'" } ?? "NULL"
      return "\(text)::text::\(type) AS \(name)"
    }
    return "(SELECT \(values.joined(separator: ", "))) AS excluded"
  }

  /// What each column of a row becomes that the record speaks of.
  private func merged(_ record: StoreRecord) -> [(name: String, sql: String)] {
    StoreScenario.columns.filter { !scenario.key.contains($0) && record.value(of: $0) != .absent }.map {
      name in
      let (row, new) = ("t.\(name)", "excluded.\(name)")
      let merge = scenario.rules.merge
      switch merge.columns[name] ?? merge.rule {
      case .replace, .along: return (name, new)
      case .coalesce: return (name, "coalesce(\(new), \(row))")
      case .keep: return (name, "coalesce(\(row), \(new))")
      case .sum: return (name, "coalesce(\(row) + \(new), \(row), \(new))")
      case .min: return (name, "least(\(row), \(new))")
      case .max: return (name, "greatest(\(row), \(new))")
      case .expression(let sql): return (name, sql)
      }
    }
  }

  /// Whether the record may change a row that it differs from.
  private var isNotOlder: String {
    guard let newer = scenario.rules.merge.newer else { return "true" }
    // A NULL is older than all.
    return
      "coalesce(excluded.\(newer.column), -1) \(newer.isStrict ? ">" : ">=") coalesce(t.\(newer.column), -1)"
  }
}
