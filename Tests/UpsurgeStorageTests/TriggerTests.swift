import SQLiteSupport
import Testing
import UpsurgeRecords

@Suite struct TriggerTests {
  @Test func countsOnlyWhatTheRecordsThemselvesDid() throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      """
      CREATE TABLE t(k INTEGER PRIMARY KEY, v); CREATE TABLE o(x);
      INSERT INTO t VALUES(1, 1), (2, 2), (1000, 0);
      CREATE TRIGGER bu BEFORE UPDATE ON t WHEN new.v = 99 BEGIN SELECT RAISE(IGNORE); END;
      CREATE TRIGGER bi BEFORE INSERT ON t WHEN new.v = 98 BEGIN SELECT RAISE(IGNORE); END;
      CREATE TRIGGER au AFTER UPDATE ON t WHEN new.k < 1000 BEGIN
        INSERT INTO o VALUES('u'), ('u'); UPDATE t SET v = v + 1 WHERE k = 1000;
      END;
      CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO o VALUES('i'), ('i'); DELETE FROM t WHERE k = -new.k; END;
      """)
    let (writer, _) = try load(
      connection, "t", ["k", "v"],
      [[1, 1], [1, 5], [2, 99], [2, 98], [3, 98], [4, 4], [4, 4], [5, 5], [1, 6]], key: ["k"])
    // 1: unchanged; 5, 6: updated; 99: ignored on update; 98 twice: ignored on insert; 4, 5: inserted.
    #expect(writer.ledger.text == "read 9 inserted 2 updated 2 unchanged 2 ignored 3")
    #expect(try connection.rows("SELECT * FROM t") == [[1, 6], [2, 2], [4, 4], [5, 5], [1000, 2]])
    #expect(try connection.rows("SELECT x, count(*) FROM o GROUP BY x") == [["i", 4], ["u", 4]])
  }

  @Test func aRecordOfKeysOnly() throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      """
      CREATE TABLE t(k INTEGER PRIMARY KEY, v); INSERT INTO t VALUES(1, 1);
      CREATE TRIGGER bi BEFORE INSERT ON t WHEN new.k = 9 BEGIN SELECT RAISE(IGNORE); END;
      """)
    let (writer, _) = try load(connection, "t", ["k"], [[1], [2], [2], [9]], mode: .upsert)
    #expect(writer.ledger.text == "read 4 inserted 1 unchanged 2 ignored 1")
    #expect(try connection.rows("SELECT * FROM t") == [[1, 1], [2, nil]])
  }

  @Test(arguments: ["ABORT", "FAIL"]) func aRefusedRecordLeavesNoTrace(_ word: String) throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      """
      CREATE TABLE t(k INTEGER PRIMARY KEY, v); CREATE TABLE o(x);
      CREATE TRIGGER ai AFTER INSERT ON t BEGIN
        INSERT INTO o VALUES(new.k); SELECT RAISE(\(word), 'no twos') WHERE new.v = 2;
      END;
      """)
    let (writer, rejects) = try load(
      connection, "t", ["k", "v"], [[1, 1], [2, 2], [3, 3]], mode: .upsert)
    #expect(writer.ledger.text == "read 3 inserted 2 rejected 1")
    #expect(rejects.map(\.line) == ["2 trigger -: a trigger refused the record: no twos"])
    #expect(try connection.rows("SELECT * FROM t") == [[1, 1], [3, 3]])
    #expect(try connection.rows("SELECT * FROM o") == [[1], [3]])
  }

  @Test func raiseRollbackEndsTheRunAtTheLastCommit() throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      """
      CREATE TABLE t(k INTEGER PRIMARY KEY, v);
      CREATE TRIGGER ai AFTER INSERT ON t WHEN new.v = 'x' BEGIN SELECT RAISE(ROLLBACK, 'all gone'); END;
      """)
    do throws(UpsurgeError) {
      _ = try load(
        connection, "t", ["k", "v"], [[1, 1], [2, 2], [3, 3], [4, "x"], [5, 5]], mode: .upsert,
        cut: Cut(commitEvery: 2))
      Issue.record("the run went on")
    } catch {
      #expect(error.code == .badInput)
      #expect(error.message.hasPrefix("a trigger rolled the whole transaction back: "))
      #expect(error.position?.record == 4)
      #expect(error.hint == "RAISE(ABORT) in the trigger would refuse only the record")
    }
    #expect(try connection.rows("SELECT * FROM t") == [[1, 1], [2, 2]])
  }

  @Test func viewsTakeInsertsThroughTheirTriggers() throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      """
      CREATE TABLE t(k INTEGER PRIMARY KEY, v); CREATE VIEW w AS SELECT k, v FROM t;
      CREATE TRIGGER io INSTEAD OF INSERT ON w BEGIN INSERT INTO t VALUES(new.k, new.v * 2); END;
      """)
    let (writer, rejects) = try load(connection, "w", ["k", "v"], [[1, 1], [2, 2], [1, 3]])
    #expect(writer.ledger.text == "read 3 inserted 2 rejected 1")
    #expect(rejects.map(\.position.record) == [3])
    #expect(try connection.rows("SELECT * FROM t") == [[1, 2], [2, 4]])
  }

  @Test func anFTS5TableTakesInserts() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE VIRTUAL TABLE f USING fts5(a, b)")
    let (writer, _) = try load(connection, "f", ["a", "b"], [["one", "two"], ["three", "two"]])
    #expect(writer.ledger.text == "read 2 inserted 2")
    #expect(try connection.rows("SELECT a FROM f('two') ORDER BY rowid") == [["one"], ["three"]])
  }
}
