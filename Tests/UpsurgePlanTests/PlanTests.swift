import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite

@Suite struct PlanTests {
  private func plan(
    _ table: String, _ columns: [String], key: [String] = [], mode: WriteMode? = nil
  ) throws -> UpsertPlan {
    let connection = try TemporaryDatabase().open(table)
    guard let schema = try TableSchema.read(connection, table: "t") else {
      throw UpsurgeError(.usage, "no table t")
    }
    return try UpsertPlan(schema: schema, key: key, mode: mode, columns: BatchMaker(columns).columns)
  }

  @Test func theStatementInFull() throws {
    #expect(
      try plan(
        "CREATE TABLE t(a TEXT, b TEXT COLLATE NOCASE, c, d INT, PRIMARY KEY (a, d))", ["d", "A", "b", "c"]
      ).sql(rowCount: 2) == """
        INSERT OR FAIL INTO "t" ("d", "a", "b", "c") VALUES (?, ?, ?, ?), (?, ?, ?, ?)
        ON CONFLICT ("a", "d") DO UPDATE SET "b" = excluded."b", "c" = excluded."c"
        WHERE ("t"."b" COLLATE BINARY IS NOT excluded."b" OR "t"."c" IS NOT excluded."c" \
        OR CAST("t"."c" AS TEXT) IS NOT CAST(excluded."c" AS TEXT)) \
        AND CAST(excluded."a" AS TEXT) = '' COLLATE upsurge_note_update
        """)
    #expect(try plan("CREATE TABLE t(a)", ["a"]).sql() == "INSERT INTO \"t\" (\"a\") VALUES (?)")
    #expect(
      try plan("CREATE TABLE t(a PRIMARY KEY)", ["a"]).sql(rowCount: 2)
        == "INSERT OR FAIL INTO \"t\" (\"a\") VALUES (?), (?)\nON CONFLICT (\"a\") DO NOTHING")
    #expect(
      try plan("CREATE TABLE t(a PRIMARY KEY)", ["a"], mode: .ignore).sql()
        == "INSERT INTO \"t\" (\"a\") VALUES (?)\nON CONFLICT DO NOTHING")
    #expect(
      try plan(
        "CREATE TABLE t(a PRIMARY KEY ON CONFLICT REPLACE, b NOT NULL ON CONFLICT REPLACE DEFAULT 5)",
        ["a", "b"], mode: .insert
      ).sql()
        == "INSERT OR ABORT INTO \"t\" (\"a\", \"b\") VALUES (?, ifnull(?, 5))")
  }

  @Test func theTargetNamesItsCollationWhereItMustBeTold() throws {
    let made = try plan(
      "CREATE TABLE t(a TEXT, b); CREATE UNIQUE INDEX i ON t(a COLLATE NOCASE)", ["a", "b"], key: ["a"])
    #expect(try made.sql().contains("ON CONFLICT (\"a\" COLLATE \"NOCASE\")"))
  }

  @Test(
    arguments: [
      ("CREATE TABLE t(a PRIMARY KEY, b)", ["a", "b"], WriteMode.upsert, ["a"]),
      ("CREATE TABLE t(a PRIMARY KEY, b)", ["b"], .insert, []),
      ("CREATE TABLE t(a, b)", ["a", "b"], .insert, []),
      ("CREATE TABLE t(a, b, PRIMARY KEY (b, a))", ["a", "b"], .upsert, ["b", "a"]),
      ("CREATE TABLE t(a UNIQUE, b)", ["a", "b"], .insert, []),
    ] as [(String, [String], WriteMode, [String])])
  func withoutAKeyThePrimaryKeyDecides(
    _ table: String, _ columns: [String], _ mode: WriteMode, _ key: [String]
  ) throws {
    let made = try plan(table, columns)
    #expect(made.mode == mode)
    #expect(made.key?.columns ?? [] == key)
  }

  @Test func generatedColumnsAreLeftOut() throws {
    let made = try plan(
      "CREATE TABLE t(a INTEGER PRIMARY KEY, b AS (a + 1), c AS (a + 2) STORED)", ["B", "a", "c"])
    #expect(made.skippedColumns == ["b", "c"])
    #expect(made.slots == [.init(cellIndex: 1, columnIndex: 0, isKey: true)])
  }

  @Test(
    arguments: [
      (
        "CREATE TABLE t(a, b)", ["a", "x", "y\u{1B}"], [], nil,
        "table t has no column x, y\\x1B\n  fix: --alter adds them; --columns A,B loads only the columns named"
      ),
      (
        "CREATE TABLE t(a, b)", ["a", "A"], [], nil,
        "the input has two columns for one column of table t: a and A\n  fix: give one of them another name, or leave it out"
      ),
      (
        "CREATE TABLE t(a, b)", ["a", "b"], ["a"], nil,
        "table t has no PRIMARY KEY or UNIQUE index on (a); it has no key at all\n  fix: --create-key makes it: CREATE UNIQUE INDEX \"t_a_key\" ON \"t\" (\"a\")"
      ),
      (
        "CREATE TABLE t(a PRIMARY KEY, b UNIQUE)", ["a", "b"], ["a", "b"], nil,
        "table t has no PRIMARY KEY or UNIQUE index on (a, b); its keys are: PRIMARY KEY (a); UNIQUE (b)\n"
          + "  fix: --create-key makes it: CREATE UNIQUE INDEX \"t_a_b_key\" ON \"t\" (\"a\", \"b\")"
          + "; where records share a PRIMARY KEY (a), load into another table"
      ),
      (
        "CREATE TABLE t(a PRIMARY KEY, b UNIQUE)", ["a", "b"], ["c"], nil,
        "the key column c is not a column of table t\n  fix: --key takes names of: a, b"
      ),
      (
        "CREATE TABLE t(a PRIMARY KEY, b UNIQUE)", ["b"], ["a"], nil,
        "the key column a is not in the input\n  fix: --key takes names of: b"
      ),
      (
        "CREATE TABLE t(a, b)", ["b"], [], WriteMode.upsert,
        "mode upsert needs a key, and table t has no PRIMARY KEY in the input\n  fix: --key COLS names the columns that say which row a record is about"
      ),
    ] as [(String, [String], [String], WriteMode?, String)])
  func refusals(
    _ table: String, _ columns: [String], _ key: [String], _ mode: WriteMode?, _ text: String
  ) {
    #expect { try plan(table, columns, key: key, mode: mode) } throws: { error in
      let said = (error as? UpsurgeError)?.description
      if said != text { Issue.record("\(said ?? "")") }
      return said == text
    }
  }

  @Test func aKeyOfAllRowsCanBeAskedFor() throws {  // p03
    let database = TemporaryDatabase()
    let connection = try database.open(
      "CREATE TABLE acct(id INTEGER PRIMARY KEY,email TEXT,active INT,n INT);"
        + "CREATE UNIQUE INDEX acct_active ON acct(email) WHERE active=1;")
    guard let schema = try TableSchema.read(connection, table: "acct") else { return }
    let columns = ["email", "active", "n"].compactMap { schema.columnTarget($0, spellingPolicy: .warn) }
    do throws(UpsurgeError) {
      _ = try UpsertPlan(
        schema: schema, rules: UpsertRules(target: .columns(["email"], where: "")), columns: columns)
      Issue.record("the key was taken")
    } catch {
      #expect(
        error.description == """
          table acct has no PRIMARY KEY or UNIQUE index on (email); its keys are: PRIMARY KEY (id); \
          UNIQUE (email) WHERE active=1
            fix: --create-key makes it: CREATE UNIQUE INDEX "acct_email_key" ON "acct" ("email")
          """)
      #expect(error.code == .usage)
    }
  }
}
