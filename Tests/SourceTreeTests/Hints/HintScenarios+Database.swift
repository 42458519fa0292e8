extension HintTable {
  private static let two = "id,a\n1,x\n2,y\n"
  private static let stored = ["1|'x'", "2|'y'"]

  /// What the database, another program or a whole job says.
  static let databaseScenarios: [HintScenario] = [
    .load(
      "database: a trigger that ends everything", ["RAISE(ABORT) in the trigger would refuse only the record"], two,
      ["--on-error", "reject"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); "
        + "CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 1 BEGIN SELECT raise(ROLLBACK, 'no'); END",
      [
        .sql(
          "DROP TRIGGER r; CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 1 BEGIN SELECT raise(ABORT, 'no'); END"),
        .again,
      ], exits: [2], rows: ["2|'y'"]),
    .load(
      "database: a table of rejects is there", ["rename that table; …"], "id,a\n1,x\n2\n", ["--on-error", "reject", "--rejects", "table"],
      setup: "CREATE TABLE upsurge_rejects(a)", [.sql("ALTER TABLE upsurge_rejects RENAME TO mine"), .again], exits: [2], rows: ["1|'x'"]),
    .load(
      "database: a view of rejects is there", ["rename that view; …"], "id,a\n1,x\n2\n", ["--on-error", "reject", "--rejects", "table"],
      setup: "CREATE VIEW upsurge_rejects AS SELECT 1", [.sql("DROP VIEW upsurge_rejects"), .again], exits: [2], rows: ["1|'x'"]),
    .load(
      "database: two keys are given to updates", ["--key COLS names one"], "id,a\n1,z\n", ["--mode", "update", "--any-key"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 'x')",
      [.leaveOut(["--any-key"]), .give(["--key", "id"])], rows: ["1|'z'"]),
    .load(
      "database: a key that holds the rowid", ["--key … says which row a record is about"], "id,a\n1,x\n", ["--key", "id,a"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE UNIQUE INDEX i ON t(id, a)",
      [.leaveOut(["id,a", "--key"]), .add("--key [a-z]+"), .again], rows: ["1|'x'"]),
    .load(
      "database: a statement that is too long", ["--max-statement … would do, if the host takes it"],
      "id,a\n1,\(String(repeating: "x", count: 500))\n", ["--emit-sql", "out.sql", "--max-statement", "300"],
      [.leaveOut(["--max-statement", "300"]), .add("--max-statement [0-9]+")],
      query: "SELECT count(*) FROM t", rows: ["1"]),
    .load(
      "database: a condition of unknown columns", ["give SQL over excluded.COL and the row's columns"], two, ["--update-if", "nope > 1"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", [.leaveOut(["nope > 1"]), .give(["excluded.a > a"])], rows: stored),
    HintScenario(
      name: "database: a file that is large", hints: ["types from the first MiB; --infer full reads all of it"],
      prepare: "(echo id,a; seq 1 200000 | sed 's/$/,x/') > f.csv", first: ["inspect", "f.csv"], firstExit: 0,
      steps: [.add("--infer full"), .run(["load", "d.db", "t", "f.csv"])], query: "SELECT count(*) FROM t", rows: ["200000"]),
    HintScenario(
      name: "database: explain the time, quietly",
      hints: ["--explain-time says where the time went, and --quiet says nothing; --summary FILE holds the stages"], files: ["f.csv": two],
      first: ["load", "d.db", "t", "f.csv", "--explain-time", "--quiet"], firstExit: 64,
      steps: [.leaveOut(["--explain-time"]), .give(["--summary", "s.json"])], rows: stored),
    HintScenario(
      name: "database: a record with a large field",
      hints: ["the record has … bytes, more than the … of a quarter of --memory; --memory … has room for it"],
      prepare: "(echo id,a; printf '1,x\\n2,'; head -c 5000000 /dev/zero | tr '\\0' y; printf '\\n') > f.csv",
      first: ["load", "d.db", "t", "f.csv", "--atomic", "--memory", "16MiB"], firstExit: 65,
      steps: [.leaveOut(["16MiB", "--memory"]), .add("--memory [0-9]+MiB")], query: "SELECT id, length(a) FROM t",
      rows: ["1|1", "2|5000000"]),
    HintScenario(
      name: "database: a JSON record with a large value",
      hints: ["the record has … bytes, more than the … of a quarter of --memory; --memory …MiB has room for it"],
      prepare: "(printf '{\"id\":1,\"a\":\"x\"}\\n{\"id\":2,\"a\":\"'; head -c 5000000 /dev/zero | tr '\\0' y; printf '\"}\\n') > f.ndjson",
      first: ["load", "d.db", "t", "f.ndjson", "--atomic", "--memory", "16MiB"], firstExit: 65,
      steps: [.leaveOut(["16MiB", "--memory"]), .add("--memory [0-9]+MiB")], query: "SELECT id, length(a) FROM t",
      rows: ["1|1", "2|5000000"]),
    HintScenario(
      name: "database: a document with a large record", hints: ["--memory …MiB gives more room"],
      prepare: "(printf '[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"'; head -c 9000000 /dev/zero | tr '\\0' y; printf '\"}]') > f.json",
      first: ["load", "d.db", "t", "f.json", "--atomic", "--memory", "16MiB"],
      steps: [
        .leaveOut(["16MiB", "--memory"]), .add("--memory [0-9]+MiB"), .leaveOut(["32MiB", "--memory"]),
        .add("--memory [0-9]+MiB"),
      ], query: "SELECT id, length(a) FROM t", rows: ["1|1", "2|9000000"]),
    HintScenario(
      name: "database: a header that does not end",
      hints: ["--names A,B,C says what the fields are; --skip-lines N leaves lines out; --quote none if a quote is never closed"],
      prepare: "(printf 'id,\"a\\n'; seq 1 300000 | sed 's/$/,x/') > f.csv", first: ["load", "d.db", "t", "f.csv", "--quote", "\""],
      steps: [.leaveOut(["--quote", "\""]), .add("--quote none")], query: "SELECT count(*) FROM t", rows: ["300000"]),
    HintScenario(
      name: "database: rows of two columns with one name", hints: ["give one of them another name: SELECT a AS b"],
      prepare: "cp d.db s.db", setup: "CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,'y')",
      first: ["load", "d.db", "t", "sqlite:s.db?query=SELECT id, a, a FROM s"],
      steps: [.run(["load", "d.db", "t", "sqlite:s.db?query=SELECT id, a, a AS b FROM s"])], query: "SELECT id, b FROM t", rows: stored),
    HintScenario(
      name: "database: a query with more after it", hints: ["leave out what comes after the ;"],
      prepare: "cp d.db s.db", setup: "CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,'y')",
      first: ["load", "d.db", "t", "sqlite:s.db?query=SELECT id, a FROM s; SELECT 1"],
      steps: [.run(["load", "d.db", "t", "sqlite:s.db?query=SELECT id, a FROM s"])], rows: stored),
    HintScenario(
      name: "keys: a table that is not there", hints: ["the tables are: …"], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1,'x')",
      first: ["migrate-keys", "d.db", "u"], steps: [.run(["migrate-keys", "d.db", "t"])], exits: [0, 64],
      query: "SELECT count(*) FROM t", rows: ["1"]),
    HintScenario(
      name: "database: a row of a query that is large",
      hints: ["--memory BYTES: a record may take a quarter of it; or leave the column out by a query"],
      prepare: "cp d.db s.db", setup: "CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,zeroblob(9000000))",
      first: ["load", "d.db", "t", "sqlite:s.db?query=SELECT id, a FROM s", "--atomic", "--memory", "16MiB"], firstExit: 65,
      steps: [.leaveOut(["16MiB", "--memory"]), .give(["--memory", "64MiB"])], query: "SELECT id, length(a) FROM t",
      rows: ["1|1", "2|9000000"]),
    HintScenario(
      name: "database: a row of a query without its large column",
      hints: ["--memory BYTES: a record may take a quarter of it; or leave the column out by a query"],
      prepare: "cp d.db s.db", setup: "CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,zeroblob(9000000))",
      first: ["load", "d.db", "t", "sqlite:s.db?query=SELECT id, a FROM s", "--atomic", "--memory", "16MiB"], firstExit: 65,
      steps: [.run(["load", "d.db", "t", "sqlite:s.db?query=SELECT id FROM s", "--memory", "16MiB"])], rows: ["1", "2"]),
    HintScenario(
      name: "database: a trigger ends what tables share", hints: ["RAISE(ABORT) in a trigger refuses only the record"],
      files: ["f.csv": "id,s\n1,2\n2,2\n", "j.yaml": "tables:\n  s: {source: f.csv, key: [id]}\n  t: {source: f.csv, key: [id]}\n"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, s REFERENCES s(id)); "
        + "CREATE TABLE s(id INTEGER PRIMARY KEY, s REFERENCES t(id)); "
        + "CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 1 BEGIN SELECT raise(ROLLBACK, 'no'); END",
      first: ["mirror", "d.db", "j.yaml"], steps: [
        .sql("DROP TRIGGER r; CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 1 BEGIN SELECT raise(ABORT, 'no'); END"), .again,
      ], exits: [2], query: "SELECT id, s FROM s UNION ALL SELECT id + 10, s FROM t", rows: ["1|'2'", "2|'2'", "12|'2'"]),
    HintScenario(
      name: "database: a table takes back what a job shares", hints: ["see what is said of that table"],
      files: ["f.csv": two, "j.yaml": "atomic: job\ntables:\n  s: {source: f.csv, key: [id]}\n  t: {source: f.csv, key: [id]}\n"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); "
        + "CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 1 BEGIN SELECT raise(ROLLBACK, 'no'); END",
      first: ["mirror", "d.db", "j.yaml"], steps: [
        .sql("DROP TRIGGER r; CREATE TRIGGER r BEFORE INSERT ON t WHEN new.id = 1 BEGIN SELECT raise(ABORT, 'no'); END"), .again,
      ], exits: [2], query: "SELECT id, a FROM s UNION ALL SELECT id + 10, a FROM t", rows: ["1|'x'", "2|'y'", "12|'y'"]),
    HintScenario(
      name: "database: bench reads a file twice", hints: ["store it in a file first"], files: ["f.csv": two],
      first: ["bench", "--file", "exec:cat f.csv"], firstExit: 64, steps: [
        .run(["bench", "--file", "f.csv", "--rounds", "1"]), .run(["load", "d.db", "t", "f.csv"]),
      ], rows: stored),
  ]
}
