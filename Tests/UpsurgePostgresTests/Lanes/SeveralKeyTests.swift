import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads over several connections whose keys are spelled in many ways.
@Suite(
  "Spellings of keys over several connections",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralKeyTests {
  let scratch = Scratch()
  let connection: PostgresConnection
  let url: String

  init() throws {
    PostgresStores.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
  }

  private func load(_ text: String, key: [String], connections: Int) throws -> RunSummary {
    unlink(scratch.file("bad"))
    var options = LoadOptions()
    options.rules.key = key
    (options.rejects.onError, options.rejects.path) = (.reject, scratch.file("bad"))
    options.transaction.connections = connections
    options.transaction.commitEvery = .records(30)
    options.tuning.batchSizes.recordCount = 25
    let source = scratch.write(text, to: "feed.csv")
    return LoadJob(database: url, table: "t", sources: [source], options: options).run()
  }

  /// Types of a key, with spellings of each of its values; those of the last list are none.
  static let spellings: [(type: String, values: [[String]])] = [
    (
      "date",
      [
        ["2024-02-29", "Feb 29 2024", "20240229"], ["2024-03-01", "March 1, 2024"],
        ["2024-02-31", "x31", "n/a", "2024-13-41 x"],
      ]
    ),
    (
      "timestamptz",
      [
        ["2024-02-29 12:00:00+00", "2024-02-29T13:00:00+01:00", "Feb 29 2024 12:00 UTC"],
        ["2024-02-29 12:00:00.25Z", "2024-02-29 05:00:00.25 -07:00"], ["infinity", "Infinity"],
        ["noon 7", "25:99"],
      ]
    ),
    (
      "timestamp(0)",
      [["2024-02-29 12:00:01", "2024-02-29 12:00:00.6", "Feb 29 2024 12:00:00.7"], ["2024-02-29 24:61"]]
    ),
    ("varchar(3)", [["abc", "\"abc  \""], ["ABC"], ["abcd"]]),
    ("uuid", [["0E37DF36-F698-11E6-8DD4-CB9CED3DF976", "{0e37df36f69811e68dd4cb9ced3df976}"], ["0e37"]]),
    ("bool", [["true", "t", "yes", "1"], ["off", "false"], ["maybe"]]),
    ("int", [["7", "+7", "007"], ["-7"], ["0x1F5G", "7 7"]]),
  ]

  @Test(
    "Each value has one connection, however it is spelled, and each bad one is a reject",
    arguments: spellings.indices)
  func values(index: Int) throws {
    let (type, values) = Self.spellings[index]
    var random = SeededGenerator(seed: UInt64(index))
    var text = "id,part,n\n"
    for record in 0..<600 {
      let spelled = values.randomElement(using: &random)?.randomElement(using: &random) ?? ""
      text +=
        "\(spelled.contains(",") ? "\"\(spelled)\"" : spelled),\(Int.random(in: 0..<3, using: &random)),\(record)\n"
    }
    var results: [[String]] = []
    for connections in [1, 4] {
      try connection.run(
        "DROP TABLE IF EXISTS t; CREATE TABLE t (id \(type), part int, n bigint, PRIMARY KEY (part, id))")
      let summary = try load(text, key: ["part", "id"], connections: connections)
      #expect(
        summary.error == nil && summary.ledger.rejected > 50, "\(type): \(summary.error?.description ?? "")")
      let rows = try connection.texts("SELECT id, part, n FROM t ORDER BY 1, 2").map { "\($0)" }
      // Which records, not the words: those of a batch that the server reads are its own.
      let bad = try String(contentsOfFile: scratch.file("bad"), encoding: .utf8).split(separator: "\n")
        .map { line in line.components(separatedBy: ",\"byte\"")[0] }
      results.append(rows + ["\(summary.ledger)"] + bad)
    }
    #expect(results[0] == results[1], "\(type)")
  }

  @Test("A key that is another value each time it is read ends the run, and nothing of its round stands")
  func moments() throws {
    try connection.run("CREATE TABLE t (id date PRIMARY KEY, n bigint)")
    let summary = try load("id,n\n2024-02-28,1\nToday,1\n", key: ["id"], connections: 3)
    #expect(summary.error?.code == .badInput && summary.error?.column == "id")
    #expect(summary.error?.hint == "write the day or the time itself", "\(summary.error?.description ?? "")")
    #expect(try connection.texts("SELECT count(*) FROM t") == [["0"]])
  }

  @Test("The connection of a value is that of its bytes, and a text that is no value is found among many")
  func asked() throws {
    try connection.run("CREATE TABLE t (id date PRIMARY KEY)")
    let reader = KeyReader(session: try ServerSession(url), settings: TransactionSettings())
    let column = try #require(try PostgresTable.read(name: "t", connection)?.column("id"))
    let texts = (1...28).map { $0 % 9 == 0 ? "day \($0)" : "Feb \($0) 2024" }
    let found = try reader.values(of: column, spelled: texts)
    #expect(found.map { $0 == nil } == (1...28).map { $0 % 9 == 0 })
    // Days since 2000-01-01, the most significant byte first.
    #expect(found.first == [0, 0, 0x22, 0x5D])
    #expect(try reader.values(of: column, spelled: []).isEmpty)
  }
}
