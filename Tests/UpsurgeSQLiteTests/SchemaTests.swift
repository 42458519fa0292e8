import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

@Suite struct SchemaTests {
  /// A table that conditions speak of, with a column that is named as a word for a value is.
  private static func table() throws -> TableSchema {
    let database = TemporaryDatabase()
    let connection = try database.open(#"CREATE TABLE t(a, b, c, "1", "NULL", "Name")"#)
    return try #require(try TableSchema.read(connection, table: "t"))
  }

  @Test(
    arguments: [
      ("a=1", #"("a" IS 1)"#), ("A == 1", "a = 1"), ("a = -1", "(a IS -1)"), ("a = 'x'", "a IS 'x'"),
      ("a = 1 AND b IS NOT NULL", #"(("b" IS NOT NULL) AND ("a" IS 1))"#),
      ("((a)) AND (b AND c)", "c AND a AND b"),
      ("a BETWEEN 1 AND 2", "(a between 1 and 2)"), ("a OR b AND c", "(A or B and C)"),
      (#"name = "A""#, #""NAME" = "A""#), (#""name" = 1E3"#, "[Name] = 1e3"),
    ])
  func conditionsThatAreOne(_ pair: (String, String)) throws {
    let table = try SchemaTests.table()
    #expect(SQLFragment(pair.0).isSamePredicate(SQLFragment(pair.1), in: table))
    #expect(SQLFragment(pair.1).isSamePredicate(SQLFragment(pair.0), in: table))
  }

  @Test(
    arguments: [
      ("a = 1", "a = 2"), ("a = 1", "a = '1'"), ("a IS NULL", "a = NULL"), ("a IS b", "a = b"),
      ("a", "a AND b"),
      ("a AND a", "a AND b"), ("NOT a IS 1", "NOT a = 1"), ("a = 'x'", "a = 'X'"),
      ("(a OR b) AND c", "a OR (b AND c)"),
      ("a IS 1 = 0", "a = 1 = 0"), ("a BETWEEN 1 AND 2 AND b", "b AND 2 AND a BETWEEN 1"),
      ("a = 1", "a = -1"),
      // What is quoted and no column is a text to SQLite; what is a column is none when it stands without quotes.
      (#"a = "x""#, #"a = "X""#), (#"a = "x""#, "a = x"), ("a = 1", #"a = "1""#),
      ("a IS NULL", #"a IS "NULL""#),
      ("a = 2", #"a = "2""#), ("a = current_date", #"a = "current_date""#),
    ])
  func conditionsThatAreTwo(_ pair: (String, String)) throws {
    let table = try SchemaTests.table()
    #expect(!SQLFragment(pair.0).isSamePredicate(SQLFragment(pair.1), in: table))
    #expect(!SQLFragment(pair.1).isSamePredicate(SQLFragment(pair.0), in: table))
  }

  @Test func anAttachedFileIsNotLookedInto() throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      """
      ATTACH ':memory:' AS other;
      CREATE TABLE other.parent(x PRIMARY KEY); CREATE TABLE other.only(x);
      CREATE TABLE t(id INTEGER PRIMARY KEY, p REFERENCES parent); CREATE TEMP TABLE own(x PRIMARY KEY);
      """)
    #expect(try TableSchema.read(connection, table: "only") == nil)
    #expect(try TableSchema.read(connection, table: "parent") == nil)
    #expect(try TableSchema.read(connection, table: "own")?.primaryKeyColumns == ["x"])
    #expect(
      try TableSchema.read(connection, table: "t")?.foreignKeys == [
        .init(columns: ["p"], parentTable: "parent", parentColumns: [], parentKey: [])
      ])
  }

  @Test func readsKeysColumnsAndWhatHangsOnThem() throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      """
      CREATE TABLE parent(x INTEGER, y TEXT, PRIMARY KEY (x, y));
      CREATE TABLE "t" ( -- a comment, with (parentheses
        id INTEGER PRIMARY KEY,
        "a""b" VARCHAR(10) NOT NULL ON CONFLICT REPLACE DEFAULT 'x,y)' COLLATE NOCASE UNIQUE ON CONFLICT IGNORE,
        [c] DOUBLE PRECISION CHECK (c > 0), /* another ) */
        d DEFAULT (1 + 2), e AS (c * 2) VIRTUAL, f AS (c * 3) STORED NOT NULL,
        CONSTRAINT u UNIQUE (d, c) ON CONFLICT ROLLBACK,
        FOREIGN KEY (id, d) REFERENCES parent
      );
      CREATE UNIQUE INDEX part ON t(d) WHERE c > 1;
      CREATE UNIQUE INDEX expr ON t(lower(d), c COLLATE NOCASE);
      CREATE TRIGGER tr AFTER INSERT ON T BEGIN SELECT 1; END;
      CREATE TABLE child(r REFERENCES T(id));
      """)
    guard let schema = try TableSchema.read(connection, table: "T") else {
      Issue.record("no schema")
      return
    }
    #expect(schema.name == "t")
    #expect(schema.columns.map(\.name) == ["id", "a\"b", "c", "d", "e", "f"])
    #expect(schema.columns.map(\.affinity) == [.integer, .text, .real, .none, .none, .none])
    #expect(schema.columns.map(\.generation) == [.none, .none, .none, .none, .virtual, .stored])
    #expect(schema.columns[1].collation == "NOCASE")
    #expect(schema.columns[1].isNotNull)
    #expect(schema.columns[1].notNullConflict == .replace)
    #expect(schema.columns[1].defaultExpression == "'x,y)'")
    #expect(schema.columns[3].defaultExpression == "1 + 2")
    #expect(schema.columns[5].notNullConflict == nil)
    #expect(schema.rowidAlias == 0)
    #expect(
      schema.keys.map(\.description) == [
        "PRIMARY KEY (id)", "UNIQUE (a\"b)", "UNIQUE (d, c)",
        "UNIQUE (d) WHERE c > 1", "UNIQUE (lower(d), c)",
      ])
    #expect(schema.keys.map(\.conflictClause) == [nil, .ignore, .rollback, nil, nil])
    #expect(schema.keys[1].parts == [.init(column: "a\"b", collation: "NOCASE")])
    #expect(schema.keys[4].parts[1].collation == "NOCASE")
    #expect(schema.hasCheck)
    #expect(!schema.checkMayRaise)
    #expect(schema.hasComputedIndex)
    #expect(schema.triggers == ["tr"])
    #expect(
      schema.foreignKeys == [
        .init(columns: ["id", "d"], parentTable: "parent", parentColumns: [], parentKey: ["x", "y"])
      ])
    #expect(schema.referencingTables == ["child"])
    #expect(try TableList.names(connection) == ["child", "parent", "t"])
    #expect(try TableSchema.read(connection, table: "nowhere") == nil)
  }

  @Test(
    arguments: [
      ("CREATE TABLE t(a INTEGER PRIMARY KEY, b)", 0),
      ("CREATE TABLE t(b, a INTEGER, PRIMARY KEY (a DESC))", 1),
      ("CREATE TABLE t(a INT PRIMARY KEY, b)", nil), ("CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b)", nil),
      ("CREATE TABLE t(a INTEGER PRIMARY KEY, b) WITHOUT ROWID", nil),
      ("CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b)", 0),
      ("CREATE TABLE t(a INTEGER, b, PRIMARY KEY (a, b))", nil), ("CREATE TABLE t(a, b)", nil),
    ] as [(String, Int?)]) func knowsTheRowidsName(_ sql: String, _ alias: Int?) throws
  {
    let connection = try TemporaryDatabase().open(sql)
    let schema = try TableSchema.read(connection, table: "t")
    #expect(schema?.rowidAlias == alias)
    #expect(schema?.isWithoutRowid == sql.contains("WITHOUT"))
  }

  @Test func strictTablesAndAny() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(a ANY, b INT) STRICT; CREATE VIEW v AS SELECT a FROM t")
    let schema = try TableSchema.read(connection, table: "t")
    #expect(schema?.isStrict == true)
    #expect(schema?.columns.map(\.affinity) == [Affinity.none, .integer])
    #expect(try TableSchema.read(connection, table: "v")?.kind == .view)
  }

  @Test func definitionsReadWell() throws {
    let columns = [("year", "INTEGER"), ("name", "TEXT"), ("n", "")].map {
      TableDefinition.Column(name: $0.0, declaredType: $0.1)
    }
    #expect(
      try TableDefinition(name: "births", columns: columns, keyColumns: ["year", "Name"]).sql() == """
        CREATE TABLE "births" (
          "year" INTEGER NOT NULL,
          "name" TEXT NOT NULL,
          "n",
          PRIMARY KEY ("year", "Name")
        )
        """)
    #expect(
      try TableDefinition(name: "b", columns: columns, keyColumns: ["YEAR"], isStrict: true).sql() == """
        CREATE TABLE "b" (
          "year" INTEGER PRIMARY KEY,
          "name" TEXT,
          "n" ANY
        ) STRICT
        """)
    #expect(
      try TableDefinition(name: "b", columns: columns, keyColumns: ["name"]).sql().contains(
        "PRIMARY KEY (\"name\")"))
    #expect(
      try TableDefinition.addColumnSQL(
        table: "b", column: .init(name: "x\"", declaredType: "REAL"), isStrict: false)
        == "ALTER TABLE \"b\" ADD COLUMN \"x\"\"\" REAL")
  }

  @Test(
    arguments: [
      (
        "sqlite_x", ["a"], [],
        "the table name sqlite_x is reserved: names that begin with sqlite_ are SQLite's own"
      ),
      ("t", ["a", "A"], [], "the table t would have two columns named A"),
      ("t", [], [], "the table t would have no column"),
      ("t", ["a"], ["b"], "the key column b is not among the columns of the input"),
      ("t", ["a\0b"], [], "the name a\\x00b holds a NUL byte, which SQLite cannot keep in a name"),
    ] as [(String, [String], [String], String)])
  func definitionsRefuse(_ name: String, _ columns: [String], _ key: [String], _ message: String) {
    let definition = TableDefinition(
      name: name, columns: columns.map { .init(name: $0, declaredType: "TEXT") }, keyColumns: key)
    #expect { try definition.sql() } throws: { ($0 as? UpsurgeError)?.message == message }
  }
}
