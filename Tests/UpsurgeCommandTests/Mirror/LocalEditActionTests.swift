import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand
@testable import UpsurgeMirror

/// Jobs that would take away by foreign keys what `local-edits: keep` is to keep.
@Suite("Edited rows and actions of foreign keys") struct LocalEditActionTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    /// Behind `REFERENCES parents`.
    var action = ""
    /// In the place of two tables with that foreign key.
    var sql: String?
    var parents = "key: id, sweep: hard"
    var kids = "key: id, sweep: hard, local-edits: keep"
    /// Another table of the job.
    var more = ""
    /// What is said behind the words that all of them share; nil where the job runs.
    var refusal: String?
    var fix: String?

    var testDescription: String { name }
  }

  private static let keys = "parents(id INTEGER PRIMARY KEY, code TEXT UNIQUE, gone TEXT)"

  private static let chain = """
    CREATE TABLE regions(id INTEGER PRIMARY KEY);
    CREATE TABLE parents(id INTEGER PRIMARY KEY, code TEXT, r INT REFERENCES regions ON DELETE CASCADE);
    CREATE TABLE kids(id INTEGER PRIMARY KEY, p INT DEFAULT 0 REFERENCES parents ON DELETE SET DEFAULT, v TEXT)
    """

  private static let byCode = """
    CREATE TABLE \(keys);
    CREATE TABLE kids(id INTEGER PRIMARY KEY, p TEXT REFERENCES parents(code) ON UPDATE CASCADE, v TEXT)
    """

  static let cases = [
    Case(
      name: "CASCADE", action: "ON DELETE CASCADE",
      refusal:
        "lose them with rows of parents that this job deletes (sweep: hard): kids (p) REFERENCES parents ON DELETE CASCADE",
      fix:
        "write sweep: {soft: COL} or sweep: none for parents; or local-edits: repair for kids; or ON DELETE RESTRICT or "
        + "NO ACTION in table kids"),
    Case(
      name: "SET NULL", action: "ON DELETE SET NULL",
      refusal:
        "have them changed with rows of parents that this job deletes (sweep: hard): kids (p) REFERENCES parents "
        + "ON DELETE SET NULL"),
    Case(
      name: "SET DEFAULT", action: "ON DELETE SET DEFAULT",
      refusal:
        "have them changed with rows of parents that this job deletes (sweep: hard): kids (p) REFERENCES parents "
        + "ON DELETE SET DEFAULT"),
    Case(
      name: "tombstones, of a delta", action: "ON DELETE CASCADE",
      parents: "key: id, kind: delta, delete-when: {code: D}",
      kids: "key: id, kind: delta, local-edits: keep",
      refusal:
        "lose them with rows of parents that its feed deletes (delete-when): kids (p) REFERENCES parents ON DELETE CASCADE",
      fix:
        "leave out delete-when for parents; or leave out local-edits for kids; or ON DELETE RESTRICT or NO ACTION in table "
        + "kids"),
    Case(
      name: "over a table that is none of the job", sql: chain, parents: "",
      more: "regions: {source: regions.csv, key: id, sweep: hard}",
      refusal:
        "have them changed with rows of regions that this job deletes (sweep: hard): parents (r) REFERENCES regions "
        + "ON DELETE CASCADE, kids (p) REFERENCES parents ON DELETE SET DEFAULT"),
    Case(
      name: "over a table that only loses its reference",
      sql: chain.replacing("ON DELETE CASCADE", with: "ON DELETE SET NULL"), parents: "",
      more: "regions: {source: regions.csv, key: id, sweep: hard}"),
    Case(
      name: "to itself",
      sql: """
        CREATE TABLE \(keys);
        CREATE TABLE kids(id INTEGER PRIMARY KEY, p INT, v TEXT, up INT REFERENCES kids(id) ON DELETE CASCADE)
        """,
      refusal:
        "lose them with rows of kids that this job deletes (sweep: hard): kids (up) REFERENCES kids (id) ON DELETE CASCADE"
    ),
    Case(
      name: "ON UPDATE", sql: byCode, parents: "key: id",
      refusal:
        "have them changed with rows of parents whose columns its feed may change: kids (p) REFERENCES parents (code) "
        + "ON UPDATE CASCADE",
      fix:
        "list columns without the one that is referred to for parents; or local-edits: repair for kids; or ON UPDATE "
        + "RESTRICT or NO ACTION in table kids"),
    Case(name: "ON UPDATE of the job's key", sql: byCode, parents: "key: code"),
    Case(
      name: "ON UPDATE of a number that the job's key is not", action: "ON UPDATE CASCADE",
      parents: "key: code"),
    Case(
      name: "a circle of other tables",
      sql: """
        CREATE TABLE parents(id INTEGER PRIMARY KEY, code TEXT, o INT REFERENCES others ON DELETE CASCADE);
        CREATE TABLE others(id INTEGER PRIMARY KEY, p INT REFERENCES parents ON DELETE CASCADE);
        CREATE TABLE kids(id INTEGER PRIMARY KEY, p INT REFERENCES parents, v TEXT)
        """),
    Case(name: "RESTRICT", action: "ON DELETE RESTRICT"),
    Case(name: "NO ACTION", action: ""),
    Case(name: "a soft sweep", action: "ON DELETE CASCADE", parents: "key: id, sweep: {soft: gone}"),
    Case(name: "no sweep", action: "ON DELETE CASCADE", parents: "key: id"),
    Case(name: "repair", action: "ON DELETE CASCADE", kids: "key: id, sweep: hard, local-edits: repair"),
    Case(name: "without the word", action: "ON DELETE CASCADE", kids: "key: id, sweep: hard"),
    Case(
      name: "a column that the feed does not have", action: "ON DELETE SET NULL",
      kids: "key: id, sweep: hard, local-edits: keep, columns: [id, v]"),
  ]

  @Test("Such a job is refused before anything is stored, and others are not", arguments: cases)
  func refused(one: Case) throws {
    let scratch = Scratch()
    let database = scratch.file("a.db")
    let plain = Database(database)
    try plain.rows(
      one.sql
        ?? """
        CREATE TABLE \(Self.keys);
        CREATE TABLE kids(id INTEGER PRIMARY KEY, p INT REFERENCES parents \(one.action), v TEXT)
        """)
    if one.parents.isEmpty { try plain.rows("INSERT INTO parents(id) VALUES (1)") }
    _ = scratch.write("id,code\n1,1\n", to: "parents.csv")
    _ = scratch.write("id,p,v\n1,1,a\n", to: "kids.csv")
    _ = scratch.write("id\n1\n", to: "regions.csv")
    let parents = one.parents.isEmpty ? "" : "parents: {source: parents.csv, \(one.parents)}"
    let tables = [parents, "kids: {source: kids.csv, \(one.kids)}", one.more].filter { !$0.isEmpty }
    let path = scratch.write("tables: {\(tables.joined(separator: ", "))}", to: "job.yaml")
    let job = try JobFileReader.read(path, database: database).job
    let warnings = try job.check().filter { $0.code == .keptRowsChange }
    let summary = job.run()
    guard let refusal = one.refusal else {
      #expect(summary.exitCode == 0, "\(summary.error?.description ?? "") \(summary.tables.map(\.failure))")
      #expect(try plain.rows("SELECT id, v FROM kids") == ["1|'a'"])
      #expect(warnings.isEmpty)
      return
    }
    let words = "keeps rows that were edited here (local-edits: keep), and would \(refusal)"
    #expect(summary.exitCode == 4)
    #expect(summary.error?.message == "nothing of the job is stored: table kids \(words)")
    #expect(try plain.rows("SELECT count(*) FROM kids") == ["0"])
    #expect(try plain.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'upsurge%'") == [])
    #expect(warnings.map(\.message) == [words] && warnings.map(\.table) == ["kids"])
    if let fix = one.fix { #expect(summary.error?.hint == fix && warnings.first?.fix == fix) }
  }
}
