import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeMove

/// What keeps a move from beginning, and that nothing is written then.
@Suite(
  "Moves that are refused", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote))
)
struct MoveRefusalTests {
  let scratch = Scratch()

  private func made(_ sql: String) throws -> String {
    let path = scratch.file("a.db")
    _ = try Database(path).rows(sql)
    return path
  }

  private func expectNothing(at url: String) throws {
    #expect(
      try MoveServer.texts("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace", url)
        == ["0"])
  }

  @Test("A text in an INTEGER column is found before anything is written, and the hint helps")
  func misfits() throws {
    let path = try made(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, s TEXT); INSERT INTO t VALUES (1, 1, 'a'), (7, 'n/a', 'b'), (8, 'x', x'00')"
    )
    let url = try MoveServer.freshURL()
    let error = try #require(MoveServer.move(path, url).error)
    #expect(error.code == .badInput)
    #expect(
      error.message.contains(
        "t.n is declared INTEGER and holds 2 values of another kind, first in row 7 ('n/a')"), "\(error)")
    #expect(error.message.contains("t.s is declared TEXT and holds 1 value of another kind"), "\(error)")
    #expect(error.hint?.contains("t.n:text") == true)
    try expectNothing(at: url)
    let again = MoveServer.move(path, url) { $0.types = ["t.n:text", "t.s:bytea"] }
    #expect(again.error == nil && again.isVerified, "\(String(describing: again.error))")
    #expect(try MoveServer.texts("SELECT n FROM t ORDER BY id", url) == ["1", "n/a", "x"])
  }

  @Test("A NULL in a key, a NUL in a text and a row without parent are found before anything is written")
  func others() throws {
    let url = try MoveServer.freshURL()
    let path = try made(
      """
      CREATE TABLE k(a TEXT PRIMARY KEY); INSERT INTO k VALUES (NULL), ('x');
      CREATE TABLE n(s TEXT); INSERT INTO n VALUES ('a' || char(0) || 'b');
      """)
    let error = try #require(MoveServer.move(path, url).error)
    #expect(error.message.contains("k has 1 row with NULL in its primary key"), "\(error)")
    #expect(error.message.contains("NUL byte"), "\(error)")
    _ = try Database(path).rows(
      "DROP TABLE k; DROP TABLE n; CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p INTEGER REFERENCES p(id)); INSERT INTO c VALUES (4)"
    )
    let other = try #require(MoveServer.move(path, url).error)
    #expect(other.message.contains("1 row of c without a parent in p for p"), "\(other)")
    try expectNothing(at: url)
  }

  @Test("Infinities move into numeric where it has them; with digits it has none, and nothing is written")
  func infinities() throws {
    let path = try made(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, n NUMERIC); INSERT INTO t VALUES (1, 9e999), (2, -9e999), (3, 7)"
    )
    let url = try MoveServer.freshURL()
    let error = try #require(MoveServer.move(path, url) { $0.types = ["t.n:numeric(10,2)"] }.error)
    #expect(error.code == .badInput)
    #expect(
      error.message.contains(
        "2 values that are infinite, which this numeric has no place for, first in row 1"), "\(error)")
    #expect(error.hint?.contains("t.n:double precision") == true)
    try expectNothing(at: url)
    let isNew =
      try MoveServer.texts("SELECT current_setting('server_version_num')::int >= 140000", url) == ["t"]
    let plain = MoveServer.move(path, url)
    #expect(isNew ? plain.isVerified : plain.error?.code == .badInput, "\(String(describing: plain.error))")
    if !isNew { #expect(MoveServer.move(path, url) { $0.types = ["t.n:double precision"] }.isVerified) }
    #expect(try MoveServer.texts("SELECT n FROM t ORDER BY id", url) == ["Infinity", "-Infinity", "7"])
  }

  @Test("A table that is there is not of the move, and stays as it is")
  func there() throws {
    let path = try made("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
    let url = try MoveServer.freshURL()
    try MoveServer.texts("CREATE TABLE t (a text); INSERT INTO t VALUES ('mine')", url)
    let summary = MoveServer.move(path, url)
    #expect(summary.error?.code == .guardRefused && summary.exitCode == 4)
    let planned = MoveServer.move(path, url) { $0.isPlanOnly = true }
    #expect(
      planned.error?.message == summary.error?.message && planned.exitCode == 4,
      "what is only planned says so, too")
    #expect(MoveServer.move(path, url) { ($0.isPlanOnly, $0.schema) = (true, "other") }.error == nil)
    #expect(try MoveServer.texts("SELECT a FROM t", url) == ["mine"])
    #expect(MoveServer.move(path, url) { $0.schema = "other" }.error == nil)
    #expect(try MoveServer.texts("SELECT id FROM other.t", url) == ["1"])
  }

  @Test("A move that has ended is compared again, and copies nothing")
  func again() throws {
    let path = try made("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); CREATE TABLE u(id INTEGER PRIMARY KEY)")
    let url = try MoveServer.freshURL()
    #expect(MoveServer.move(path, url).isVerified)
    #expect(MoveServer.move(path, url) { $0.isPlanOnly = true }.error == nil)
    let again = MoveServer.move(path, url)
    #expect(again.wasDone && again.isVerified)
    let told = try Command.run(["move", path, url])
    #expect(told.talk.contains("2 tables had moved already, and were compared in "), "\(told.talk)")
    try MoveServer.texts("UPDATE t SET id = 2", url)
    let changed = MoveServer.move(path, url)
    #expect(changed.exitCode == 4)
    #expect(changed.error?.message.contains("is not the same on both sides") == true)
  }

  @Test("Names with spaces stand in hints as a shell takes them")
  func quoted() throws {
    let path = try made(
      "CREATE TABLE \"Odd Name\"(id INTEGER PRIMARY KEY, \"select\" INTEGER); INSERT INTO \"Odd Name\" VALUES (1, 'x')"
    )
    let url = try MoveServer.freshURL()
    let misfit = try #require(MoveServer.move(path, url).error?.hint)
    #expect(misfit.contains("--type 'Odd Name.select:text' moves"), "\(misfit)")
    try MoveServer.texts("CREATE TABLE \"Odd Name\" (a text)", url)
    let taken = MoveServer.move(path, url) { $0.types = ["Odd Name.select:text"] }
    #expect(taken.error?.hint == "drop it there; or leave the table out: --except 'Odd Name'")
  }

  @Test("A database file may be named as a source is, and rows may not")
  func prefix() throws {
    let path = try made("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
    let url = try MoveServer.freshURL()
    #expect(MoveServer.move("sqlite:\(path)", url).isVerified)
    let back = scratch.file("back.db")
    #expect(MoveServer.move(url, "sqlite:\(back)") { $0.tables = ["t"] }.isVerified)
    #expect(try Database(back).rows("SELECT id FROM t") == ["1"])
    for (source, target) in [("sqlite:\(path)#t", url), (url, "sqlite:\(back)#t")] {
      let error = try #require(MoveServer.move(source, target).error)
      #expect(error.code == .usage && error.hint?.contains("--table NAME") == true, "\(error)")
    }
  }

  @Test("Two databases of one kind are refused by name")
  func kinds() throws {
    #expect(MoveServer.move("a.db", "b.db").error?.code == .usage)
    #expect(MoveServer.move("postgres://h/a", "postgres://h/b").error?.code == .usage)
  }

  @Test(
    "Tables and columns that are not there are refused, and forms that are none",
    arguments: ["t.x:text", "x.id:text", "t:text", "t.id"])
  func names(type: String) throws {
    let path = try made("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let url = try MoveServer.freshURL()
    #expect(MoveServer.move(path, url) { $0.types = [type] }.error?.code == .usage)
    #expect(MoveServer.move(path, url) { $0.tables = ["nobody"] }.error?.code == .usage)
  }
}
