import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeState

/// What a kept record carries as text comes back as it was.
@Suite struct QuarantineTextTests {
  @Test(
    arguments: [
      (UpsertRules(), "{}"),
      (
        UpsertRules(target: .columns(["id", "a\"b"]), mode: .update, nullKeys: .insert),
        #"{"key":["id","a\"b"],"mode":"update","null_keys":"insert"}"#
      ),
      (
        UpsertRules(
          target: .columns(["e"], where: "on = 1"), tombstone: Tombstone(column: "gone", value: "")),
        #"{"key":["e"],"key_where":"on = 1","delete_when":{"column":"gone","value":""}}"#
      ),
      (UpsertRules(target: .any), #"{"any_key":true}"#),
      (
        UpsertRules(target: .firstOf([.index("i"), .primaryKey, .columns(["x"])])),
        #"{"first_of":[{"key_index":"i"},{},{"key":["x"]}]}"#
      ),
      (
        UpsertRules(target: .primaryKey, mode: .upsert, merge: Self.everyRule()),
        #"{"mode":"upsert","merge":"coalesce","newer_strict":"at","set":{"a":"keep","b":"sum","c":{"sql":"sum"},"#
          + #""d":"min","e":"max","f":"replace"},"update_if":"x > 1"}"#
      ),
    ] as [(UpsertRules, String)])
  func rulesComeBack(rules: UpsertRules, text: String) throws {
    #expect(RulesText.encode(rules) == text)
    #expect(try RulesText.decode(text) == rules)
  }

  @Test(arguments: ["", "[]", "{", #"{"mode":"replace"}"#, #"{"key":"id"}"#, #"{"set":{"a":1}}"#, "{} {}"])
  func whatIsNoRulesIsRefused(text: String) {
    #expect(throws: UpsurgeError.self) { try RulesText.decode(text) }
  }

  static let values: [Value] = [
    .absent, nil, 0, 1, -1, .integer(.max), .integer(.min), 9_007_199_254_740_993, 1.0, -0.0, 0.1, 1e300,
    .real(.leastNonzeroMagnitude),
    .real(.infinity), .real(-.infinity), 123456789.123456789, "", "7", "true", "null",
    #"{"$base64":true,"encoded":"AQI="}"#, "a\"b\\c/d\n\t\r\u{0}\u{1F}\u{7F}é😀", .blob([]), .blob([0]),
    .blob([1, 2]), .blob([0xFF, 0xFE, 0x80]), .blob(Array(0...255)),
  ]

  @Test func everyKindOfCellComesBack() throws {
    let names = Self.values.indices.map { "c\($0)" }
    var maker = BatchMaker(names)
    let batch = maker.batch([Self.values])
    let text = rendered(batch, names)
    let again = Batch(quarantined: [(record(text), try RecordText.read(text))], columns: names)
    #expect(cells(again, 0) == Self.values)
    #expect(again.records[0].number == 7)
    #expect(Array(again.rawBytes(of: 0)) == Array(text.utf8))
  }

  @Test(arguments: 0..<50) func randomCellsComeBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = ["a", "ü b", "\"", "{}"]
    let rows: [[Value]] = (0..<20).map { _ in names.map { _ in randomValue(&random) } }
    var maker = BatchMaker(names)
    let batch = maker.batch(rows)
    var kept: [(record: QuarantinedRecord, fields: [QuarantinedRecord.Field])] = []
    for index in rows.indices {
      var out = JSONText()
      RecordText.write(batch, index, names: names, to: &out)
      kept.append((record(out.text), try RecordText.read(out.text)))
    }
    let again = Batch(quarantined: kept, columns: names)
    for index in rows.indices { #expect(cells(again, index) == rows[index], "seed \(seed)") }
  }

  /// SQLite takes the text for JSON and finds the same numbers in it.
  @Test func sqliteReadsTheSame() throws {
    let connection = try TemporaryDatabase().open()
    var maker = BatchMaker(["a", "b", "c", "d"])
    let text = rendered(maker.batch([[.integer(.max), 1.0, "x\u{1}\"", nil]]), ["a", "b", "c", "d"])
    #expect(
      try connection.rows(
        "SELECT ?1 ->> 'a', ?1 ->> 'b', ?1 ->> 'c', ?1 ->> 'd', json_valid(?1)", [.text(text)])
        == [[.integer(.max), 1.0, "x\u{1}\"", nil, 1]])
  }

  @Test func base64ComesBack() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
    for text in ["A", "AAA", "A===", "AA=A", "AA==AAAA", "A A=", "AAA\u{E9}"] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
  }

  // MARK: - Support

  static func everyRule() -> Merge {
    var merge = Merge(.coalesce)
    merge.newer = Merge.Newer(column: "at", isStrict: true)
    merge.columns = [
      "a": .keep, "b": .sum, "c": .expression("sum"), "d": .min, "e": .max, "f": .replace,
    ]
    merge.condition = "x > 1"
    return merge
  }

  private func rendered(_ batch: borrowing Batch, _ names: [String]) -> String {
    var out = JSONText()
    RecordText.write(batch, 0, names: names, to: &out)
    return out.text
  }

  private func record(_ text: String) -> QuarantinedRecord {
    QuarantinedRecord(
      id: 7, table: "t", rules: "{}", columns: [], text: text, position: Position(file: "in.csv"))
  }

  private func randomValue(_ random: inout SeededGenerator) -> Value {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .absent
    case 1: return nil
    case 2: return .integer(Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random))
    case 3:
      let number = Double(bitPattern: random.next())
      return .real(number.isNaN ? 0.5 : number)
    case 4:
      let scalars = (0..<Int.random(in: 0..<9, using: &random)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0..<0x11_0000, using: &random))
      }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      return .text(String(text))
    default:
      return .blob(
        (0..<Int.random(in: 0..<9, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
  }
}

/// The values of a record of a batch.
private func cells(_ batch: borrowing Batch, _ record: Int) -> [Value] {
  var values: [Value] = []
  for index in 0..<batch.columnCount {
    let cell = batch.cells[record * batch.columnCount + index]
    switch cell.kind {
    case .absent: values.append(.absent)
    case .null: values.append(nil)
    case .integer: values.append(.integer(Int64(bitPattern: cell.payload)))
    case .real: values.append(.real(Double(bitPattern: cell.payload)))
    case .text: values.append(.text(String(decoding: batch.bytes(of: cell), as: UTF8.self)))
    case .blob: values.append(.blob(Array(batch.bytes(of: cell))))
    }
  }
  return values
}
