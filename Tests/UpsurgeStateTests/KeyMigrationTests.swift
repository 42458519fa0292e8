import SQLiteSupport
import TestSupport
import Testing

@testable import UpsurgeRecords
@testable import UpsurgeSQLite
@testable import UpsurgeState

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Integer keys that become UUIDs.
@Suite("Key migration") struct KeyMigrationTests {
  let scratch = Scratch()

  @Test("MD5 is that of RFC 1321, also at the borders of its blocks") func md5() {
    func text(_ message: String) -> String {
      MD5.hash(message.utf8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(text("") == "d41d8cd98f00b204e9800998ecf8427e")
    #expect(text("a") == "0cc175b9c0f1b6a831c399e269772661")
    #expect(text("message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
    #expect(
      text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        == "d174ab98d277d9f5a5611c2c9f419d9f")
    #expect(text(String(repeating: "1234567890", count: 8)) == "57edf4a22be3c955ac49da2e2107b67a")
    #expect(text(String(repeating: "x", count: 55)) == "04364420e25c512fd958a70738aa8f72")
    #expect(text(String(repeating: "x", count: 56)) == "668a72d5ba17f08e62dabcafad6db14b")
    #expect(text(String(repeating: "x", count: 64)) == "c1bb4f81d892b2d57947682aeb252456")
  }

  @Test("The UUID of a row is the hash of its table and key") func uuids() {
    // printf 'reminders:1' | md5sum
    #expect(
      KeyMigration.uuid(of: 1, in: "reminders", salt: nil).replacing("-", with: "") == md5("reminders:1"))
    #expect(KeyMigration.uuid(of: -7, in: "a b", salt: "s").replacing("-", with: "") == md5("a b:-7:s"))
  }

  private func md5(_ text: String) -> String {
    MD5.hash(text.utf8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Everything that hangs on keys.
  private static let schema = """
    CREATE TABLE lists(id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT 'a, b (c)' COLLATE NOCASE);
    CREATE TABLE "the tags"([tag id] INTEGER NOT NULL PRIMARY KEY, name TEXT UNIQUE, -- a comment, with a comma
      parent INT REFERENCES "the tags"("tag id") ON DELETE SET NULL) STRICT;
    CREATE TABLE reminders(
      "id" INTEGER, title TEXT, list_id INTEGER NOT NULL DEFAULT 1 REFERENCES lists ON DELETE CASCADE,
      notes TEXT, upper TEXT AS (upper(title)) STORED, CONSTRAINT pk PRIMARY KEY(id AUTOINCREMENT));
    CREATE TABLE reminder_tags(
      reminder BIGINT REFERENCES reminders(id), tag DECIMAL(9, 2) NOT NULL, weight REAL,
      PRIMARY KEY(reminder, tag), FOREIGN KEY(tag) REFERENCES "the tags"("tag id")) WITHOUT ROWID;
    CREATE TABLE details(id INTEGER PRIMARY KEY REFERENCES reminders(id), text TEXT);
    CREATE TABLE detail_notes(id INTEGER PRIMARY KEY, detail INTEGER REFERENCES details);
    CREATE TABLE other(id INTEGER PRIMARY KEY, x);
    CREATE INDEX by_list ON reminders(list_id, title) WHERE notes IS NOT NULL;
    CREATE UNIQUE INDEX by_name ON "the tags"(lower(name));
    CREATE VIEW titles AS SELECT r.title, l.title AS list FROM reminders AS r JOIN lists AS l ON l.id = r.list_id;
    CREATE VIRTUAL TABLE reminders_search USING fts5(title, notes, content='reminders', content_rowid='id');
    CREATE TRIGGER search_add AFTER INSERT ON reminders BEGIN
      INSERT INTO reminders_search(rowid, title, notes) VALUES (new.id, new.title, new.notes);
      INSERT INTO other(x) VALUES ('added ' || new.id);
    END;
    CREATE TRIGGER search_remove AFTER DELETE ON reminders BEGIN
      INSERT INTO reminders_search(reminders_search, rowid, title, notes) VALUES('delete', old.id, old.title, old.notes);
    END;
    CREATE TRIGGER count_others AFTER INSERT ON other BEGIN
      UPDATE lists SET title = title || '!' WHERE id = (SELECT min(list_id) FROM reminders) AND new.x = 'bump';
    END;
    INSERT INTO lists(title) VALUES ('home'), ('work');
    INSERT INTO "the tags" VALUES (1, 'red', NULL), (7, 'dark red', 1);
    INSERT INTO reminders(id, title, list_id, notes) VALUES (3, 'milk', 1, 'two litres'), (9, 'report', 2, NULL);
    INSERT INTO reminder_tags VALUES (3, 1, 0.5), (3, 7, 1), (9, 7, 2);
    INSERT INTO details VALUES (9, 'long');
    INSERT INTO detail_notes VALUES (1, 9), (2, NULL);
    """

  private func open(_ sql: String = schema) throws -> Connection {
    let connection = try Connection(path: scratch.file("a.db"), createIfMissing: true)
    try connection.configure(durability: .normal, pageCacheByteCount: 4 << 20)
    try connection.execute(sql)
    return connection
  }

  private func migrate(_ tables: [String], _ connection: Connection, isTrial: Bool = false) throws
    -> KeyMigrationSummary
  {
    try KeyMigration.run(tables, isTrial: isTrial, on: connection)
  }

  private static let tables = ["lists", "Reminders", "the tags"]

  @Test("What another program has made while the lock was waited for follows, too")
  func madeMeanwhile() throws {
    let connection = try Connection(
      path: scratch.file("a.db"), createIfMissing: true, busyTimeoutMilliseconds: 60_000)
    try connection.execute(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    let other = try Connection(path: scratch.file("a.db"), createIfMissing: false)
    try other.beginWriting()
    let holder = Holder(other)
    let thread = try WorkerThread {
      usleep(100_000)
      holder.end(
        "CREATE TABLE c(n PRIMARY KEY, t_id INTEGER REFERENCES t); INSERT INTO c VALUES (1, 2); COMMIT")
    }
    let summary = try migrate(["t"], connection)
    thread.join()
    #expect(summary.tables.map(\.name) == ["t", "c"])
    #expect(try Database(scratch.file("a.db")).rows("SELECT v FROM c JOIN t ON t.id = t_id") == ["'b'"])
  }

  @Test("A load into the table that is at work, or goes on, speaks against it")
  func runs() throws {
    let connection = try open("CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')")
    let job = RunJob(table: "T", sources: ["/a.csv"], options: [])
    var keeper: RunKeeper? = try RunKeeper(
      connection: connection, job: job, resumed: nil, replaced: [], keepsHistory: false)
    keeper?.madeTable = true
    try connection.beginWriting()
    try keeper?.willCommit(RunProgress(), RunPosition(), isLast: false)
    try connection.commitWriting()
    #expect {
      _ = try migrate(["t"], connection)
    } throws: {
      ($0 as? UpsurgeError)?.message == "run 1 into table t is at work: process \(getpid())"
    }
    keeper = nil
    #expect {
      _ = try migrate(["t"], connection)
    } throws: {
      let error = $0 as? UpsurgeError
      return error?.code == .guardRefused && error?.hint?.contains("--forget 1") == true
    }
    #expect(try connection.integer("SELECT typeof(id) = 'integer' FROM t") == 1)
    #expect(try RunTable.forget(1, on: connection))
    #expect(try migrate(["t"], connection).tables.map(\.rowCount) == [1])
  }

  @Test("All content is there by the mapping of keys, with indexes, triggers, full text and references")
  func whole() throws {
    let connection = try open()
    let plain = Database(scratch.file("a.db"))
    let before = try Self.content(plain, mapped: true)
    let summary = try migrate(Self.tables, connection)
    #expect(
      summary.tables.map(\.name) == [
        "lists", "the tags", "reminders", "reminder_tags", "details", "detail_notes",
      ])
    #expect(summary.tables.map(\.rowCount) == [2, 2, 2, 3, 1, 2])
    #expect(
      summary.tables.map(\.columns) == [
        ["id"], ["tag id", "parent"], ["id", "list_id"], ["reminder", "tag"], ["id"], ["detail"],
      ])
    #expect(try Self.content(plain, mapped: false) == before)
    #expect(try plain.rows("PRAGMA foreign_key_check") == [])
    #expect(try plain.rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(
      try plain.rows(
        "SELECT name FROM sqlite_schema WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL ORDER BY 1"
      )
        == ["'by_list'", "'by_name'", "'count_others'", "'search_add'", "'search_remove'", "'titles'"])
    #expect(
      try plain.rows("SELECT name, type FROM pragma_table_info('reminders') WHERE pk") == ["'id'|'TEXT'"])
    #expect(try plain.rows("SELECT strict FROM pragma_table_list('the tags')") == ["1"])
    #expect(try plain.rows("SELECT wr FROM pragma_table_list('reminder_tags')") == ["1"])
    // A default that was a key is that row's UUID.
    let home = KeyMigration.uuid(of: 1, in: "lists", salt: nil)
    try plain.rows("PRAGMA foreign_keys=ON; INSERT INTO reminders(title, notes) VALUES ('bread', 'rye')")
    #expect(
      try plain.rows("SELECT list_id, length(id), upper FROM reminders WHERE title = 'bread'") == [
        "'\(home)'|36|'BREAD'"
      ])
    #expect(try plain.rows("SELECT count(*) FROM reminders WHERE id IS NULL") == ["0"])
    #expect(
      try plain.rows(
        "SELECT x LIKE 'added ________-____-4___-____-____________' FROM other ORDER BY id DESC LIMIT 1") == [
          "1"
        ])
    // The index of the text follows.
    #expect(
      try plain.rows("SELECT title FROM reminders_search('rye OR litres') ORDER BY rowid") == [
        "'milk'", "'bread'",
      ])
    try plain.rows(
      "DELETE FROM reminders WHERE title = 'bread'; INSERT INTO reminders_search(reminders_search, rank) VALUES ('integrity-check', 1)"
    )
    #expect(try plain.rows("SELECT title FROM reminders_search('rye')") == [])
    // Cascades run by the new keys.
    try plain.rows(
      "DELETE FROM reminder_tags; DELETE FROM detail_notes; DELETE FROM details; DELETE FROM lists WHERE title = 'home'"
    )
    #expect(try plain.rows("SELECT title FROM reminders") == ["'report'"])
  }

  /// What all rows say, with integer keys as the UUIDs that they become.
  private static func content(_ database: Database, mapped: Bool) throws -> [String] {
    func key(_ column: String, _ table: String) -> (String) -> String {
      { value in
        guard mapped, let number = Int64(value) else { return value }
        return "'\(KeyMigration.uuid(of: number, in: table, salt: nil))'"
      }
    }
    let tables: [(String, [String?])] = [
      ("SELECT id, title FROM lists", ["lists", nil]),
      (#"SELECT "tag id", parent, name FROM "the tags""#, ["the tags", "the tags", nil]),
      ("SELECT id, list_id, title, notes, upper FROM reminders", ["reminders", "lists", nil, nil, nil]),
      ("SELECT reminder, tag, weight FROM reminder_tags", ["reminders", "the tags", nil]),
      ("SELECT id, text FROM details", ["reminders", nil]),
      ("SELECT detail, id FROM detail_notes", ["reminders", nil]),
      ("SELECT x, id FROM other", [nil, nil]),
      ("SELECT * FROM titles", [nil, nil]),
    ]
    return try tables.flatMap { sql, columns in
      try database.rows(sql).map { row in
        zip(row.split(separator: "|", omittingEmptySubsequences: false).map(String.init), columns)
          .map { value, table in table.map { key(value, $0)(value) } ?? value }.joined(separator: "|")
      }.sorted()
    }
  }

  @Test("A second run does nothing, and a trial nothing at all") func again() throws {
    let connection = try open()
    let plain = Database(scratch.file("a.db"))
    let everything = {
      try plain.rows("SELECT type, name, sql FROM sqlite_schema") + Self.content(plain, mapped: false)
    }
    let before = try everything()
    #expect(try migrate(Self.tables, connection, isTrial: true).tables.count == 6)
    #expect(try everything() == before)
    _ = try migrate(Self.tables, connection)
    let after = try everything()
    let second = try migrate(Self.tables, connection)
    #expect(second.tables == [] && second.migratedBefore == ["lists", "reminders", "the tags"])
    #expect(try everything() == after)
    #expect(
      try connection.integer("PRAGMA foreign_keys") == 1
        && connection.integer("PRAGMA legacy_alter_table") == 0)
  }

  @Test("Defaults that are keys follow, and rowids stay whatever the columns are called") func corners()
    throws
  {
    let connection = try open(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY CHECK (id IS NOT NULL), rowid TEXT);
      CREATE TABLE b(x INT DEFAULT (7) REFERENCES a, y INT DEFAULT -3 REFERENCES a(id), z INT DEFAULT NULL REFERENCES a,
        "w"REFERENCES a(id));
      CREATE TABLE c([primary] INTEGER PRIMARY KEY, "check" INT REFERENCES c);
      INSERT INTO a VALUES (7, 'p'), (-3, 'q'); INSERT INTO c VALUES (4, 4), (9, 4);
      """)
    _ = try migrate(["a", "c"], connection)
    let plain = Database(scratch.file("a.db"))
    try plain.rows("PRAGMA foreign_keys=ON; INSERT INTO b DEFAULT VALUES")
    let uuids = [Int64(7), -3].map { "'\(KeyMigration.uuid(of: $0, in: "a", salt: nil))'" }
    #expect(try plain.rows("SELECT x, y, z, w FROM b") == ["\(uuids[0])|\(uuids[1])|NULL|NULL"])
    #expect(try plain.rows("SELECT _rowid_ FROM a ORDER BY 1") == ["-3", "7"])
    #expect(try plain.rows(#"SELECT "notnull" FROM pragma_table_info('a') WHERE name = 'id'"#) == ["1"])
    #expect(
      try plain.rows(#"SELECT l."check" = r."primary" FROM c AS l, c AS r WHERE r.rowid = 4"#) == ["1", "1"])
  }

  @Test("What hangs on tables that follow stays: numbers given, settings of full text, temporary triggers")
  func hangers() throws {
    let connection = try open(
      """
      CREATE TABLE lists(id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE items(id INTEGER PRIMARY KEY AUTOINCREMENT, list INT REFERENCES lists ON DELETE SET DEFAULT DEFAULT 7);
      CREATE VIRTUAL TABLE search USING fts5(title, content='lists', content_rowid=id);
      CREATE TABLE plain(id PRIMARY KEY);
      INSERT INTO lists VALUES (7, 'x'), (8, 'y'); INSERT INTO search(search) VALUES ('rebuild'); INSERT INTO items(list) VALUES (7), (8), (8); DELETE FROM items WHERE id = 3;
      INSERT INTO plain VALUES (5);
      INSERT INTO search(search, rank) VALUES ('rank', 'bm25(10.0)');
      CREATE TABLE log(text);
      CREATE TRIGGER fill AFTER INSERT ON lists BEGIN
        INSERT INTO search(rowid, title) SELECT new.id, new.title WHERE (SELECT count(*) FROM items WHERE list = new.id) = 0;
      END;
      CREATE TEMP TRIGGER note AFTER INSERT ON main.lists BEGIN INSERT INTO log VALUES ('list ' || new.title); END;
      """)
    #expect(try migrate(["lists", "plain"], connection).tables.map(\.name) == ["lists", "items", "plain"])
    let plain = Database(scratch.file("a.db"))
    #expect(
      try plain.rows(
        "INSERT INTO items(list) SELECT id FROM lists WHERE rowid = 8; SELECT max(id) FROM items") == ["4"])
    #expect(try plain.rows("PRAGMA foreign_keys=ON; DELETE FROM lists WHERE rowid = 8") == [])
    #expect(
      try plain.rows("SELECT DISTINCT l.title FROM items AS i JOIN lists AS l ON l.id = i.list") == ["'x'"])
    #expect(try plain.rows("SELECT v FROM search_config WHERE k = 'rank'") == ["'bm25(10.0)'"])
    #expect(try plain.rows("SELECT length(id) FROM plain") == ["36"])
    try connection.execute("INSERT INTO lists(id, title) VALUES (uuid(), 'new')")
    #expect(try plain.rows("SELECT text FROM log") == ["'list new'"])
    #expect(try plain.rows("SELECT title FROM search('new')") == ["'new'"])
    #expect(try connection.text("SELECT name FROM sqlite_temp_schema") == "note")
  }

  private static let refusals: [(sql: String, tables: [String], message: String)] = [
    ("CREATE TABLE t(id INTEGER PRIMARY KEY)", ["x"], "there is no table x"),
    ("CREATE TABLE t(x)", ["t"], "the table t has no primary key"),
    ("CREATE TABLE t(a, b, PRIMARY KEY(a, b))", ["t"], "the table t has a primary key of 2 columns"),
    (
      "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY REFERENCES a)", ["b"],
      "the key of b refers to a, which is not migrated"
    ),
    (
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);
      CREATE TABLE c(x INTEGER REFERENCES a REFERENCES b)
      """, ["a", "b"], "the column c.x refers to b and to a, whose rows get different UUIDs"
    ),
    (
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(x INTEGER REFERENCES a);
      PRAGMA foreign_keys=OFF; INSERT INTO b VALUES (5)
      """, ["a"], "rows refer to rows that do not exist: 1 of b to a"
    ),
    (
      "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(x TEXT REFERENCES a); INSERT INTO a VALUES (1); INSERT INTO b VALUES ('1')",
      ["a"], "rows would refer to rows that do not exist: 1 of b to a"
    ),
    (
      "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(y, x INT AS (y) REFERENCES a)", ["a"],
      "the column b.x is computed, and refers to keys that change"
    ),
    (
      "CREATE TABLE a(id INTEGER PRIMARY KEY, x INT AS (id / 10) STORED)", ["a"],
      "the column x is computed from id, which becomes a UUID"
    ),
    (
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, x); INSERT INTO a VALUES (1, 'y');
      CREATE VIRTUAL TABLE f USING fts5(x, content=a, content_rowid=id)
      """, ["a"], "the full-text table f does not have all rows of a"
    ),
    (
      "CREATE TABLE a(id INTEGER PRIMARY KEY, x); CREATE UNIQUE INDEX i ON a(x) WHERE id = 1", ["a"],
      "the condition of an index compares keys that change"
    ),
    (
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, x); CREATE VIEW v AS SELECT id, x FROM a;
      CREATE VIRTUAL TABLE f USING fts5(x, content=v, content_rowid=id)
      """, ["a"], "the full-text table f finds the rows of the view v by a key that becomes a UUID"
    ),
    (
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, x); CREATE TABLE b(a INT REFERENCES a); CREATE VIRTUAL TABLE f USING fts5(x);
      CREATE TRIGGER t AFTER INSERT ON b BEGIN UPDATE f SET x = 'more' WHERE rowid = new.a; END
      """, ["a"], "the trigger t finds rows of a full-text table by a, which becomes a UUID"
    ),
    (
      "CREATE TABLE a(id INTEGER PRIMARY KEY CHECK (typeof(id) = 'integer')); INSERT INTO a VALUES (1)",
      ["a"],
      "CHECK constraint failed"
    ),
  ]

  @Test("What cannot follow is refused, and nothing has changed", arguments: refusals)
  func refused(_ sql: String, _ tables: [String], _ message: String) throws {
    let connection = try open(sql)
    let before = try Database(scratch.file("a.db")).rows("SELECT sql FROM sqlite_schema")
    let error = #expect(throws: UpsurgeError.self) { try migrate(tables, connection) }
    #expect(error?.message.contains(message) == true)
    #expect(try Database(scratch.file("a.db")).rows("SELECT sql FROM sqlite_schema") == before)
  }
}

/// A connection that another thread ends a transaction of.
private final class Holder: @unchecked Sendable {
  // Sendable because the thread that made it waits for the one that uses it.

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func end(_ sql: String) {
    connection.moveToCurrentThread()
    try? connection.execute(sql)
  }
}
