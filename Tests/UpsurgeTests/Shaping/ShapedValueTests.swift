import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// What SQL sees of fields whose values are written in a way of their own, and what is added after it.
@Suite("Computed columns and values by column")
struct ShapedValueTests {
  let scratch = Scratch()

  private func load(
    _ text: String, lets: [(String, String)] = [], where filter: String? = nil, name: String = "in.csv",
    into database: String = "a.db", _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.table.computedColumns = lets.map { LoadOptions.ComputedColumn($0, $1) }
    options.input.filter = filter
    options.rejects.onError = .reject
    options.rejects.target = .table
    change(&options)
    let source = scratch.write(text, to: name)
    let summary = LoadJob(database: scratch.file(database), table: "t", sources: [source], options: options)
      .run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  @discardableResult
  private func rows(_ sql: String, _ database: String = "a.db") throws -> [String] {
    try Database(scratch.file(database)).rows(sql)
  }

  private static func numbers(_ options: inout LoadOptions) {
    options.input.csv.delimiter = [UInt8(ascii: ";")]
    options.input.values.decimal = .comma
    options.input.values.thousands = "."
  }

  // MARK: - What SQL sees

  @Test("SQL sees days, numbers, flags, trimmed texts and NULLs as they are read, and CSV's are texts")
  func csv() throws {
    let text =
      "id;day;price;active;note\n1;31/12/2024;1.200,50;ja;  x \n2;01/02/2024;2,50;nein;-\n3;02/02/2024;9;ja;y\n"
    let summary = load(
      text,
      lets: [
        ("month", "substr(day, 1, 7)"), ("twice", "price * 2"), ("kinds", "typeof(price) || typeof(active)"),
        ("mark", "coalesce(note, 'none')"), ("active", "10 + active"),
      ], where: "active = 1 OR day < '2024-02-02'"
    ) {
      Self.numbers(&$0)
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.input.values.truths = ["active": .usual]
      $0.input.values.trim = .blanks
      $0.input.values.nulls = ["note": ["-"]]
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT * FROM t") == [
        "1|'2024-12-31'|1200.5|11|'x'|'2024-12'|2401.0|'texttext'|'x'",
        "2|'2024-02-01'|2.5|10|NULL|'2024-02'|5.0|'texttext'|'none'",
        "3|'2024-02-02'|9.0|11|'y'|'2024-02'|18.0|'texttext'|'y'",
      ])
    #expect(
      try rows("SELECT name, type FROM pragma_table_info('t') WHERE cid > 0") == [
        "'day'|'TEXT'", "'price'|'REAL'", "'active'|'INTEGER'", "'note'|'TEXT'", "'month'|'TEXT'",
        "'twice'|'REAL'",
        "'kinds'|'TEXT'", "'mark'|'TEXT'",
      ])
  }

  @Test("What SQL makes is taken as it is, and no format reads it")
  func computed() throws {
    let summary = load(
      "id;day;price\n1;31/12/2024;1,5\n2;1/2/2024;2,5\n",
      lets: [
        ("day", "substr(day, 9, 2) || '/' || substr(day, 1, 4)"), ("text", "'1.234'"),
        ("comma", "replace(price, '.', ',')"),
      ]
    ) {
      Self.numbers(&$0)
      $0.input.values.dates = ["day": "%d/%m/%Y"]
    }
    #expect(summary.error == nil && summary.ledger.inserted == 2, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|'31/2024'|1.5|1.234|'1,5'", "2|'01/2024'|2.5|1.234|'2,5'"])
  }

  @Test(
    "Fields that only SQL reads are numbers where all values in the first part of the file are",
    arguments: [true, false])
  func unstored(isNew: Bool) throws {
    if !isNew { try rows("CREATE TABLE t(id INTEGER, price REAL, total REAL, name TEXT)") }
    let text = "id;price;qty;code\n1;1.000,5;2;1,5\n2;2,5;4;x\n"
    let summary = load(text, lets: [("total", "price * qty"), ("price", "price + 1"), ("name", "code")]) {
      Self.numbers(&$0)
      $0.table.columns = ["id"]
    }
    #expect(summary.error == nil && summary.ledger.inserted == 2, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT id, price, total, name FROM t") == ["1|1001.5|2001.0|'1,5'", "2|3.5|10.0|'x'"])
  }

  @Test("A format may be that of a field that only SQL reads, and of one that is renamed")
  func leftOut() throws {
    let summary = load(
      "id,ts,begin\n1,31/12/2024,1/2/2023\n",
      lets: [("year", "substr(ts, 1, 4)"), ("span", "substr(begin, 1, 7)")]
    ) {
      $0.table.columns = ["id", "begin"]
      $0.table.renames = ["begin": "start"]
      $0.input.values.dates = ["ts": "%d/%m/%Y", "start": "%d/%m/%Y"]
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|'2023-02-01'|2024|'2023-02'"])
    let other = load("id,ts\n1,2\n", lets: [("n", "id")], into: "b.db") {
      $0.input.values.dates = ["n": "%Y-%m-%d"]
    }
    #expect(
      other.error?.message.contains("names the column \"n\"") == true,
      "\(other.error.map(\.description) ?? "")")
  }

  @Test(
    "Strings of JSON are read as those of CSV, and are numbers in SQL where their column is one of numbers")
  func json() throws {
    try rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, day TEXT, amount REAL, name TEXT, ok, twice, kind, plus)")
    let text =
      #"{"id":1,"when":"31/12/2024","amount":" 1.234,5 ","name":" 12","ok":"Y"}"# + "\n"
      + #"{"id":2,"when":"1/1/2024","amount":"9","name":"y","ok":"no"}"# + "\n"
      + #"{"id":3,"when":"2/1/2024","amount": 10.5,"name":" {a ","ok": true}"# + "\n"
    let summary = load(
      text, lets: [("twice", "amount * 2"), ("kind", "typeof(name) || typeof(amount)"), ("plus", "ok + 1")],
      where: "amount > 9 AND \"when\" LIKE '2024-%'", name: "in.ndjson"
    ) {
      Self.numbers(&$0)
      $0.table.renames = ["when": "day"]
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.input.values.truths = ["ok": .usual]
      $0.input.values.trim = .blanks
    }
    #expect(summary.error == nil && summary.ledger.filtered == 1, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT * FROM t") == [
        "1|'2024-12-31'|1234.5|'12'|1|2469.0|'textreal'|2", "3|'2024-01-02'|10.5|'{a'|1|21.0|'textreal'|2",
      ])
  }

  @Test("A new table of JSON has the types of what is read and computed")
  func newJSON() throws {
    let text = #"{"id":1,"amount":"1.234,5","ok":"Y"}"# + "\n" + #"{"id":2,"amount":"7","ok":"n"}"# + "\n"
    let summary = load(text, lets: [("twice", "amount * 2"), ("no", "1 - ok")], name: "in.ndjson") {
      Self.numbers(&$0)
      $0.table.types = ["amount": "REAL"]
      $0.input.values.truths = ["ok": .usual]
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|1234.5|1|2469.0|0", "2|7.0|0|14.0|1"])
    #expect(
      try rows("SELECT name, type FROM pragma_table_info('t') WHERE cid > 0")
        == ["'amount'|'REAL'", "'ok'|'INTEGER'", "'twice'|'REAL'", "'no'|'INTEGER'"])
  }

  @Test("A value that its format cannot read is a reject before the filter looks at it")
  func unfit() throws {
    let summary = load("id,day\n1,31/12/2024\n2,12/31/2024\n", where: "id = '1'") {
      $0.input.values.dates = ["day": "%d/%m/%Y"]
    }
    #expect(summary.ledger.inserted == 1 && summary.ledger.rejected == 1 && summary.ledger.filtered == 0)
    #expect(try rows("SELECT record, code, \"column\" FROM upsurge_rejects") == ["2|'bad-date'|'day'"])
  }

  @Test("A date in a column of numbers stays the text that it is read as")
  func dateInNumbers() throws {
    let texts = try [false, true].map { isShaped in
      let database = "\(isShaped).db"
      try rows("CREATE TABLE t(id INTEGER, day NUMERIC)", database)
      let summary = load(
        "id,day\n1,31/12/2024\n2,\n", where: isShaped ? "1" : nil, into: database
      ) { $0.input.values.dates = ["day": "%d/%m/%Y"] }
      return (try rows("SELECT *, typeof(day) FROM t", database), summary.warnings, summary.error?.message)
    }
    #expect(texts[0].0 == texts[1].0 && texts[0].1 == texts[1].1 && texts[0].2 == texts[1].2)
  }

  // MARK: - By chance

  private static let content =
    "SELECT * FROM t ORDER BY id; SELECT " + ValueFeed.columns.map { "typeof(\($0))" }.joined(separator: ", ")
    + " FROM t ORDER BY id"

  @Test(
    "Shaped records are single rows of the values that the fields mean",
    arguments: SeededGenerator.some(of: UInt64(40)),
    [true, false])
  func chance(seed: UInt64, isCSV: Bool) throws {
    var feed = ValueFeed(seed: seed)
    let records = (1...200).map { feed.record($0, canFail: true) }
    let text = isCSV ? ValueFeed.csv(records) : ValueFeed.ndjson(records)
    try rows(ValueFeed.table, "expected.db")
    try ValueFeed.store(records, in: Database(scratch.file("expected.db")))
    let bad = records.count { $0.contains { $0.sql == nil } }
    // NULL is not true, either.
    try rows(
      "DELETE FROM t WHERE (id % 3 > 0 AND (amount > 0 OR day IS NULL OR flag)) IS NOT TRUE", "expected.db")
    try rows("UPDATE t SET count = count + flag, note = name || '/' || moment", "expected.db")
    for index in 0..<3 {
      let name = "\(index).db"
      try rows(ValueFeed.table, name)
      let summary = load(
        text, lets: [("count", "CAST(count AS INTEGER) + flag"), ("note", "name || '/' || moment")],
        where: "id % 3 > 0 AND (CAST(amount AS REAL) > 0 OR day IS NULL OR flag)",
        name: isCSV ? "in.csv" : "in.ndjson", into: name
      ) {
        ValueLoadTests.formats(&$0.input.values)
        if index > 0 {
          $0.tuning.batchSizes = Batch.Sizes(
            arenaByteCount: Int.random(in: 1...400, using: &feed.random),
            cellCount: Int.random(in: 1...60, using: &feed.random),
            recordCount: Int.random(in: 1...20, using: &feed.random))
        }
      }
      #expect(summary.error == nil, "seed \(seed): \(summary.error.map(\.description) ?? "")")
      #expect(summary.ledger.rejected == UInt64(bad), "seed \(seed)")
      #expect(try rows(Self.content, name) == rows(Self.content, "expected.db"), "seed \(seed), \(index)")
    }
  }

  // MARK: - Added columns

  @Test(
    "Columns that no field fills are filled when records are shaped, also in batches of any size",
    arguments: [true, false], [1, 64, 100_000])
  func added(isCSV: Bool, arenaByteCount: Int) throws {
    let text = (1...40).map { isCSV ? "\($0),v\($0)\n" : "{\"id\":\($0),\"v\":\"v\($0)\"}\n" }.joined()
    let summary = load(
      (isCSV ? "id,v\n" : "") + text, lets: [("w", "v || '!'")], where: "id % 2 = 0",
      name: isCSV ? "in.csv" : "in.ndjson"
    ) {
      $0.table.added = ["nr": .record, "src": .file, "kind": .text("a")]
      $0.tuning.batchSizes = Batch.Sizes(arenaByteCount: arenaByteCount, cellCount: 100, recordCount: 10)
    }
    #expect(
      summary.error == nil && summary.ledger.inserted == 20, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT id FROM t WHERE nr <> id OR w <> v || '!' OR kind <> 'a' OR src NOT LIKE '%/in.%'")
        == [])
    #expect(try rows("SELECT sum(nr) FROM t") == ["420"])
  }

  @Test("Columns that are added change no row by themselves, also beside a filter")
  func unchanged() throws {
    try rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v, nr INTEGER)")
    func run(_ text: String) -> RunSummary {
      load(text, where: "id <> '1'") {
        $0.table.added = ["nr": .record]
        $0.rules.key = ["id"]
      }
    }
    #expect(run("id,v\n1,a\n2,b\n3,c\n").ledger.inserted == 2)
    let again = run("id,v\n2,b\n3,d\n1,x\n")
    #expect(again.ledger.unchanged == 1 && again.ledger.updated == 1 && again.ledger.filtered == 1)
    #expect(try rows("SELECT * FROM t") == ["2|'b'|2", "3|'d'|2"])
  }

  @Test("One column has one source of its values", arguments: ["add", "extra", "soft"])
  func conflict(kind: String) throws {
    let summary = load("id\n1\n", lets: [("EXTRA", "id")]) {
      switch kind {
      case "add": $0.table.added = ["extra": .record]
      case "extra": $0.input.csv.ragged = .extra
      default: $0.rules.softColumn = "extra"
      }
    }
    let error = try #require(summary.error)
    #expect(error.code == .usage && error.message.contains("EXTRA") && summary.exitCode == 64, "\(error)")
  }

  // MARK: - Again

  @Test("A replay reads values, computes and adds as the load did", arguments: [true, false])
  func replay(isCSV: Bool) throws {
    let text =
      isCSV
      ? "id;price;qty;day\n1;1.000,5;2;31/12/2024\n2;2,5;4;x\n"
      : #"{"id":1,"price":"1.000,5","qty":"2","day":"31/12/2024"}"# + "\n"
        + #"{"id":2,"price":"2,5","qty":"4","day":"x"}"# + "\n"
    let file = scratch.file("rejects.ndjson")
    let summary = load(
      text, lets: [("total", "price * qty"), ("year", "substr(day, 1, 4)")],
      name: isCSV ? "in.csv" : "in.ndjson"
    ) {
      Self.numbers(&$0)
      if isCSV {
        $0.table.columns = ["id", "day"]
      } else {
        $0.table.types = ["price": "REAL", "qty": "INTEGER"]
      }
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.table.added = ["nr": .record]
      $0.rejects.target = .file(file)
    }
    #expect(
      summary.ledger.rejected == 1 && summary.ledger.inserted == 1,
      "\(summary.error.map(\.description) ?? "")")
    let kept = try String(contentsOfFile: file, encoding: .utf8)
    _ = scratch.write(
      isCSV ? kept.replacing("4;x", with: "4;1/2/2023") : kept.replacing(#"\"x\""#, with: #"\"1/2/2023\""#),
      to: "rejects.ndjson")
    let replayed = ReplayJob(database: scratch.file("a.db"), file: file).run()
    #expect(
      replayed.error == nil && replayed.ledger.inserted == 1,
      "\(replayed.error.map(\.description) ?? "") \(kept)")
    // Texts of CSV become numbers where all of them are; texts of JSON stay what they are.
    let years = isCSV ? ["2024", "2023"] : ["'2024'", "'2023'"]
    #expect(
      try rows("SELECT id, day, total, year, nr FROM t ORDER BY id") == [
        "1|'2024-12-31'|2001.0|\(years[0])|1", "2|'2023-02-01'|10.0|\(years[1])|2",
      ])
  }

  /// Records that wait for more room are copied with all their cells.
  @Test("A cell that no field fills is set, whatever its memory held")
  func cellsWithoutFields() throws {
    var options = LoadOptions()
    options.table.computedColumns = [LoadOptions.ComputedColumn("b", "a || 'x'")]
    let targets = ["a", "b"].map { ColumnTarget(name: $0, affinity: .text, spellingPolicy: .warn) }
    let source = ShapedSource(
      file: "in.csv", options: options, table: TableFacts(name: "t", isNew: true, columns: [], addsColumns: true),
      columns: ColumnRegistry(targets), blobs: nil, cancellation: nil)
    var (parser, _) = try source.csv(CSVDialect(), header: nil, fields: ["a"], names: ["a"])
    var batch = Batch()
    let text = Array("a\n1\n".utf8)
    batch.freeArena.copyBytes(from: text)
    batch.arenaByteCount = text.count
    batch.begin(columnCount: 2)
    batch.cells.update(repeating: .text(offset: 0, byteCount: 5), count: 2)
    try parser.parse(&batch, isFinal: true)
    #expect(batch.recordCount == 1 && batch.columnCount == 2 && batch.cells[1].kind == .absent)
  }
}
