import TestSupport
import UpsurgePlan
import UpsurgeRecords

@testable import Upsurge

/// A table, rules, and deliveries for it, made by chance: one description that each store, and the oracle that stores one record
/// after the other, has its own words for.
///
/// It varies the table (made by the load, or there with constraints, a second key, a parent, a trigger), the key, the mode, the rules
/// of merging, tombstones, the order of the records, keys that come twice, bad values, broken records, batches and commits.
struct StoreScenario {
  /// What a table that is there asks of its rows beside the key.
  struct Demands {
    /// Whether `note` must be there.
    var needsNote = false
    /// What `n` must be below.
    var limit: Int64?
    /// Whether `u` is a second key.
    var hasSecondKey = false
    /// The values of `p` that have a row in a parent.
    var parents: ClosedRange<Int64>?
    var trigger: Trigger?
  }

  /// What happens before a row is inserted or updated.
  enum Trigger: CaseIterable {
    /// Where `n` is 7 the row stays as it is.
    case skips
    /// Where `n` is 8 the record is refused.
    case refuses
  }

  static let columns = ["k", "g", "n", "r", "note", "at", "u", "p"]
  /// Columns of texts; `k` is one only in some tables.
  static let textColumns: Set<String> = ["g", "note"]
  static let mark = "gone"

  var format: String
  var key: [String]
  var hasTextKey: Bool
  /// nil where the load makes the table.
  var demands: Demands?
  var rules: UpsertRules
  var isAtomic: Bool
  var commitEvery: Int
  var recordsPerBatch: Int
  private(set) var deliveries: [[StoreRecord]] = []

  /// The columns of a delivery.
  var names: [String] { Self.columns + (rules.tombstone == nil ? [] : [Self.mark]) }

  init(_ random: inout SeededGenerator) {
    format = ["csv", "ndjson"][random.below(2)]
    key = [[], ["k"], ["k"], ["k", "g"]][random.below(4)]
    hasTextKey = random.below(2) == 0
    demands = random.below(4) == 0 ? nil : Demands(&random)
    rules = UpsertRules()
    isAtomic = random.below(6) == 0
    (commitEvery, recordsPerBatch) = (1 + random.below(90), 1 + random.below(90))
    if !key.isEmpty { chooseRules(&random) }
    leaveOutDoubtful()
    let isSorted = random.below(5) < 2
    for _ in 0..<1 + random.below(3) {
      var keys = (0..<1 + random.below(120)).map { _ in random.below(70) }
      if isSorted { keys.sort() }
      deliveries.append(keys.enumerated().map { StoreRecord(key: $1, isFirst: $0 == 0, of: self, &random) })
    }
  }

  private mutating func chooseRules(_ random: inout SeededGenerator) {
    rules.key = key
    rules.mode = [nil, nil, .upsert, .insert, .ignore, .update, .delete][random.below(7)]
    guard [nil, .upsert, .update].contains(rules.mode) else { return }
    if random.below(4) == 0 { rules.tombstone = Tombstone(column: Self.mark, value: "1") }
    // A trigger sees the record before an insertion and the row before an update: here both have the same n.
    guard demands?.trigger == nil else { return }
    rules.merge.rule = [.replace, .replace, .coalesce, .keep][random.below(4)]
    if let rule = [nil, nil, MergeRule.sum, .min, .max][random.below(5)] {
      rules.merge.columns = ["n": rule]
    }
    if rules.merge.rule == .replace, random.below(2) == 0 {
      rules.merge.newer = Merge.Newer(column: "at", isStrict: random.below(2) == 0)
    }
  }

  /// Takes back what databases see in another order, or not at all: a value of a record that another rule leaves out.
  private mutating func leaveOutDoubtful() {
    let isReplaced = rules.merge.rule == .replace
    if !isReplaced { demands?.needsNote = false }
    if !isReplaced || rules.merge.columns["n"] == .min { demands?.limit = nil }
    // SQLite runs the trigger before it sees that a row is there.
    if demands?.trigger == .refuses, rules.mode == .ignore { demands?.trigger = nil }
    // In PostgreSQL such a row may also be one that the trigger has made say what it says.
    if demands?.trigger == .skips, !key.isEmpty, [nil, .upsert].contains(rules.mode) {
      demands?.trigger = nil
    }
  }

  /// Whether records may have a text in a column of numbers: PostgreSQL reads it before it sees whether it is needed, SQLite after.
  var hasMisfits: Bool {
    demands != nil && [nil, .upsert, .insert].contains(rules.mode) && rules.merge == Merge()
  }

  /// Whether a key may be NULL: SQLite gives a number to a new row whose key is an INTEGER PRIMARY KEY.
  var hasNullKeys: Bool { demands != nil || hasTextKey || key != ["k"] }

  /// What a load of a delivery does without a mode of its own.
  func mode(of delivery: Int) -> WriteMode {
    options(of: delivery).rules.mode ?? (key.isEmpty ? .insert : .upsert)
  }

  func options(of delivery: Int) -> LoadOptions {
    var options = LoadOptions()
    options.rules = rules
    // There must be a table to be changed only.
    if delivery == 0, demands == nil, rules.mode == .update || rules.mode == .delete {
      options.rules.mode = nil
    }
    options.rejects.onError = .reject
    options.transaction.isAtomic = isAtomic
    options.transaction.commitEvery = .records(commitEvery)
    options.transaction.direct = .never
    options.tuning.batchSizes.recordCount = recordsPerBatch
    return options
  }

  func text(of delivery: Int) -> String {
    let lines = deliveries[delivery].map { format == "csv" ? $0.csv : $0.json(hasTextKey: hasTextKey) }
    return ((format == "csv" ? [names.joined(separator: ",")] : []) + lines).joined(separator: "\n") + "\n"
  }
}

extension StoreScenario.Demands {
  fileprivate init(_ random: inout SeededGenerator) {
    needsNote = random.below(3) == 0
    limit = random.below(2) == 0 ? 90 : nil
    hasSecondKey = random.below(3) == 0
    parents = random.below(3) == 0 ? 0...5 : nil
    trigger = [nil, nil, .skips, .refuses][random.below(4)]
  }
}

/// A record of a scenario: its values as texts, and what is wrong with it.
struct StoreRecord {
  enum Value: Equatable {
    case absent, null
    case text(String)

    var text: String? { if case .text(let text) = self { text } else { nil } }
  }

  let values: [(name: String, value: Value)]
  /// Whether it cannot be read: a field too many, or half an object.
  let isBroken: Bool

  /// - Parameters:
  ///   - key: the number in its key.
  ///   - isFirst: whether a table that is made gets its types from it.
  init(key: Int, isFirst: Bool, of scenario: StoreScenario, _ random: inout SeededGenerator) {
    let keyText = scenario.hasTextKey ? "k\(key)" : "\(key)"
    let n =
      random.below(30) == 0 && scenario.hasMisfits
      ? "many" : random.below(25) == 0 ? "95" : "\(random.below(10))"
    let texts: [String?] = [
      random.below(40) == 0 && scenario.hasNullKeys ? nil : keyText,
      random.below(60) == 0 ? nil : "g\(random.below(3))", n,
      "\(random.below(4)).5", random.below(8) == 0 ? nil : "it's \(random.below(4))",
      random.below(30) == 0 ? nil : "\(random.below(6))", random.below(5) == 0 ? nil : "\(random.below(400))",
      random.below(6) == 0 ? nil : "\(random.below(random.below(8) == 0 ? 7 : 6))",
      random.below(8) == 0 ? "1" : "0",
    ]
    let whole = [keyText, "g1", "5", "1.5", "a", "1", "\(key)", "1", "0"]
    isBroken = !isFirst && random.below(40) == 0
    values = scenario.names.enumerated().map { index, name in
      guard let text = isFirst ? whole[index] : texts[index] else {
        // A row that is there may keep what a record lacks; an INSERT … ON CONFLICT of PostgreSQL asks for it all the same.
        let isNeeded = name == "note" && scenario.demands?.needsNote == true
        return (name, scenario.format == "csv" || isNeeded || random.below(2) == 0 ? .null : .absent)
      }
      return (name, .text(text))
    }
  }

  func value(of name: String) -> Value { values.first { $0.name == name }?.value ?? .absent }

  fileprivate var csv: String {
    values.map { $0.value.text ?? "" }.joined(separator: ",") + (isBroken ? ",more" : "")
  }

  fileprivate func json(hasTextKey: Bool) -> String {
    if isBroken { return "{\"k\":" }
    let pairs = values.compactMap { name, value -> String? in
      switch value {
      case .absent: return nil
      case .null: return "\"\(name)\":null"
      case .text(let text):
        let isText =
          StoreScenario.textColumns.contains(name) || name == "k" && hasTextKey || Double(text) == nil
        return "\"\(name)\":" + (isText ? "\"\(text)\"" : text)
      }
    }
    return "{" + pairs.joined(separator: ",") + "}"
  }
}

extension SeededGenerator {
  /// A number from 0 on that is smaller.
  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
