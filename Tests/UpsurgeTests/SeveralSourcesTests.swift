import TestSupport
import Testing
import Upsurge

/// Files that do not have the same columns, or nothing at all.
@Suite("Several sources")
struct SeveralSourcesTests {
  let scratch = Scratch()

  private func load(_ texts: [String], _ change: (inout LoadOptions) -> Void = { _ in }) -> RunSummary {
    let sources = texts.enumerated().map { scratch.write($1, to: "\($0).csv") }
    var options = LoadOptions()
    change(&options)
    let summary = LoadJob(
      database: scratch.file("a.db"), table: "t", sources: sources, options: options
    ).run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  @Test("--alter puts every value into its own column, wherever the new one stands")
  func newColumnInTheMiddle() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id, a, b)")
    let summary = load(["id,new,a\n1,NEW,AAA\n"]) { $0.table.contract = .evolve }
    #expect(summary.error == nil)
    #expect(try rows("SELECT id, a, b, new FROM t") == ["'1'|'AAA'|NULL|'NEW'"])
  }

  @Test("A later file may name a column of the table that the first one lacks")
  func laterKnownColumn() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id, a, b)")
    let summary = load(["id,a\n1,x\n", "id,b\n2,y\n"])
    #expect(summary.error == nil)
    #expect(try rows("SELECT * FROM t") == ["'1'|'x'|NULL", "'2'|NULL|'y'"])
  }

  @Test("Columns of a file without records are there for the next one")
  func headerOnly() throws {
    let summary = load(["a\n1\n", "a,b\n", "b,a,c\n2,3,4\n"])
    #expect(summary.error == nil)
    // A column that was first seen without values is TEXT.
    #expect(try rows("SELECT a, b, c FROM t") == ["1|NULL|NULL", "3|'2'|4"])
  }

  @Test("Empty files are left out, wherever they stand", arguments: [[0], [1], [2], [0, 1]])
  func empty(places: [Int]) throws {
    var texts = ["a,b\n1,x\n", "a,b\n2,y\n"]
    for place in places { texts.insert("", at: place) }
    let summary = load(texts)
    #expect(summary.exitCode == 0, "\(summary.error?.description ?? "")")
    #expect(try rows("SELECT * FROM t") == ["1|'x'", "2|'y'"])
  }

  @Test("--infer full looks at the values of every file")
  func inferFull() throws {
    let texts = ["zip,n\n1,1\n", "zip,n\n007,2.5\n"]
    #expect(load(texts).error?.message.contains("would-change") == true)
    let summary = load(texts) { $0.table.inference = .full }
    #expect(summary.error == nil)
    #expect(try rows("SELECT * FROM t") == ["'1'|1.0", "'007'|2.5"])
  }

  @Test("--rename knows names in any case; --ragged extra does not overwrite a field of that name")
  func names() throws {
    #expect(load(["ID,x\n1,2\n"]) { $0.table.renames = ["id": "key"] }.error == nil)
    #expect(try rows("SELECT key, x FROM t") == ["1|2"])
    let refused = load(["a,extra\n1,2,3\n"]) { $0.input.csv.ragged = .extra }
    #expect(refused.exitCode == 64)
    #expect(refused.error?.hint == "give the field another name: --rename extra=NAME")
  }

  @Test("NDJSON behind CSV may speak of any column of the table")
  func mixedFormats() throws {
    try Database(scratch.file("m.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT)")
    var options = LoadOptions()
    options.rules.key = ["id"]
    let job = LoadJob(
      database: scratch.file("m.db"), table: "t",
      sources: [
        scratch.write("id,a\n1,q\n", to: "1.csv"), scratch.write("{\"id\":9,\"b\":3}\n", to: "2.ndjson"),
      ],
      options: options)
    let summary = job.run()
    #expect(summary.error == nil && summary.ledger.inserted == 2, "\(summary.error?.description ?? "")")
    #expect(try Database(scratch.file("m.db")).rows("SELECT * FROM t") == ["1|'q'|NULL", "9|NULL|3"])
  }

  @Test("A later file may bring the column of --delete-when", arguments: [true, false])
  func laterTombstones(isInTable: Bool) throws {
    try Database(scratch.file("d.db")).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT\(isInTable ? ", op TEXT" : "")); INSERT INTO t(id, a) VALUES(1, 'x');"
    )
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.rules.tombstone = Tombstone(column: "op", value: "D")
    let job = LoadJob(
      database: scratch.file("d.db"), table: "t",
      sources: [scratch.write("id,a\n2,k\n", to: "1.csv"), scratch.write("id,op\n1,D\n", to: "2.csv")],
      options: options)
    let summary = job.run()
    #expect(summary.error == nil, "\(summary.error?.description ?? "")")
    #expect(summary.ledger.inserted == 1 && summary.ledger.deleted == 1)
    #expect(try Database(scratch.file("d.db")).rows("SELECT id, a FROM t") == ["2|'k'"])
  }
}
