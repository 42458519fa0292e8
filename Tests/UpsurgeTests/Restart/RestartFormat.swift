import TestSupport
import UpsurgeParsing
import UpsurgeRecords

@testable import Upsurge

/// Kinds of input, each with random text that holds what parsers stumble over, and with a parser for it.
enum RestartFormat: String, CaseIterable {
  case csv, csvExtra, csvNoHeader, tsv, objects, objectsLeftOut, arrays, arraysLeftOut, document,
    documentOfArrays,
    oneObject

  var isJSON: Bool { !rawValue.hasPrefix("csv") && self != .tsv }

  var columns: [ColumnTarget] {
    let columns = [
      ColumnTarget(name: "a", affinity: .integer, spellingPolicy: .warn),
      ColumnTarget(name: "b", affinity: .text, spellingPolicy: .warn),
      ColumnTarget(name: "c", affinity: .real, spellingPolicy: .reject),
    ]
    if isJSON { return Array(columns.prefix(2)) }
    return columns
      + (self == .csvExtra ? [ColumnTarget(name: "extra", affinity: .text, spellingPolicy: .warn)] : [])
  }

  func parser(columns: [ColumnTarget], file: String) -> SourceParser {
    if isJSON {
      let policy =
        switch self {
        case .objectsLeftOut: JSONKeyPolicy(unknown: .skip)
        case .arraysLeftOut: JSONKeyPolicy(unknown: .add(.warn), wanted: ["a", "b"], renames: ["b": "B2"])
        default: JSONKeyPolicy(unknown: .add(.warn))
        }
      var dialect = JSONDialect(format: .ndjson, flattenSeparator: self == .objectsLeftOut ? "_" : nil)
      if self == .document || self == .documentOfArrays {
        dialect = JSONDialect(format: .json, jsonPath: ["data", "it ems"])
      }
      if self == .oneObject { dialect = JSONDialect(format: .json) }
      return .json(JSONParser(dialect: dialect, file: file, columns: columns, policy: policy))
    }
    var dialect = CSVDialect(commentPrefix: Array("#!".utf8), nullSpellings: [Array("NA".utf8)], ragged: .pad)
    switch self {
    case .csvExtra:
      dialect.ragged = .extra
      dialect.headerLineCount = 2
    case .csvNoHeader:
      dialect.headerLineCount = 0
      dialect.ragged = .reject
      dialect.escape = UInt8(ascii: "\\")
    case .tsv: dialect.delimiter = [UInt8(ascii: "\t")]
    default: dialect.skippedLineCount = 3
    }
    return .csv(
      CSVParser(
        dialect: dialect, file: file, columns: columns, slotOfField: [0, 1, 2],
        extraSlot: self == .csvExtra ? 3 : nil))
  }

  /// - Parameter largest: bytes of the largest text in it.
  func text(_ random: inout SeededGenerator, largest: Int) -> [UInt8] {
    switch self {
    case .csv, .csvExtra, .csvNoHeader, .tsv: return separated(&random, largest: largest)
    case .objects, .objectsLeftOut:
      return lines(&random) { Self.object(&$0, largest: largest) }
    case .arrays, .arraysLeftOut:
      return Array("[\"a\", \"b\", \"d\\u00e9\"]\n".utf8)
        + lines(&random) { Self.array(&$0, largest: largest) }
    case .document:
      let records = (0..<40).map { _ in Self.object(&random, largest: largest) }
      return Self.document(records, &random)
    case .documentOfArrays:
      let records = ["[\"a\",\"x\"]"] + (0..<40).map { _ in Self.array(&random, largest: largest) }
      return Self.document(records, &random)
    case .oneObject:
      return Array(
        ("  \n" + Self.object(&random, largest: largest) + String(repeating: " \n", count: 300)).utf8)
    }
  }

  private func separated(_ random: inout SeededGenerator, largest: Int) -> [UInt8] {
    let mark = self == .tsv ? "\t" : ","
    let values = [
      "", "1", "007", "3.25", "x", "\"a\"\"b\"", "\"l\nm\r\n\r\"", "é\u{1F600}", "NA", "\"q\"z", "\\\"",
      "\"open", " 9 ", String(repeating: "w", count: largest),
    ]
    func end(_ random: inout SeededGenerator) -> String {
      ["\n", "\r\n", "\r", "\n"].randomElement(using: &random)!
    }
    var text = ""
    if self == .csv { for _ in 0..<3 { text += "about, \"this" + end(&random) } }
    if self != .csvNoHeader { text += "#!\n\na\(mark)\"b\nb\"\(mark)c\n" }
    if self == .csvExtra { text += "a2\(mark)b2\(mark)c2\r\n" }
    var bytes = Array(text.utf8)
    for _ in 0..<90 {
      switch Int.random(in: 0..<30, using: &random) {
      case 0: bytes += Array((["", "  "].randomElement(using: &random)! + end(&random)).utf8)
      case 1:
        let comment = "#!" + String(repeating: "c", count: Int.random(in: 0...largest, using: &random))
        bytes += Array((comment + end(&random)).utf8)
      case 2: bytes += [0xC3, 0xFF] + Array(("\(mark)1\(mark)2" + end(&random)).utf8)
      default:
        let count = [1, 2, 3, 3, 3, 3, 3, 3, 4, 5].randomElement(using: &random)!
        let fields = (0..<count).map { _ in
          values[Int.random(in: 0..<(Int.random(in: 0..<9, using: &random) == 0 ? 14 : 9), using: &random)]
        }
        bytes += Array((fields.joined(separator: mark) + end(&random)).utf8)
      }
    }
    return bytes
  }

  private func lines(
    _ random: inout SeededGenerator, _ record: (inout SeededGenerator) -> String
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<70 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0: bytes += Array(" \r\n".utf8)
      case 1: bytes += Array("{\"a\": 1,}\n".utf8)
      case 2: bytes += Array("{\"a\": \"".utf8) + [0xFF] + Array("\"}\n".utf8)
      case 3: bytes += Array("\"text\"\n".utf8)
      default: bytes += Array((record(&random) + (Bool.random(using: &random) ? "\n" : "\r\n")).utf8)
      }
    }
    return bytes
  }

  private static func value(_ random: inout SeededGenerator, largest: Int) -> String {
    let values = [
      "1", "-0.5", "\"text\"", "null", "true", "\"007\"", "{\"x\": [1, {\"y\": 2}]}", "\"\\u00e9\\n\"", "[]",
      "\"\\ud800\"", "1e400", "\"\(String(repeating: "w", count: largest))\"",
    ]
    return values[Int.random(in: 0..<(Int.random(in: 0..<6, using: &random) == 0 ? 12 : 9), using: &random)]
  }

  private static func object(_ random: inout SeededGenerator, largest: Int) -> String {
    let keys = [
      "a", "b", "a", "b", "B", "\\u0061", "n1", "n2", "n3", "n\\u0031",
      "long key \(Int.random(in: 0..<9, using: &random))",
    ]
    let members = (0..<Int.random(in: 0...4, using: &random)).map { _ in
      "\"\(keys.randomElement(using: &random)!)\": \(value(&random, largest: largest))"
    }
    return "{" + members.joined(separator: ", ") + "}"
  }

  private static func array(_ random: inout SeededGenerator, largest: Int) -> String {
    let count = [2, 3, 3, 3, 3, 4].randomElement(using: &random)!
    return "[" + (0..<count).map { _ in value(&random, largest: largest) }.joined(separator: ",") + "]"
  }

  private static func document(_ records: [String], _ random: inout SeededGenerator) -> [UInt8] {
    let space = ["", " ", "\n", "\n\t "].randomElement(using: &random)!
    let aside =
      #"{"n": [0, -12.5e+3, true, null, {"it ems": [{"a": 1}]}], "s": "\u00e9\\ 猫 text \ud83d\ude00"}"#
    return Array(
      (" {\(space)\"meta\": [\(aside), \(aside)], \"data\":\(space){\"other\": \(aside),\"it\\u0020ems\": [\(space)"
        + records.joined(separator: ",\(space)")
        + "\(space)], \"more\": \(aside)\(space)}, \"end\": \(aside)}\n\n").utf8)
  }
}
