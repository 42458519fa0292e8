extension HintTable {
  private static let two = "id,a\n1,x\n2,y\n"
  private static let ragged = "id,a\n1,x\n2,x\n3,x\n4,x\n5\n6\n7\n8,x\n"
  private static let rest = ["1|'x'", "2|'x'", "3|'x'", "4|'x'", "8|'x'"]
  private static let stored = ["1|'x'", "2|'y'"]

  /// Options that cannot be, or cannot be together.
  static let optionScenarios: [HintScenario] = [
    .load(
      "options: memory too small", ["give at least --memory 16MiB"], two, ["--memory", "1MiB"], exit: 64,
      [.leaveOut(["1MiB", "--memory"]), .add("--memory 16MiB")], rows: stored),
    .load(
      "options: log too small", ["give at least --wal-limit 4MiB"], two, ["--wal-limit", "1MiB"], exit: 64,
      [.leaveOut(["1MiB", "--wal-limit"]), .add("--wal-limit 4MiB")], rows: stored),
    .load(
      "options: no number of connections", ["give a number from 1 to …"], two, ["--connections", "0"], exit: 64,
      [.leaveOut(["0"]), .give(["1"])], rows: stored),
    .load(
      "options: connections to a file", ["leave out --connections"], two, ["--connections", "2"], exit: 64,
      [.leaveOut(["2", "--connections"]), .again], rows: stored),
    .load(
      "options: statement too small", ["give at least --max-statement 256"], two,
      ["--emit-sql", "out.sql", "--max-statement", "10"], exit: 64,
      [.leaveOut(["10", "--max-statement"]), .add("--max-statement 256")], query: "SELECT 1", rows: ["1"]),
    .load(
      "options: commit too often", ["give at least 1, 1B or 1ms"], two, ["--commit-every", "0"],
      [.leaveOut(["0"]), .give(["1"])], rows: stored),
    .load(
      "options: rejects that none are", ["add --on-error reject"], "id,a\n1,x\n2\n", ["--max-rejects", "2"], exit: 64,
      [.add("--on-error reject")], exits: [2], rows: ["1|'x'"]),
    .load(
      "options: a type that is none", ["give one such as INTEGER, REAL, TEXT or BLOB"], two,
      ["--type", "a:NOT NULL"], exit: 64, [.leaveOut(["a:NOT NULL"]), .give(["a:TEXT"])], rows: stored),
    .load(
      "options: a type that STRICT does not know", ["STRICT tables know INT, INTEGER, REAL, TEXT, BLOB and ANY"], two,
      ["--strict", "--type", "a:VARCHAR(9)"], exit: 64, [.leaveOut(["a:VARCHAR(9)"]), .give(["a:TEXT"])], rows: stored),
    .load(
      "options: a map that is no JSON", ["leave out --format, or give --format json"], "{\"k\":{\"a\":1}}", file: "f.json",
      ["--json-map", "id", "--format", "ndjson"], exit: 64, [.leaveOut(["--format", "ndjson"]), .again],
      query: "SELECT id, a FROM t", rows: ["'k'|1"]),
    .load(
      "options: a map without a column", ["--json-map id"], "{\"k\":{\"a\":1}}", file: "f.json", ["--json-map", ""],
      [.leaveOut(["", "--json-map"]), .add("--json-map id")], query: "SELECT id, a FROM t", rows: ["'k'|1"]),
    .load(
      "options: history of a trial", ["leave out --history"], two, ["--history", "--dry-run"], exit: 64,
      [.leaveOut(["--history", "--dry-run"]), .again], rows: stored),
    .load(
      "options: a trial goes on with nothing", ["leave out one of them"], two, ["--resume", "require", "--dry-run"],
      exit: 64, [.leaveOut(["--resume", "require"]), .again], query: "SELECT 1", rows: ["1"]),
    .load(
      "options: two outputs", ["give … a file"], two, ["--summary", "-", "--dry-run=diff"], exit: 64,
      [.leaveOut(["-"]), .give(["s.json"])], exits: [0, 64], query: "SELECT 1", rows: ["1"]),
    .load(
      "options: durability off for a file that exists", ["--durability normal keeps what is there safe"],
      two, ["--durability", "off"], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
      [.leaveOut(["--durability", "off"]), .add("--durability normal")], rows: stored),
    .load(
      "options: explain and summary", ["give --summary a file"], two, ["--explain", "--summary", "-"], exit: 64,
      [.leaveOut(["-", "--summary", "--explain"]), .give(["--summary", "s.json"])], rows: stored),
    .load(
      "options: an output over the input", ["give another path to …"], two, ["--summary", "f.csv"], exit: 64,
      [.run(["load", "d.db", "t", "f.csv", "--summary", "s.json"])], rows: stored),
    .load(
      "options: rejects to standard output", ["give the path of a file, such as --rejects bad.ndjson"], "id,a\n1,x\n2\n",
      ["--on-error", "reject", "--rejects", "-"], exit: 64,
      [.leaveOut(["-", "--rejects"]), .add("--rejects bad.ndjson")], exits: [2], rows: ["1|'x'"]),
    HintScenario(
      name: "options: a database in memory", hints: ["give the path of a file"], files: ["f.csv": two],
      first: ["load", ":memory:", "t", "f.csv"], firstExit: 64, steps: [.run(["load", "d.db", "t", "f.csv"])], rows: stored),
    .load(
      "options: a script that is none", ["store the script in a file first"], two, ["--init", "exec:echo"], exit: 64,
      [.write("i.sql", "PRAGMA cache_size = 10;"), .leaveOut(["exec:echo"]), .give(["i.sql"])], rows: stored),
    HintScenario(
      name: "options: a script that is not UTF-8", hints: ["save it as UTF-8: --init takes SQL text"],
      files: ["f.csv": two], bytes: ["i.sql": [0x2D, 0x2D, 0xE9, 0x0A]],
      first: ["load", "d.db", "t", "f.csv", "--init", "i.sql"], firstExit: 64, steps: [.write("i.sql", "--é\n"), .again],
      rows: stored),
    .load(
      "options: a script that stores", ["--init is for TEMP triggers, TEMP views and settings of the connection"], two,
      ["--init", "i.sql"], files: ["i.sql": "CREATE TABLE x(a);"],
      [.write("i.sql", "CREATE TEMP TABLE x(a);"), .again], exits: [0, 64], query: "SELECT count(*) >= 0 FROM sqlite_schema",
      rows: ["1"]),
    .load(
      "options: a script that begins", ["end it with COMMIT, or leave out BEGIN: the engine begins and commits transactions itself"],
      two, ["--init", "i.sql"], files: ["i.sql": "BEGIN;"], [.write("i.sql", "BEGIN; COMMIT;"), .again], rows: stored),
    HintScenario(
      name: "options: the file comes first", hints: ["the database comes first: upsurge load DB TABLE FILE"],
      files: ["f.csv": two + String(repeating: "3,a value that is long enough\n", count: 200)],
      first: ["load", "f.csv", "t", "f.csv"], firstExit: nil, steps: [.run(["load", "d.db", "t", "f.csv"])],
      query: "SELECT count(*) FROM t", rows: ["202"]),
    HintScenario(
      name: "options: rules for a mode without", hints: ["leave out …, or give --mode upsert or --mode update"],
      files: ["f.csv": two], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
      first: ["load", "d.db", "t", "f.csv", "--mode", "insert", "--set", "a=max"], firstExit: 64,
      steps: [.leaveOut(["insert", "--mode"]), .add("--mode upsert")], rows: stored),
    HintScenario(
      name: "options: rules for deletes", hints: ["leave out …; --merge newer:COL is the only rule that deletes ask"],
      files: ["f.csv": "id,a\n1,x\n"], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1,'x'),(2,'y')",
      first: ["load", "d.db", "t", "f.csv", "--mode", "delete", "--set", "a=max"], firstExit: 64,
      steps: [.leaveOut(["--set", "a=max"]), .again], rows: ["2|'y'"]),
    .load(
      "options: a key that is an expression", ["make the table first, or add --create-key"], two, ["--key", "lower(a)"],
      exit: 64, [.add("--create-key"), .again], rows: stored),
    .load(
      "options: too many rejects", ["raise --max-rejects to allow more", "; --dry-run with … shows them all"],
      ragged, ["--on-error", "reject", "--max-rejects", "1"],
      [.leaveOut(["1", "--max-rejects"]), .give(["--max-rejects", "5"])], exits: [2], rows: rest),
    .load(
      "options: too many rejects of a share", ["; --dry-run with … shows them all", "--rejects FILE"],
      ragged, ["--on-error", "reject", "--max-rejects", "1%"],
      [.leaveOut(["1%", "--max-rejects"]), .give(["--max-rejects", "90%"])], exits: [2], rows: rest),
    .load(
      "options: too many rejects in a trial", ["; --rejects FILE keeps them"], ragged,
      ["--on-error", "reject", "--max-rejects", "1", "--dry-run"],
      [.leaveOut(["--dry-run", "1"]), .give(["9", "--rejects", "bad.ndjson"])], exits: [2, 64],
      query: "SELECT count(*) < 2 FROM sqlite_schema", rows: ["1"]),
    .load(
      "options: too many rejects in a file", ["another file for --rejects"], ragged,
      ["--on-error", "reject", "--max-rejects", "1", "--rejects", "bad.ndjson"],
      [.leaveOut(["1", "--max-rejects", "bad.ndjson"]), .give(["other.ndjson"])], exits: [2], rows: rest),
    HintScenario(
      name: "options: an output that is a link", hints: ["give the path of the file itself to …"], files: ["f.csv": ragged],
      prepare: "ln -s other.ndjson link.ndjson",
      first: ["load", "d.db", "t", "f.csv", "--on-error", "reject", "--rejects", "link.ndjson"],
      steps: [.leaveOut(["link.ndjson"]), .give(["other.ndjson"])], exits: [2], rows: rest),
  ]
}
