import TestSupport
import UpsurgeRecords

@testable import UpsurgePostgres

/// A cell of a test's batch.
enum TestValue: Equatable {
  case null, absent
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

extension Batch {
  /// A batch that holds these records.
  static func of(_ records: [[TestValue]]) -> Batch {
    let byteCount = records.joined().reduce(1) { sum, value in
      switch value {
      case .text(let text): sum + text.utf8.count
      case .blob(let bytes): sum + bytes.count
      default: sum
      }
    }
    let width = max(records.first?.count ?? 1, 1)
    var batch = Batch(
      sizes: Sizes(arenaByteCount: byteCount, cellCount: max(1, records.count * width), recordCount: max(1, records.count)))
    batch.begin(columnCount: width)
    for (index, record) in records.enumerated() {
      for (slot, value) in record.enumerated() { batch.cells[index * width + slot] = batch.cell(value) }
      batch.records[index] = RecordPosition(arenaOffset: 0, byteCount: 0, line: UInt64(index + 1), number: UInt64(index + 1))
      batch.recordCount += 1
    }
    return batch
  }

  private mutating func cell(_ value: TestValue) -> Cell {
    switch value {
    case .null: return .null
    case .absent: return .absent
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .text(let text):
      let offset = add(Array(text.utf8))
      return .text(offset: offset, byteCount: text.utf8.count)
    case .blob(let bytes):
      let offset = add(bytes)
      return Cell(kind: .blob, isInSpill: false, byteCount: UInt32(bytes.count), payload: UInt64(offset))
    }
  }

  private mutating func add(_ bytes: [UInt8]) -> Int {
    let offset = arenaByteCount
    for (index, byte) in bytes.enumerated() { arena[offset + index] = byte }
    arenaByteCount += bytes.count
    return offset
  }
}

/// A type, how values of it are spelled, and letters to change them by.
struct TypeCase: CustomStringConvertible {
  var type: String
  var send: String
  var seeds: [String]
  var letters: String
  var description: String { type }

  /// Spellings near to the seeds.
  func spellings(_ count: Int, _ generator: inout SeededGenerator) -> [String] {
    var all = seeds + [""]
    let letters = Array(letters)
    while all.count < count {
      var text = Array(seeds.randomElement(using: &generator)!)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 0...text.count, using: &generator)
        if Bool.random(using: &generator), place < text.count {
          // Another digit keeps the shape.
          if text[place].isNumber { text[place] = "0123456789".randomElement(using: &generator)! }
          continue
        }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0 where place < text.count: text.remove(at: place)
        case 1 where place < text.count: text[place] = letters.randomElement(using: &generator)!
        case 2 where place < text.count: text.insert(text[place], at: place)
        default: text.insert(letters.randomElement(using: &generator)!, at: place)
        }
      }
      all.append(String(text))
    }
    return all
  }

  static let all = [
    TypeCase(type: "int2", send: "int2send", seeds: ["0", "32767", "-32768", "32768", " 7 ", "+5", "007", "-0"], letters: "0129-+ .x\t"),
    TypeCase(
      type: "int4", send: "int4send", seeds: ["2147483647", "-2147483648", "2147483648", "12", "1e3", "1.0"], letters: "0129-+ .ex"),
    TypeCase(
      type: "int8", send: "int8send",
      seeds: ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "99999999999999999999", "5"], letters: "0189-+ .\n"),
    TypeCase(
      type: "float8", send: "float8send",
      seeds: ["0.1", "1e308", "1e309", "5e-324", "1e-400", "NaN", "-Infinity", "inf", "1.5e+3", ".5", "5.", "-0", "9007199254740993"],
      letters: "0159.eE-+ naNiIfty"),
    TypeCase(
      type: "float4", send: "float4send",
      seeds: ["0.1", "3.4e38", "3.5e38", "1e-46", "1e-45", "16777217", "NaN", "-inf", "8589973000.0001"], letters: "0159.eE-+ naNif"),
    TypeCase(
      type: "numeric", send: "numeric_send",
      seeds: [
        "0", "0.00", "1234567.891", "-0.0001", "99999999999999999999.5", "1e10", "1.5e-7", "NaN", "10000", "0.00010000", "1e-20000",
        "12345678901234567890123456789012345678901234567890", "00012.3400", "100000000", "5e99999",
      ], letters: "0019.eE-+ nN"),
    TypeCase(
      type: "numeric(5,2)", send: "numeric_send",
      seeds: ["999.99", "999.994", "999.995", "-999.99", "0.005", "0.0049", "1000", "99.995", "1e2", "1e3", "NaN", "Infinity", "0.004"],
      letters: "0459.eE-+"),
    TypeCase(
      type: "numeric(3,-2)", send: "numeric_send", seeds: ["12345", "99949", "99950", "49", "50", "-50", "100000", "0.1", "1e4"],
      letters: "0459.e-"),
    TypeCase(
      type: "numeric(2,4)", send: "numeric_send", seeds: ["0.0099", "0.00995", "0.009949", "0.01", "0", "-0.0001"], letters: "0459.e-"),
    TypeCase(
      type: "bool", send: "boolsend", seeds: ["true", "f", "yes", "NO", "on", "off", "of", "o", "1", "0", " tru ", "2", "falsey"],
      letters: "trueyesnof10 TF"),
    TypeCase(type: "text", send: "textsend", seeds: ["", "abc", "äöü", "日本", "a'b\\c", " x "], letters: "aä日\\' \t"),
    TypeCase(type: "varchar(3)", send: "textsend", seeds: ["abc", "abcd", "abc   ", "äöü", "äöü  ", "日本x", "ab "], letters: "aä日 "),
    TypeCase(type: "char(3)", send: "bpcharsend", seeds: ["abc", "a", "abc   ", "äö", "äöüx", "", "日"], letters: "aä日 "),
    TypeCase(
      type: "bytea", send: "byteasend", seeds: ["\\x00ff", "\\xAb Cd", "\\xabc", "plain", "a\\\\b", "\\101\\377", "\\400", "\\x"],
      letters: "\\x0137fF g"),
    TypeCase(
      type: "uuid", send: "uuid_send",
      seeds: [
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC99-9C0B4EF8-BB6D6BB9-BD380A11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
        "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
      ], letters: "09afAF-{} g"),
    TypeCase(
      type: "date", send: "date_send",
      seeds: ["2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "2024-13-01", "0000-01-01", "2024-04-31", "Jan 5 2020", "n/a", "Tomorrow"],
      letters: "01239-/ T:BC"),
    TypeCase(
      type: "time", send: "time_send", seeds: ["12:30", "23:59:59.999999", "00:00:00", "24:00:00", "12:30:60", "1:2:3", "12:30 PM"],
      letters: "012359:. PM"),
    TypeCase(
      type: "timestamp", send: "timestamp_send",
      seeds: ["2024-02-29 12:30:05.25", "2024-02-29T12:30Z", "2024-02-29", "1969-12-31 23:59:59.999999", "2024-02-30 00:00", "0044-03-15 12:00 BC", "2024-01-01 00:00:00+05:30"],
      letters: "01239-:. TZ+BC"),
    TypeCase(
      type: "timestamptz", send: "timestamptz_send",
      seeds: ["2024-02-29 12:30:05.25+02", "2024-02-29T12:30:00Z", "2024-02-29", "0001-01-01T00:00:00+14:00", "2024-06-30T23:59:59-0330", "2024-06-30 12:00 Europe/Berlin"],
      letters: "01239-:. TZ+"),
    TypeCase(type: "timestamp(2)", send: "timestamp_send", seeds: ["2024-02-29 12:30:05.25", "2024-02-29 12:30:05.255"], letters: "0159:."),
    TypeCase(
      type: "jsonb", send: "jsonb_send", seeds: ["{}", "\"\\u0000\"", "\"\\\\u0000\"", "\"\\\\\\u0000\"", "[\"\\u00000\"]"],
      letters: "\\u0\"{}[]"),
  ]
}
