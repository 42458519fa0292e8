import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Computed columns and a filter: what they see, what they refuse, and what the ledger says.
@Suite("Computed columns and a filter")
struct ShapedLoadTests {
  let scratch = Scratch()

  private func load(
    _ text: String, lets: [(String, String)] = [], where filter: String? = nil, name: String = "in.csv",
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.table.computedColumns = lets.map { LoadOptions.ComputedColumn($0, $1) }
    options.input.filter = filter
    change(&options)
    let source = scratch.write(text, to: name)
    let summary = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options)
      .run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  @discardableResult
  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  @Test("A new table has the computed columns, with the types of their values")
  func newTable() throws {
    let summary = load(
      "id,price,qty\n1,2.5,2\n2,3,\n",
      lets: [("total", "price*qty"), ("price", "price*100"), ("day", "date(0,'unixepoch')")])
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT name, type FROM pragma_table_info('t')")
        == ["'id'|'INTEGER'", "'price'|'REAL'", "'qty'|'INTEGER'", "'total'|'REAL'", "'day'|'TEXT'"])
    #expect(try rows("SELECT * FROM t") == ["1|250.0|2|5.0|'1970-01-01'", "2|300.0|NULL|NULL|'1970-01-01'"])
  }

  @Test("Records that the filter leaves out count as filtered, wherever they stand")
  func filtered() throws {
    let summary = load("id,kind\n1,B\n2,A\n3,B\n4,A\n5,B\n", where: "kind = 'A'")
    #expect(summary.ledger.read == 5 && summary.ledger.inserted == 2 && summary.ledger.filtered == 3)
    #expect(summary.exitCode == 0)
    #expect(try rows("SELECT id FROM t") == ["2", "4"])
  }

  @Test(
    "A filter that leaves out everything makes an empty table",
    arguments: [LoadOptions.DirectPolicy.always, .never])
  func nothing(direct: LoadOptions.DirectPolicy) throws {
    let text = "id,kind\n" + (1...9000).map { "\($0),B\n" }.joined()
    let summary = load(text, where: "kind = 'A'") { $0.transaction.direct = direct }
    #expect(summary.error == nil && summary.ledger.filtered == 9000 && summary.ledger.read == 9000)
    #expect(try rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("What is packed is what statements store", arguments: [LoadOptions.DirectPolicy.always, .never])
  func packed(direct: LoadOptions.DirectPolicy) throws {
    let text = "id,a\n" + (1...20_000).map { "\($0),\($0 % 7)\n" }.joined()
    let summary = load(text, lets: [("b", "a*2")], where: "CAST(a AS INTEGER) <> 3") {
      $0.transaction.direct = direct
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    let kept = (1...20_000).filter { $0 % 7 != 3 }
    #expect(
      summary.ledger.inserted == UInt64(kept.count) && summary.ledger.filtered == UInt64(20_000 - kept.count))
    #expect(
      try rows("SELECT count(*), sum(id), sum(b) FROM t") == [
        "\(kept.count)|\(kept.reduce(0, +))|\(kept.reduce(0) { $0 + $1 % 7 * 2 })"
      ])
  }

  @Test("An error is a reject with its place, and the record as it stood")
  func failure() throws {
    let text = "id,a\n1,1\n2,-9223372036854775808\n3,3\n"
    let summary = load(text, lets: [("b", "abs(CAST(a AS INTEGER))")]) {
      $0.rejects.onError = .reject
      $0.rejects.target = .table
    }
    #expect(summary.ledger.inserted == 2 && summary.ledger.rejected == 1)
    let found = try rows(
      "SELECT record, line, code, \"column\", reason, CAST(raw AS TEXT) FROM upsurge_rejects")
    #expect(
      found == ["2|3|'expression'|'b'|'the SQL of --let b fails: integer overflow'|'2,-9223372036854775808'"])
    #expect(try rows("SELECT b FROM t ORDER BY id") == ["1", "3"])
  }

  @Test("Without rejects, the first error stops the load")
  func stop() {
    let failed = load("a\n-9223372036854775808\n", where: "abs(CAST(a AS INTEGER)) > 0")
    #expect(failed.error?.message == "the SQL of --where fails: integer overflow [expression]")
    #expect(failed.error?.position?.record == 1 && failed.exitCode == 65)
  }

  @Test("Computed columns of records that are left out are not evaluated")
  func unevaluated() {
    let summary = load(
      "id,a\n1,1\n2,-9223372036854775808\n", lets: [("b", "abs(CAST(a AS INTEGER))")], where: "id < '2'")
    #expect(summary.error == nil && summary.ledger.filtered == 1, "\(summary.error.map(\.description) ?? "")")
  }

  @Test("A value that its column refuses counts only where the filter lets the record through")
  func refusedLater() throws {
    let text = "id,zip\n1,12\n" + (2...9).map { "\($0),\($0)\n" }.joined() + "10,007\n"
    let summary = load(text, where: "id <> '10'") { $0.table.types = ["zip": "INTEGER"] }
    #expect(summary.error == nil && summary.ledger.filtered == 1, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT count(*), sum(zip) FROM t") == ["9|56"])
  }

  struct Bad: CustomTestStringConvertible, Sendable {
    var sql: String
    var said: String
    var testDescription: String { sql }
  }

  static let bad = [
    Bad(sql: "pricee * 2", said: "no such column: pricee"),
    Bad(sql: "\"pricee\" * 2", said: "no such column"),
    Bad(sql: "sum(price)", said: "misuse of aggregate"),
    Bad(sql: "row_number() OVER ()", said: "misuse of window function"),
    Bad(sql: "price; DROP TABLE t", said: "is no SQL expression"),
    Bad(sql: "price;", said: "is no SQL expression"),
    Bad(sql: "?1", said: "is no SQL expression"), Bad(sql: ":price", said: "is no SQL expression"),
    Bad(sql: "@price", said: "is no SQL expression"), Bad(sql: "$price", said: "is no SQL expression"),
    Bad(sql: "price) FROM x --", said: "is no SQL expression"),
    Bad(sql: "(price", said: "is no SQL expression"),
    Bad(sql: "price /* open", said: "cannot be compiled"), Bad(sql: "price, id", said: "row value misused"),
    Bad(sql: "RAISE(ABORT, 'x')", said: "RAISE"),
    Bad(sql: "(SELECT max(a) FROM t)", said: "no such table: t"),
    Bad(sql: "(SELECT name FROM main.t)", said: "no such table"),
    Bad(sql: "load_extension('x')", said: "cannot be compiled"),
    Bad(sql: "rowid", said: "no such column: rowid"), Bad(sql: "", said: "is no SQL expression"),
    Bad(sql: "price id", said: "syntax error"),
  ]

  @Test(
    "SQL that is not one expression over the fields is refused before anything is read", arguments: bad,
    [true, false])
  func refused(_ bad: Bad, isFilter: Bool) throws {
    try rows("CREATE TABLE t(id, price, b)")
    let summary =
      isFilter ? load("id,price\n1,2\n", where: bad.sql) : load("id,price\n1,2\n", lets: [("b", bad.sql)])
    let error = try #require(summary.error)
    #expect(error.code == .usage && error.message.contains(bad.said), "\(error)")
    #expect(summary.exitCode == 64)
    #expect(try rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("An unknown field is refused with the names of those that there are")
  func unknown() throws {
    let error = try #require(load("id,price\n1,2\n", lets: [("b", "cost * 2")]).error)
    #expect(error.message == "the SQL of --let b cannot be compiled: no such column: cost")
    #expect(error.hint?.hasPrefix("the fields are: id, price;") == true)
  }

  @Test(
    "A column of an expression that the table lacks is named with its option",
    arguments: [("id\n1\n", "in.csv"), ("{\"id\":1}\n", "in.ndjson")])
  func lacking(_ text: String, _ name: String) throws {
    try rows("CREATE TABLE t(id INTEGER)")
    let error = try #require(load(text, lets: [("n", "id+1")], name: name).error)
    #expect(
      error.code == .guardRefused
        && error.message == "--let fills the column \"n\", which table t does not have", "\(error)")
    #expect(load(text, lets: [("n", "id+1")], name: name) { $0.table.contract = .evolve }.error == nil)
    #expect(try rows("SELECT id, n FROM t") == ["1|2"])
  }

  @Test(
    "A text that is compared with a number is refused",
    arguments: [
      "price > 5", "5 < price", "price >= 5.5", "2.5<= price", "price > -5", "(price<10)",
      "price BETWEEN 5 AND 10",
      "price NOT BETWEEN -1.5 AND '3'",
    ])
  func comparison(sql: String) throws {
    let error = try #require(load("id,price\n1,12\n", where: sql).error)
    #expect(
      error.code == .usage && error.message.contains("compares the field price with the number"), "\(error)")
    #expect(load("id,price\n1,12\n2,3\n", where: "CAST(price AS REAL) > 5").ledger.filtered == 1)
  }

  @Test("Numbers of JSON are numbers in SQL, and keep their digits in a column of texts")
  func json() throws {
    try rows("CREATE TABLE t(id INTEGER PRIMARY KEY, amount TEXT, twice, kind)")
    let text =
      #"{"id":1,"amount":1.50}"# + "\n" + #"{"id":2,"amount":"7"}"# + "\n" + #"{"id":3,"kind":[1,2]}"# + "\n"
    let summary = load(
      text, lets: [("twice", "amount * 2")], where: "amount > 1 OR kind IS NOT NULL", name: "in.ndjson")
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|'1.50'|3.0|NULL", "2|'7'|14|NULL", "3|NULL|NULL|'[1,2]'"])
  }

  @Test("A record that has none of the fields leaves the computed column as it is")
  func partial() throws {
    try rows("CREATE TABLE t(id INTEGER PRIMARY KEY, price, total, label)")
    try rows("INSERT INTO t VALUES (1, 1, 10, 'old')")
    let text = #"{"id":1,"label":"new"}"# + "\n" + #"{"id":2,"price":3}"# + "\n"
    let summary = load(text, lets: [("total", "price * 2")], name: "in.ndjson")
    #expect(summary.error == nil && summary.ledger.updated == 1, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|1|10|'new'", "2|3|6|NULL"])
  }

  @Test("Fields that are left out or renamed can be used under their own names")
  func names() throws {
    let summary = load(
      "id,first name,\"a\"\"b\",Price\n1,Ann,x,2\n",
      lets: [("label", "\"first name\" || [a\"b] || pRICE"), ("cost", "price * 1")]
    ) {
      $0.table.columns = ["id", "Price"]
      $0.table.renames = ["Price": "cost"]
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|2|'Annx2'"])
    #expect(try rows("SELECT name FROM pragma_table_info('t')") == ["'id'", "'cost'", "'label'"])
  }

  @Test("A key may be computed")
  func key() throws {
    try rows("CREATE TABLE t(k TEXT PRIMARY KEY, v)")
    let summary = load("k,v\nA,1\na,2\nb,3\n", lets: [("k", "lower(k)")])
    #expect(summary.error == nil && summary.ledger.inserted == 2 && summary.ledger.updated == 1)
    #expect(try rows("SELECT * FROM t") == ["'a'|'2'", "'b'|'3'"])
  }

  @Test(
    "Values that are much longer than their record come through batches of any size",
    arguments: [200, 5_000, 300_000])
  func long(length: Int) throws {
    let text = "id\n" + (1...60).map { "\($0)\n" }.joined()
    let summary = load(text, lets: [("b", "printf('%*s', \(length), 'x' || id)")]) {
      $0.tuning.batchSizes = Batch.Sizes(arenaByteCount: 64, cellCount: 20, recordCount: 8)
    }
    #expect(
      summary.error == nil && summary.ledger.inserted == 60, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT count(*), min(length(b)), sum(CAST(substr(trim(b), 2) AS INTEGER)) FROM t") == [
        "60|\(length)|1830"
      ])
  }

  @Test("A value that no memory has room for is a reject, and the next record is stored")
  func tooLong() throws {
    let summary = load("id\n1\n2\n", lets: [("b", "CASE id WHEN '1' THEN zeroblob(30000000) ELSE 'x' END")]) {
      $0.rejects.onError = .reject
      $0.transaction.memory = .mebibytes(16)
    }
    #expect(
      summary.error == nil && summary.ledger.rejected == 1 && summary.ledger.inserted == 1,
      "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT b FROM t") == ["'x'"])
  }

  @Test("A limit counts records that are read, filtered or not")
  func limit() throws {
    let summary = load("id\n1\n2\n3\n4\n", where: "id % 2 = 0") { $0.input.recordLimit = 3 }
    #expect(summary.ledger.read == 3 && summary.ledger.filtered == 2)
    #expect(try rows("SELECT id FROM t") == ["2"])
  }

  @Test("A trial says what would be filtered, and changes nothing")
  func trial() throws {
    try rows("CREATE TABLE t(id)")
    let summary = load("id\n1\n2\n3\n", where: "id <> '2'") { $0.output.dryRun = .count }
    #expect(summary.ledger.inserted == 2 && summary.ledger.filtered == 1)
    #expect(try rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("The plan says who evaluates the SQL")
  func explain() {
    let summary = load("id\n1\n", lets: [("b", "id * 2")], where: "id > '0'") { $0.output.isExplained = true }
    let text = summary.explanation ?? ""
    #expect(
      text.contains("b = id * 2: SQLite evaluates it") && text.contains("id > '0': SQLite evaluates it"),
      "\(text)")
  }

  @Test("Rejects are tried again with the same SQL")
  func replay() throws {
    let text = "id,a,kind\n1,1,A\n2,x,A\n3,5\n"
    let summary = load(text, lets: [("b", "a * 2")], where: "kind = 'A'") {
      $0.rejects.onError = .reject
      $0.rejects.target = .file(scratch.file("rejects.ndjson"))
    }
    #expect(
      summary.ledger.rejected == 1 && summary.ledger.inserted == 2,
      "\(summary.error.map(\.description) ?? "")")
    let file = try String(contentsOfFile: scratch.file("rejects.ndjson"), encoding: .utf8)
    #expect(file.contains(#""let":[["b","a * 2"]]"#) && file.contains(#""names":["id","a","kind"]"#))
    let mended = file.replacing("3,5", with: "3,5,A")
    _ = scratch.write(mended, to: "rejects.ndjson")
    let replayed = ReplayJob(database: scratch.file("a.db"), file: scratch.file("rejects.ndjson")).run()
    #expect(
      replayed.error == nil && replayed.ledger.inserted == 1, "\(replayed.error.map(\.description) ?? "")")
    #expect(try rows("SELECT id, b FROM t WHERE id = 3") == ["3|10"])
  }

  @Test("A later file that lacks a field of the SQL is said, and its records have NULL there")
  func lacking() throws {
    var options = LoadOptions()
    options.input.filter = "kind = 'A' OR id = '4'"
    options.table.computedColumns = [LoadOptions.ComputedColumn("label", "coalesce(kind, 'none')")]
    let sources = ["id,kind\n1,A\n2,B\n", "id\n3\n4\n", ""].enumerated().map {
      Source(scratch.write($0.element, to: "\($0.offset).csv"))
    }
    let notes = Guarded<[RunNote]>([])
    let summary = LoadJob(database: scratch.file("a.db"), table: "t", sources: sources, options: options)
      .run(note: { note in notes.withLock { $0.append(note) } })
    #expect(summary.error == nil && summary.ledger.filtered == 2, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|'A'|'A'", "4|NULL|'none'"])
    let said = notes.withLock { $0 }.filter { $0.text.contains("lacks a field of the SQL: kind") }
    #expect(
      said.count == 1 && said[0].text.contains("1.csv") && said[0].level == .warning, "\(said.map(\.text))")
  }
}
