import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

/// Tables, page sizes and records at random: what is packed, and what SQLite stores behind it, is what SQLite alone
/// makes of the same records.
@Suite struct DirectRandomTests {
  @Test(arguments: SeededGenerator.some(of: 120)) func packedIsStored(_ seed: Int) throws {
    try check(seed, isSorted: true)
  }

  @Test(arguments: SeededGenerator.some(of: 120)) func keysInNoOrder(_ seed: Int) throws {
    try check(seed, isSorted: false)
  }

  private func check(_ seed: Int, isSorted: Bool) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let table = RandomTable(&random)
    var rows = try table.rows(&random)
    var packing = Packing(
      table.create, table.columns, pageByteCount: 512 << Int.random(in: 0...7, using: &random))
    packing.batchSize = Int.random(in: 1...200, using: &random)
    if !isSorted {
      if !table.hasRowidKey { rows.shuffle(using: &random) }
      packing.sortByteCount = 64 << 20
    }
    let comment = "seed \(seed), batches of \(packing.batchSize): \(table.create)"
    let (packed, stored) = (TemporaryDatabase(), TemporaryDatabase())
    let (count, refusal, _) = try packing.run(rows, into: packed)
    if isSorted && !table.hasDoubts { #expect(count == rows.count, "\(comment) \(refusal as Any)") }
    try packing.store(rows, into: stored)
    try expectSame(packed, stored, order: table.order, comment)
    if seed % 4 == 0 { try exercise(packed, comment) }
  }
}

/// A table `t` with a column `n` that numbers its rows, and others at random.
private struct RandomTable {
  private struct Column {
    var name: String
    var type: String
    var isNotNull = false
  }

  private enum Key: CaseIterable { case none, rowid, primary, withoutRowid, unique, index }

  private var others: [Column] = []
  private let key: Key
  private let isStrict: Bool
  /// Names of the key's columns.
  private var keyColumns: [String] = []
  private let rowCount: Int
  private let longest: Int
  /// Whether some records are for SQLite to judge.
  private(set) var hasDoubts: Bool

  init(_ random: inout SeededGenerator) {
    key = Key.allCases.randomElement(using: &random) ?? .none
    isStrict = Int.random(in: 0..<3, using: &random) == 0
    hasDoubts = Int.random(in: 0..<3, using: &random) == 0
    rowCount =
      Int.random(in: 0..<4, using: &random) == 0
      ? Int.random(in: 0...3, using: &random) : Int.random(in: 4...700, using: &random)
    longest = [20, 300, 3000, 20_000].randomElement(using: &random) ?? 20
    let types =
      isStrict
      ? ["INTEGER", "REAL", "TEXT", "BLOB", "ANY"] : ["INTEGER", "REAL", "TEXT", "BLOB", "", "NUMERIC"]
    for index in 0..<Int.random(in: 1...(Bool.random(using: &random) ? 6 : 40), using: &random) {
      var column = Column(name: "c\(index)", type: types.randomElement(using: &random) ?? "ANY")
      column.isNotNull = Int.random(in: 0..<4, using: &random) == 0
      others.append(column)
    }
    if key == .rowid {
      keyColumns = ["n"]
    } else if key != .none {
      keyColumns = others.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)).map(\.name)
      // An INTEGER PRIMARY KEY in other words, which takes no BLOB.
      if key == .primary, keyColumns.count == 1, others.contains(where: { isKey($0) && $0.type == "INTEGER" })
      {
        hasDoubts = true
      }
    }
  }

  var hasRowidKey: Bool { key == .rowid }

  var columns: [String] { ["n"] + others.map(\.name) }

  var order: String { key == .withoutRowid ? keyColumns[0] : "rowid" }

  var create: String {
    var parts = ["n INTEGER" + (key == .rowid ? " PRIMARY KEY" : "")]
    // Only keys: SQLite 3.40's integrity_check looks for other NOT NULL columns of such tables in the wrong place.
    let hasNotNull = key != .withoutRowid
    parts += others.map {
      "\($0.name) \($0.type)\(hasNotNull && $0.isNotNull || isKey($0) ? " NOT NULL" : "")"
    }
    let list = keyColumns.joined(separator: ", ")
    if key == .primary || key == .withoutRowid { parts.append("PRIMARY KEY (\(list))") }
    if key == .unique { parts.append("UNIQUE (\(list))") }
    let options = [isStrict ? "STRICT" : nil, key == .withoutRowid ? "WITHOUT ROWID" : nil].compactMap { $0 }
    let index = key == .index ? "; CREATE INDEX i ON t(\(list))" : ""
    return "CREATE TABLE t(\(parts.joined(separator: ", "))) \(options.joined(separator: ", "))\(index)"
  }

  /// A key whose values are told apart; those of an index may be equal, and NULL.
  private func isKey(_ column: Column) -> Bool { key != .index && keyColumns.contains(column.name) }

  /// In the order of the key, which SQLite tells.
  func rows(_ random: inout SeededGenerator) throws -> [[Value]] {
    var rows: [[Value]] = []
    var number = Int64.random(in: -1000...1000, using: &random)
    for _ in 0..<rowCount {
      rows.append([.integer(number)] + others.map { value($0, &random) })
      number += Int64.random(in: 1...300, using: &random)
    }
    if key == .none || key == .rowid { return rows }
    let database = TemporaryDatabase()
    var packing = Packing(create, columns)
    packing.batchSize = 100
    try packing.store(rows, into: database)
    let connection = try Connection(path: database.path, createIfMissing: false)
    let numbers = try connection.rows("SELECT n FROM t ORDER BY \(keyColumns.joined(separator: ", ")), n")
    var byNumber: [Value: [Value]] = [:]
    for row in rows { byNumber[row[0]] = row }
    return numbers.compactMap { byNumber[$0[0]] }
  }

  private func value(_ column: Column, _ random: inout SeededGenerator) -> Value {
    if hasDoubts && Int.random(in: 0..<2000, using: &random) == 0 {
      return ValueMaker.any(&random, longest: longest)
    }
    let mustBe = column.isNotNull || isKey(column)
    if !mustBe && Int.random(in: 0..<5, using: &random) == 0 {
      return Bool.random(using: &random) ? nil : .absent
    }
    var value = sure(column.type, &random)
    while mustBe, case .real(let number) = value, number.isNaN { value = sure(column.type, &random) }
    return value
  }

  /// A value of which we know what a column makes.
  private func sure(_ type: String, _ random: inout SeededGenerator) -> Value {
    let isOdd = !isStrict && Int.random(in: 0..<12, using: &random) == 0
    let bytes = Value.blob(Array(ValueMaker.text(&random, longest: longest).utf8))
    switch type {
    case "INTEGER":
      if isStrict { return .integer(ValueMaker.integer(&random)) }
      return isOdd
        ? bytes
        : Bool.random(using: &random)
          ? .integer(ValueMaker.integer(&random)) : .real(ValueMaker.real(&random))
    case "REAL", "NUMERIC":
      return isOdd
        ? .text(ValueMaker.text(&random, longest: longest))
        : Bool.random(using: &random)
          ? .integer(ValueMaker.integer(&random)) : .real(ValueMaker.real(&random))
    case "TEXT": return isOdd ? bytes : .text(ValueMaker.text(&random, longest: longest))
    case "BLOB" where isStrict: return bytes
    default:
      var value = ValueMaker.any(&random, longest: longest)
      while value == nil { value = ValueMaker.any(&random, longest: longest) }
      return value
    }
  }
}
