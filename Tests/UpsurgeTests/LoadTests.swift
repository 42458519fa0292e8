import TestSupport
import Testing
import Upsurge

/// Loads texts into a table and looks at what is there.
@Suite("Load")
struct LoadTests {
  let scratch = Scratch()

  /// Loads a text into `t` of the scratch database.
  func load(_ text: String, into table: String = "t", _ change: (inout LoadOptions) -> Void = { _ in })
    -> RunSummary
  {
    let source = scratch.write(text, to: "input")
    var options = LoadOptions()
    change(&options)
    let job = LoadJob(
      database: scratch.file("a.db"), table: table, sources: [source], options: options)
    let summary = job.run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  @Test("A CSV makes a table with the types of its values")
  func createsTable() throws {
    let summary = load(
      "id,zip,price,phone,big,name\n1,01234,1.5,+4912,9223372036854775808,Ann\n2,99999,2,5,1,\n")
    #expect(summary.error == nil && summary.exitCode == 0)
    #expect(summary.ledger.inserted == 2)
    #expect(
      try rows("SELECT name || ' ' || type FROM pragma_table_info('t')") == [
        "'id INTEGER'", "'zip TEXT'", "'price REAL'", "'phone TEXT'", "'big TEXT'", "'name TEXT'",
      ])
    #expect(
      try rows("SELECT * FROM t") == [
        "1|'01234'|1.5|'+4912'|'9223372036854775808'|'Ann'", "2|'99999'|2.0|'5'|'1'|NULL",
      ])
  }

  @Test("With a key, new rows are inserted, changed ones updated, the others left alone")
  func upsert() throws {
    let first = load("id,n\n1,a\n2,b\n3,c\n") { $0.rules.key = ["id"] }
    #expect(first.ledger.inserted == 3)
    let second = load("id,n\n2,b\n3,x\n4,d\n") { $0.rules.key = ["id"] }
    #expect(second.ledger.inserted == 1 && second.ledger.updated == 1 && second.ledger.unchanged == 1)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|'a'", "2|'b'", "3|'x'", "4|'d'"])
    let third = load("id,n\n1,a\n2,b\n3,x\n4,d\n")
    #expect(third.ledger.unchanged == 4, "the primary key is the default key")
    #expect(third.wal.bytesWritten == 0)
  }

  @Test("An unquoted empty field is NULL, a quoted one is not, and --null adds spellings")
  func nulls() throws {
    let summary = load("a,b,c\n,\"\",NA\n\"NA\",x,-\n") { $0.input.csv.nullSpellings = [Array("NA".utf8)] }
    #expect(summary.exitCode == 0)
    #expect(try rows("SELECT * FROM t") == ["NULL|''|NULL", "'NA'|'x'|'-'"])
  }

  @Test("The first bad record stops the run, and nothing of it remains")
  func stop() throws {
    let summary = load("a,b\n1,2\n3\n4,5\n")
    #expect(summary.exitCode == 65)
    #expect(summary.error?.position?.line == 3)
    #expect(summary.ledger.rejected == 1 && summary.ledger.inserted == 0)
    #expect(throws: (any Error).self) { try rows("SELECT * FROM t") }
  }

  @Test("Rejects are written with file, record, line, byte, code and raw bytes; their neighbours are stored")
  func rejects() throws {
    let path = scratch.file("bad.ndjson")
    let summary = load("a,b\n1,2\n3\n4,\"5\"x\n6,\"7\"\n") {
      $0.rejects.onError = .reject
      $0.rejects.path = path
    }
    #expect(summary.exitCode == 2)
    #expect(summary.ledger.inserted == 2 && summary.ledger.rejected == 2)
    #expect(try rows("SELECT * FROM t") == ["1|2", "6|7"])
    let lines = String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n")
      .dropFirst().map(String.init)
    try #require(lines.count == 2)
    #expect(lines[0].contains(#""record":2,"line":3,"byte":8"#) && lines[0].contains(#""code":"ragged""#))
    #expect(lines[1].contains(#""record":3,"line":4,"byte":10"#))
    #expect(lines[1].contains(#""raw":"4,\"5\"x""#))
  }

  @Test(
    "A constraint failure is pinned to its record in the middle of many", arguments: [1, 63, 64, 65, 999])
  func constraint(bad: Int) throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT CHECK (n < 5000))")
    var text = "id,n\n"
    for id in 1...1_000 { text += "\(id),\(id == bad ? 9_999 : id)\n" }
    let summary = load(text) { $0.rejects.onError = .reject }
    #expect(summary.ledger.inserted == 999 && summary.ledger.rejected == 1)
    #expect(summary.rejectsByReason.map(\.code) == [.check])
    #expect(try rows("SELECT count(*), count(*) FILTER (WHERE id = \(bad)) FROM t") == ["999|0"])
  }

  @Test("A value that the column would respell is a reject in a new table and a warning in one that existed")
  func wouldChange() throws {
    let sample = String(repeating: "1,x\n", count: 300_000)
    let text = "n,s\n" + sample + "007,y\n"
    let rejected = load(text)
    #expect(rejected.exitCode == 3 || rejected.exitCode == 65)
    #expect(rejected.error?.hint?.contains("--type n:TEXT") == true)
    let full = load(text, into: "full") { $0.table.inference = .full }
    #expect(full.exitCode == 0)
    #expect(try rows("SELECT n FROM full WHERE s = 'y'") == ["'007'"])
    try Database(scratch.file("a.db")).rows("CREATE TABLE old(n INTEGER, s TEXT)")
    let warned = load("n,s\n007,y\n", into: "old")
    #expect(warned.exitCode == 0)
    #expect(warned.warnings.entries.map(\.code) == [.spellingChanged])
    #expect(warned.warnings.entries.first?.first.line == 2)
  }

  @Test("NDJSON records say only what they say; keys that appear later get a column")
  func ndjson() throws {
    let summary = load(
      #"""
      {"id":1,"a":"x","n":{"b":[1,2]}}
      {"a":"y","id":2}
      {"id":3,"late":1.5,"t":true,"z":null}

      """#
    ) { $0.rules.key = ["id"] }
    #expect(summary.error == nil)
    #expect(
      try rows("SELECT * FROM t ORDER BY id") == [
        #"1|'x'|'{"b":[1,2]}'|NULL|NULL|NULL"#, "2|'y'|NULL|NULL|NULL|NULL", "3|NULL|NULL|1.5|1|NULL",
      ])
    let update = load(#"{"id":1,"late":2.5}"#) { $0.rules.key = ["id"] }
    #expect(update.ledger.updated == 1)
    #expect(try rows("SELECT a, late FROM t WHERE id = 1") == ["'x'|2.5"])
  }

  @Test("Input that holds nothing but a broken record says what is broken, and where")
  func onlyRejects() throws {
    let summary = load("{\"a\":01,\"b\":2}\n")
    #expect(summary.exitCode == 65)
    #expect(summary.error?.message.contains("json-syntax") == true)
    #expect(summary.error?.position?.line == 1)
  }

  @Test("A JSON array at a path, flattened")
  func json() throws {
    let summary = load(#"{"meta":{"x":[1]},"data":{"items":[{"id":1,"a":{"b":2,"c":{"d":"e"}}}]}}"#) {
      $0.input.jsonPath = ["data", "items"]
      $0.input.flattenSeparator = "_"
    }
    #expect(summary.error == nil)
    #expect(try rows("SELECT id, a_b, a_c_d FROM t") == ["1|2|'e'"])
  }

  @Test("A table that lacks a field's column is refused before anything is written, or gets it")
  func unknownColumn() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(a)")
    let refused = load("a,b\n1,2\n")
    #expect(refused.exitCode == 4)
    #expect(refused.error?.hint?.contains("--alter") == true)
    let added = load("a,b\n1,2\n") { $0.table.contract = .evolve }
    #expect(added.exitCode == 0)
    #expect(try rows("SELECT * FROM t") == ["'1'|2"])
  }

  @Test("Several files go into one table; a column that only the second has is added")
  func severalFiles() throws {
    let one = scratch.write("id,a\n1,x\n", to: "1.csv")
    let two = scratch.write("b;id\n2.5;2\n", to: "2.csv")
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: [one, two])
    let summary = job.run()
    #expect(summary.error == nil && summary.ledger.inserted == 2)
    #expect(try rows("SELECT id, a, b FROM t") == ["1|'x'|NULL", "2|NULL|2.5"])
  }

  @Test("--columns and --rename choose fields; unknown names are refused with the names that exist")
  func selection() throws {
    let summary = load("id,a,b\n1,2,3\n") {
      $0.table.columns = ["b", "id"]
      $0.table.renames = ["b": "bee"]
    }
    #expect(summary.error == nil)
    #expect(try rows("SELECT * FROM t") == ["1|3"])
    #expect(try rows("SELECT name FROM pragma_table_info('t')") == ["'id'", "'bee'"])
    let refused = load("id,a,b\n1,2,3\n") { $0.table.columns = ["c"] }
    #expect(refused.exitCode == 64)
    #expect(refused.error?.hint == "its fields are: id, a, b")
  }

  @Test("A corrupt stream is an error, and nothing of the run remains")
  func corrupt() throws {
    let source = scratch.write([0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x41], to: "cut.zst")
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source])
    let summary = job.run()
    #expect(summary.exitCode == 65)
    #expect(summary.error?.position?.file == source)
  }

  @Test("Input that is not there is exit 66 and makes no database")
  func missing() throws {
    let job = LoadJob(
      database: scratch.file("new.db"), table: "t", sources: [scratch.file("nothing.csv")])
    #expect(job.run().exitCode == 66)
    #expect(throws: (any Error).self) { try readFile(scratch.file("new.db")) }
  }
}
