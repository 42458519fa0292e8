import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand
@testable import UpsurgeMirror

/// What `--check` says of a schema comes true in a run, and it is silent where a run goes well.
@Suite("Checks of a schema") struct SchemaCheckTests {
  let scratch = Scratch()

  /// A schema and a job's table that do not fit, and what is said of it.
  struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    var sql: String
    var table: String
    var codes: [SchemaWarning.Code]
    /// Parts of what is said.
    var words: [String] = []
    /// What lies there as a.csv.
    var feed: String?

    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "fits", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)", table: "key: id", codes: []),
    Case(
      name: "missing table", sql: "CREATE TABLE u(a)", table: "key: id", codes: [.missingTable],
      words: ["the first run makes it"]),
    Case(
      name: "missing table, create: never", sql: "CREATE TABLE u(a)", table: "key: id, create: never",
      codes: [.missingTable], words: ["create: never makes none"]),
    Case(
      name: "no index for the key", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT)",
      table: "key: code",
      codes: [.keyWithoutIndex],
      words: ["(code) has no PRIMARY KEY", "CREATE UNIQUE INDEX \"t_code_key\" ON \"t\" (\"code\")"]),
    Case(
      name: "the index is made", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT)",
      table: "key: code, create-key: true", codes: []),
    Case(
      name: "a partial index is not the key",
      sql: "CREATE TABLE t(code TEXT, a INT); CREATE UNIQUE INDEX i ON t(code) WHERE a",
      table: "key: code, key-where: a = 2", codes: [.keyWithoutIndex]),
    Case(
      name: "a partial index is the key",
      sql: "CREATE TABLE t(code TEXT, a INT); CREATE UNIQUE INDEX i ON t(code) WHERE a",
      table: "key: code", codes: []),
    Case(
      name: "no key at all", sql: "CREATE TABLE t(a, b)", table: "merge: keep", codes: [.keyWithoutIndex],
      words: ["every run adds all records anew"]),
    Case(name: "no key, inserting", sql: "CREATE TABLE t(a, b)", table: "mode: insert", codes: []),
    Case(
      name: "no such index", sql: "CREATE TABLE t(a); CREATE UNIQUE INDEX i ON t(a)", table: "key-index: j",
      codes: [.keyWithoutIndex], words: ["has no UNIQUE index j", "key-index takes one of: i"]),
    Case(
      name: "a second key", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, email TEXT UNIQUE, n INT)",
      table: "key: id",
      codes: [.otherKey], words: ["UNIQUE (email) is a second key"]),
    Case(
      name: "a second key that is not fed",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, email TEXT UNIQUE, n INT)",
      table: "key: id, columns: [id, n]", codes: []),
    Case(
      name: "a second key that is fed under another name",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, email TEXT UNIQUE, n INT)",
      table: "key: id, columns: [id, mail], rename: {Mail: EMAIL}", codes: [.otherKey]),
    Case(
      name: "a second key that holds the first",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, UNIQUE(n, id))",
      table: "key: id", codes: []),
    Case(
      name: "any key", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, email TEXT UNIQUE)",
      table: "any-key: true",
      codes: []),
    Case(
      name: "a row number that nobody brings",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT UNIQUE)",
      table: "key: code", codes: []),
    Case(
      name: "NOT NULL",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT NOT NULL, b INT NOT NULL DEFAULT 1, c INT NOT NULL)",
      table: "key: id, columns: [id, a]", codes: [.missingValue], words: ["c is NOT NULL, has no default"]),
    Case(
      name: "NOT NULL, and nobody knows the fields",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT NOT NULL)",
      table: "key: id", codes: []),
    Case(
      name: "NOT NULL, and the header says the fields",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT NOT NULL, b INT NOT NULL, email TEXT UNIQUE)",
      table: "key: id, rename: {z: b}", codes: [.missingValue], words: ["a is NOT NULL", "the feed has now"],
      feed: "id,z\n1,2\n"),
    Case(
      name: "a header that lacks a column, and no new rows",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT NOT NULL)", table: "key: id, mode: update",
      codes: [],
      feed: "id\n1\n"),
    Case(
      name: "a header, and a trailer with more fields",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT NOT NULL)",
      table: "key: id, guards: {trailer: 'TRL|*'}", codes: [], feed: "id,a\nTRL|1|2|3\n"),
    Case(
      name: "a header that fits", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT NOT NULL)",
      table: "key: id", codes: [], feed: "id,a\n1,2\n"),
    Case(
      name: "references",
      sql: """
        CREATE TABLE t(id INTEGER PRIMARY KEY, up INT REFERENCES t);
        CREATE TABLE a(t_id REFERENCES t); CREATE TABLE b(x REFERENCES t(id) ON DELETE RESTRICT);
        CREATE TABLE c(x REFERENCES t(id) ON DELETE CASCADE)
        """, table: "key: id, sweep: hard", codes: [.keptByReferences, .keptByReferences],
      words: [
        "a (t_id) refers to them with ON DELETE NO ACTION", "b (x) refers to them with ON DELETE RESTRICT",
      ]),
    Case(
      name: "rows that are to be kept, and go with others",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, up INT REFERENCES t(id) ON DELETE CASCADE)",
      table: "key: id, sweep: hard, local-edits: keep", codes: [.keptRowsChange],
      words: ["t (up) REFERENCES t (id) ON DELETE CASCADE"]),
    Case(
      name: "references, and nothing is deleted",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, gone TEXT); CREATE TABLE a(t_id REFERENCES t)",
      table: "key: id, sweep: {soft: gone}", codes: []),
    Case(
      name: "computed", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT AS (a + 1))",
      table: "key: id",
      codes: [.generatedColumn], words: ["b is computed by the database"]),
    Case(
      name: "computed, and left out", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT AS (a + 1))",
      table: "key: id, columns: [id, a]", codes: []),
    Case(
      name: "no mark", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)", table: "key: id, sweep: {soft: gone}",
      codes: [.missingMark], words: ["ALTER TABLE \"t\" ADD COLUMN \"gone\" TEXT"]),
    Case(
      name: "scope", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)",
      table: "key: id, sweep: hard, scope: tenant = 7",
      codes: [.badScope], words: ["no such column: tenant"]),
    Case(
      name: "scope that would do more", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY)",
      table: "key: id, sweep: hard, scope: \"1); DROP TABLE t; --\"", codes: [.badScope]),
    Case(
      name: "two feeds of one count", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT)",
      table: "key: id, source: [a.csv, b.csv]", codes: [.sharedNumbers], words: ["2 sources"]),
    Case(
      name: "one feed of a count", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT)",
      table: "key: id", codes: []),
    Case(
      name: "a field that SQL names and the header lacks",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT)",
      table: "key: id, where: kid = '1'", codes: [.badSQL],
      words: ["the SQL of where cannot be compiled: no such column: kid", "the fields are: id, p"],
      feed: "id,p\n1,2\n"),
    Case(
      name: "a field that a computed column names and the header lacks",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT, n)",
      table: "key: id, let: {n: prce*2}", codes: [.badSQL], words: ["no such column: prce"],
      feed: "id,p\n1,2\n"),
    Case(
      name: "SQL that is right, and whose fields nobody knows",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT)",
      table: "key: id, where: kid > 5", codes: []),
    Case(
      name: "SQL that nobody could compile", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT)",
      table: "key: id, let: {p: 'price*'}", codes: [.badSQL],
      words: ["ends too early: something is missing after price*"]),
    Case(
      name: "a rule that nobody could compile", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT)",
      table: "key: id, update-if: 'excluded.p >'", codes: [.badSQL], words: ["the SQL of update-if"]),
    Case(
      name: "a format of a column that the feed lacks",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, day TEXT)",
      table: "key: id, date: {daay: '%d.%m.%Y'}", codes: [.unknownField],
      words: ["date names the column \"daay\"", "id, day"],
      feed: "id,day\n1,31.12.2025\n"),
    Case(
      name: "a field that columns name and the header lacks",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT)",
      table: "key: id, columns: [id, q]", codes: [.unknownField], words: ["columns names \"q\""],
      feed: "id,p\n1,2\n"),
    Case(
      name: "a text of the header that SQL compares with a number",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT)",
      table: "key: id, where: p > 5", codes: [.badSQL],
      words: ["where compares the field p with the number 5", "write CAST(p AS REAL)"],
      feed: "id,p\n1,2\n"),
    Case(
      name: "a computed column that another one names",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT, n, m)",
      table: "key: id, let: {n: p*2, m: n*2}", codes: [.badSQL], words: ["SQL sees no computed column"],
      feed: "id,p\n1,2\n"),
    Case(
      name: "a mark of numbers for a column that the feed lacks",
      sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, p REAL)",
      table: "key: id, decimal: [comma, 'lat=point']", codes: [.unknownField],
      words: ["decimal names the column \"lat\""], feed: "id,p\n1,2\n"),
    Case(
      name: "names that are there", sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, day TEXT, n)",
      table: "key: id, date: {day: '%d.%m.%Y'}, let: {n: \"d || 'x'\"}, rename: {d: day}, where: id <> '2'",
      codes: [], feed: "id,d\n1,31.12.2025\n"),
    Case(
      name: "a view", sql: "CREATE TABLE u(id); CREATE VIEW t AS SELECT * FROM u", table: "key: id", codes: []
    ),
  ]

  private func job(_ table: String) -> String {
    let source = table.contains("source:") ? "" : "source: a.csv, "
    return scratch.write("tables: {t: {\(source)\(table)}}", to: "job.yaml")
  }

  @Test("What is said of a schema", arguments: cases)
  func said(one: Case) throws {
    let path = scratch.file("a.db")
    try Database(path).rows(one.sql)
    if let feed = one.feed { _ = scratch.write(feed, to: "a.csv") }
    let before = try readFile(path)
    let warnings = try JobFileReader.read(job(one.table), database: path).job.check()
    #expect(warnings.map(\.code) == one.codes, "\(warnings)")
    let text = warnings.map(\.description).joined(separator: "\n")
    for words in one.words { #expect(text.contains(words), "\(text)") }
    #expect(warnings.allSatisfy { $0.table == "t" && !$0.fix.isEmpty })
    #expect(try readFile(path) == before)
  }

  @Test("Feeds of other names count for the numbers of a table")
  func namedFeeds() throws {
    let path = scratch.file("a.db")
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT)")
    _ = scratch.write("id,v\n1,a\n", to: "a.csv")
    let check = { (owner: String) in
      try JobFileReader.read(job("key: id, sweep: hard, owned-by: \(owner)"), database: path).job.check()
    }
    #expect(try check("crm").isEmpty)
    #expect(
      try JobFileReader.read(job("key: id, sweep: hard, owned-by: crm"), database: path).job.run().exitCode
        == 0)
    #expect(try check("crm").isEmpty)
    let warnings = try check("shop")
    #expect(warnings.map(\.code) == [.sharedNumbers])
    #expect(warnings.first?.description.contains("crm, shop bring rows of one") == true, "\(warnings)")
  }

  @Test("Every kind of warning has a case")
  func all() {
    #expect(Set(Self.cases.flatMap(\.codes)) == Set(SchemaWarning.Code.allCases))
  }

  @Test(
    "The job in words is not said of SQL that nobody could compile",
    arguments: [
      ("let: {a: 'price*'}", "the SQL of let: a ends too early: something is missing after price*"),
      ("where: 'kind ='", "the SQL of where ends too early: something is missing after kind ="),
      ("where: 'kind = = 1'", "the SQL of where cannot be compiled"),
      ("where: nosuch(id)", "no such function: nosuch"),
      ("sweep: hard, scope: 'tenant = = 7'", "the SQL of scope cannot be compiled"),
      ("update-if: 'excluded.a >'", "the SQL of update-if cannot be compiled"),
      ("set: {a: 'a +'}", "the SQL of set: a cannot be compiled"),
    ])
  func jobInWords(table: String, words: String) throws {
    let refused = try Command.run(["mirror", scratch.file("a.db"), job("key: id, \(table)"), "--check-job"])
    #expect(refused.exitCode == 64 && refused.output.isEmpty, "\(refused.output)")
    #expect(
      refused.talk.contains("table t: ") && refused.talk.contains(words)
        && refused.talk.contains("fix: give one expression"), "\(refused.talk)")
    // Names are known when there is a feed.
    let fine = try Command.run([
      "mirror", scratch.file("a.db"),
      job("key: id, where: kid > 5, let: {a: prce*2}, update-if: excluded.a > a"), "--check-job",
    ])
    #expect(fine.exitCode == 0, "\(fine.talk)")
  }

  @Test(
    "The command: 0 and a word where nothing is wrong or the job makes what is missing, 2 with warnings; no feed is read"
  )
  func command() throws {
    let path = scratch.file("a.db")
    let missing = try Command.run(["mirror", path, job("key: id"), "--check"])
    #expect(missing.exitCode == 0 && missing.output.hasPrefix("table t: it is not there"), "\(missing.talk)")
    #expect(
      missing.output.hasSuffix("\nnothing speaks against the job: 1 table of \(path)\n"), "\(missing.output)")
    let never = try Command.run(["mirror", path, job("key: id, create: never"), "--check"])
    #expect(never.exitCode == 2 && never.output.contains("create: never makes none"), "\(never.talk)")
    #expect((try? readFile(path)) == nil)
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let good = try Command.run(["mirror", path, job("key: id"), "--check"])
    #expect(good.exitCode == 0 && good.output == "nothing speaks against the job: 1 table of \(path)\n")
    #expect(good.talk.isEmpty)
    let text = try Command.run([
      "mirror", scratch.write("no database", to: "x.db"), job("key: id"), "--check",
    ])
    #expect(text.exitCode == 1 && text.talk.contains("x.db"), "\(text.talk)")
  }
}
