import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite

/// Written-out upserts whose outcome SQLite's own documents or other libraries' tests give.
struct UpsertCase: CustomTestStringConvertible, Sendable {
  var id: String
  var setup: String
  var table: String
  var key: [String]
  var columns: [String]
  var rows: [[Value]]
  var check: String
  var expected: [[Value]]
  var ledger: String
  var reject: String?

  var testDescription: String { id }

  static let player =
    "CREATE TABLE player(id INTEGER PRIMARY KEY,name TEXT UNIQUE NOT NULL,score INT NOT NULL DEFAULT 1000);"
    + "INSERT INTO player VALUES(1,'Arthur',1000),(42,'Barbara',0);"
  static let reminders =
    "CREATE TABLE reminders(id INTEGER PRIMARY KEY,title TEXT,notes TEXT DEFAULT '',done INT DEFAULT 0,"
    + "flagged INT DEFAULT 0,updatedAt TEXT);INSERT INTO reminders VALUES"
    + "(1,'Groceries','Milk, Eggs',0,0,'2040-01-01'),(2,'Haircut','',0,1,'2040-01-01');"

  static let all: [UpsertCase] = [
    UpsertCase(
      id: "g01 a NULL rowid gets its number",
      setup: "CREATE TABLE player(id INTEGER PRIMARY KEY,name TEXT UNIQUE NOT NULL,score INT)",
      table: "player", key: ["id"], columns: ["id", "name", "score"], rows: [[nil, "Arthur", 1000]],
      check: "SELECT * FROM player", expected: [[1, "Arthur", 1000]], ledger: "read 1 inserted 1"),
    UpsertCase(
      id: "g03 conflict on the id", setup: player, table: "player", key: ["id"],
      columns: ["id", "name", "score"], rows: [[1, "Craig", 500]],
      check: "SELECT * FROM player ORDER BY id", expected: [[1, "Craig", 500], [42, "Barbara", 0]],
      ledger: "read 1 updated 1"),
    UpsertCase(
      id: "g04 conflict on both keys of one row", setup: player, table: "player", key: ["id"],
      columns: ["id", "name", "score"], rows: [[1, "Arthur", 200]],
      check: "SELECT * FROM player ORDER BY id", expected: [[1, "Arthur", 200], [42, "Barbara", 0]],
      ledger: "read 1 updated 1"),
    UpsertCase(
      id: "g05 conflict on two keys of different rows", setup: player, table: "player", key: ["id"],
      columns: ["id", "name", "score"], rows: [[1, "Barbara", 300]],
      check: "SELECT * FROM player ORDER BY id", expected: [[1, "Arthur", 1000], [42, "Barbara", 0]],
      ledger: "read 1 rejected 1",
      reject:
        "1 unique name: another row of table player has this UNIQUE (name); records are matched by PRIMARY KEY (id)"
    ),
    UpsertCase(
      id: "g08 one column",
      setup: "CREATE TABLE phonebook(name TEXT PRIMARY KEY,phonenumber TEXT);"
        + "INSERT INTO phonebook VALUES('Alice','ignored');",
      table: "phonebook", key: ["name"], columns: ["name", "phonenumber"], rows: [["Alice", "704-555-1212"]],
      check: "SELECT * FROM phonebook", expected: [["Alice", "704-555-1212"]], ledger: "read 1 updated 1"),
    UpsertCase(
      id: "g09 a partial record takes the default, and leaves alone",
      setup: "CREATE TABLE player(id INTEGER PRIMARY KEY,name TEXT UNIQUE NOT NULL,score INT DEFAULT 1000);"
        + "INSERT INTO player VALUES(5,'Bob',7);",
      table: "player", key: ["name"], columns: ["id", "name"],
      rows: [[.absent, "Arthur"], [.absent, "Bob"]],
      check: "SELECT * FROM player ORDER BY id", expected: [[5, "Bob", 7], [6, "Arthur", 1000]],
      ledger: "read 2 inserted 1 unchanged 1"),
    UpsertCase(
      id: "s01 conflict with another key than the target",
      setup:
        "CREATE TABLE lists(id INTEGER PRIMARY KEY,color INT NOT NULL DEFAULT 4889071,title TEXT NOT NULL UNIQUE,"
        + "position INT DEFAULT 0);INSERT INTO lists(title) VALUES('Personal'),('Family');",
      table: "lists", key: ["id"], columns: ["id", "title"], rows: [[nil, "Personal"], [nil, "New"]],
      check: "SELECT * FROM lists ORDER BY id",
      expected: [[1, 4_889_071, "Personal", 0], [2, 4_889_071, "Family", 0], [3, 4_889_071, "New", 0]],
      ledger: "read 2 inserted 1 rejected 1",
      reject:
        "1 unique title: another row of table lists has this UNIQUE (title); records are matched by PRIMARY KEY (id)"
    ),
    UpsertCase(
      id: "s04 given values overwrite, empty ones too", setup: reminders, table: "reminders", key: ["id"],
      columns: ["id", "title", "notes", "done", "flagged", "updatedAt"],
      rows: [[1, "Cash check", "", 0, 0, "2040-02-14"]], check: "SELECT * FROM reminders ORDER BY id",
      expected: [[1, "Cash check", "", 0, 0, "2040-02-14"], [2, "Haircut", "", 0, 1, "2040-01-01"]],
      ledger: "read 1 updated 1"),
    UpsertCase(
      id: "p05 a NOCASE key keeps its spelling",
      setup: "CREATE TABLE k(k TEXT COLLATE NOCASE PRIMARY KEY,v INT);INSERT INTO k VALUES('abc',1);",
      table: "k", key: ["k"], columns: ["k", "v"], rows: [["ABC", 2]], check: "SELECT * FROM k",
      expected: [["abc", 2]], ledger: "read 1 updated 1"),
    UpsertCase(
      id: "p07 the same key twice: the last wins", setup: "CREATE TABLE w(k TEXT PRIMARY KEY,c INT)",
      table: "w", key: ["k"], columns: ["k", "c"], rows: [["x", 1], ["x", 2], ["y", 1], ["x", 2]],
      check: "SELECT * FROM w ORDER BY k", expected: [["x", 2], ["y", 1]],
      ledger: "read 4 inserted 2 updated 1 unchanged 1"),
    UpsertCase(
      id: "p08 text 7 is the integer key 7",
      setup: "CREATE TABLE i(k INTEGER PRIMARY KEY,v);INSERT INTO i VALUES(7,'old');",
      table: "i", key: ["k"], columns: ["k", "v"], rows: [["7", "new"], ["8.0", "eight"], [7.0, "newer"]],
      check: "SELECT * FROM i", expected: [[7, "newer"], [8, "eight"]], ledger: "read 3 inserted 1 updated 2"),
    UpsertCase(
      id: "p09 WITHOUT ROWID, compound key in another order",
      setup:
        "CREATE TABLE wr(a TEXT,b INT,v,PRIMARY KEY(a,b)) WITHOUT ROWID;INSERT INTO wr VALUES('x',1,'o');",
      table: "wr", key: ["B", "a"], columns: ["v", "b", "a"], rows: [["n", 1, "x"], ["m", 2, "x"]],
      check: "SELECT * FROM wr ORDER BY b", expected: [["x", 1, "n"], ["x", 2, "m"]],
      ledger: "read 2 inserted 1 updated 1"),
    UpsertCase(
      id: "p10 children of an updated row stay",
      setup:
        "CREATE TABLE pa(id INTEGER PRIMARY KEY,v);CREATE TABLE ch(p REFERENCES pa(id) ON DELETE CASCADE);"
        + "INSERT INTO pa VALUES(1,'o');INSERT INTO ch VALUES(1);",
      table: "pa", key: [], columns: ["id", "v"], rows: [[1, "n"]],
      check: "SELECT v,(SELECT count(*) FROM ch) FROM pa", expected: [["n", 1]], ledger: "read 1 updated 1"),
    UpsertCase(
      id: "p12 a NOT NULL column without default that is absent",
      setup:
        "CREATE TABLE q(id INTEGER PRIMARY KEY,name TEXT NOT NULL,age INT);INSERT INTO q VALUES(1,'Cleo',4);",
      table: "q", key: ["id"], columns: ["id", "name", "age"],
      rows: [[1, .absent, 9], [2, "Bo", .absent], [3, .absent, 9]],
      check: "SELECT * FROM q", expected: [[1, "Cleo", 9], [2, "Bo", nil]],
      ledger: "read 3 inserted 1 updated 1 rejected 1",
      reject: "3 not-null name: column name of table q is NOT NULL and the record has no value for it"),
    UpsertCase(
      id: "p13 which triggers fire",
      setup: """
        CREATE TABLE tr(id INTEGER PRIMARY KEY,v);CREATE TABLE lg(m);INSERT INTO tr VALUES(1,'o');
        CREATE TRIGGER a BEFORE INSERT ON tr BEGIN INSERT INTO lg VALUES('bi');END;
        CREATE TRIGGER b AFTER INSERT ON tr BEGIN INSERT INTO lg VALUES('ai');END;
        CREATE TRIGGER c BEFORE UPDATE ON tr BEGIN INSERT INTO lg VALUES('bu');END;
        CREATE TRIGGER d AFTER UPDATE ON tr BEGIN INSERT INTO lg VALUES('au');END;
        """,
      table: "tr", key: ["id"], columns: ["id", "v"], rows: [[1, "n"]],
      check: "SELECT m FROM lg ORDER BY rowid",
      expected: [["bi"], ["bu"], ["au"]], ledger: "read 1 updated 1"),
    UpsertCase(
      id: "an ON CONFLICT REPLACE key never deletes",
      setup: "CREATE TABLE r(id INTEGER PRIMARY KEY ON CONFLICT REPLACE, e TEXT UNIQUE ON CONFLICT REPLACE, "
        + "n NOT NULL ON CONFLICT REPLACE DEFAULT 'd', v);INSERT INTO r VALUES(1,'a','x',1),(2,'b','x',2);",
      table: "r", key: ["id"], columns: ["id", "e", "n", "v"],
      rows: [[1, "b", "y", 9], [3, "a", "y", 9], [2, "b", nil, 9], [4, "c", nil, 4]],
      check: "SELECT * FROM r ORDER BY id",
      expected: [[1, "a", "x", 1], [2, "b", "d", 9], [4, "c", "d", 4]],
      ledger: "read 4 inserted 1 updated 1 rejected 2",
      reject:
        "1 unique e: another row of table r has this UNIQUE (e); records are matched by PRIMARY KEY (id)"),
    UpsertCase(
      id: "a NOCASE value changes its spelling; 1 becomes 1.0 where nothing converts",
      setup:
        "CREATE TABLE c(k INTEGER PRIMARY KEY, n TEXT COLLATE NOCASE, x);INSERT INTO c VALUES(1,'abc',1);",
      table: "c", key: ["k"], columns: ["k", "n", "x"],
      rows: [[1, "ABC", 1], [1, "ABC", 1.0], [1, "ABC", 1.0], [1, "ABC", "1"]], check: "SELECT * FROM c",
      expected: [[1, "ABC", "1"]], ledger: "read 4 updated 3 unchanged 1"),
    UpsertCase(
      id: "a table named excluded",
      setup: "CREATE TABLE excluded(k INTEGER PRIMARY KEY, v);INSERT INTO excluded VALUES(1,1);",
      table: "excluded", key: ["k"], columns: ["k", "v"], rows: [[1, 2], [2, 2]],
      check: "SELECT * FROM excluded",
      expected: [[1, 2], [2, 2]], ledger: "read 2 inserted 1 updated 1"),
  ]
}

@Suite struct UpsertCaseTests {
  @Test(arguments: UpsertCase.all) func behavesAsWritten(_ example: UpsertCase) throws {
    for rowsPerStatement in [1, 64] {
      for batchSize in [1, 100] {
        let database = TemporaryDatabase()
        let connection = try database.open(example.setup)
        let (writer, rejects) = try load(
          connection, example.table, example.columns, example.rows, key: example.key,
          mode: .upsert, cut: Cut(batchSize: batchSize, rowsPerStatement: rowsPerStatement))
        #expect(try connection.rows(example.check) == example.expected)
        #expect(writer.ledger.text == example.ledger)
        #expect(writer.committedLedger == writer.ledger)
        #expect(rejects.first?.line == example.reject)
        #expect(try connection.text("PRAGMA integrity_check") == "ok")
      }
    }
  }

  /// The writer's collations count in UTF-8; a database may hold UTF-16.
  @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"]) func countsInEveryEncoding(_ encoding: String) throws {
    let database = TemporaryDatabase()
    let plain = try Connection(path: database.path, createIfMissing: true)
    try plain.execute("PRAGMA encoding='\(encoding)'; CREATE TABLE t(k PRIMARY KEY, v)")
    let connection = try database.open()
    let rows: [[Value]] = [
      ["é😀", 1], [1, 1], ["é😀", "ü"], [.blob([0xFF]), 1], ["é😀", "ü"], [.blob([0xFF]), 2], ["", 1], ["", 2],
    ]
    for rowsPerStatement in [1, 64] {
      try connection.execute("DELETE FROM t")
      let (writer, _) = try load(
        connection, "t", ["k", "v"], rows, cut: Cut(rowsPerStatement: rowsPerStatement))
      #expect(writer.ledger.text == "read 8 inserted 4 updated 3 unchanged 1")
    }
    #expect(try connection.rows("SELECT v FROM t WHERE k = 'é😀'") == [["ü"]])
  }

  @Test func autoincrementRemembersTheLastNumber() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY AUTOINCREMENT, v UNIQUE)")
    _ = try load(connection, "t", ["k", "v"], [[nil, 1], [7, 2], [nil, 2]], mode: .insert)
    #expect(try connection.integer("SELECT seq FROM sqlite_sequence") == 7)
  }
}
