import Upsurge
import UpsurgeRecords

extension PostgresTable {
  /// - Parameters:
  ///   - rules: of the records that are to go there.
  ///   - sweep: what becomes of other rows.
  /// - Throws: `usage` for what no record can be stored in, or not in one transaction.
  func checkTakesRecords(by rules: UpsertRules, sweep: RowSweep = .none) throws(UpsurgeError) {
    let shown = TableName(schema: schema, name: name).shown.escapedForTerminal
    switch kind {
    case .materializedView:
      throw UpsurgeError(
        .usage, "\(shown) is a materialized view, which only REFRESH fills",
        hint: "load the tables that it is made of")
    case .view where !triggers.contains(where: \.isInsteadOf):
      throw UpsurgeError(
        .usage, "\(shown) is a view without INSTEAD OF triggers; what is stored through it cannot be counted",
        hint: "load the table that it shows")
    case .view where !rules.key.isEmpty:
      throw UpsurgeError(
        .usage, "\(shown) is a view, which has no key", hint: "load the table that it shows")
    case .foreign:
      if !rules.key.isEmpty {
        throw UpsurgeError(
          .usage, "\(shown) is a table of another server, which has no key here",
          hint: "load the table on its own server")
      }
    default: break
    }
    let hasKey = !rules.key.isEmpty || primaryKey != nil
    if hasForeignPartitions, hasKey {
      throw UpsurgeError(
        .usage, "\(shown) has partitions on other servers, whose commits are not one, and no key over them",
        hint: "load each partition on its own server")
    }
    try checkRules(against: rules, sweep, hasKey: hasKey, shown)
  }

  /// - Throws: `usage` for a rule that PostgreSQL does not combine with statements that count what they store.
  private func checkRules(
    against given: UpsertRules, _ sweep: RowSweep, hasKey: Bool, _ shown: String
  ) throws(UpsurgeError) {
    let events: Set<PostgresRule.Event> =
      switch given.mode ?? (hasKey ? .upsert : .insert) {
      case .insert: [.insert]
      case .update: [.update]
      case .delete: [.delete]
      default: [.insert, .update]
      }
    let deletes: Set<PostgresRule.Event> = given.tombstone == nil ? [] : [.delete]
    let sweeps: Set<PostgresRule.Event> =
      switch sweep {
      case .none: []
      case .hard: [.delete]
      case .soft: [.update]
      }
    let all = events.union(deletes).union(sweeps)
    guard let rule = rules.first(where: { all.contains($0.event) }) else { return }
    throw UpsurgeError(
      .usage,
      "\(shown) has the rule \(rule.name.escapedForTerminal) on \(rule.event.rawValue), and what a rule stores cannot be counted",
      hint: "make a trigger of the rule, and DROP RULE \(rule.name.escapedForTerminal) ON \(shown)")
  }
}
