import TestSupport
import Testing
import Upsurge
import UpsurgeBench

/// Digests of tables: equal exactly where the tables are.
@Suite("Table digests")
struct TableDigestTests {
  let scratch = Scratch()

  private func digest(_ sql: String, _ name: String) throws -> TableDigest {
    let path = scratch.file(name)
    try Database(path).rows(sql)
    return try TableDigest(of: "t", on: Connection(path: path, createIfMissing: false))
  }

  private static let base =
    "CREATE TABLE t(a, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, NULL), (3.5, ''), (x'00', 'é');"

  @Test(
    "What differs has another digest, and says in what",
    arguments: [
      ("UPDATE t SET a = 9 WHERE b = 'x'", "as many rows, with other values or types"),
      ("UPDATE t SET a = '1' WHERE b = 'x'", "as many rows"),
      ("UPDATE t SET a = 1.0 WHERE b = 'x'", "as many rows"),
      ("UPDATE t SET b = '' WHERE b IS NULL", "as many rows"),
      ("UPDATE t SET b = NULL WHERE b = ''", "as many rows"),
      ("UPDATE t SET a = CAST('0' AS BLOB) WHERE b = 'é'", "as many rows"),
      ("UPDATE t SET a = x'0000' WHERE b = 'é'", "as many rows"),
      ("UPDATE t SET b = b || char(0) WHERE b = 'x'", "as many rows"),
      ("UPDATE t SET b = CASE b WHEN 'x' THEN 'é' WHEN 'é' THEN 'x' ELSE b END", "as many rows"),
      ("DELETE FROM t WHERE b = 'x'", "3 rows instead of 4"),
      ("INSERT INTO t SELECT * FROM t WHERE b = 'x'", "5 rows instead of 4"),
      ("ALTER TABLE t RENAME b TO c", "its columns are a , c TEXT instead of a , b TEXT"),
      ("ALTER TABLE t ADD COLUMN c", "its columns are"),
    ])
  func differences(change: String, words: String) throws {
    let expected = try digest(Self.base, "a.db")
    let found = try digest(Self.base + change, "b.db")
    #expect(found != expected)
    let difference = try #require(found.difference(from: expected))
    #expect(difference.contains(words), "\(difference)")
    #expect(found.text.utf8.count == 32)
  }

  @Test("The order of the rows does not count; text of any length does", arguments: 0..<20 as Range<UInt64>)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var rows = (0..<50).map { row in
      let text = String(
        repeating: "ab'é".randomElement(using: &random)!, count: Int.random(in: 0..<40, using: &random))
      return "(\(row), '\(text.replacingQuotes)')"
    }
    func make(_ name: String) throws -> TableDigest {
      try digest("CREATE TABLE t(a, b TEXT); INSERT INTO t VALUES " + rows.joined(separator: ",") + ";", name)
    }
    let expected = try make("a.db")
    rows.shuffle(using: &random)
    #expect(try make("b.db") == expected, "seed \(seed)")
    let place = Int.random(in: 0..<50, using: &random)
    rows[place] = rows[place].dropLast(2) + "z')"
    #expect(try make("c.db") != expected, "seed \(seed)")
  }

  @Test("A table that is not there is an error")
  func missing() throws {
    #expect(throws: UpsurgeError.self) { try digest("CREATE TABLE other(a)", "a.db") }
  }
}

extension String {
  fileprivate var replacingQuotes: String { map { $0 == "'" ? "''" : String($0) }.joined() }
}
