import TestSupport
import Upsurge

@testable import UpsurgeMirror

/// A random feed: its table, and deliveries that differ from each other here and there.
struct ChunkedFeed {
  enum Form: CaseIterable { case csv, crlf, ndjson, gzip, zstd }

  private(set) var random: SeededGenerator
  let form: Form
  /// SQL that makes the table; empty where the first delivery does.
  let schema: String
  let key: [String]
  let sweep: RowSweep
  let scope: String?
  private let hasTextKey: Bool
  /// The records: key, second part of the key, value, text.
  private(set) var records: [[String]] = []
  private var isReordered = false
  private var endsLine = true
  private var hasBlankLine = false
  private var hasBadRecord = false
  private var nextNumber = 0

  private static let tables: [(sql: String, key: [String], hasTextKey: Bool)] = [
    ("", ["id"], false), ("", ["id"], true), ("", ["id", "part"], true),
    ("CREATE TABLE feed(id INTEGER PRIMARY KEY, part, v, w)", ["id"], false),
    ("CREATE TABLE feed(id TEXT COLLATE NOCASE PRIMARY KEY, part, v, w)", ["id"], true),
    ("CREATE TABLE feed(n INTEGER PRIMARY KEY, id UNIQUE, part, v, w UNIQUE)", ["id"], true),
    ("CREATE TABLE feed(id REAL UNIQUE, part TEXT, v, w)", ["id"], false),
    (
      "CREATE TABLE feed(id, part INTEGER, v, w, PRIMARY KEY (part, id)) WITHOUT ROWID", ["id", "part"], true
    ),
    (
      "CREATE TABLE feed(id TEXT PRIMARY KEY, part, v, w); CREATE TABLE log(n);"
        + "CREATE TRIGGER u AFTER UPDATE ON feed BEGIN INSERT INTO log VALUES (1); END", ["id"], true
    ),
    (
      "CREATE TABLE feed(id TEXT PRIMARY KEY, part, v, w);"
        + "CREATE TRIGGER u AFTER UPDATE ON feed BEGIN UPDATE feed SET w = 'x' WHERE id = new.id; END",
      ["id"],
      true
    ),
  ]

  /// All rows of `parts`, as a number and as a text.
  static let parts = "(0), (1), (2), ('0'), ('1'), ('2')"

  /// - Parameter refers: whether the rows refer to those of another table, `parts`, so that the table shares a transaction
  ///   with records that wait. It lacks part 2 in one of four feeds.
  init(seed: UInt64, refers: Bool = false) {
    random = SeededGenerator(seed: seed)
    form = Form.allCases.randomElement(using: &random) ?? .csv
    // Half of them are tables of which chunks are remembered whatever comes.
    let place = Int.random(in: 0..<2 * Self.tables.count, using: &random)
    var table = Self.tables[place < Self.tables.count ? place : place % 5]
    // To NDJSON every column of a table that is there belongs to the feed.
    let isSoft = Int.random(in: 0..<4, using: &random) == 0 && form != .ndjson
    if isSoft, !table.sql.isEmpty {
      table.sql = table.sql.replacing(" w", with: " w, gone INTEGER", maxReplacements: 1)
    }
    sweep = isSoft && !table.sql.isEmpty ? .soft(column: "gone") : .hard
    scope = Int.random(in: 0..<6, using: &random) == 0 ? "v IS NOT 'foreign'" : nil
    if refers {
      if table.sql.isEmpty { table = Self.tables[3] }
      let parts = Int.random(in: 0..<4, using: &random) == 0 ? "(0), (1), ('0'), ('1')" : Self.parts
      table.sql =
        "CREATE TABLE parts(part PRIMARY KEY); INSERT INTO parts VALUES \(parts);"
        + table.sql.replacing(", v", with: " REFERENCES parts, v", maxReplacements: 1)
    }
    (schema, key, hasTextKey) = (table.sql, table.key, table.hasTextKey)
    let isSmall = Int.random(in: 0..<8, using: &random) == 0
    for _ in 0..<Int.random(in: isSmall ? 0...20 : 100...350, using: &random) { records.append(newRecord()) }
  }

  func job(database: String, source: String) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [source])
    table.options.rules.key = key
    table.options.rejects.onError = .reject
    table.sweep = sweep
    table.scope = scope
    table.guards.maximumDeletes = .percent(60)
    (
      table.options.tuning.chunkSizes.usual, table.options.tuning.chunkSizes.least,
      table.options.tuning.chunkSizes.most
    ) = (
      400, 100, 3_000
    )
    return MirrorJob(database: database, tables: [table])
  }

  private mutating func newRecord() -> [String] {
    nextNumber += 1
    let number = nextNumber * 7 % 10_007
    let id = hasTextKey ? "key \(String(number, radix: 36))" : "\(number)"
    return [id, "\(number % 3)", "\(Int.random(in: 0...99, using: &random))", text()]
  }

  private mutating func text() -> String {
    let words = [
      "", "a \"quoted\" word", "two\nlines", "two\r\nlines, and a comma", "plain", "ünïcödé", "\"\n",
    ]
    let tail = "\(UInt32.random(in: 0 ... .max, using: &random))"
    return (words.randomElement(using: &random) ?? "") + tail
  }

  /// Makes the next delivery of the last one.
  mutating func change() {
    (endsLine, hasBlankLine, hasBadRecord) = (true, false, false)
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let place = Int.random(in: 0...records.count, using: &random)
      let block = place..<min(place + Int.random(in: 0...12, using: &random), records.count)
      switch Int.random(in: 0...19, using: &random) {
      case 0...7:
        for index in block { records[index][2] = "\(Int.random(in: 100...999, using: &random))" }
      case 8...9:
        for _ in block { records.insert(newRecord(), at: place) }
      case 10...11: records.removeSubrange(block)
      case 12:
        let moved = records[block]
        records.removeSubrange(block)
        records.insert(contentsOf: moved, at: Int.random(in: 0...records.count, using: &random))
      case 13:
        // A record comes twice, once with another value.
        guard var twice = records.randomElement(using: &random) else { break }
        twice[2] = "twice"
        records.insert(twice, at: place)
      case 14: endsLine = false
      case 15: hasBlankLine = true
      case 16: hasBadRecord = Int.random(in: 0..<3, using: &random) == 0
      case 17: isReordered.toggle()
      case 18:
        if Int.random(in: 0..<3, using: &random) == 0 {
          for index in records.indices { records[index][3] = text() }
        }
      default:
        // Keys change their rows: those of two blocks are exchanged.
        for (index, other) in zip(block, records.indices.reversed()) where index < other {
          (records[index][0], records[other][0]) = (records[other][0], records[index][0])
          (records[index][1], records[other][1]) = (records[other][1], records[index][1])
        }
      }
    }
  }

  /// The delivery as it lies there.
  func bytes() -> [UInt8] {
    switch form {
    case .csv: Array(csv("\n").utf8)
    case .crlf: Array(csv("\r\n").utf8)
    case .ndjson: Array(ndjson().utf8)
    case .gzip: Compressing.gzip(Array(csv("\n").utf8))
    case .zstd: Compressing.zstd(Array(csv("\n").utf8))
    }
  }

  private func csv(_ end: String) -> String {
    let order = isReordered ? [0, 1, 3, 2] : [0, 1, 2, 3]
    let names = ["id", "part", "v", "w"]
    var text = order.map { names[$0] }.joined(separator: ",") + end
    for (index, record) in records.enumerated() {
      if hasBlankLine && index == records.count / 2 { text += end }
      if hasBadRecord && index == records.count / 3 { text += "bad,record\(end)" }
      text += order.map { quoted(record[$0]) }.joined(separator: ",") + end
    }
    return endsLine ? text : String(text.dropLast())
  }

  private func quoted(_ field: String) -> String {
    field.utf8.contains { "\",\r\n".utf8.contains($0) }
      ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
  }

  private func ndjson() -> String {
    var text = ""
    for (index, record) in records.enumerated() {
      if hasBlankLine && index == records.count / 2 { text += "\n" }
      if hasBadRecord && index == records.count / 3 { text += "{bad\n" }
      let id = hasTextKey ? string(record[0]) : record[0]
      let members = [("id", id), ("part", record[1]), ("v", string(record[2])), ("w", string(record[3]))]
      let ordered = isReordered ? members.reversed() : members
      text += "{" + ordered.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}\n"
    }
    return endsLine ? text : String(text.dropLast())
  }

  private func string(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
      "\r\n", with: "\\r\\n"
    )
    .replacing("\n", with: "\\n")
    return "\"\(escaped)\""
  }
}
