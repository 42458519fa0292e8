import TestSupport
import UpsurgeRecords

@testable import UpsurgePlan

/// Rules for a table, with the keys that they mean.
struct ModelRules {
  var rules: UpsertRules
  /// The keys by which a row is looked up, in order; empty for none.
  var keys: [ModelTable.Key]
  /// Columns that the input must have, and one of its own that the table lacks.
  var needed: [String]
  var extraColumn: String?
  /// Whether an update changes a key, so that its row is not found again by the record.
  var setsKey = false

  /// Whether SQL may see values as the record has them: a look-up does not convert them before, as an INSERT does.
  var needsConvertedValues: Bool {
    rules.merge.condition != nil || rules.merge.columns.values.contains { $0.isExpression }
      || keys.contains { $0.predicate != nil || $0.parts.contains { $0.expression != nil } }
  }

  /// The mode, where the rules leave it open.
  var mode: WriteMode { rules.mode ?? (keys.isEmpty ? .insert : .upsert) }

  init(_ table: ModelTable, random: inout SeededGenerator) {
    (rules, keys) = ModelRules.target(table, &random)
    needed = keys.flatMap(\.columns)
    if keys.isEmpty {
      rules.mode = random.one(of: [.insert, .ignore])
      return
    }
    rules.mode = random.one(of: [
      .upsert, .upsert, .upsert, .upsert, .upsert, nil, .insert, .ignore, .update, .update, .delete,
    ])
    // Updates and deletes take one key.
    if keys.count > 1 && (mode == .update || mode == .delete) { rules.mode = .upsert }
    if random.chance(4) { rules.nullKeys = .insert }
    let free = table.storedColumns.map(\.name).filter { name in
      !keys.contains { $0.columns.contains(name) } && table.primaryKey?.columns.contains(name) != true
    }
    if !free.isEmpty {
      if random.chance(2) { addMerge(table, free, &random) }
      if random.chance(4) {
        rules.merge.newer = .init(column: random.one(of: free), isStrict: random.chance(2))
      }
    }
    // SQL may set a column of a UNIQUE key, so that the next record with that key finds no row.
    let ofKey = keys.flatMap(\.columns).filter { table.primaryKey?.columns.contains($0) != true }
    if !ofKey.isEmpty && rules.merge.columns.isEmpty && random.chance(8) {
      let column = random.one(of: ofKey)
      rules.merge.columns[column] = .expression(
        random.one(of: ["excluded.\(column) || '!'", "\(column)", "length(\(column))", "NULL"]))
      setsKey = true
    }
    if keys.count == 1 && random.chance(5) { addTombstone(free, &random) }
    let isDelete = mode == .delete || rules.tombstone != nil
    if !free.isEmpty && !isDelete && random.chance(6) {
      rules.merge.condition = condition(random.one(of: free), table, &random)
    }
    needed += free.filter { rules.merge.columns[$0] != nil || rules.merge.newer?.column == $0 }
    if let column = rules.tombstone?.column, column != extraColumn { needed.append(column) }
  }

  // MARK: - Which row

  private static func target(
    _ table: ModelTable, _ random: inout SeededGenerator
  ) -> (UpsertRules, [ModelTable.Key]) {
    // ON CONFLICT cannot name a key that holds the INTEGER PRIMARY KEY and is another one.
    let keys = table.keys.filter { $0.isPrimary || !$0.columns.contains(table.rowidColumn ?? "") }
    guard !keys.isEmpty else { return (UpsertRules(), []) }
    if keys.count > 1 && random.chance(4) {
      let order = random.some(random.number(2...keys.count), of: keys)
      return (UpsertRules(target: .firstOf(order.map { single($0, &random) })), order)
    }
    if random.chance(5) { return (UpsertRules(target: .any), keys) }
    let key = random.one(of: keys)
    if key.isPrimary && random.chance(2) { return (UpsertRules(), [key]) }
    return (UpsertRules(target: single(key, &random)), [key])
  }

  private static func single(_ key: ModelTable.Key, _ random: inout SeededGenerator) -> ConflictTarget {
    if key.isPrimary && random.chance(3) { return .primaryKey }
    if let name = key.name, random.chance(2) { return .index(name) }
    let terms = key.parts.map { $0.expression.map { ModelTable.on("", $0) } ?? $0.column }
    return .columns(
      terms.shuffled(using: &random), where: key.predicate.map { ModelTable.on("", $0) })
  }

  // MARK: - How it changes

  private mutating func addMerge(
    _ table: ModelTable, _ free: [String], _ random: inout SeededGenerator
  ) {
    let rules: [MergeRule] = [.replace, .coalesce, .keep, .min, .max, .sum]
    self.rules.merge.rule = random.one(of: [.replace, .replace, .replace] + rules)
    for column in free where random.chance(2) {
      self.rules.merge.columns[column] =
        random.chance(3) ? .expression(expression(column, table, &random)) : random.one(of: rules + [.along])
    }
  }

  private func expression(
    _ column: String, _ table: ModelTable, _ random: inout SeededGenerator
  ) -> String {
    let other = random.one(of: table.storedColumns).name
    return random.one(of: [
      "\(column) + excluded.\(column)", "t.\(column) || '+'", "excluded.\(column) || coalesce(\(column), '')",
      "\(other)", "CASE WHEN \(column) > 10 THEN \(column) ELSE excluded.\(column) END", "7", "NULL",
      "max(ifnull(\(column), 0), ifnull(excluded.\(column), 0))", "length(excluded.\(column))",
      "coalesce(excluded.\(column), t.\(other))",
    ])
  }

  private func condition(
    _ column: String, _ table: ModelTable, _ random: inout SeededGenerator
  ) -> String {
    let other = random.one(of: table.storedColumns).name
    return random.one(of: [
      "excluded.\(column) > t.\(column)", "t.\(other) IS NOT NULL",
      "\(column) < 20 OR excluded.\(column) < 5",
      "\(other)", "excluded.\(column)",
    ])
  }

  private mutating func addTombstone(_ free: [String], _ random: inout SeededGenerator) {
    let value = random.one(of: ["1", "true", "", "x"])
    if free.isEmpty || random.chance(2) {
      extraColumn = "gone"
      rules.tombstone = Tombstone(column: "gone", value: value)
    } else {
      rules.tombstone = Tombstone(column: random.one(of: free), value: value)
    }
  }
}
