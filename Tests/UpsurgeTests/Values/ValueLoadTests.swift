import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Dates, decimals, yes and no, blanks and NULLs by column, from the file to the row.
@Suite("Values by column")
struct ValueLoadTests {
  let scratch = Scratch()

  static func formats(_ values: inout ValueFormats) {
    values.dates = ["day": "%d/%m/%Y", "moment": "%b %d %Y %H:%M %z"]
    values.decimal = .comma
    values.thousands = "."
    values.truths = ["flag": .usual, "paid": .words(yes: ["bezahlt", "ok"], no: ["offen", "-"])]
    values.trim = .blanks
    values.nulls = ["day": ["n/a"], "note": ["none"]]
  }

  private func load(
    _ text: String, _ name: String = "in.csv", into database: String = "a.db",
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rejects.onError = .reject
    change(&options)
    let summary = LoadJob(
      database: scratch.file(database), table: "t", sources: [scratch.write(text, to: name)], options: options
    ).run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  private static let content =
    "SELECT * FROM t ORDER BY id; SELECT " + ValueFeed.columns.map { "typeof(\($0))" }.joined(separator: ", ")
    + " FROM t ORDER BY id"

  private func rows(_ sql: String, _ database: String = "a.db") throws -> [String] {
    try Database(scratch.file(database)).rows(sql)
  }

  /// The codes and columns of rejects, in their order.
  private func rejects(_ database: String = "a.db") throws -> [String] {
    try rows("SELECT record, code, \"column\" FROM upsurge_rejects ORDER BY record", database)
  }

  @Test(
    "Tables are those of single rows of the values that the fields mean",
    arguments: SeededGenerator.some(of: UInt64(40)), [true, false])
  func chance(seed: UInt64, isCSV: Bool) throws {
    var feed = ValueFeed(seed: seed)
    let records = (1...300).map { feed.record($0, canFail: true) }
    let text = isCSV ? ValueFeed.csv(records) : ValueFeed.ndjson(records)
    let expected = Database(scratch.file("expected.db"))
    try expected.rows(ValueFeed.table)
    try ValueFeed.store(records, in: expected)
    let bad = records.enumerated().filter { $0.element.contains { $0.sql == nil } }.map(\.offset)
    for (index, sizes) in Self.batchSizes(&feed.random).enumerated() {
      let name = "\(index).db"
      try Database(scratch.file(name)).rows(ValueFeed.table)
      let summary = load(text, isCSV ? "in.csv" : "in.ndjson", into: name) {
        Self.formats(&$0.input.values)
        $0.tuning.batchSizes = sizes
        $0.rejects.target = .table
        if index % 2 == 1 { $0.rules.key = ["id"] }
      }
      #expect(summary.error == nil, "seed \(seed): \(summary.error.map(\.description) ?? "")")
      #expect(
        summary.ledger.inserted == UInt64(records.count - bad.count)
          && summary.ledger.rejected == UInt64(bad.count), "seed \(seed)")
      #expect(try rows(Self.content, name) == expected.rows(Self.content), "seed \(seed), \(sizes)")
      #expect(
        try rows("SELECT record FROM upsurge_rejects ORDER BY record", name) == bad.map { "\($0 + 1)" },
        "seed \(seed)")
    }
  }

  private static func batchSizes(_ random: inout SeededGenerator) -> [Batch.Sizes] {
    [.standard]
      + (0..<3).map { _ in
        Batch.Sizes(
          arenaByteCount: Int.random(in: 1...400, using: &random),
          cellCount: Int.random(in: 1...60, using: &random),
          recordCount: Int.random(in: 1...20, using: &random))
      }
  }

  @Test(
    "A new table has numbers where values are numbers in their form, also packed",
    arguments: [LoadOptions.DirectPolicy.always, .never])
  func newTable(direct: LoadOptions.DirectPolicy) throws {
    let text =
      "id;day;amount;count;flag;version\n"
      + (1...500).map { "\($0);\($0 % 28 + 1).3.2024;1.234,5;1.000;ja;1.2\n" }.joined()
    let summary = load(text) {
      $0.input.values.dates = ["day": "%d.%m.%Y"]
      $0.input.values.decimal = .comma
      $0.input.values.thousands = "."
      $0.input.values.truths = ["flag": .usual]
      $0.transaction.direct = direct
    }
    #expect(
      summary.error == nil && summary.ledger.inserted == 500, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT name, type FROM pragma_table_info('t')")
        == [
          "'id'|'INTEGER'", "'day'|'TEXT'", "'amount'|'REAL'", "'count'|'INTEGER'", "'flag'|'INTEGER'",
          "'version'|'TEXT'",
        ])
    #expect(try rows("SELECT DISTINCT amount, count, flag, version FROM t") == ["1234.5|1000|1|'1.2'"])
    #expect(try rows("SELECT day FROM t WHERE id = 500") == ["'2024-03-25'"])
  }

  @Test("A value that does not fit says column, value and format, and stops the load at its place")
  func message() throws {
    let summary = load("id,day\n1,31/12/2024\n2,12/31/2024\n") {
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.rejects.onError = .stop
    }
    let error = try #require(summary.error)
    #expect(
      error.message
        == "column day: the value \"12/31/2024\" is no date as %d/%m/%Y: there is no such month [bad-date]")
    #expect(error.position?.record == 2 && error.position?.line == 3 && error.column == "day")
    #expect(summary.exitCode == 65)
  }

  @Test("Dates that are longer than they are written fill batches of any size")
  func longer() throws {
    let count = 120_000
    let text = "d\n" + (0..<count).map { "\($0 % 9 + 1).1.24\n" }.joined()
    let summary = load(text) {
      $0.input.values.dates = ["d": "%d.%m.%y"]
      $0.input.csv.delimiter = [UInt8(ascii: ",")]
      $0.input.csv.headerLineCount = 1
    }
    #expect(
      summary.error == nil && summary.ledger.inserted == UInt64(count),
      "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT d, count(*) FROM t GROUP BY d ORDER BY d LIMIT 1") == ["'2024-01-01'|13334"])
    #expect(try rows("SELECT sum(length(d)) FROM t") == ["\(10 * count)"])
  }

  @Test("A key is the value that comes out, so that two spellings are one row")
  func key() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(day TEXT PRIMARY KEY, v)")
    let summary = load("day,v\n1/2/2024,a\n01/02/2024,b\n2/2/2024,c\n") {
      $0.input.values.dates = ["DAY": "%d/%m/%Y"]
      $0.rules.key = ["day"]
    }
    #expect(summary.ledger.inserted == 2 && summary.ledger.updated == 1)
    #expect(try rows("SELECT * FROM t ORDER BY day") == ["'2024-02-01'|'b'", "'2024-02-02'|'c'"])
    let again = load("day,v\n1/2/2024,b\n") {
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.rules.key = ["day"]
    }
    #expect(again.ledger.unchanged == 1)
  }

  @Test("Formats go by the names of columns, also of fields that are renamed or chosen")
  func renamed() throws {
    let summary = load("id,tag,x\n1,31/12/2024,9\n") {
      $0.table.renames = ["tag": "day"]
      $0.table.columns = ["id", "tag"]
      $0.input.values.dates = ["day": "%d/%m/%Y"]
    }
    #expect(summary.error == nil)
    #expect(try rows("SELECT * FROM t") == ["1|'2024-12-31'"])
    let other = load("id,tag\n1,31/12/2024\n", into: "b.db") { $0.input.values.dates = ["dya": "%d/%m/%Y"] }
    #expect(other.exitCode == 64)
    #expect(
      other.error?.message.contains("--date names the column \"dya\", for which") == true,
      "\(other.error?.message ?? "")")
    #expect(other.error?.hint == "its columns are: id, tag")
  }

  @Test("JSON: strings and numbers are read, and numbers of a column of numbers are what they say")
  func json() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER, day TEXT, amount REAL, flag INTEGER)")
    let lines = [
      #"{"id":1,"day":20241231,"amount":12.5,"flag":true}"#,
      #"{"id":2,"day":"2024\u0031231","amount":"1.234,5","flag":"ja"}"#,
      #"{"id":3,"day":null,"amount":null,"flag":0}"#, #"{"id":4,"day":true}"#, #"{"id":5,"day":{"a":1}}"#,
      #"{"id":6,"amount":"12.5"}"#,
      #"{"id":7,"flag":7}"#, #"{"id":8,"flag":[]}"#, #"{"id":9,"day":20241331}"#, #"{"id":10,"day":2024.5}"#,
      #"{"id":11,"day":"x","day":"20240101"}"#, #"{"id":12,"day":"20240101"}"#,
    ]
    // Twice: the second half is read by keys that are predicted.
    let summary = load((lines + lines).joined(separator: "\n") + "\n", "in.ndjson") {
      $0.input.values.dates = ["day": "%Y%m%d"]
      $0.input.values.decimal = .comma
      $0.input.values.thousands = "."
      $0.input.values.truths = ["flag": .usual]
      $0.rejects.target = .table
    }
    #expect(summary.error == nil)
    let good = [
      "1|'2024-12-31'|12.5|1", "2|'2024-12-31'|1234.5|1", "3|NULL|NULL|0", "11|'2024-01-01'|NULL|NULL",
      "12|'2024-01-01'|NULL|NULL",
    ]
    #expect(try rows("SELECT * FROM t ORDER BY rowid") == good + good)
    let bad = [
      (4, "bad-date", "day"), (5, "bad-date", "day"), (6, "bad-number", "amount"), (7, "bad-bool", "flag"),
      (8, "bad-bool", "flag"),
      (9, "bad-date", "day"), (10, "bad-date", "day"),
    ]
    #expect(
      try rejects() == (bad + bad.map { ($0.0 + 12, $0.1, $0.2) }).map { "\($0.0)|'\($0.1)'|'\($0.2)'" })
  }

  @Test("Columns that JSON brings later are of the type that their format makes")
  func laterColumn() throws {
    let summary = load(
      #"{"id":1}"# + "\n" + String(repeating: #"{"id":2}"# + "\n", count: 200_000)
        + #"{"id":3,"flag":"Y","day":"1/2/2024"}"# + "\n", "in.ndjson"
    ) {
      $0.input.values.truths = ["flag": .usual]
      $0.input.values.dates = ["day": "%d/%m/%Y"]
    }
    #expect(summary.error == nil)
    #expect(try rows("SELECT flag, typeof(flag), day FROM t WHERE id = 3") == ["1|'integer'|'2024-02-01'"])
  }

  @Test("What is empty, or blanks alone, is NULL where a format reads it; elsewhere it is as ever")
  func empties() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER, day TEXT, n INTEGER, a TEXT)")
    let text = "id,day,n,a\n1,,,\n2,\"\",\"\",\"\"\n3,  ,  ,  \n4,\" \",\" \",\" x \"\n"
    let summary = load(text) {
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.input.values.trim = .blanks
    }
    #expect(summary.error == nil && summary.ledger.inserted == 4)
    #expect(
      try rows("SELECT * FROM t") == [
        "1|NULL|NULL|NULL", "2|NULL|NULL|''", "3|NULL|NULL|NULL", "4|NULL|NULL|'x'",
      ])
  }

  @Test("Rejects hold how their values were written, and a replay reads them so", arguments: [true, false])
  func replay(isFile: Bool) throws {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, day TEXT CHECK (day < '2024-06-01'), amount REAL, flag INTEGER, note TEXT)"
    )
    let summary = load(
      "id;day;amount;flag;note\n1;1/2/2024;1,5;ja;none\n2;31/12/2024;1.000,25;nein;none\n3;1/13/2024;1;Y; x \n"
    ) {
      Self.formats(&$0.input.values)
      $0.input.values.dates["moment"] = nil
      $0.input.values.truths["paid"] = nil
      $0.rejects.target = isFile ? .file(scratch.file("bad")) : .table
    }
    #expect(
      summary.ledger.inserted == 1 && summary.ledger.rejected == 2,
      "\(summary.error.map(\.description) ?? "")")
    try database.rows(
      "ALTER TABLE t RENAME TO old; CREATE TABLE t(id INTEGER PRIMARY KEY, day TEXT, amount REAL, flag INTEGER, note TEXT)"
    )
    let replayed = ReplayJob(database: scratch.file("a.db"), file: isFile ? scratch.file("bad") : nil).run()
    #expect(replayed.ledger.inserted == 1 && replayed.ledger.rejected == 1)
    #expect(try database.rows("SELECT * FROM t") == ["2|'2024-12-31'|1000.25|0|NULL"])
    #expect(replayed.rejects.map(\.code.rawValue) == ["bad-date"])
  }

  @Test("A run that stopped does not go on with other formats")
  func resume() throws {
    let text = "id,day\n1,1/2/2024\n2,2/2/2024\n3,3/2/2024\n4,x\n"
    let first = load(text) {
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.rejects.onError = .stop
      $0.transaction.commitEvery = 2
    }
    #expect(first.exitCode == 3)
    let other = load(text) {
      $0.input.values.dates = ["day": "%m/%d/%Y"]
      $0.transaction.commitEvery = 2
      $0.transaction.resume = .require
    }
    #expect(
      other.error?.message.contains("--date has changed") == true, "\(other.error?.message ?? "it went on")")
    #expect(try rows("SELECT * FROM t") == ["1|'2024-02-01'", "2|'2024-02-02'"])
    let same = load(text) {
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.transaction.commitEvery = 2
    }
    #expect(same.exitCode == 2, "\(same.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|'2024-02-01'", "2|'2024-02-02'", "3|'2024-02-03'"])
  }

  @Test(
    "Formats that contradict each other, or say nothing, are refused before anything is opened",
    arguments: [
      { $0.dates = ["d": "%d/%m"] }, { $0.thousands = "." },
      {
        $0.thousands = ",,"
        $0.decimal = .comma
      },
      { $0.thousands = "5" }, { $0.truths = ["f": .words(yes: ["a"], no: ["A"])] },
      { $0.truths = ["f": .words(yes: [], no: ["A"])] },
      {
        $0.dates = ["d": "%F"]
        $0.truths = ["D": .usual]
      }, { $0.dates = ["d": "%F", "D": "%F"] }, { $0.thousands = "" },
    ] as [@Sendable (inout ValueFormats) -> Void])
  func refused(change: @Sendable (inout ValueFormats) -> Void) {
    let summary = load("d,f\n1,2\n") { change(&$0.input.values) }
    #expect(summary.exitCode == 64, "\(summary.error.map(\.description) ?? "taken")")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
  }
}
