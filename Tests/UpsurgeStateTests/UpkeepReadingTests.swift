import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeState

/// What is read of indexes, FTS5 tables and triggers before anything is set aside.
@Suite struct UpkeepReadingTests {
  private static let sync = [
    "CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER ad AFTER DELETE ON t BEGIN INSERT INTO ft(ft, rowid, a, b) VALUES('delete', old.id, old.a, old.b); END",
    """
    CREATE TRIGGER au AFTER UPDATE ON t BEGIN
      INSERT INTO ft(ft, rowid, a, b) VALUES('delete', old.id, old.a, old.b);
      INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b);
    END
    """,
  ]

  private func index(
    _ sql: String = "CREATE VIRTUAL TABLE ft USING fts5(a, b, content='t', content_rowid='id')"
  )
    throws -> FullTextTable
  {
    try #require(FullTextTable.parse(name: "ft", sql: sql)?.table)
  }

  private func schema(_ sql: String = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c)") throws -> TableSchema
  {
    let connection = try TemporaryDatabase().open(sql)
    return try #require(try TableSchema.read(connection, table: "t"))
  }

  @Test(arguments: [
    sync[0], sync[1], sync[2],
    "CREATE TRIGGER \"x y\" AFTER INSERT ON [t] FOR EACH ROW BEGIN INSERT INTO \"FT\"(b, rowid, `a`) VALUES (NEW.b, new.rowid, new.[A]); END",
    "CREATE TRIGGER x /* c */ AFTER INSERT ON t BEGIN -- c\n insert into ft(rowid,a,b) values(new.oid,new.a,new.b);END",
  ]) func plainTriggers(_ sql: String) throws {
    #expect(SyncTrigger(name: "x", sql: sql, index: try index(), schema: try schema()) != nil)
  }

  @Test(arguments: [
    // Each differs from a plain one by one thing.
    "CREATE TRIGGER x AFTER INSERT ON t WHEN new.c BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER x BEFORE INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, lower(new.b)); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.b, new.a); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.c, new.a, new.b); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a) VALUES (new.id, new.a); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b, a) VALUES (new.id, new.a, new.b, new.a); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, 'b'); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); SELECT 1; END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO other(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER x AFTER INSERT ON u BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT OR IGNORE INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a, b) SELECT new.id, new.a, new.b; END",
    "CREATE TRIGGER x AFTER UPDATE OF a ON t BEGIN INSERT INTO ft(ft, rowid, a, b) VALUES('delete', old.id, old.a, old.b); INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER x AFTER UPDATE ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); INSERT INTO ft(ft, rowid, a, b) VALUES('delete', old.id, old.a, old.b); END",
    "CREATE TRIGGER x AFTER UPDATE ON t BEGIN INSERT INTO ft(rowid, a, b) VALUES (new.id, new.a, new.b); END",
    "CREATE TRIGGER x AFTER DELETE ON t BEGIN INSERT INTO ft(ft, rowid, a, b) VALUES('delete-all', old.id, old.a, old.b); END",
    "CREATE TRIGGER x AFTER DELETE ON t BEGIN INSERT INTO ft(ft, rowid, a, b) VALUES(old.ft, old.id, old.a, old.b); END",
    "CREATE TRIGGER x AFTER DELETE ON t BEGIN INSERT INTO ft(ft, rowid, a, b) VALUES('delete', new.id, old.a, old.b); END",
    "CREATE TRIGGER x AFTER DELETE ON t BEGIN DELETE FROM ft WHERE rowid = old.id; END",
  ]) func triggersThatDoMoreOrLess(_ sql: String) throws {
    #expect(SyncTrigger(name: "x", sql: sql, index: try index(), schema: try schema()) == nil)
  }

  @Test func theRowidMeansTheColumnOfThatNameWhereThereIsOne() throws {
    let table = try index("CREATE VIRTUAL TABLE ft USING fts5(a, b, content='t')")
    let plain = Self.sync[0].replacing("new.id", with: "new.rowid")
    let schema = try schema("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
    #expect(SyncTrigger(name: "x", sql: plain, index: table, schema: schema) != nil)
    #expect(SyncTrigger(name: "x", sql: Self.sync[0], index: table, schema: schema) != nil)
    let odd = try self.schema("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, rowid TEXT)")
    #expect(
      SyncTrigger(name: "x", sql: plain, index: table, schema: odd) != nil, "FTS5 reads that column too")
    #expect(SyncTrigger(name: "x", sql: Self.sync[0], index: table, schema: odd) == nil)
    let other = try self.schema("CREATE TABLE t(id INT PRIMARY KEY, a, b)")
    #expect(SyncTrigger(name: "x", sql: Self.sync[0], index: table, schema: other) == nil, "id is no rowid")
  }

  @Test(arguments: [
    ("fts5(a, b, content='t', content_rowid='id')", "external t id"),
    (
      "fts5(a, b UNINDEXED, content=[t], tokenize='porter unicode61', prefix='2 3', detail=none)",
      "external t rowid"
    ),
    ("FTS5(a,b,content=\"t\",columnsize=0)", "external t rowid"),
    ("fts5(a, b, content=t)", "external t rowid"),
    ("fts5(a, b, content='')", "none"), ("fts5(a, b)", "own"), ("fts4(a, b)", "nothing"),
    ("rtree(a, b, c)", "nothing"),
    ("fts5(a, b, cont='t')", "nothing"),
  ]) func fullTextTables(_ module: String, _ expected: String) throws {
    let parsed = FullTextTable.parse(name: "ft", sql: "CREATE VIRTUAL TABLE ft USING \(module)")
    switch parsed?.content {
    case .external(let table)?: #expect("external \(table) \(parsed?.table.contentRowid ?? "")" == expected)
    case FullTextTable.Content.none?: #expect(expected == "none")
    case .own?: #expect(expected == "own")
    case nil: #expect(expected == "nothing")
    }
    if let parsed { #expect(parsed.table.columns == ["a", "b"]) }
  }

  @Test(arguments: [
    ("CREATE INDEX i ON t(a, b DESC)", false),
    ("CREATE INDEX i ON t(a) WHERE b > 1 AND (c IS NOT NULL)", false),
    ("CREATE INDEX i ON t(lower(a))", false), ("CREATE INDEX i ON t(a) WHERE b IN (1, 2)", false),
    ("CREATE INDEX i ON t(a + b)", false), ("CREATE INDEX i ON t(json_extract(a, '$.x'))", true),
    ("CREATE INDEX i ON t(a) WHERE abs(b) > 1", true), ("CREATE INDEX i ON t(a ->> 'x')", true),
    ("CREATE INDEX i ON t(\"abs\"(b))", true), ("CREATE INDEX i ON t(a COLLATE nocase)", false),
  ]) func indexesThatMayRefuseARow(_ sql: String, _ mayRaise: Bool) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c); \(sql)")
    let indexes = try SecondaryIndex.read(connection, table: "T")
    #expect(indexes.map(\.mayRaise) == [mayRaise])
  }

  @Test(arguments: [
    ([["a"]], ["t_a_idx(a)"]), ([["B", "a"], ["b", "a"]], ["t_b_a_idx(b,a)"]), ([["id"]], []), ([["c"]], []),
    ([["c", "a"]], ["t_c_a_idx(c,a)"]), ([["d"]], ["t_d_idx_2(d)"]), ([["e"]], ["t_e_idx(e)"]), ([["f"]], []),
    ([["g"]], ["t_g_idx(g)"]), ([["n"]], ["t_n_idx(n)"]), ([["a,\"x"]], ["t_a,\"x_idx(a,\"x)"]),
  ]) func indexesThatAreMissing(_ requests: [[String]], _ expected: [String]) throws {
    let connection = try TemporaryDatabase().open(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c UNIQUE, d, e, f, g, n COLLATE nocase, "a,""x");
      CREATE TABLE t_d_idx(x); CREATE INDEX part ON t(e) WHERE a; CREATE INDEX f1 ON t(f DESC);
      CREATE INDEX g1 ON t(g COLLATE rtrim); CREATE INDEX n1 ON t(n COLLATE binary); CREATE INDEX two ON t(a, b);
      """)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let indexes = try SecondaryIndex.read(connection, table: "t")
    let missing = try IndexDefinition.missing(requests, schema: schema, indexes: indexes, on: connection)
    #expect(missing.map { "\($0.name)(\($0.columns.joined(separator: ",")))" } == expected)
    for definition in missing { try connection.execute(definition.sql()) }
    let after = try SecondaryIndex.read(connection, table: "t")
    #expect(try IndexDefinition.missing(requests, schema: schema, indexes: after, on: connection) == [])
  }

  @Test func anIndexOnWhatIsNotThereIsRefused() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(a, b); CREATE VIEW v AS SELECT * FROM t")
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    #expect {
      _ = try IndexDefinition.missing([["x"]], schema: schema, indexes: [], on: connection)
    } throws: {
      ($0 as? UpsurgeError)?.description
        == "--index names x, which is not a column of table t\n  fix: its columns are: a, b"
    }
    let view = try #require(try TableSchema.read(connection, table: "v"))
    #expect {
      _ = try IndexDefinition.missing([["a"]], schema: view, indexes: [], on: connection)
    } throws: {
      ($0 as? UpsurgeError)?.message == "v is a view, which can have no index"
    }
  }

  @Test func pendingWorkIsKeptAndGoes() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE \"a'\"\"b\"(x, \"y;\")")
    let one = IndexDefinition(name: "i\"1", table: "a'\"b", columns: ["y;", "x"])
    let two = IndexDefinition(name: "i2", table: "a'\"b", columns: ["x"])
    let other = IndexDefinition(name: "i3", table: "c", columns: ["x"])
    try PendingWork.record([one, two, other], on: connection)
    try PendingWork.record([one], on: connection)
    #expect(try PendingWork.read(connection, table: "A'\"B") == [one, two])
    try PendingWork.remove(one, on: connection)
    #expect(try PendingWork.read(connection, table: "a'\"b") == [two])
    try PendingWork.remove(two, on: connection)
    #expect(try connection.integer("SELECT count(*) FROM upsurge_pending") == 1)
    try PendingWork.remove(other, on: connection)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 1)
  }

  @Test func aTableOfThatNameWithOtherColumnsIsLeftAlone() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE upsurge_pending(sql); INSERT INTO upsurge_pending VALUES('DROP TABLE upsurge_pending')")
    #expect(try PendingWork.read(connection, table: "t") == [])
  }

  /// The decision for the index `i` and the FTS5 table `ft`, as `keep` or `defer` with the reason.
  private func decide(
    _ sql: String, rows: Int, load: Int?, mode: WriteMode = .insert, upkeep: Upkeep = .auto,
    share: Double? = nil
  ) throws -> [UpkeepDecision] {
    let connection = try TemporaryDatabase().open(sql)
    try connection.execute(
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) INSERT INTO t(a) SELECT x FROM n LIMIT \(rows)"
    )
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var request = UpkeepRequest()
    (request.indexes.upkeep, request.indexes.fullTextUpkeep) = (upkeep, upkeep)
    let plan = try UpkeepPlan(
      connection, schema: schema, request: request, mode: mode,
      load: load.map { LoadEstimate(recordCount: $0, byteCount: $0 * 20) }, changedShare: share)
    return plan.decisions
  }

  @Test(
    arguments: [
      (0, 9_999, WriteMode.insert, nil, Upkeep.keep), (0, 10_000, .upsert, nil, .defer),
      (20_000, 10_000, .insert, nil, .defer),
      (20_001, 10_000, .insert, nil, .keep), (20_001, 10_001, .ignore, nil, .defer),
      (100, 10_000, .upsert, nil, .keep),
      (20_000, 20_000, .upsert, 0.5, .defer), (20_000, 20_000, .upsert, 0.4, .keep),
      (20_000, nil, .insert, nil, .keep),
      (20_000, 20_000, .update, 1, .defer), (30_000, 11_000, .update, 1, .keep),
    ] as [(Int, Int?, WriteMode, Double?, Upkeep)])
  func indexesAreSetAsideForHalfTheTable(
    rows: Int, load: Int?, mode: WriteMode, share: Double?, expected: Upkeep
  ) throws {
    let found = try decide(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t(a)", rows: rows, load: load, mode: mode,
      share: share)
    #expect(found.map(\.upkeep) == [expected], "\(found)")
    #expect(!found[0].isAgainstRequest)
  }

  @Test(arguments: [
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", "the trigger x may look rows up by it"),
    ("CREATE TEMP TRIGGER y AFTER INSERT ON t BEGIN SELECT 1; END", "the trigger y may look rows up by it"),
    ("CREATE TEMP VIEW v AS SELECT 1", "the connection has TEMP tables, views or triggers"),
    ("", nil),
  ]) func whatStandsInTheWay(_ sql: String, _ reason: String?) throws {
    let found = try decide(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a REFERENCES t); CREATE INDEX i ON t(id, a); \(sql)", rows: 0,
      load: nil,
      upkeep: .defer)
    #expect(found.map(\.upkeep) == [reason == nil ? .defer : .keep])
    #expect(found.map(\.reason) == [reason ?? "as asked for"])
    #expect(found.map(\.isAgainstRequest) == [reason != nil])
  }

  @Test func aForeignKeyToTheTableItselfKeepsItsIndex() throws {
    let found = try decide(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a REFERENCES t); CREATE INDEX i ON t(a); CREATE INDEX j ON t(id, a)",
      rows: 0, load: nil, upkeep: .defer)
    #expect(found.map(\.upkeep) == [.keep, .defer])
    #expect(found[0].reason == "the table's foreign key to itself looks rows up by it")
  }

  @Test func fullTextIsRebuiltWhereThatIsCheaper() throws {
    let sql =
      (["CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)"]
      + ["CREATE VIRTUAL TABLE ft USING fts5(a, b, content='t', content_rowid='id')"] + Self.sync)
      .joined(separator: ";")
    #expect(try decide(sql, rows: 0, load: 10_000).map(\.upkeep) == [.defer])
    #expect(try decide(sql, rows: 2_000, load: 10_000).map(\.upkeep) == [.defer])
    #expect(try decide(sql, rows: 2_000, load: 9_000).map(\.upkeep) == [.keep])
    #expect(try decide(sql, rows: 100_001, load: 10_000).map(\.upkeep) == [.keep])
    #expect(try decide(sql, rows: 100_000, load: 10_000).map(\.upkeep) == [.defer])
    #expect(try decide(sql, rows: 2_000, load: 10_000, mode: .upsert).map(\.upkeep) == [.keep])
    #expect(try decide(sql, rows: 0, load: nil, upkeep: .defer).map(\.reason) == ["as asked for"])
    let stale = sql + "; INSERT INTO t VALUES (-1, 'x', 'y'); DROP TRIGGER ad; DELETE FROM t; " + Self.sync[1]
    #expect(
      try decide(stale, rows: 0, load: nil, upkeep: .defer).map(\.reason)
        == ["it does not index every row now, and a rebuild would"])
    let extra = sql + "; CREATE TRIGGER more AFTER INSERT ON t BEGIN SELECT 1; END"
    #expect(
      try decide(extra, rows: 0, load: nil, upkeep: .defer).map(\.reason) == [
        "the trigger more may look at it"
      ])
  }

  @Test(arguments: [
    ("content=''", "it is contentless, so there is nothing to rebuild it from"),
    ("tokenize='porter'", "it has a content of its own, so there is nothing to rebuild it from"),
    ("content='u'", "its content is u, not this table"),
    ("content='t'", "its triggers are not the three plain ones that a rebuild comes to (such as ai)"),
  ]) func fullTextThatOnlyRowsCanKeep(_ option: String, _ reason: String) throws {
    let found = try decide(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE VIRTUAL TABLE ft USING fts5(a, b, \(option)); \(Self.sync[0])",
      rows: 0, load: nil, upkeep: .defer)
    #expect(found.map(\.reason) == [reason])
    #expect(found.map(\.isAgainstRequest) == [true])
  }
}
