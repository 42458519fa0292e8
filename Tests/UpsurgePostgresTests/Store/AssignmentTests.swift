import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Texts of a file become what the server makes of them in `INSERT … VALUES ('…')`, or are rejected as it refuses them.
@Suite(
  "Texts as the server assigns them",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct AssignmentTests {
  let scratch = Scratch()

  /// A type, and texts for it.
  struct Texts: CustomStringConvertible, Sendable {
    var type: String
    var values: [String]
    /// SQL before the table.
    var ddl = ""
    var description: String { type }

    private static let floats = [
      "1e400", "-1e400", "1e-400", "-1e-400", "1e308", "1.7976931348623157e308", "1.8e308", "4.9e-324",
      "2e-324", "0e400",
      "0.0e-999", "0", "-0.0", "1.5", "NaN", "Infinity", "-inf", "x",
    ]
    private static let bits = ["101", "10110", "1", "102", "B101", "x5", "xF"]
    private static let words = ["abc", "ab", "abcd", "abc  ", "ab    ", "äöü", "äöüx"]
    private static let lists = [
      "{abc,ab}", "{abcd}", "{abc,NULL,abcd}", "{\"abc  \"}", "{{ab},{abc}}", "[2:3]={a,b}", "{}", "{abc",
      "abc",
    ]
    private static let bitLists = ["{101,110}", "{10}", "{1011}", "{NULL,101}", "{{1},{101}}", "{2}", "{}"]

    static let all = [
      Texts(type: "double precision", values: floats),
      Texts(
        type: "real", values: floats + ["3.4e38", "3.5e38", "1e-45", "1e-46", "8589973000.0001", "16777217"]),
      Texts(type: "bit", values: ["1", "0", "10", "2"]), Texts(type: "bit(3)", values: bits),
      Texts(type: "bit varying(3)", values: bits), Texts(type: "bit varying", values: bits),
      Texts(type: "b", values: bits, ddl: "CREATE DOMAIN b AS bit(3)"),
      Texts(type: "vb", values: bits, ddl: "CREATE DOMAIN vb AS varbit(3) CHECK (VALUE <> '111')"),
      Texts(type: "bit(3)[]", values: bitLists), Texts(type: "bit varying(3)[]", values: bitLists),
      Texts(type: "varchar(3)", values: words), Texts(type: "char(3)", values: words),
      Texts(type: "char", values: words + ["a"]),
      Texts(type: "varchar", values: words),
      Texts(type: "w", values: words, ddl: "CREATE DOMAIN w AS varchar(3)"),
      Texts(type: "varchar(3)[]", values: lists), Texts(type: "char(3)[]", values: lists),
      Texts(type: "text[]", values: lists),
      Texts(type: "ws", values: lists, ddl: "CREATE DOMAIN ws AS varchar(3)[]"),
      Texts(
        type: "pair", values: ["(abc,101)", "(abcd,101)", "(abc,10)", "(abc)"],
        ddl: "CREATE TYPE pair AS (a varchar(3), b bit(3))"),
      Texts(type: "numeric(5,2)", values: ["999.994", "999.995", "1000", "0.005", "NaN", "1e2", "x"]),
      Texts(type: "numeric(5,2)[]", values: ["{999.994,1}", "{999.995}", "{NULL}"]),
      Texts(type: "interval(1)", values: ["1.26 s", "1 day 00:00:01.26", "1.24 s", "x"]),
      Texts(type: "interval day to minute", values: ["1 day 02:03:04", "5 hours"]),
      Texts(type: "time(1)", values: ["12:00:00.26", "23:59:59.99", "25:00"]),
      Texts(type: "timetz(1)", values: ["12:00:00.26+02", "12:00:00.24", "x"]),
      Texts(type: "timestamp(1)", values: ["2024-02-29 12:00:00.26", "2024-02-30"]),
      Texts(type: "timestamptz(1)", values: ["2024-02-29 12:00:00.26+02", "2024-02-29 12:00:00.24"]),
      Texts(
        type: "name", values: [String(repeating: "x", count: 70), String(repeating: "ä", count: 40), "short"]),
      Texts(type: "\"char\"", values: ["a", "abc"]),
      Texts(type: "inet", values: ["10.0.0.1", "10.0.0.256"]),
      Texts(type: "cidr", values: ["10.0.0.0/8", "10.0.0.1/8"]),
      Texts(type: "int4range", values: ["[1,3)", "[1,3]", "[3,1)"]),
      Texts(type: "money", values: ["12.345", "x"]),
      Texts(type: "mood", values: ["ok", "odd"], ddl: "CREATE TYPE mood AS ENUM ('ok', 'bad')"),
    ]
  }

  /// What became of the texts: the value of each as the server shows it, or the SQLSTATE.
  private typealias Fates = [Int: String]

  @Test("Each text is stored or rejected as by an INSERT of its own, and is found again in its row")
  func oracle() throws {
    try compare(Texts.all, format: "csv")
  }

  @Test("A number of JSON, or a string, is no other number in a column of floats")
  func json() throws {
    try compare(Array(Texts.all[..<2]), format: "ndjson")
    let numbers = ["1e400", "1e-400", "1.5", "1e308", "4.9e-324", "-1e400"]
    try compare(
      [Texts(type: "double precision", values: numbers), Texts(type: "real", values: numbers)],
      format: "numbers")
  }

  private func compare(_ all: [Texts], format: String) throws {
    PostgresStores.register()
    let url = try Server.freshURL()
    let connection = try Server.connect(url)
    try connection.run("SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'")
    for (number, texts) in all.enumerated() {
      let table = "t\(number)"
      try connection.run(
        "\(texts.ddl); CREATE TABLE alone\(number) (id int PRIMARY KEY, v \(texts.type)); CREATE TABLE \(table) (LIKE alone\(number) INCLUDING ALL)"
      )
      var alone: Fates = [:]
      for (id, value) in texts.values.enumerated() {
        do {
          try connection.run("INSERT INTO alone\(number) VALUES (\(id), '\(value)')")
          alone[id] = try connection.texts("SELECT v::text FROM alone\(number) WHERE id = \(id)")[0][0]
        } catch let failure as PostgresFailure {
          alone[id] = failure.sqlState
        }
      }
      let fates = try load(texts.values, format, into: url, table, connection)
      #expect(fates == alone, "\(texts), \(format)")
    }
  }

  /// Loads the texts twice in one file, and says what became of each.
  private func load(
    _ values: [String], _ format: String, into url: String, _ table: String, _ connection: PostgresConnection
  ) throws -> Fates {
    let lines = values.enumerated().map { id, value in
      let quoted = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      return switch format {
      case "csv": "\(id),\"\(value.replacing("\"", with: "\"\""))\"\n"
      case "numbers": "{\"id\":\(id),\"v\":\(value)}\n"
      default: "{\"id\":\(id),\"v\":\"\(quoted)\"}\n"
      }
    }
    let isCSV = format == "csv"
    let text = (isCSV ? "id,v\n" : "") + (lines + lines).joined()
    var options = LoadOptions()
    options.rules.key = ["id"]
    (options.rejects.onError, options.rejects.path) = (.reject, scratch.file("\(table).rejects"))
    let path = scratch.write(text, to: isCSV ? "feed.csv" : "feed.ndjson")
    let summary = LoadJob(database: url, table: table, sources: [path], options: options).run()
    #expect(
      summary.error == nil && summary.ledger.read == UInt64(values.count * 2),
      "\(summary.error?.description ?? "")")
    var fates: Fates = [:]
    for row in try connection.texts("SELECT id, v::text FROM \(table)") {
      fates[Int(row[0] ?? "") ?? -1] = row[1]
    }
    #expect(
      summary.ledger.unchanged == UInt64(fates.count) && summary.ledger.updated == 0,
      "\(table): \(summary.ledger)")
    guard summary.ledger.rejected > 0 else { return fates }
    let rejects = try String(contentsOfFile: scratch.file("\(table).rejects"), encoding: .utf8)
    for line in rejects.split(separator: "\n").dropFirst() {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let record = try #require(object["record"] as? Int)
      let reason = try #require(object["reason"] as? String)
      fates[(record - 1) % values.count] = reason.split(separator: "[").last.map { String($0.prefix(5)) }
    }
    return fates
  }
}
