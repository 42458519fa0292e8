import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Columns that no field fills: where a row comes from, and since when.
@Suite("Added columns")
struct AddedColumnTests {
  let scratch = Scratch()

  private func load(
    _ sources: [String], into database: String = "a.db", _ added: [String: AddedValue],
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.table.added = added
    options.rejects.onError = .reject
    change(&options)
    let summary = LoadJob(
      database: scratch.file(database), table: "t", sources: sources.map { Source($0) }, options: options
    ).run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  private func rows(_ sql: String, _ database: String = "a.db") throws -> [String] {
    try Database(scratch.file(database)).rows(sql)
  }

  private static let all: [String: AddedValue] = [
    "src": .file, "nr": .record, "ln": .line, "began": .run, "part": .now, "kind": .text("a 'text'"),
    "word": .text("file"),
  ]

  @Test(
    "Each record says its file, number, line and run, in batches of any size", arguments: [true, false],
    [1, 7, 64, 100_000])
  func values(isCSV: Bool, arenaByteCount: Int) throws {
    let texts =
      isCSV
      ? ["id,v\n1,\"x\ny\"\n\n2,z\n", "v,id\n\n,3\n"]
      : ["{\"id\":1,\"v\":\"x\"}\n\n\n{\"id\":2}\n", "{\"v\":null,\"id\":3}\n"]
    let sources = texts.enumerated().map {
      scratch.write($0.element, to: "\($0.offset).\(isCSV ? "csv" : "ndjson")")
    }
    let summary = load(sources, Self.all) {
      $0.tuning.batchSizes = Batch.Sizes(arenaByteCount: arenaByteCount, cellCount: 100, recordCount: 10)
    }
    #expect(summary.error == nil && summary.ledger.inserted == 3, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT id, src, nr, ln, kind, word FROM t ORDER BY id") == [
        "1|'\(sources[0])'|1|\(isCSV ? 2 : 1)|'a 'text''|'file'",
        "2|'\(sources[0])'|2|\(isCSV ? 5 : 4)|'a 'text''|'file'",
        "3|'\(sources[1])'|1|\(isCSV ? 3 : 1)|'a 'text''|'file'",
      ])
    #expect(
      try rows(
        "SELECT count(DISTINCT began), min(began GLOB '20??-??-??T??:??:??Z'), min(part = began) FROM t") == [
          "1|1|1"
        ])
    #expect(
      try rows(
        "SELECT name, type FROM pragma_table_info('t') WHERE name IN ('src', 'nr', 'began') ORDER BY name")
        == ["'began'|'TEXT'", "'nr'|'INTEGER'", "'src'|'TEXT'"])
  }

  @Test(
    "The same records again write nothing; a row that changes takes the new values",
    arguments: [true, false], ["INTEGER", "TEXT"])
  func unchanged(isCSV: Bool, keyType: String) throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE t(id \(keyType) PRIMARY KEY, v TEXT, src TEXT, nr INTEGER)")
    func text(_ change: Int?) -> String {
      let values = (1...5_000).map { (($0 * 7919) % 5_003, $0 == change ? "new" : "old") }
      return isCSV
        ? "id,v\n" + values.map { "\($0.0),\($0.1)\n" }.joined()
        : values.map { "{\"id\":\(keyType == "TEXT" ? "\"\($0.0)\"" : "\($0.0)"),\"v\":\"\($0.1)\"}\n" }
          .joined()
    }
    let name = isCSV ? "csv" : "ndjson"
    let first = scratch.write(text(nil), to: "first.\(name)")
    let added: [String: AddedValue] = ["src": .file, "nr": .record]
    let key: (inout LoadOptions) -> Void = { $0.rules.key = ["id"] }
    #expect(load([first], added, key).ledger.inserted == 5_000)
    let before = try Data(contentsOf: URL(fileURLWithPath: scratch.file("a.db")))
    // Another file, and another order: other names and numbers for each row.
    let second = scratch.write(text(nil), to: "second.\(name)")
    let again = load([second], added, key)
    #expect(again.ledger.unchanged == 5_000 && again.ledger.updated == 0)
    #expect(again.wal.bytesWritten == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("a.db"))) == before)
    #expect(try rows("SELECT count(*) FROM t WHERE src = '\(first)'") == ["5000"])
    let third = load([scratch.write(text(4_000), to: "third.\(name)")], added, key)
    #expect(third.ledger.unchanged == 4_999 && third.ledger.updated == 1)
    #expect(try rows("SELECT v, nr FROM t WHERE src LIKE '%third%'") == ["'new'|4000"])
  }

  @Test("A table of nothing but its key and added columns is never changed")
  func onlyAdded() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, src TEXT)")
    let source = scratch.write("id\n1\n2\n1\n", to: "in.csv")
    let summary = load([source], ["src": .file]) { $0.rules.key = ["id"] }
    #expect(summary.error == nil && summary.ledger.inserted == 2 && summary.ledger.unchanged == 1)
    let other = load([scratch.write("id\n1\n3\n", to: "other.csv")], ["src": .file]) { $0.rules.key = ["id"] }
    #expect(other.ledger.inserted == 1 && other.ledger.unchanged == 1 && other.ledger.updated == 0)
    #expect(try rows("SELECT count(*) FROM t WHERE src = '\(source)'") == ["2"])
  }

  @Test("A run that is resumed keeps its beginning, and the parts have their own")
  func resumed() throws {
    let text = "id\n1\n2\n3\nx\n4\n"
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, began TEXT, part TEXT)")
    let source = scratch.write(text, to: "in.csv")
    let added: [String: AddedValue] = ["began": .run, "part": .now]
    let first = load([source], added) {
      $0.rejects.onError = .stop
      $0.transaction.commitEvery = 2
    }
    #expect(first.exitCode == 3)
    let begun = try rows("SELECT DISTINCT began FROM t")
    #expect(try rows("SELECT started_at FROM upsurge_runs") == begun)
    // As if it had begun long ago.
    try Database(scratch.file("a.db")).rows("UPDATE upsurge_runs SET started_at = '2001-02-03T04:05:06Z'")
    let second = load([source], added) { $0.transaction.commitEvery = 2 }
    #expect(second.exitCode == 2 && second.ledger.inserted == 4, "\(second.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT id, began, part > '2020' FROM t WHERE id > 2") == [
        "3|'2001-02-03T04:05:06Z'|1", "4|'2001-02-03T04:05:06Z'|1",
      ])
    #expect(try rows("SELECT DISTINCT began FROM t WHERE id < 3") == begun)
  }

  @Test("A replay gives a record the values of its load", arguments: [true, false], [true, false])
  func replay(isFile: Bool, isCSV: Bool) throws {
    let database = Database(scratch.file("a.db"))
    let table =
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, src TEXT, nr INTEGER, ln INTEGER, began TEXT, kind TEXT"
    try database.rows(table + ", CHECK (v <> 'x'))")
    let text = isCSV ? "id,v\n\n1,a\n2,x\n" : "\n{\"id\":1,\"v\":\"a\"}\n{\"id\":2,\"v\":\"x\"}\n"
    let source = scratch.write(text, to: isCSV ? "in.csv" : "in.ndjson")
    let summary = load(
      [source], ["src": .file, "nr": .record, "ln": .line, "began": .run, "kind": .text("=x")]
    ) {
      $0.rejects.target = isFile ? .file(scratch.file("bad")) : .table
    }
    #expect(summary.ledger.inserted == 1 && summary.ledger.rejected == 1)
    let began = try database.rows("SELECT began FROM t")
    try database.rows("DROP TABLE t; " + table + ")")
    let replayed = ReplayJob(database: scratch.file("a.db"), file: isFile ? scratch.file("bad") : nil).run()
    #expect(replayed.ledger.inserted == 1, "\(replayed.error.map(\.description) ?? "")")
    #expect(
      try database.rows("SELECT id, src, nr, ln, kind FROM t") == ["2|'\(source)'|2|\(isCSV ? 4 : 3)|'=x'"])
    #expect(try database.rows("SELECT began FROM t") == began)
  }

  @Test(
    "A column that the input has, or the table lacks, is refused; a new one is made where that is allowed")
  func columns() throws {
    let source = scratch.write("id,v\n1,x\n", to: "in.csv")
    let own = load([source], ["V": .file])
    #expect(
      own.exitCode == 64 && own.error?.message.contains("--add fills the column \"v\"") == true,
      "\(own.error?.message ?? "")")
    try Database(scratch.file("b.db")).rows("CREATE TABLE t(id INTEGER, v TEXT)")
    let lacking = load([source], into: "b.db", ["src": .file])
    #expect(lacking.exitCode == 4 || lacking.error?.code == .guardRefused, "\(lacking.error?.message ?? "")")
    let evolved = load([source], into: "b.db", ["src": .file, "nr": .record]) { $0.table.contract = .evolve }
    #expect(evolved.error == nil, "\(evolved.error.map(\.description) ?? "")")
    #expect(try rows("SELECT * FROM t", "b.db") == ["1|'x'|1|'\(source)'"])
  }

  @Test(
    "An added column can be a part of the key, and no mode is refused for it",
    arguments: [nil, .insert, .ignore, .update] as [WriteMode?])
  func keys(mode: WriteMode?) throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE t(src TEXT, ln INTEGER, v TEXT, PRIMARY KEY (src, ln))")
    let source = scratch.write("v\na\nb\n", to: "in.csv")
    let summary = load([source], ["src": .file, "ln": .line]) {
      $0.rules.mode = mode
      $0.rules.key = mode == .insert ? [] : ["src", "ln"]
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT * FROM t") == (mode == .update ? [] : ["'\(source)'|2|'a'", "'\(source)'|3|'b'"]))
  }

  @Test("The rule along is for columns of the table")
  func ruleOfNone() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
    let summary = load([scratch.write("id,v\n1,x\n", to: "in.csv")], [:]) {
      $0.rules.key = ["id"]
      $0.rules.merge.columns["w"] = .along
    }
    #expect(summary.exitCode == 64 && summary.error?.message.contains("has no such column") == true)
  }

  @Test("A key of JSON of the same name is replaced, and said")
  func collision() throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT DEFAULT 'd', src TEXT)")
    let source = scratch.write("{\"id\":1,\"src\":\"mine\"}\n{\"id\":2,\"v\":\"x\"}\n", to: "in.ndjson")
    let summary = load([source], ["src": .file]) { $0.rules.key = ["id"] }
    #expect(summary.ledger.inserted == 2)
    #expect(summary.warnings.entries.contains { $0.code == .columnCollision && $0.count == 1 })
    #expect(try rows("SELECT id, v, src FROM t") == ["1|'d'|'\(source)'", "2|'x'|'\(source)'"])
  }
}
