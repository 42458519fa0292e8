import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// Whatever bytes a job file has, it is read or refused, in bounded time and memory.
@Suite("Job files of any bytes")
struct JobFileBytesTests {
  private let reader = JobFileReader(file: "job.yaml") { $0 == "HOME" ? "/root" : nil }

  private func outcome(_ bytes: [UInt8]) -> UpsurgeError? {
    do throws(UpsurgeError) {
      _ = try reader.read(bytes, database: "a.db")
      return nil
    } catch {
      return error
    }
  }

  static let seeds = [
    JobFileTests.sample,
    """
    {"tables": {"t": {"source": ["${env:HOME}/a", "x"], "key": "id", "set": {"a": "min"}, "null": ["-"], "strict": true}}}
    """,
    """
    defaults: &x
      merge: [coalesce, "newer:ts"]
    tables:
      ? "t"
      : source: >-
          a folded
          text
        scope: |
          a = '*'
        rename: {'a''b': "c\\u0041"}
      u: {source: !!str 7, "null": ["*"]}
    """,
  ]

  /// Bytes that mean something to YAML.
  private static let signs =
    Array("{}[],:-?&*!|>'\"%@`#~\n\n  \t\r\0\\<=$/.0aé".utf8) + [0xFF, 0xC3, 0xEF, 0xBB, 0xBF]

  /// A seed with one to four changes.
  static func changed(round: Int, using random: inout SeededGenerator) -> [UInt8] {
    var bytes = Array(seeds[round % seeds.count].utf8)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
      let sign = signs[Int.random(in: 0..<signs.count, using: &random)]
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.insert(sign, at: min(place, bytes.count))
      case 1 where !bytes.isEmpty: bytes.remove(at: place)
      case 2 where !bytes.isEmpty: bytes[place] = sign
      case 3: bytes.removeLast(min(bytes.count, place / 4))
      default:
        let end = min(bytes.count, place + Int.random(in: 0...40, using: &random))
        bytes.insert(
          contentsOf: bytes[min(place, end)..<end], at: Int.random(in: 0...bytes.count, using: &random))
      }
    }
    return bytes
  }

  @Test("Thousands of changed files are read, or refused with a place")
  func changed() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var readCount = 0
    for round in 0..<2_000 {
      let bytes = Self.changed(round: round, using: &random)
      guard let error = outcome(bytes) else {
        readCount += 1
        continue
      }
      let file = error.position?.file.split(separator: ":") ?? []
      let isPlaced =
        file.count == 3 && Int(file[1]).map { $0 >= 1 } == true && Int(file[2]).map { $0 >= 1 } == true
      if !isPlaced {
        Issue.record("seed \(seed), round \(round), \(bytes): \(error)")
        return
      }
    }
    #expect(readCount > 20, "seed \(seed)")
  }

  /// An input that is meant to take long, and what is said of it.
  struct Bomb: CustomTestStringConvertible, Sendable {
    var name: String
    var says: String
    var make: @Sendable () -> String

    var testDescription: String { name }
  }

  static let bombs = [
    Bomb(name: "aliases", says: "an alias (*NAME)") {
      (1..<40).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.reduce("a0: &a0 [x]\n", +)
    },
    Bomb(name: "aliases as keys", says: "is given twice") {
      (1..<40).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.reduce("a0: &a0 [x]\n", +)
        + "? *a39\n: 1\n? *a39\n: 1\n"
    },
    Bomb(name: "aliases and a key twice", says: "the key k is given twice") {
      "k: 1\nk: 2\n"
        + (1..<40).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.reduce("a0: &a0 [x]\n", +)
        + "? *a39\n: 1\n"
    },
    Bomb(name: "lists in lists", says: "nested deeper than 12 levels") {
      String(repeating: "[", count: 1_000_000)
    },
    Bomb(name: "lists in lists that end", says: "nested deeper than 12 levels") {
      "tables: " + String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
    },
    Bomb(name: "dashes", says: "nested deeper than 12 levels") { String(repeating: "- ", count: 500_000) },
    Bomb(name: "questions", says: "nested deeper than 12 levels") { String(repeating: "? ", count: 500_000) },
    Bomb(name: "wide and deep", says: "") {
      String(repeating: "[", count: 990) + String(repeating: "a,", count: 400_000)
    },
    Bomb(name: "tables", says: "more than 1,000 tables") {
      "tables: {" + (0..<30_000).map { "t\($0): {source: a}" }.joined(separator: ", ") + "}"
    },
    Bomb(name: "keys", says: "is not known") { (0..<100_000).map { "k\($0): 1\n" }.joined() },
    Bomb(name: "a long word", says: "is not known") { String(repeating: "k", count: 1_000) + ": 1\n" },
    Bomb(name: "quotes", says: "") { "tables: " + String(repeating: "'", count: 1_000_000) },
    Bomb(name: "defaults times tables", says: "defaults: larger than 64 KiB") {
      "defaults: {columns: [" + (0..<50_000).map { "c\($0)" }.joined(separator: ",") + "]}\ntables: {"
        + (0..<999).map { "t\($0): {source: a}" }.joined(separator: ", ") + "}"
    },
    Bomb(name: "a long list", says: "tables.t.null: more than 1,000 entries") {
      "tables: {t: {source: a, 'null': [" + String(repeating: "a,", count: 400_000) + "]}}"
    },
    Bomb(name: "a long key", says: "tables.t.key: c0 is named twice") {
      "tables: {t: {source: a, key: [" + (0..<90_000).map { "c\($0)" }.joined(separator: ",") + ",c0]}}"
    },
    Bomb(name: "%TAG lines", says: "more than 1,000 %TAG lines") {
      (0..<60_000).map { "%TAG !\($0)! a\n" }.joined() + "---\na: 1\n"
    },
    Bomb(name: "%TAG lines of another document", says: "more than 1,000 %TAG lines") {
      "a: 1\n...\n" + (0..<60_000).map { "%TAG !\($0)! a\n" }.joined() + "---\na: 1\n"
    },
    Bomb(name: "too large", says: "larger than 1 MiB") { String(repeating: " ", count: 1_050_000) },
  ]

  @Test("Bombs", .timeLimit(.minutes(2)), arguments: bombs)
  func bomb(bomb: Bomb) throws {
    let error = try #require(outcome(Array(bomb.make().utf8)))
    #expect(bomb.says.isEmpty || error.description.contains(bomb.says), "\(error)")
    #expect(error.description.utf8.count < 4_000)
  }

  @Test("Names are looked up by what was meant")
  func nearest() {
    let known = ["key", "key-where", "merge", "null", "delimiter"]
    #expect(NearestWord.find("kye", in: known) == "key")
    #expect(NearestWord.find("delimter", in: known) == "delimiter")
    #expect(NearestWord.find("Merge", in: known) == "merge")
    #expect(NearestWord.find("delim", in: known) == "delimiter")
    #expect(NearestWord.find("something", in: known) == nil)
    // Three letters of which one is another are another word.
    #expect(NearestWord.find("sep", in: ["set"]) == nil && NearestWord.find("ste", in: ["set"]) == "set")
    #expect(NearestWord.find("uft8", in: ["utf-8", "utf-16"]) == "utf-8")
    #expect(NearestWord.find("Membrs", in: ["Orders", "Members"]) == "Members")
    // What begins several is none of them.
    #expect(NearestWord.find("null", in: ["nullable", "nullstr"]) == nil)
    #expect(NearestWord.find(String(repeating: "k", count: 100_000), in: known) == nil)
  }
}
