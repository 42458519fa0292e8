extension HintTable {
  private static func keys(
    _ name: String, _ hint: String, _ setup: String, tables: [String] = ["t"], _ mended: String,
    query: String = "SELECT typeof(id), a FROM t", rows: [String] = ["'text'|'x'", "'text'|'y'"]
  ) -> HintScenario {
    HintScenario(
      name: "keys: " + name, hints: [hint], setup: setup, first: ["migrate-keys", "d.db"] + tables, firstExit: 4,
      steps: [.sql(mended), .again], query: query, rows: rows)
  }
  private static let keyed = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1,'x'),(2,'y'); "
  private static let found = "SELECT typeof(id), a FROM t WHERE rowid IN (SELECT rowid FROM f WHERE f MATCH 'y')"

  /// What integer keys that become UUIDs are kept from.
  static let keyScenarios: [HintScenario] = [
    keys(
      "a full-text table that lacks rows",
      "INSERT INTO f(f) VALUES ('rebuild') gives it all; or drop it first, and fill it again afterwards",
      keyed + "CREATE VIRTUAL TABLE f USING fts5(a, content=t, content_rowid=id); INSERT INTO f(rowid, a) VALUES (1,'x')",
      "INSERT INTO f(f) VALUES ('rebuild')", query: found, rows: ["'text'|'y'"]),
    keys(
      "a full-text table that lacks rows is dropped",
      "INSERT INTO f(f) VALUES ('rebuild') gives it all; or drop it first, and fill it again afterwards",
      keyed + "CREATE VIRTUAL TABLE f USING fts5(a, content=t, content_rowid=id); INSERT INTO f(rowid, a) VALUES (1,'x')",
      "DROP TABLE f"),
    keys(
      "a row that breaks a constraint", "PRAGMA integrity_check shows rows that break a constraint; repair them first",
      keyed + "UPDATE t SET a = NULL WHERE id = 2; PRAGMA writable_schema = ON; "
        + "UPDATE sqlite_schema SET sql = 'CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL ON CONFLICT IGNORE)' WHERE name = 't'",
      "UPDATE t SET a = 'y' WHERE id = 2"),
    keys(
      "a text that refers to an integer", "a column that refers to an integer key must hold integers",
      keyed + "CREATE TABLE c(k REFERENCES t(id)); INSERT INTO c VALUES ('1')",
      "ALTER TABLE c RENAME TO o; CREATE TABLE c(k INTEGER REFERENCES t(id)); INSERT INTO c SELECT k FROM o; DROP TABLE o",
      query: "SELECT typeof(k), a FROM c JOIN t ON k = id", rows: ["'text'|'x'"]),
    keys(
      "a full-text table over a view", "drop the full-text table first, and make it again over a view that gives the rowid",
      keyed + "CREATE VIEW v AS SELECT id, a FROM t; CREATE VIRTUAL TABLE f USING fts5(a, content=v, content_rowid=id)",
      "DROP TABLE f"),
    keys(
      "a trigger that fills a full-text table", "drop the trigger first, and make one that finds them otherwise",
      keyed + "CREATE TABLE c(x, t INTEGER REFERENCES t(id)); INSERT INTO c VALUES ('u', 1); CREATE VIRTUAL TABLE f USING fts5(x); "
        + "CREATE TRIGGER g AFTER INSERT ON c BEGIN INSERT INTO f(rowid, x) VALUES (new.t, new.x); END",
      "DROP TRIGGER g; "
        + "CREATE TRIGGER g AFTER INSERT ON c BEGIN INSERT INTO f(rowid, x) VALUES (new.rowid, new.x); END",
      query: "SELECT x, a FROM c JOIN t ON c.t = t.id", rows: ["'u'|'x'"]),
    keys(
      "a column named rowid", "rename the column first, and make the full-text table again",
      "CREATE TABLE t(rowid INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1,'x'),(2,'y'); "
        + "CREATE VIRTUAL TABLE f USING fts5(a, content=t, content_rowid=rowid); INSERT INTO f(f) VALUES ('rebuild')",
      "DROP TABLE f; ALTER TABLE t RENAME COLUMN rowid TO id; "
        + "CREATE VIRTUAL TABLE f USING fts5(a, content=t, content_rowid=id); INSERT INTO f(f) VALUES ('rebuild')",
      query: found, rows: ["'text'|'y'"]),
    keys(
      "a column that refers to two tables", "give each reference a column of its own first",
      keyed + "CREATE TABLE s(id INTEGER PRIMARY KEY); INSERT INTO s VALUES (1); "
        + "CREATE TABLE c(k INTEGER REFERENCES t(id) REFERENCES s(id)); INSERT INTO c VALUES (1)",
      tables: ["t", "s"],
      "ALTER TABLE c RENAME TO o; CREATE TABLE c(k INTEGER REFERENCES t(id), l INTEGER REFERENCES s(id)); "
        + "INSERT INTO c SELECT k, k FROM o; DROP TABLE o",
      query: "SELECT typeof(k), typeof(l) FROM c JOIN t ON k = t.id JOIN s ON l = s.id", rows: ["'text'|'text'"]),
    keys(
      "a column that is computed from the key", "make it an ordinary column first",
      keyed + "ALTER TABLE t ADD COLUMN b AS (id + 1)",
      "ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN b; UPDATE t SET b = id + 1",
      query: "SELECT typeof(id), b FROM t ORDER BY b", rows: ["'text'|2", "'text'|3"]),
    keys(
      "a reference that is computed", "make it an ordinary column first",
      keyed + "CREATE TABLE c(x, k AS (x) STORED REFERENCES t(id)); INSERT INTO c VALUES (1)",
      "ALTER TABLE c RENAME TO o; CREATE TABLE c(x, k INTEGER REFERENCES t(id)); INSERT INTO c SELECT x, k FROM o; DROP TABLE o",
      query: "SELECT x, a FROM c JOIN t ON k = id", rows: ["1|'x'"]),
  ]
}
