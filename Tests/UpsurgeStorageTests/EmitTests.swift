import CSQLite
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Literals, templates and packing; each judged by what SQLite makes of the text.
@Suite struct EmitTests {
  /// One cell for each value, and the batch that holds their bytes.
  private func literal(_ value: Value, encoding: LiteralWriter.TextEncoding = .utf8) throws -> [UInt8] {
    var maker = BatchMaker(["v"])
    let batch = maker.batch([[value]])
    var sql: [UInt8] = []
    try LiteralWriter(encoding: encoding).append(batch.cells[0], of: batch, to: &sql)
    return sql
  }

  private static let values: [Value] = [
    nil, 0, 1, -1, .integer(.max), .integer(.min), 1.0, -0.1, 0.1, 1e22, 1e-7, .real(.leastNonzeroMagnitude),
    1.7976931348623157e308,
    2.2250738585072014e-308, .real(.infinity), .real(-.infinity), "", "x", "it's", "''",
    "\"; DROP TABLE t; --",
    "a\nb\r\n\tc", "é漢😀", "a\0b", "\0", "'\0'", "😀\0'é", "007", "NULL", .blob([]), .blob([0, 255, 39, 16]),
  ]

  @Test(arguments: values)
  func aLiteralIsTheValue(_ value: Value) throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(v); CREATE TABLE s(i INTEGER, r REAL, t TEXT)")
    let sql = String(decoding: try literal(value), as: UTF8.self)
    try connection.execute("INSERT INTO t VALUES (\(sql)), (\(sql))")
    #expect(try connection.rows("SELECT v FROM t") == [[value], [value]], "\(sql)")
    // A column's affinity makes the same of the literal as of a parameter.
    try connection.execute("INSERT INTO s VALUES (\(sql), \(sql), \(sql))")
    let statement = try connection.prepare("INSERT INTO s VALUES (?1, ?1, ?1)")
    try statement.bind(value, at: 1)
    _ = try statement.step()
    let rows = try connection.rows("SELECT * FROM s")
    #expect(rows[0] == rows[1], "\(sql)")
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"])
  func textWithNULInOtherEncodings(_ encoding: String) throws {
    let database = TemporaryDatabase()
    let connection = try Connection(path: database.path, createIfMissing: true)
    try connection.execute("PRAGMA encoding='\(encoding)'; CREATE TABLE t(v)")
    let known = try #require(LiteralWriter.TextEncoding(rawValue: encoding))
    let sql = String(decoding: try literal("é\0😀'", encoding: known), as: UTF8.self)
    try connection.execute("INSERT INTO t VALUES (\(sql))")
    #expect(try connection.rows("SELECT v FROM t") == [["é\0😀'"]])
  }

  @Test func realsAreExact() throws {
    let connection = try TemporaryDatabase().open()
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    var scaledCount = 0
    for index in 0..<20_000 {
      var value = Double(bitPattern: generator.next())
      if index % 2 == 0 {
        value = Double(Int64.random(in: -1_000_000_000...1_000_000_000, using: &generator)) / 1e4
      }
      if value.isNaN || value.isInfinite { continue }
      let sql = String(decoding: try literal(.real(value)), as: UTF8.self)
      scaledCount += sql.contains("CAST") ? 1 : 0
      let read = try connection.rows("SELECT \(sql), \(LiteralWriter.scaled(value))")[0]
      #expect(read == [.real(value), .real(value)], "seed \(seed): \(value) \(sql)")
      if read != [.real(value), .real(value)] { break }
    }
    #expect(scaledCount < 2_000, "most numbers stand as people write them")
  }

  @Test(
    arguments: [
      ("INSERT INTO t VALUES (?, ?)", "INSERT INTO t VALUES ", "(1, 2)", ""),
      (
        "INSERT INTO \"a?(\" (\"values\") VALUES (?, ifnull(?, ')?')) ON CONFLICT DO NOTHING",
        "INSERT INTO \"a?(\" (\"values\") VALUES ", "(1, ifnull(2, ')?'))", " ON CONFLICT DO NOTHING"
      ),
      ("UPDATE t SET v = ?2 WHERE k = ?1", "", "UPDATE t SET v = 2 WHERE k = 1", ""),
      ("INSERT INTO t DEFAULT VALUES", "", "INSERT INTO t DEFAULT VALUES", ""),
      (
        "INSERT INTO t SELECT ?1, ?1 /* ? ' */ WHERE [a?] -- '?\nAND ?2", "",
        "INSERT INTO t SELECT 1, 1 /* ? ' */ WHERE [a?] -- '?\nAND 2", ""
      ),
      (
        "INSERT INTO t(k) VALUES (?) ON CONFLICT DO UPDATE SET v = ?", "",
        "INSERT INTO t(k) VALUES (1) ON CONFLICT DO UPDATE SET v = 2", ""
      ),
    ])
  func templates(_ sql: String, _ head: String, _ tuple: String, _ tail: String) throws {
    let template = StatementTemplate(sql)
    var text: [UInt8] = []
    template.append(to: &text) { $1 += Array("\($0 + 1)".utf8) }
    #expect(String(decoding: template.head, as: UTF8.self) == head)
    #expect(String(decoding: text, as: UTF8.self) == tuple)
    #expect(String(decoding: template.tail, as: UTF8.self) == tail)
    #expect(template.isPackable == !head.isEmpty)
  }

  @Test(arguments: [(29, 10), (36, 10), (37, 10), (1000, 3), (1000, 1)])
  func packing(_ byteLimit: Int, _ rowLimit: Int) {
    let template = StatementTemplate("INSERT INTO t VALUES (?) -- x")
    var packer = StatementPacker(byteLimit: byteLimit, rowLimit: rowLimit)
    var fitting = 0
    for value in 0..<10 {
      let tuple = Array("(\(value))".utf8)
      if template.byteCount({ _ in 1 }) <= byteLimit {
        packer.add(tuple, template)
        fitting += 1
      }
    }
    packer.close()
    let statements = String(decoding: packer.take(), as: UTF8.self).split(separator: ";\n")
    // "INSERT INTO t VALUES " + "(0)" + " -- x" + ";" is 30 bytes, each tuple more is 5.
    let perStatement = min(rowLimit, (byteLimit - 25) / 5)
    #expect(fitting == (byteLimit < 30 ? 0 : 10))
    #expect(statements.count == (perStatement == 0 ? 0 : (10 + perStatement - 1) / perStatement))
    #expect(statements.allSatisfy { $0.utf8.count + 1 <= byteLimit })
    #expect(packer.take().isEmpty)
  }
}
