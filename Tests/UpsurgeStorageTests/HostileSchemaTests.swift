import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Schemas whose own words (triggers, ON CONFLICT, CASCADE) work against the writer: what the ledger says must be so.
@Suite struct HostileSchemaTests {
  private struct Run {
    var ledger = ""
    var rejects: [String] = []
    var error: UpsurgeError?
    var connection: Connection
  }

  private func attempt(
    _ setup: String, _ columns: [String], _ rows: [[Value]], rules: UpsertRules,
    isDeferred: Bool = false
  ) throws -> Run {
    let connection = try TemporaryDatabase().open(setup)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var maker = BatchMaker(columns)
    let plan = try UpsertPlan(schema: schema, rules: rules, columns: maker.columns)
    var settings = WriterSettings()
    settings.onError = .reject
    settings.defersForeignKeys = isDeferred
    let kept = Kept()
    let writer = try TableWriter(connection: connection, plan: plan, sourceNames: ["in"], settings: settings)
    {
      (reject) throws(UpsurgeError) in kept.rejects.append(reject)
    }
    var run = Run(connection: connection)
    do throws(UpsurgeError) {
      var batch = maker.batch(rows)
      try writer.write(&batch)
      try writer.finish()
    } catch {
      run.error = error
    }
    #expect(writer.ledger.isBalanced)
    run.ledger = writer.ledger.text
    run.rejects = kept.rejects.map(\.line)
    let broken = try connection.rows("PRAGMA foreign_key_check")
    #expect(broken.isEmpty)
    return run
  }

  private func rules(_ mode: WriteMode, _ change: (inout UpsertRules) -> Void = { _ in }) -> UpsertRules {
    var rules = UpsertRules(target: .columns(["id"]), mode: mode)
    change(&rules)
    return rules
  }

  // MARK: - Views

  private static let view = """
    CREATE TABLE b(id INTEGER PRIMARY KEY, v); CREATE VIEW t AS SELECT * FROM b; INSERT INTO b VALUES(1, 'a');
    CREATE TRIGGER ii INSTEAD OF INSERT ON t BEGIN
      SELECT RAISE(IGNORE) WHERE new.id = 9; INSERT INTO b VALUES(new.id, new.v);
    END;
    CREATE TRIGGER iu INSTEAD OF UPDATE ON t BEGIN UPDATE b SET v = new.v WHERE id = old.id; END;
    CREATE TRIGGER id INSTEAD OF DELETE ON t BEGIN DELETE FROM b WHERE id = old.id; END;
    """

  @Test(arguments: [
    (WriteMode.upsert, "read 4 inserted 2 unchanged 1 ignored 1", [1, 4, 5]),
    (.ignore, "read 4 inserted 2 ignored 2", [1, 4, 5]),
    (.update, "read 4 unchanged 1 ignored 3", [1]),
    (.delete, "read 4 ignored 3 deleted 1", []),
  ]) func recordsOfKeysOnlyInAView(mode: WriteMode, ledger: String, ids: [Value]) throws {
    let run = try attempt(Self.view, ["id"], [[1], [4], [5], [9]], rules: rules(mode))
    #expect(run.error == nil)
    #expect(run.ledger == ledger)
    #expect(try run.connection.rows("SELECT id FROM b") == ids.map { [$0] })
  }

  @Test func viewsAndTheirValues() throws {
    var upsert = rules(.upsert)
    upsert.tombstone = Tombstone(column: "gone", value: "1")
    let upserted = try attempt(
      Self.view, ["id", "v", "gone"],
      [[1, "a", 0], [1, "b", 0], [4, "c", 0], [5, "d", 1], [4, "c", 1], [9, "x", 0]], rules: upsert)
    #expect(upserted.ledger == "read 6 inserted 1 updated 1 unchanged 1 ignored 2 deleted 1")
    #expect(try upserted.connection.rows("SELECT * FROM b") == [[1, "b"]])
    let updated = try attempt(
      Self.view, ["id", "v"], [[1, "a"], [1, "b"], [4, "c"]], rules: rules(.update))
    #expect(updated.ledger == "read 3 updated 1 unchanged 1 ignored 1")
    #expect(try updated.connection.rows("SELECT * FROM b") == [[1, "b"]])
  }

  // MARK: - Deferred foreign keys

  private static func tree(_ action: String = "") -> String {
    "CREATE TABLE t(id INTEGER PRIMARY KEY, p INTEGER REFERENCES t(id) \(action) DEFERRABLE INITIALLY DEFERRED);"
  }

  @Test(arguments: [
    tree("ON DELETE CASCADE"),
    tree("ON DELETE SET NULL"),
    tree() + "CREATE TABLE log(x);"
      + "CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.id); END",
    tree()
      + "CREATE TABLE c(t REFERENCES t(id) ON UPDATE CASCADE)",
    tree("ON DELETE RESTRICT"),
  ]) func recordsAreTakenBackWithAllThatTheyBroughtAbout(_ setup: String) throws {
    let run = try attempt(
      setup, ["id", "p"], [[1, 99], [2, 1], [3, 2], [4, nil]], rules: rules(.upsert))
    #expect(run.error == nil)
    #expect(run.ledger == "read 4 inserted 1 rejected 3")
    #expect(
      run.rejects
        == (1...3).map { "\($0) foreign-key p: the record refers by (p) to t (id), which has no such row" })
    #expect(try run.connection.rows("SELECT * FROM t") == [[4, nil]])
    if setup.contains("log") { #expect(try run.connection.rows("SELECT * FROM log") == [[4]]) }
  }

  @Test func whatHealsIsStoredWhateverTheTriggers() throws {
    let setup = Self.tree("ON DELETE CASCADE")
    let run = try attempt(setup, ["id", "p"], [[1, 2], [2, nil], [3, 2]], rules: rules(.upsert))
    #expect(run.ledger == "read 3 inserted 3")
    #expect(try run.connection.integer("SELECT count(*) FROM t") == 3)
  }

  @Test func aRowThatALaterRecordDeletesIsNoReject() throws {
    let setup = Self.tree()
    let run = try attempt(
      setup, ["id", "p", "gone"], [[1, 99, 0], [1, nil, 1], [2, 98, 0], [2, nil, 1], [2, 97, 0]],
      rules: rules(.upsert) { $0.tombstone = Tombstone(column: "gone", value: "1") })
    #expect(run.ledger == "read 5 inserted 2 deleted 2 rejected 1")
    #expect(run.rejects == ["5 foreign-key p: the record refers by (p) to t (id), which has no such row"])
    #expect(try run.connection.rows("SELECT * FROM t") == [])
  }

  // MARK: - What a refused record leaves

  @Test(arguments: [
    "CREATE TRIGGER cd BEFORE DELETE ON c WHEN old.x = 2 BEGIN SELECT RAISE(FAIL, 'no'); END",
    "CREATE TRIGGER cd BEFORE DELETE ON c WHEN old.x = 2 BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TABLE log(x UNIQUE ON CONFLICT FAIL); INSERT INTO log VALUES(2);"
      + "CREATE TRIGGER cd AFTER DELETE ON c BEGIN INSERT INTO log VALUES(old.x); END",
  ]) func aRefusedDeleteLeavesEverything(_ trigger: String) throws {
    let setup = """
      CREATE TABLE t(id INTEGER PRIMARY KEY, v);
      CREATE TABLE c(t INTEGER REFERENCES t(id) ON DELETE CASCADE, x);
      INSERT INTO t VALUES(1, 'a'), (2, 'b'); INSERT INTO c VALUES(1, 1), (1, 2), (1, 3), (2, 4);
      \(trigger);
      """
    for isTombstone in [false, true] {
      let run = try attempt(
        setup, isTombstone ? ["id", "v", "gone"] : ["id"],
        isTombstone ? [[1, nil, 1], [2, nil, 1]] : [[1], [2]],
        rules: rules(isTombstone ? .upsert : .delete) {
          if isTombstone { $0.tombstone = Tombstone(column: "gone", value: "1") }
        })
      #expect(run.error == nil)
      #expect(run.ledger == "read 2 deleted 1 rejected 1")
      #expect(run.rejects.count == 1)
      #expect(try run.connection.rows("SELECT * FROM t") == [[1, "a"]])
      #expect(try run.connection.rows("SELECT x FROM c") == [[1], [2], [3]])
    }
  }

  @Test(arguments: [WriteMode.upsert, .update]) func aRefusedChangeOfAKeyLeavesEverything(mode: WriteMode)
    throws
  {
    let run = try attempt(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, e TEXT UNIQUE);
      CREATE TABLE c(e TEXT REFERENCES t(e) ON UPDATE CASCADE, x);
      INSERT INTO t VALUES(1, 'a'); INSERT INTO c VALUES('a', 1), ('a', 2), ('a', 3);
      CREATE TRIGGER cu BEFORE UPDATE ON c WHEN old.x = 2 BEGIN SELECT RAISE(FAIL, 'no'); END;
      """, ["id", "e"], [[1, "b"]], rules: rules(mode))
    #expect(run.ledger == "read 1 rejected 1")
    #expect(try run.connection.rows("SELECT * FROM t") == [[1, "a"]])
    #expect(try run.connection.rows("SELECT * FROM c") == [["a", 1], ["a", 2], ["a", 3]])
  }

  @Test(arguments: [
    (
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE log(x UNIQUE ON CONFLICT FAIL);"
        + "INSERT INTO log VALUES('bad'); CREATE TABLE seen(x);"
        + "CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO seen VALUES(new.v); INSERT INTO log VALUES(new.v); END",
      "bad" as Value
    ),
    (
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v NOT NULL ON CONFLICT FAIL); CREATE TABLE seen(x);"
        + "CREATE TRIGGER bi BEFORE INSERT ON t BEGIN INSERT INTO seen VALUES('x'); END", nil
    ),
  ]) func onConflictFailLeavesNoTrace(setup: String, bad: Value) throws {
    for mode in [WriteMode.upsert, .insert, .ignore] {
      let run = try attempt(setup, ["id", "v"], [[1, bad], [2, "good"]], rules: rules(mode))
      #expect(run.ledger == "read 2 inserted 1 rejected 1", "\(mode)")
      #expect(try run.connection.rows("SELECT * FROM t") == [[2, "good"]])
      #expect(try run.connection.integer("SELECT count(*) FROM seen") == 1)
    }
  }

  @Test func anUpdateNeverDeletesByOnConflictReplace() throws {
    let run = try attempt(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, e UNIQUE ON CONFLICT REPLACE); INSERT INTO t VALUES(1, 'a'), (2, 'b')",
      ["id", "e"], [[1, "b"], [2, "c"]], rules: rules(.update))
    #expect(run.ledger == "read 2 updated 1 rejected 1")
    #expect(try run.connection.rows("SELECT * FROM t") == [[1, "a"], [2, "c"]])
  }

  // MARK: - Values and rows

  @Test(arguments: [WriteMode.upsert, .update]) func anIntegerForARealColumnIsARealInFreeSQL(mode: WriteMode)
    throws
  {
    // The NOT NULL column that the second record lacks makes it take the look-up.
    let setup = """
      CREATE TABLE t(id INTEGER PRIMARY KEY, r REAL, half, n NOT NULL);
      INSERT INTO t VALUES(1, 0, 0, 'n'), (2, 0, 0, 'n'), (3, 0, 0, 'n'), (4, 0, 0, 'n');
      """
    let run = try attempt(
      setup, ["id", "r", "n"], [[1, 3, "n"], [2, 3, nil], [3, nil, "n"], [4, "x", "n"]],
      rules: rules(mode) {
        $0.merge = Merge(.coalesce)
        $0.merge.columns["half"] = .expression("excluded.r / 2")
      })
    #expect(run.ledger == "read 4 updated 4")
    #expect(
      try run.connection.rows("SELECT half, r FROM t ORDER BY id") == [
        [1.5, 3.0], [1.5, 3.0], [nil, 0.0], [0, "x"],
      ])
  }

  @Test(arguments: ["v TEXT NOT NULL", "v TEXT NOT NULL CHECK (v <> '')"]) func modeIgnoreLooksForTheRowFirst(
    _ column: String
  ) throws {
    let setup = "CREATE TABLE t(id INTEGER PRIMARY KEY, \(column), w); INSERT INTO t VALUES(1, 'a', 1);"
    let rows: [[Value]] = [
      [1, nil, 5], [1, .absent, 5], [2, nil, 5], [3, .absent, 5], [4, "d", 5], [4, nil, 6],
    ]
    let both = try attempt(setup, ["id", "v", "w"], rows, rules: rules(.ignore))
    #expect(both.ledger == "read 6 inserted 1 ignored 3 rejected 2")
    #expect(both.rejects.map { $0.prefix(10) } == ["3 not-null", "4 not-null"])
    #expect(try both.connection.rows("SELECT * FROM t") == [[1, "a", 1], [4, "d", 5]])
    let lacking = try attempt(setup, ["id"], [[1], [2]], rules: rules(.ignore))
    #expect(lacking.ledger == "read 2 ignored 1 rejected 1")
  }

  @Test func theRecordThatRollsBackIsRejected() throws {
    let run = try attempt(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, v);
      CREATE TRIGGER ai AFTER INSERT ON t WHEN new.v = 'x' BEGIN SELECT RAISE(ROLLBACK, 'all gone'); END;
      """, ["id", "v"], [[1, 1], [2, "x"], [3, 3]], rules: rules(.upsert))
    #expect(run.error?.position?.record == 2)
    #expect(run.ledger == "read 1 rejected 1")
    #expect(run.error?.message.hasPrefix("a trigger rolled the whole transaction back: ") == true)
    #expect(run.rejects.isEmpty)
  }
}
