extension HintTable {
  private static let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x')"
  /// A child refers to row 1 of t by its code.
  private static let coded =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, code UNIQUE); INSERT INTO t VALUES (1, 'A'), (2, 'D'); "
    + "CREATE TABLE c(p REFERENCES t(code) DEFERRABLE INITIALLY DEFERRED); INSERT INTO c VALUES ('A')"
  private static let wideNames = (1...2_000).map { "c\($0)" }
  private static let wide =
    wideNames.joined(separator: ",") + "\n" + (1...2_000).map(String.init).joined(separator: ",") + "\n"
  private static let wideTable =
    "CREATE TABLE t(c1 INTEGER PRIMARY KEY, \(wideNames.dropFirst().joined(separator: " INTEGER, ")) INTEGER)"
  /// Long SQL for so many columns.
  private static func rules(_ count: Int) -> [String] {
    (2...count + 1).flatMap { ["--set", "c\($0)=max(excluded.c\($0)\(String(repeating: ",1", count: 100)))"] }
  }

  /// What the table has no place for.
  static let schemaScenarios: [HintScenario] = [
    .load(
      "schema: a column is added", ["--alter adds columns; --columns A,B loads only some; --rename OLD=NEW gives another name"],
      "id,a,b\n1,x,z\n", setup: table, exit: 4, [.add("--alter"), .again], rows: ["1|'x'|'z'"]),
    .load(
      "schema: only some columns", ["--alter adds columns; --columns A,B loads only some; --rename OLD=NEW gives another name"],
      "id,a,b\n1,y,z\n", setup: table, exit: 4, [.give(["--columns", "id,a"]), .again], rows: ["1|'y'"]),
    .load(
      "schema: another name", ["--alter adds columns; --columns A,B loads only some; --rename OLD=NEW gives another name"],
      "id,b\n1,y\n", setup: table, exit: 4, [.give(["--rename", "b=a"]), .again], rows: ["1|'y'"]),
    .load(
      "schema: a field named rowid", ["--key … takes it for the number of the row; --columns A,B loads only some"],
      "rowid,a\n2,y\n", setup: "CREATE TABLE t(a); INSERT INTO t VALUES ('x')", exit: 4,
      [.add("--key [a-z]+"), .again], query: "SELECT rowid, a FROM t", rows: ["1|'x'", "2|'y'"]),
    .load(
      "schema: a field named rowid where a column is it", ["--rename …: the rowid of table … is its column …"],
      "rowid,a\n2,y\n", setup: table, exit: 4, [.add("--rename [^:]+"), .again], rows: ["1|'x'", "2|'y'"]),
    .load(
      "schema: a field named rowid, and the table has none",
      ["--columns A,B loads only some; --rename OLD=NEW gives another name"], "rowid,a\n2,y\n",
      setup: "CREATE TABLE t(id TEXT PRIMARY KEY, a)", exit: 4,
      [.give(["--rename", "rowid=id"]), .again], rows: ["'2'|'y'"]),
    .load(
      "schema: more columns than SQLite takes", ["--columns A,B loads only some"],
      (1...2_100).map { "c\($0)" }.joined(separator: ",") + "\n" + (1...2_100).map(String.init).joined(separator: ",") + "\n",
      exit: 65, [.give(["--columns", "c1,c2"])], rows: ["1|2"]),
    .load(
      "schema: there is no table", ["leave out --create never, or make the table first"], "id,a\n1,x\n",
      ["--create", "never"], exit: 4, [.leaveOut(["--create", "never"]), .again], rows: ["1|'x'"]),
    .load(
      "schema: a mode for rows that exist", ["check the names of the database and of the table"], "id,a\n1,y\n",
      ["--key", "id", "--mode", "update"], exit: 64, [.sql(table), .again], rows: ["1|'y'"]),
    .load(
      "schema: a rule without a key", ["--key COLS names the columns that say which row a record is about"], "k,v\n1,2\n",
      ["--set", "v=sum"], setup: "CREATE TABLE t(k INT UNIQUE, v INT); INSERT INTO t VALUES (1, 3)", exit: 64,
      [.give(["--key", "k"])], rows: ["1|5"]),
    .load(
      "schema: the mark of deletes is left out", ["add … to --columns"], "id,a,op\n1,x,D\n",
      ["--key", "id", "--columns", "id,a", "--delete-when", "op=D"], setup: table, exit: 64,
      [.leaveOut(["id,a", "--columns"]), .give(["--columns", "id,a,op"]), .again], rows: []),
    .load(
      "schema: the mark of deletes is not there", ["its columns are: …"], "id,a,op\n1,x,D\n",
      ["--key", "id", "--delete-when", "o=D"], setup: table, exit: 64,
      [.leaveOut(["o=D"]), .give(["op=D"]), .again], rows: []),
    .load(
      "schema: a view without triggers", ["load the table that it reads, or give the view INSTEAD OF triggers (--init takes TEMP ones)"],
      "id,a\n2,y\n", setup: "CREATE TABLE u(id INTEGER PRIMARY KEY, a); CREATE VIEW t AS SELECT id, a FROM u", exit: 64,
      [.run(["load", "d.db", "u", "f.csv"])], rows: ["2|'y'"]),
    .load(
      "schema: a view whose triggers do not do",
      ["load the table that it reads, or give the view such a trigger (--init takes TEMP ones)"], "id,a\n2,y\n",
      ["--key", "id"],
      setup: "CREATE TABLE u(id INTEGER PRIMARY KEY, a); CREATE VIEW t AS SELECT id, a FROM u; "
        + "CREATE TRIGGER d INSTEAD OF DELETE ON t BEGIN DELETE FROM u WHERE id = old.id; END",
      exit: 64,
      [
        .write(
          "i.sql", "CREATE TEMP TRIGGER i INSTEAD OF INSERT ON t BEGIN INSERT INTO u VALUES (new.id, new.a); END;"),
        .leaveOut(["--key", "id"]), .give(["--mode", "insert", "--init", "i.sql"]),
      ], rows: ["2|'y'"]),
    .load(
      "schema: a key that cannot be made", ["--key and --key-where take columns of the table and SQL over them"],
      "id,a\n2,y\n", ["--key", "lower(nope)", "--create-key"], setup: "CREATE TABLE t(id INT, a)", exit: 64,
      [.run(["load", "d.db", "t", "f.csv", "--key", "lower(a)", "--create-key"]), .again],
      rows: ["2|'y'"]),
    .load(
      "schema: a key that rows share", ["remove the double rows first, or name columns that tell them apart"],
      "id,a\n1,z\n", ["--key", "id", "--create-key"], setup: "CREATE TABLE t(id INT, a); INSERT INTO t VALUES (1,'x'),(1,'y')",
      exit: 64, [.sql("DELETE FROM t WHERE a = 'y'"), .again], rows: ["1|'z'"]),
    .load(
      "schema: the input has nothing", ["check the input with `upsurge inspect`"], "[]", file: "f.json", [],
      [.run(["inspect", "f.json"])], query: "SELECT count(*) FROM sqlite_schema", rows: ["0"]),
    .load(
      "schema: a key that is none", ["--create-key makes it: …"], "id,a\n1,y\n", ["--key", "a"], setup: table, exit: 64,
      [.add("--create-key"), .again], exits: [0, 65], query: "SELECT count(*) FROM t", rows: ["1"]),
    HintScenario(
      name: "schema: a key that is too narrow",
      hints: [
        "…… of … replaced earlier ones of this run that have the same key (…); --key takes all columns that tell rows apart, in another table, as … keeps its key"
      ],
      prepare: "{ echo id,g; seq 40 | sed 's/$/,x/'; } > f.csv", first: ["load", "d.db", "t", "f.csv", "--key", "g"], firstExit: 0,
      steps: [.run(["load", "d.db", "u", "f.csv", "--key", "id"])], query: "SELECT count(*) FROM u", rows: ["40"]),
    HintScenario(
      name: "schema: a key beside one that records share", hints: ["--create-key makes it: …"],
      files: ["f.csv": "id,g\n1,x\n2,x\n3,x\n"], setup: "CREATE TABLE t(g PRIMARY KEY, id)",
      first: ["load", "d.db", "t", "f.csv", "--key", "id"], firstExit: 64,
      steps: [.run(["load", "d.db", "u", "f.csv", "--key", "id"])], query: "SELECT count(*) FROM u", rows: ["3"]),
    .load(
      "schema: a key of unknown columns", ["--key takes names of: …"], "id,a\n1,y\n", ["--key", "nope"], setup: table,
      exit: 64, [.leaveOut(["nope"]), .give(["id"])], rows: ["1|'y'"]),
    .load(
      "schema: a key with a WHERE", ["--key-where SQL says which"], "k,a\n1,y\n", ["--key", "k"],
      setup: "CREATE TABLE t(k, a); CREATE UNIQUE INDEX i ON t(k) WHERE a = 1; CREATE UNIQUE INDEX j ON t(k) WHERE a = 2",
      [.give(["--key-where", "a = 1"]), .again], exits: [0, 64], query: "SELECT count(*) >= 0 FROM t", rows: ["1"]),
    .load(
      "schema: no key where one is needed", ["--key COLS names the columns that say which row a record is about"], "id,a\n1,y\n", ["--mode", "upsert"],
      setup: "CREATE TABLE t(id INT, a); CREATE UNIQUE INDEX i ON t(id)",
      [.give(["--key", "id"]), .again], rows: ["1|'y'"]),
    .load(
      "schema: a column of --set that is not there", ["its columns are: …"], "id,a\n1,y\n", ["--set", "nope=max"], setup: table,
      exit: 64, [.leaveOut(["nope=max"]), .give(["a=max"]), .again], rows: ["1|'y'"]),
    .load(
      "schema: a rule for a column that the input lacks", ["add it to the input, or give SQL such as …=… + 1"],
      "id\n1\n", ["--set", "n=max"], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (1, 4)",
      exit: 64, [.leaveOut(["n=max"]), .give(["n=n + 1"])], rows: ["1|5"]),
    .load(
      "schema: a rule for the key", ["leave out …; a record with another key is about another row"], "id,a\n1,y\n",
      ["--set", "id=max"], setup: table, exit: 64, [.leaveOut(["--set", "id=max"]), .again], rows: ["1|'y'"]),
    .load(
      "schema: a rule that is none", ["a rule is replace, coalesce, keep, min, max, sum, along, or SQL over excluded.COL and the row's columns"],
      "id,a\n1,y\n", ["--set", "a=maxi"], setup: table, exit: 64, [.leaveOut(["a=maxi"]), .give(["a=max"])], rows: ["1|'y'"]),
    .load(
      "schema: SQL of a condition that is none", ["give SQL over excluded.COL and the row's columns"], "id,a\n1,y\n",
      ["--update-if", "nope(a)"], setup: table, exit: 64,
      [.leaveOut(["nope(a)"]), .give(["excluded.a > a"])], rows: ["1|'y'"]),
    .load(
      "schema: SQL of a rule that is more", ["give one expression over excluded.COL and the row's columns, without ; or parameters"],
      "id,a\n1,y\n", ["--set", "a=excluded.a; SELECT 1"], setup: table, exit: 64,
      [.leaveOut(["a=excluded.a; SELECT 1"]), .give(["a=excluded.a || a"])], rows: ["1|'yx'"]),
    .load(
      "schema: an index of unknown columns", ["its columns are: …"], "id,a\n1,y\n", ["--index", "nope"],
      [.leaveOut(["nope"]), .give(["a"])], rows: ["1|'y'"]),
    .load(
      "schema: an index of a view", ["leave out --index"], "id,a\n2,y\n", ["--index", "a", "--mode", "insert"],
      setup: "CREATE TABLE u(id INTEGER PRIMARY KEY, a); CREATE VIEW t AS SELECT id, a FROM u; "
        + "CREATE TRIGGER i INSTEAD OF INSERT ON t BEGIN INSERT INTO u VALUES (new.id, new.a); END",
      exit: 64, [.leaveOut(["--index", "a"]), .again], rows: ["2|'y'"]),
    HintScenario(
      name: "schema: a table of upsurge's own", hints: ["give another table"], files: ["f.csv": "id,a\n1,x\n"],
      first: ["load", "d.db", "upsurge_runs", "f.csv"], firstExit: 64, steps: [.run(["load", "d.db", "t", "f.csv"])],
      rows: ["1|'x'"]),
    .load(
      "schema: records that must be there", ["load the referenced rows first"], "id,p\n1,7\n",
      setup: "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY KEY, p INT REFERENCES p(id))",
      exit: 65, [.sql("INSERT INTO p VALUES (7)"), .again], rows: ["1|7"]),
    .load(
      "schema: a parent that comes later", ["load the referenced rows first; --foreign-keys deferred lets a parent come later in the same file"],
      "id,p\n1,2\n2,\n", setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, p INT REFERENCES t(id))", exit: 65,
      [.add("--foreign-keys deferred"), .again], rows: ["1|2", "2|NULL"]),
    .load(
      "schema: a row that exists", ["--mode upsert updates that row, --mode ignore leaves it as it is"], "id,a\n1,y\n2,z\n",
      ["--mode", "insert"], setup: table, exit: 65, [.leaveOut(["insert", "--mode"]), .add("--mode upsert")],
      rows: ["1|'y'", "2|'z'"]),
    .load(
      "schema: a row that exists stays", ["--mode upsert updates that row, --mode ignore leaves it as it is"],
      "id,a\n1,y\n2,z\n", ["--mode", "insert"], setup: table, exit: 65,
      [.leaveOut(["insert", "--mode"]), .add("--mode ignore"), .again], rows: ["1|'x'", "2|'z'"]),
    .load(
      "schema: a virtual table takes no columns", ["--columns A,B loads only the columns named"], "a,b,c\nx,y,z\n", ["--alter"],
      setup: "CREATE VIRTUAL TABLE t USING fts5(a, b)", exit: 1, [.leaveOut(["--alter"]), .give(["--columns", "a,b"])],
      rows: ["'x'|'y'"]),
    .load(
      "schema: a view takes no columns", ["--columns A,B loads only the columns named"], "id,a,c\n2,y,z\n",
      ["--alter", "--mode", "insert"],
      setup: "CREATE TABLE u(id INTEGER PRIMARY KEY, a); CREATE VIEW t AS SELECT id, a FROM u; "
        + "CREATE TRIGGER i INSTEAD OF INSERT ON t BEGIN INSERT INTO u VALUES (new.id, new.a); END",
      exit: 1, [.leaveOut(["--alter"]), .give(["--columns", "id,a"])], rows: ["2|'y'"]),
    .load(
      "schema: a rule for a column of a UNIQUE key", ["only SQL can set a column of a UNIQUE key"], "id,a\n1,x\n",
      ["--key", "a", "--set", "a=max"], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 'x')",
      exit: 64, [.leaveOut(["a=max"]), .give(["a=excluded.a || 1"])], rows: ["1|'x1'"]),
    .load(
      "schema: SQL that names no collation", ["give SQL over excluded.COL and the row's columns"], "id,a\n1,y\n",
      ["--set", "a=excluded.a COLLATE nope"], setup: table, exit: 64,
      [.leaveOut(["a=excluded.a COLLATE nope"]), .give(["a=excluded.a COLLATE NOCASE"])], rows: ["1|'y'"]),
    HintScenario(
      name: "schema: a device is no database", hints: ["give the path of a database file"], files: ["f.csv": "id,a\n1,x\n"],
      first: ["load", "/dev/null", "t", "f.csv"], firstExit: 73, steps: [.run(["load", "d.db", "t", "f.csv"])], rows: ["1|'x'"]),
    HintScenario(
      name: "schema: a statement that is too large", hints: ["--memory …MiB is enough for it; --columns A,B loads fewer of them"],
      files: ["f.csv": wide], setup: wideTable,
      first: ["load", "d.db", "t", "f.csv", "--memory", "16MiB"] + rules(900), firstExit: 64,
      steps: [.leaveOut(["16MiB", "--memory"]), .add("--memory [0-9]+MiB"), .again], query: "SELECT c1, c2, c2000 FROM t",
      rows: ["1|2|2000"]),
    HintScenario(
      name: "schema: a statement of fewer columns", hints: ["--memory …MiB is enough for it; --columns A,B loads fewer of them"],
      files: ["f.csv": wide], setup: wideTable,
      first: ["load", "d.db", "t", "f.csv", "--memory", "16MiB"] + rules(900), firstExit: 64,
      steps: [.run(["load", "d.db", "t", "f.csv", "--memory", "16MiB", "--columns", "c1,c2"] + rules(1))],
      query: "SELECT c1, c2, c3 FROM t", rows: ["1|2|NULL"]),
    .load(
      "schema: rows that change what others refer to",
      ["load the referenced rows first; records that change or delete a row to which others refer are to blame, too"],
      "id,code\n1,B\n", setup: coded, exit: 65,
      [.write("f.csv", "id,code\n1,B\n2,A\n"), .again], rows: ["1|'B'", "2|'A'"]),
    .load(
      "schema: rows that change what others refer to, and another commit",
      ["load the referenced table first, or let one transaction hold both (--commit-every)"],
      "id,code\n1,B\n3,C\n2,A\n", ["--commit-every", "1"], setup: coded, exit: 65,
      [.leaveOut(["1", "--commit-every"]), .give(["--commit-every", "100"])], rows: ["1|'B'", "2|'A'", "3|'C'"]),
    .load(
      "schema: rows that refer to each other in a long chain",
      ["load the referenced rows first, or let one transaction hold them all (--atomic)"],
      "id,p\n" + (1...560).reversed().map { "\($0),\($0 - 1)\n" }.joined() + "0,\n",
      ["--on-error", "reject", "--commit-every", "520"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, p INTEGER REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED); "
        + "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
      exit: 65, [.leaveOut(["--commit-every", "520"]), .add("--atomic")],
      query: "SELECT count(*), max(p) FROM t", rows: ["561|559"]),
  ]
}
