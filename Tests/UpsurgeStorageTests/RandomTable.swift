import TestSupport
import UpsurgeRecords

@testable import UpsurgeStorage

/// A random table with all that may refuse or change a row, and random records for it.
struct RandomTable {
  var sql = ""
  var columns: [String] = []
  var key: [String] = []
  var mode = UpsertPlan.Mode.upsert
  /// All rows, in an order that both sides share.
  var dump = "SELECT * FROM t ORDER BY rowid"
  private var isStrict = false
  private var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    isStrict = chance(5)
    columns = (0..<Int.random(in: 2...6, using: &random)).map { "c\($0)" }
    let kind =
      ["none", "rowid", "text", "compound", "index", "without rowid"].randomElement(using: &random) ?? "none"
    var parts = columns.map { column($0, isKey: kind != "none" && $0 == "c0", kind: kind) }
    var after = ""
    switch kind {
    case "none": key = []
    case "compound", "without rowid": key = columns.count > 2 && chance(2) ? ["c1", "c0"] : ["c0"]
    default: key = ["c0"]
    }
    if kind == "compound" || kind == "without rowid" {
      parts.append("PRIMARY KEY (\(key.reversed().joined(separator: ",")))")
    }
    if kind == "index" { after += "CREATE UNIQUE INDEX ui ON t(c0);" }
    if chance(5), let last = columns.last, !key.contains(last) { parts.append("UNIQUE (\(last))") }
    if chance(3) { after += "CREATE INDEX plain ON t(c1);" }
    if chance(6) {
      after +=
        "CREATE TABLE log(op, k); CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO log VALUES('i', new.c0);"
      after += " SELECT RAISE(ABORT, 'no fours') WHERE new.c1 = 4; END;"
      after +=
        "CREATE TRIGGER au AFTER UPDATE ON t BEGIN INSERT INTO log VALUES('u', new.c0), ('v', old.c1); END;"
    }
    var options: [String] = []
    if kind == "without rowid" {
      options.append("WITHOUT ROWID")
      dump = "SELECT * FROM t ORDER BY \(key.joined(separator: ","))"
    }
    if isStrict { options.append("STRICT") }
    sql = "CREATE TABLE parent(id INTEGER PRIMARY KEY); INSERT INTO parent VALUES(0),(1),(2),(3);"
    sql += "CREATE TABLE t(\(parts.joined(separator: ", "))) \(options.joined(separator: ", "));" + after
    mode = key.isEmpty ? (chance(4) ? .ignore : .insert) : chance(4) ? .insert : chance(5) ? .ignore : .upsert
  }

  private mutating func column(_ name: String, isKey: Bool, kind: String) -> String {
    if isKey && kind == "rowid" { return "\(name) INTEGER PRIMARY KEY" }
    let types =
      isStrict
      ? ["INTEGER", "INT", "REAL", "TEXT", "ANY", "BLOB"]
      : ["INTEGER", "REAL", "TEXT", "NUMERIC", "", "BLOB"]
    let type = types.randomElement(using: &random) ?? "TEXT"
    var text = "\(name) \(type)"
    if isKey && kind == "text" { text += " PRIMARY KEY" }
    if chance(5) { text += " COLLATE NOCASE" }
    if chance(5) { text += " NOT NULL" }
    if !isKey && name != "c1" && chance(4) {
      text += type == "TEXT" ? " DEFAULT 'dd'" : isStrict && type == "BLOB" ? "" : " DEFAULT 4"
    }
    if !isKey && chance(8) { text += " CHECK (\(name) <> 3)" }
    if !isKey && chance(12) { text += " REFERENCES parent(id)" }
    return text
  }

  mutating func rows(_ count: Int) -> [[Value]] {
    let hasAbsent = chance(3)
    return (0..<count).map { _ in columns.map { _ in hasAbsent && chance(6) ? .absent : value() } }
  }

  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func value() -> Value {
    switch number(0...19) {
    case 0: return .null
    case 1: return ["a", "A", "b", "", "é"].randomElement(using: &random) ?? ""
    case 2: return ["7", "7.0", " 7", "1e2", "007"].randomElement(using: &random) ?? ""
    case 3: return [1.0, 2.5, 7.0].randomElement(using: &random) ?? 1.5
    case 4: return .blob([0x61])
    case 5...7 where isStrict: return .text("t\(number(0...9))")
    default: return .integer(Int64(number(0...40)))
    }
  }
}
