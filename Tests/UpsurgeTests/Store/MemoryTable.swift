import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// A table of the memory store.
struct MemoryTable {
  struct Column {
    var name: String
    var affinity: Affinity

    /// A value as the column keeps it.
    func stored(_ value: SQLValue) -> SQLValue {
      switch (affinity, value) {
      case (.real, .integer(let number)): .real(Double(number))
      case (.integer, .real(let number)), (.numeric, .real(let number)):
        Int64(exactly: number).map { .integer($0) } ?? value
      case (.text, .integer(let number)): .text(String(number))
      default: value
      }
    }

    /// Whether a value is of the column's type, as a strict table asks it.
    func takes(_ value: SQLValue) -> Bool {
      switch (affinity, value) {
      case (_, .null), (.text, .text), (.integer, .integer), (.real, .real): true
      default: false
      }
    }
  }

  var columns: [Column]
  var key: [String]
  /// What a strict table asks of its rows; nil asks nothing.
  var demands: StoreScenario.Demands?
  /// By the values of the key; of a table without one, by a number.
  var rows: [[SQLValue]: [SQLValue]] = [:]
  var lastNumber: Int64 = 0

  func index(of name: String) -> Int? { columns.firstIndex { SQLName.isSame($0.name, name) } }

  /// All rows, in an order of their own.
  var texts: [String] { rows.values.map { $0.map { "\($0)" }.joined(separator: "|") }.sorted() }

  /// All rows as `Database.rows` writes them, sorted.
  var sqlTexts: [String] {
    rows.values.map { row in
      let texts = row.map { value in
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "'\(text)'"
        case .blob(let bytes): "x\(bytes.count)"
        }
      }
      return texts.joined(separator: "|")
    }.sorted()
  }

  private func value(_ name: String, _ row: [SQLValue]) -> SQLValue {
    index(of: name).map { row[$0] } ?? .null
  }

  private func number(_ name: String, _ row: [SQLValue]) -> Int64? {
    if case .integer(let number) = value(name, row) { number } else { nil }
  }

  /// Whether the trigger leaves a row out.
  func skips(_ row: [SQLValue]) -> Bool { demands?.trigger == .skips && number("n", row) == 7 }

  /// Why a row cannot be stored under a key; nil where it can.
  func refusal(of row: [SQLValue], under key: [SQLValue]) -> Reject.Code? {
    guard let demands else { return nil }
    if demands.trigger == .refuses, number("n", row) == 8 { return .trigger }
    if demands.needsNote, value("note", row) == .null { return .notNull }
    if let limit = demands.limit, let n = number("n", row), n >= limit { return .check }
    if let parents = demands.parents, let p = number("p", row), !parents.contains(p) { return .foreignKey }
    if demands.hasSecondKey, let u = number("u", row),
      rows.contains(where: { $0.key != key && number("u", $0.value) == u })
    {
      return .unique
    }
    return nil
  }

  /// What a row becomes by a record.
  /// - Parameter given: its values; nil for a column that it does not speak of.
  func merged(_ given: [SQLValue?], into old: [SQLValue], by merge: Merge) -> [SQLValue] {
    columns.indices.map { index in
      guard let new = given[index], !key.contains(where: { SQLName.isSame($0, columns[index].name) }) else {
        return old[index]
      }
      let rule = merge.columns.first { SQLName.isSame($0.key, columns[index].name) }?.value ?? merge.rule
      switch rule {
      case .replace, .along: return new
      case .coalesce: return new == .null ? old[index] : new
      case .keep: return old[index] == .null ? new : old[index]
      case .sum: return Self.combined(new, old[index], +)
      case .min: return Self.combined(new, old[index], Swift.min)
      case .max: return Self.combined(new, old[index], Swift.max)
      case .expression: preconditionFailure("the memory store knows no SQL")
      }
    }
  }

  private static func combined(_ new: SQLValue, _ old: SQLValue, _ combine: (Int64, Int64) -> Int64)
    -> SQLValue
  {
    switch (new, old) {
    case (.integer(let new), .integer(let old)): .integer(combine(new, old))
    case (.null, _): old
    default: new
    }
  }

  /// Whether a row is newer than a record that has other values, so that it stays.
  func isNewer(_ old: [SQLValue], than given: [SQLValue?], by newer: Merge.Newer?) -> Bool {
    guard let newer, let index = index(of: newer.column) else { return false }
    func age(_ value: SQLValue?) -> Int64 { if case .integer(let number)? = value { number } else { .min } }
    let (new, old) = (age(given[index]), age(old[index]))
    return newer.isStrict ? new <= old : new < old
  }
}
