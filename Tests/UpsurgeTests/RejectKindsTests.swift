import Foundation
import TestSupport
import Testing
import Upsurge

/// Each kind of failure is found where it is, says what it is, and can be stored once its cause is gone.
@Suite("Kinds of rejects")
struct RejectKindsTests {
  let scratch = Scratch()

  /// A bad record: what stands in the file for it, and what is said of it.
  private struct Kind {
    var code: String
    var column: String?
    /// The line for a record of this number; its mended form, nil where mending the database is enough.
    var line: @Sendable (Int) -> [UInt8]
    var mended: (@Sendable (Int) -> String)?
  }

  private static func good(_ id: Int, n: Int = 5, parent: Int = 1, blob: String = "00ff", name: String? = nil)
    -> String
  {
    "\(id),\(name ?? "name \(id)"),\(n),\(parent),\(blob)"
  }

  private static let kinds: [Kind] = [
    Kind(code: "ragged", column: "n", line: { Array("\($0),short,1".utf8) }, mended: { good($0) }),
    Kind(code: "ragged", column: "c", line: { Array((good($0) + ",more").utf8) }, mended: { good($0) }),
    Kind(
      code: "bad-quote", column: "name", line: { Array("\($0),\"x\"y,1,1,00".utf8) }, mended: { good($0) }),
    Kind(
      code: "invalid-utf8", column: "name",
      line: { Array("\($0),caf".utf8) + [0xE9] + Array(",1,1,00".utf8) }, mended: { good($0) }),
    Kind(code: "bad-blob", column: "c", line: { Array(good($0, blob: "0x0").utf8) }, mended: { good($0) }),
    Kind(
      code: "type-mismatch", column: "n", line: { Array("\($0),t,many,1,00".utf8) }, mended: { good($0) }),
    Kind(code: "not-null", column: "name", line: { Array("\($0),,1,1,00".utf8) }, mended: { good($0) }),
    Kind(code: "check", column: nil, line: { Array(good($0, n: 500).utf8) }, mended: nil),
    Kind(code: "unique", column: "name", line: { Array(good($0, name: "taken").utf8) }, mended: { good($0) }),
    Kind(code: "foreign-key", column: "parent", line: { Array(good($0, parent: 77).utf8) }, mended: nil),
    Kind(code: "trigger", column: nil, line: { Array(good($0, n: 13).utf8) }, mended: nil),
    Kind(code: "null-key", column: "id", line: { _ in Array(",k,1,1,00".utf8) }, mended: { good($0) }),
  ]

  private static func table(_ check: String) -> String {
    """
    CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, n INTEGER CHECK (\(check)),
      parent INTEGER REFERENCES p(id), c BLOB) STRICT
    """
  }

  @Test(
    "1,000 bad records of 12 kinds in 20,000: each with its line and byte; after the fix each is stored once",
    arguments: [true, false])
  func places(isFile: Bool) throws {
    var random = SeededGenerator(seed: 7)
    let count = 20_000
    var badNumbers: Set<Int> = []
    while badNumbers.count < 999 { badNumbers.insert(Int.random(in: 2..<count, using: &random)) }
    var text = Array("id,name,n,parent,c\n".utf8)
    var expected: [String] = []
    var mended: [Int: String] = [:]
    func expect(_ number: Int, _ kind: Kind, _ byte: Int) {
      expected.append("\(number)|\(number + 1)|\(byte)|\(kind.column ?? "-")|\(kind.code)")
    }
    for number in 1...count {
      let start = text.count
      if badNumbers.contains(number) {
        let kind = Self.kinds[expected.count % Self.kinds.count]
        expect(number, kind, start)
        if let mend = kind.mended { mended[number] = mend(number) }
        text += kind.line(number) + [0x0A]
      } else {
        text += Array((Self.good(number, name: number == 1 ? "taken" : nil) + "\n").utf8)
      }
    }
    // A quote that is never closed takes all that follows, so it can only be the last.
    let unclosed = Kind(code: "unclosed-quote", column: "name", line: { Array("\($0),\"open,1,1,00".utf8) })
    expect(count + 1, unclosed, text.count)
    text += unclosed.line(count + 1)
    mended[count + 1] = Self.good(count + 1)

    let database = Database(scratch.file("a.db"))
    try database.rows(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); \(Self.table("n < 100"));
      CREATE TRIGGER unlucky BEFORE INSERT ON t WHEN NEW.n = 13 BEGIN SELECT RAISE(ABORT, 'unlucky'); END
      """)
    let path = scratch.file("bad")
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.rejects.onError = .reject
    options.rejects.target = isFile ? .file(path) : .table
    options.table.blobEncoding = .hex
    options.input.encoding = .utf8
    options.input.csv.delimiter = [UInt8(ascii: ",")]
    options.input.csv.quote = .byte(UInt8(ascii: "\""))
    let summary = LoadJob(
      database: scratch.file("a.db"), table: "t", sources: [scratch.write(text, to: "in.csv")],
      options: options
    ).run()
    #expect(summary.ledger.rejected == 1_000 && summary.ledger.inserted == UInt64(count - 999))
    #expect(Set(summary.rejectsByReason.map(\.code.rawValue)) == Set((Self.kinds + [unclosed]).map(\.code)))
    #expect(summary.rejectsByReason.reduce(0) { $0 + $1.count } == 1_000)
    #expect(try found(database, isFile ? path : nil) == expected)

    try mend(database, isFile ? path : nil, mended)
    let replay = ReplayJob(database: scratch.file("a.db"), file: isFile ? path : nil).run()
    #expect(
      replay.ledger.inserted == 1_000 && replay.exitCode == 0,
      "\(replay.tables) \(replay.rejects.first?.reason ?? "")")
    #expect(
      try database.rows("SELECT count(*), count(DISTINCT id), min(id + 0), max(id + 0) FROM t")
        == ["\(count + 1)|\(count + 1)|1|\(count + 1)"])
    #expect(try found(database, isFile ? path : nil) == [])
  }

  /// The rejects as `record|line|byte|column|code`.
  private func found(_ database: Database, _ path: String?) throws -> [String] {
    guard let path else {
      return try database.rows(
        """
        SELECT record, line, byte, coalesce("column", '-'), code FROM upsurge_rejects ORDER BY id
        """
      ).map { $0.replacing("'", with: "") }
    }
    return try objects(path).compactMap { object in
      guard object["upsurge_rejects"] == nil else { return nil }
      return "\(object["record"]!)|\(object["line"]!)|\(object["byte"]!)|"
        + "\(object["column"] as? String ?? "-")|\(object["code"]!)"
    }
  }

  private func objects(_ path: String) throws -> [[String: Any]] {
    try readFile(path).split(separator: 0x0A).map {
      try #require(JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
    }
  }

  private func mend(_ database: Database, _ path: String?, _ mended: [Int: String]) throws {
    try database.rows(
      """
      DROP TRIGGER unlucky; INSERT INTO p VALUES (77); ALTER TABLE t RENAME TO old; \(Self.table("n < 1000"));
      INSERT INTO t SELECT * FROM old; DROP TABLE old
      """)
    guard let path else {
      for (number, raw) in mended {
        try database.rows("UPDATE upsurge_rejects SET raw = '\(raw)' WHERE record = \(number)")
      }
      return
    }
    var text = Data()
    for var object in try objects(path) {
      if let number = object["record"] as? Int, let raw = mended[number] {
        object["raw"] = raw
        object["raw_base64"] = nil
      }
      text += try JSONSerialization.data(withJSONObject: object) + [0x0A]
    }
    _ = scratch.write(Array(text), to: "bad")
  }

  @Test(
    "Each kind of bad JSON has its place and its bytes, and comes in once it is mended",
    arguments: [
      ("json-syntax", "{\"id\":2,}", 0), ("json-syntax", "{\"id\":2", 0), ("not-an-object", "[2]", 0),
      ("lone-surrogate", "{\"id\":2,\"a\":\"\\ud800\"}", 0), ("duplicate-key", "{\"id\":2,\"id\":3}", 0),
      ("too-deep", "{\"id\":2,\"a\":" + String(repeating: "[", count: 2_000), 0),
      ("bad-blob", "{\"id\":2,\"c\":\"%%\"}", 0), ("check", "{\"id\":2,\"a\":\"x\"}", 0),
      ("too-large", "{\"id\":2,\"a\":\"" + String(repeating: "y", count: 5 << 20) + "\"}", 1),
    ])
  func json(code: String, line: String, isCut: Int) throws {
    let path = scratch.file("bad")
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT CHECK (a <> 'x'), c BLOB)")
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.rejects.target = .file(path)
    options.input.duplicateKeys = .reject
    options.table.blobEncoding = .base64
    options.transaction.memory = .mebibytes(16)
    let text = "{\"id\":1}\n" + line + "\n{\"id\":4}\n"
    let summary = LoadJob(
      database: scratch.file("a.db"), table: "t", sources: [scratch.write(text, to: "in")], options: options
    ).run()
    #expect(summary.ledger.inserted == 2)
    #expect(summary.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" } == ["\(code) 1"])
    let objects = try objects(path)
    #expect(try found(database, path).first?.hasPrefix("2|2|9|") == true)
    #expect((objects[1]["raw_cut"] as? Bool ?? false) == (isCut == 1))
    #expect(line.hasPrefix(objects[1]["raw"] as? String ?? "-"))
    var mended = objects[1]
    mended["raw"] = "{\"id\":2,\"a\":\"ok\"}"
    mended["raw_cut"] = nil
    _ = scratch.write(
      Array(
        try JSONSerialization.data(withJSONObject: objects[0]) + [0x0A]
          + JSONSerialization.data(withJSONObject: mended)), to: "bad")
    let replay = ReplayJob(database: scratch.file("a.db"), file: path).run()
    #expect(replay.exitCode == 0, "\(replay.rejects.first?.reason ?? "\(replay.error as Any)")")
    #expect(try database.rows("SELECT id, a FROM t") == ["1|NULL", "2|'ok'", "4|NULL"])
  }
}
