import SQLiteSupport
import TestSupport
import UpsurgeRecords

/// A table, rules and records, all of them from one seed.
struct ModelCase {
  struct Record {
    var values: [Value]
    /// Whether the parser rejects it.
    var isRagged = false
  }

  /// The records of one file.
  struct Load {
    var columns: [String]
    var records: [Record]
  }

  var table: ModelTable
  var rules: ModelRules
  /// Rows that are there before, by stored columns.
  var before: [[Value]] = []
  var loads: [Load] = []
  /// Whether one writer takes all loads, as when a run has several files.
  var hasOneWriter = false
  var cuts: [Cut] = []

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    table = ModelTable(random: &random)
    rules = ModelRules(table, random: &random)
    let stored = table.storedColumns
    before = (0..<random.number(0...15)).map { _ in stored.map { value($0, &random) } }
    for _ in 0..<random.number(1...2) { loads.append(load(&random)) }
    if random.chance(3) { loads.append(loads[0]) }
    hasOneWriter = random.chance(2)
    cuts = [
      Cut(batchSize: 1, rowsPerStatement: 1, flaggedRecordsPerShape: 0),
      Cut(flaggedRecordsPerShape: .max),
      Cut(
        batchSize: random.number(1...9), rowsPerStatement: random.number(1...5),
        commitEvery: random.number(1...30), flaggedRecordsPerShape: random.number(0...3)),
      Cut(
        batchSize: 50, rowsPerStatement: random.number(3...40), commitEvery: random.number(20...70)),
      Cut(batchSize: random.number(1...9), sortByteCount: 1 << 20),
      Cut(
        batchSize: random.number(1...5), rowsPerStatement: random.number(1...9),
        commitEvery: random.number(2...30), sortByteCount: random.number(500...9_000)),
    ]
  }

  private func load(_ random: inout SeededGenerator) -> Load {
    var columns = table.columns.map(\.name).filter { rules.needed.contains($0) || !random.chance(6) }
    if columns.isEmpty { columns = [table.storedColumns[0].name] }
    if let extra = rules.extraColumn { columns.append(extra) }
    columns.shuffle(using: &random)
    let hasAbsent = random.chance(2)
    let records = (0..<random.number(1...60)).map { _ in
      Record(
        values: columns.map { name in
          if hasAbsent && random.chance(6) { return .absent }
          if name == rules.rules.tombstone?.column && random.chance(3) {
            return tombstoneValue(&random)
          }
          guard let column = table.column(name), column.generated == nil else {
            return random.one(of: [.integer(0), .null, .text("no"), .integer(1)])
          }
          return value(column, &random)
        }, isRagged: random.chance(30))
    }
    return Load(columns: columns, records: records)
  }

  private func tombstoneValue(_ random: inout SeededGenerator) -> Value {
    switch rules.rules.tombstone?.value {
    case "1": random.one(of: [.integer(1), .text("1")])
    case "true": random.one(of: [.integer(1), .text("true")])
    case "": .null
    case let value: .text(value ?? "")
    }
  }

  /// A value for a column; keys come again and again.
  private func value(_ column: ModelTable.Column, _ random: inout SeededGenerator) -> Value {
    let isInKey = table.keys.contains { $0.columns.contains(column.name) }
    let mayBeForeign = !rules.needsConvertedValues || column.type.hasPrefix("INT")
    if column.isForeign && mayBeForeign && !random.chance(4) { return .integer(Int64(random.number(0...4))) }
    let size = table.storedColumns.count
    let most = isInKey ? (table.keys[0].parts.count > 1 ? 4 : 4 + size * 2) : 12
    if isInKey && random.chance(15) { return .null }
    let isConverted = rules.needsConvertedValues
    if isConverted && !isInKey && random.chance(10) { return .null }
    if isConverted || table.isStrict && !random.chance(12) {
      let number = random.number(0...most)
      switch column.type {
      case "TEXT": return .text(["t", "T", ""][number % 3] + "\(number / 2)")
      case "BLOB": return .blob([UInt8(number)])
      case "REAL":
        return random.chance(2) || isConverted ? .real(Double(number) / 2) : .integer(Int64(number))
      default: return .integer(Int64(number))
      }
    }
    switch random.number(0...19) {
    case 0...1: return isInKey ? 1 : .null
    case 2: return random.one(of: ["a", "A", "b", "b ", "", "é", "x"])
    case 3: return random.one(of: ["7", "7.0", " 7", "1e1", "007", "2"])
    case 4: return random.one(of: [1.0, 2.5, 7.0])
    case 5: return .blob([0x61])
    case 6...7 where column.type == "TEXT":
      return .text(random.one(of: ["k", "K"]) + "\(random.number(0...most))")
    default: return .integer(Int64(random.number(0...most)))
    }
  }
}

extension ModelCase: CustomStringConvertible {
  var description: String {
    let merge = rules.rules.merge
    var lines = [
      table.sql, "", "target \(rules.rules.target)", "mode \(rules.rules.mode.map { "\($0)" } ?? "nil")",
      "merge \(merge.rule) \(merge.columns.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })",
    ]
    if let newer = merge.newer { lines.append("newer \(newer.column)\(newer.isStrict ? " strict" : "")") }
    if let condition = merge.condition { lines.append("update if \(condition)") }
    if let tombstone = rules.rules.tombstone {
      lines.append("delete when \(tombstone.column) = '\(tombstone.value)'")
    }
    if rules.rules.nullKeys == .insert { lines.append("null keys are inserted") }
    lines.append("before (\(table.storedColumns.map(\.name).joined(separator: ", "))):")
    lines += before.map { "  \($0.map(\.description).joined(separator: ", "))" }
    for load in loads {
      lines.append("load (\(load.columns.joined(separator: ", "))):")
      lines += load.records.map {
        "  " + ($0.isRagged ? "ragged" : $0.values.map(\.description).joined(separator: ", "))
      }
    }
    if hasOneWriter { lines.append("one writer for all loads") }
    return lines.joined(separator: "\n")
  }
}
