import CScan
import TestSupport
import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

/// The fast parser equals the oracle, however the input is cut and however small the batches are.
@Suite struct CSVPropertyTests {
  /// Documents that have been thought of as trouble.
  static let nasties: [String] = [
    "", "\n", "\r", "\r\n", "\r\r\n\n", "a", "a\n", "a,b,c\r\n1,2,3", "\"\"", "\"\"\"\"", "\"", "\"\n\"",
    ",\n,,\n", "\"a\"b,c\nd,e\n", "\"a\nb,c\n1,2\n", "x,\"y\n1,2\n3,4", "\"a\"\r\r\n\"b\"\n", "a\"b,c\"\n",
    "a,\"b\r\nc\"\r\nd,e\r\n", "\"a\" ,b\nc,d\n", "#x\n#\n a\n", "\"#\",1\n#no\n", "\0,\0\n\"\0\"\n",
    "a,b,c,d,e,f\n1\n", "NA,\"NA\",N\n", "é,ü\n\u{1F600},\u{10FFFF}\n", "\\\"a\\\",b\\\n,c\\", "\"a\\\"b\",c\n",
    "\"a\\\\\",b\n", "a||b|c\n|||\n", "a::b:c:::d\n", "\"a\"::\"b\":x\n\"c\"::d\n", "\u{FEFF}a,b\n1,2\n",
    "''a'',b\n'a''b',c\n", "\"a,b\n\"c,d\n\"e,f\n", "\"x\"\r\n\"y\"\r\"z\"\n",
    "a,\"b\"\",\"\"c\",d\n\"a\"\",b\n", "\"a \"b\" c\",\"\" \"\" ,x\n\"a,\"\",b\"\n", "\"a\" x,b\nc,\"d\ne,f\n",
    "1,b # c, d\n2,#e\n 3,#f\n # g\n4,\"h\"# i\n5,\"j\" # k\n", "1,a#b\n2,c,# d, e\n3,\"x\ny\" # z\n#\n",
    "1,b\nTotal,\n,\n", "1,b\n,\n\"\",\n", "t,\nsum: 3,\n(2 rows),\n, \n", "a,b\ntotal,9\n,\n",
    "x\n\"a\nb\"::c\n", "h\nh\n'a\nb'||c\n",
  ]

  static let dialects: [CSVDialect] = [
    CSVDialect(headerLineCount: 0),
    CSVDialect(ragged: .pad, headerLineCount: 1),
    CSVDialect(ragged: .extra, headerLineCount: 0),
    CSVDialect(
      escape: UInt8(ascii: "\\"), commentPrefix: Array("#".utf8), nullSpellings: [Array("NA".utf8)],
      ragged: .extra, headerLineCount: 0),
    CSVDialect(
      delimiter: Array("::".utf8), escape: UInt8(ascii: "\\"), commentPrefix: Array("a\"".utf8), ragged: .pad,
      headerLineCount: 0, skippedLineCount: 1),
    CSVDialect(delimiter: Array("||".utf8), quote: UInt8(ascii: "'"), ragged: .extra, headerLineCount: 2),
    CSVDialect(quote: nil, nullSpellings: [Array("\"".utf8), Array("a".utf8)], ragged: .pad, headerLineCount: 0),
    CSVDialect(quote: nil, escape: UInt8(ascii: "\\"), ragged: .extra, headerLineCount: 0),
    CSVDialect(delimiter: Array("é".utf8), escape: UInt8(ascii: "\""), ragged: .extra, headerLineCount: 0),
    CSVDialect(commentPrefix: Array("#".utf8), headerLineCount: 0),
    lenient(CSVDialect(headerLineCount: 0)),
    lenient(CSVDialect(escape: UInt8(ascii: "\\"), ragged: .pad, headerLineCount: 1)),
    lenient(CSVDialect(delimiter: Array("::".utf8), nullSpellings: [Array("a".utf8)], ragged: .extra, headerLineCount: 0)),
  ]

  private static func lenient(_ dialect: CSVDialect) -> CSVDialect {
    var dialect = dialect
    dialect.quotes = .lenient
    return dialect
  }

  /// Compares the two parsers on one document; returns a description of the first difference.
  static func difference(
    _ bytes: [UInt8], _ dialect: CSVDialect, fieldCount: Int, _ driver: BatchDriver, simdLevel: Int32? = nil
  ) throws -> String? {
    let expected = CSVOracle.parse(bytes, dialect, fieldCount: fieldCount)
    var parser = CSVParser.text(dialect, fieldCount: fieldCount, simdLevel: simdLevel)
    let found = try driver.parse(bytes, with: &parser)
    return found == expected ? nil : "found \(found)\nexpected \(expected)"
  }

  static func sizes(arena: Int, records: Int = 32, cells: Int = 256) -> Batch.Sizes {
    Batch.Sizes(arenaByteCount: arena, cellCount: cells, recordCount: records)
  }

  @Test(arguments: nasties) func nastiesAtEverySplit(document: String) throws {
    let bytes = Array(document.utf8)
    for dialect in Self.dialects {
      for split in 0...bytes.count {
        for noticesEndLate in [false, true] {
          let driver = BatchDriver(sizes: Self.sizes(arena: 512), splits: [split], noticesEndLate: noticesEndLate)
          let difference = try Self.difference(bytes, dialect, fieldCount: 2, driver)
          #expect(difference == nil, "split \(split), \(dialect)")
        }
      }
    }
  }

  @Test(arguments: nasties) func nastiesInTinyBatches(document: String) throws {
    let bytes = Array(document.utf8)
    for dialect in Self.dialects {
      for arena in [1, 2, 3, 5, 8, 13, 64] {
        for records in [1, 2, 5] {
          let sizes = Self.sizes(arena: arena, records: records, cells: records * 2)
          let difference = try Self.difference(bytes, dialect, fieldCount: 2, BatchDriver(sizes: sizes))
          #expect(difference == nil, "arena \(arena), \(records) records, \(dialect)")
        }
      }
    }
  }

  /// Random documents over an alphabet in which almost every byte is a mark.
  @Test(arguments: 0..<12) func randomDocuments(round: Int) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let alphabet: [[UInt8]] = [
      "a", "b", "N", "A", ",", ",", "\"", "\"", "\n", "\n", "\r", "\r\n", "\\", "#", ":", "::", "|", "||", "'",
      "\"\"", "\",\"", "1", "é", "😀", "\0",
    ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80]]
    for _ in 0..<40 {
      let length = Int.random(in: 0...60, using: &generator)
      // Bytes that are not UTF-8 make whole records uninteresting, so most documents do without.
      let usable = Bool.random(using: &generator) ? alphabet[...] : alphabet.dropLast(3)
      let bytes = (0..<length).flatMap { _ in usable.randomElement(using: &generator) ?? [] }
      let dialect = Self.dialects.randomElement(using: &generator) ?? CSVDialect()
      let fieldCount = Int.random(in: 1...4, using: &generator)
      var drivers = (0...bytes.count).map { BatchDriver(sizes: Self.sizes(arena: 512), splits: [$0]) }
      for _ in 0..<6 {
        let sizes = Self.sizes(
          arena: Int.random(in: 1...64, using: &generator), records: Int.random(in: 1...4, using: &generator),
          cells: Int.random(in: 1...12, using: &generator))
        drivers.append(BatchDriver(sizes: sizes, noticesEndLate: Bool.random(using: &generator)))
      }
      for driver in drivers {
        let level = Int32.random(in: 0...Int32(upsurge_simd_level()), using: &generator)
        let difference = try Self.difference(
          bytes, dialect, fieldCount: fieldCount, driver, simdLevel: level)
        guard difference == nil else {
          Issue.record(
            "seed \(seed): \(bytes), \(fieldCount) fields, \(dialect), \(driver)\n\(difference ?? "")")
          return
        }
      }
    }
  }

  /// Surplus fields that are six times as long in JSON, before records that need the spill as well.
  @Test(arguments: [16, 40, 64, 100, 200, 1000]) func surplusThatGrows(arena: Int) throws {
    let controls = String(repeating: "\u{1}", count: 12)
    let quoted = "\"\"\"\"\"\"\"\"\"\"\"\"\"\",\"\"\"a\"\"\"\n"
    let long = "\"\(String(repeating: "\"\"", count: 60))\",x\n"
    let surplus = "1,2,\(controls)\n"
    let text = String(repeating: surplus + surplus + long + surplus + quoted, count: 20)
    let dialect = CSVDialect(ragged: .extra, headerLineCount: 0)
    for records in [1, 3, 50] {
      let driver = BatchDriver(sizes: Self.sizes(arena: arena, records: records))
      #expect(try Self.difference(Array(text.utf8), dialect, fieldCount: 2, driver) == nil)
    }
  }

  /// Documents of many chunks, so that records lie across the borders of the index.
  @Test(arguments: 0..<4) func longDocuments(round: Int) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let pieces = ["1234", ",", ",", "\n", "\"a\"\"b\"", "\"x\ny\"", ",", "\r\n", "text and more text", "\"bad\"x"]
    var text = ""
    while text.utf8.count < 50_000 { text += pieces.randomElement(using: &generator) ?? "" }
    let bytes = Array(text.utf8)
    for arena in [700, 17_000, 60_000] {
      let split = Int.random(in: 0...bytes.count, using: &generator)
      let driver = BatchDriver(sizes: Self.sizes(arena: arena, records: 9_000, cells: 30_000), splits: [split])
      let dialect = CSVDialect(ragged: .extra, headerLineCount: 0)
      let difference = try Self.difference(bytes, dialect, fieldCount: 3, driver)
      #expect(difference?.prefix(500) == nil, "seed \(seed), split \(split), arena \(arena)")
    }
  }
}
