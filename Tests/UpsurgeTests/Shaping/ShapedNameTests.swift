import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Names in the SQL of records: what is a field, and what is said of a name that is none.
@Suite("Names in the SQL of records")
struct ShapedNameTests {
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
    return LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options).run()
  }

  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  private static let inputs = [
    ("id,price,qty\n1,2.5,4\n", "in.csv"), (#"{"id":1,"price":2.5,"qty":4}"# + "\n", "in.ndjson"),
  ]

  // MARK: - Computed columns

  @Test(
    "A computed column is no field, in the SQL of another one or of the filter", arguments: inputs,
    [true, false])
  func computed(_ input: (String, String), isThere: Bool) throws {
    if isThere { _ = try rows("CREATE TABLE t(id INTEGER PRIMARY KEY, price, qty, tot, dbl)") }
    for filter in [nil, "tot > 9"] {
      let lets = [("tot", "price*qty")] + (filter == nil ? [("dbl", "tot*2")] : [])
      let error = try #require(
        load(input.0, lets: lets, where: filter, name: input.1) { $0.rules.key = isThere ? [] : ["id"] }.error
      )
      #expect(error.code == .usage && error.message.contains("no such column: tot"), "\(error)")
      #expect(error.hint?.contains("write the SQL of tot in its place") == true, "\(error.hint ?? "")")
    }
  }

  @Test("A computed column of its own name needs a field", arguments: inputs)
  func own(_ input: (String, String)) throws {
    let error = try #require(load(input.0, lets: [("x", "x+1")], name: input.1).error)
    #expect(error.code == .usage && error.message.contains("no such column: x"), "\(error)")
    #expect(load(input.0, lets: [("qty", "qty+1")], name: input.1).error == nil)
    #expect(try rows("SELECT qty FROM t") == ["5"])
  }

  @Test("Records of JSON may lack the field of a column that the table has")
  func lacking() throws {
    _ = try rows("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    _ = try rows("INSERT INTO t VALUES (1, 7)")
    let summary = load(#"{"id":1}"# + "\n", lets: [("x", "x+1")], name: "in.ndjson") { $0.rules.key = ["id"] }
    #expect(summary.error == nil && summary.ledger.unchanged == 1, "\(summary.error?.message ?? "")")
  }

  // MARK: - Messages

  @Test("What is missing at the end is said of the SQL that was given")
  func incomplete() throws {
    for sql in ["price*", "CASE WHEN price = '1'", "price IN ("] {
      let error = try #require(load(Self.inputs[0].0, lets: [("x", sql)]).error)
      let isOpen = sql.hasSuffix("(")
      #expect(
        error.code == .usage && error.message.contains(isOpen ? "is no SQL expression" : "ends too early"),
        "\(error)")
      #expect(error.message.hasSuffix(sql) && !error.message.contains("\")\""), "\(error)")
    }
  }

  @Test("Texts in double quotes, and new names of fields, are said to be that")
  func hints() throws {
    let text = "id,GICS Sector\n1,Energy\n"
    let quoted = try #require(load(text, where: #""GICS Sector" = "Energy""#).error)
    #expect(quoted.message.hasSuffix("no such column: Energy"), "\(quoted)")
    #expect(
      quoted.hint
        == #"double quotes are for names: write 'Energy' for the text; the fields are: id, "GICS Sector""#,
      "\(quoted.hint ?? "")")
    let renamed = try #require(
      load(text, where: "sector <> ''") { $0.table.renames = ["GICS Sector": "sector"] }.error)
    #expect(renamed.hint?.contains(#"write "GICS Sector";"#) == true, "\(renamed.hint ?? "")")
  }

  @Test("A computed column among those to load is said to come anyway")
  func chosen() throws {
    let error = try #require(
      load(Self.inputs[0].0, lets: [("x", "qty*2")]) { $0.table.columns = ["id", "x"] }.error)
    #expect(
      error.hint?.hasPrefix("leave x out: columns of --let are stored in any case") == true,
      "\(error.hint ?? "")")
  }

  // MARK: - Fields that come late

  private static let late =
    (1...3_000).map { #"{"id":\#($0),"text":"\#(String(repeating: "x", count: 500))"}"# + "\n" }.joined()
    + #"{"id":3001,"late":4}"# + "\n"

  @Test(
    "A field that comes late is found where all of the input is read for types", arguments: [true, false])
  func late(isThere: Bool) throws {
    if isThere { _ = try rows("CREATE TABLE t(id INTEGER PRIMARY KEY, text)") }
    let refused = load(Self.late, where: "late > 3", name: "in.ndjson") { $0.table.columns = ["id"] }
    #expect(
      refused.error?.hint?.hasPrefix("--infer full finds a field that comes later") == true,
      "\(refused.error?.hint ?? "")")
    let summary = load(Self.late, where: "late > 3", name: "in.ndjson") {
      $0.table.columns = ["id"]
      $0.table.inference = .full
    }
    #expect(summary.error == nil && summary.ledger.filtered == 3_000, "\(summary.error?.message ?? "")")
    #expect(try rows("SELECT id FROM t") == ["3001"])
  }

  // MARK: - Nothing let through

  @Test(
    "A condition that no record meets is said, and the new table has the types of all records",
    arguments: inputs)
  func nothing(_ input: (String, String)) throws {
    let notes = Guarded<[RunNote]>([])
    var options = LoadOptions()
    options.table.computedColumns = [LoadOptions.ComputedColumn("twice", "qty*2")]
    options.input.filter = "id = 'x'"
    options.rules.key = ["id"]
    let summary = LoadJob(
      database: scratch.file("a.db"), table: "t", sources: [scratch.write(input.0, to: input.1)],
      options: options
    ).run(note: { note in notes.withLock { $0.append(note) } })
    #expect(
      summary.error == nil && summary.exitCode == 0 && summary.ledger.filtered == 1,
      "\(summary.error?.message ?? "")")
    #expect(
      notes.withLock { $0 }.contains {
        $0.text == "the only record was left out by --where" && $0.level == .warning
      })
    #expect(
      try rows("SELECT name, type FROM pragma_table_info('t')")
        == ["'id'|'INTEGER'", "'price'|'REAL'", "'qty'|'INTEGER'", "'twice'|'INTEGER'"])
  }
}
