extension HintTable {
  /// More than the sample, all whole numbers; then a value that is none.
  private static func late(zip: String = "zip") -> String {
    let filler = String(repeating: "x", count: 1_200)
    return "id,\(zip),v\n" + (1...1_000).map { "\($0),\(10_000 + $0),\(filler)\n" }.joined() + "1001,00123,x\n"
  }
  private static let often = ["--commit-every", "300"]

  /// Values that a column of numbers would respell, and keys.
  static let typeScenarios: [HintScenario] = [
    .load(
      "types: a key of another spelling is set aside",
      ["--on-error reject --rejects table keeps such records aside; if every spelling means one key, --type … says so"],
      "id,a\n1,x\n007,y\n", setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (7, 'old')", exit: 65,
      [.add("--on-error reject --rejects table"), .again], exits: [2], rows: ["1|'x'", "7|'old'"]),
    .load(
      "types: every spelling is one key",
      ["--on-error reject --rejects table keeps such records aside; if every spelling means one key, --type … says so"],
      "id,a\n1,x\n007,y\n", setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (7, 'old')", exit: 65,
      [.add("--type [^ ]+"), .again], rows: ["1|'x'", "7|'y'"]),
    .load(
      "types: the key has a blank in its name",
      ["--on-error reject --rejects table keeps such records aside; if every spelling means one key, --type … says so"],
      "order id,a\n1,x\n007,y\n",
      setup: "CREATE TABLE t(\"order id\" INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (7, 'old')", exit: 65,
      [.add("--type .*(?= says)")], rows: ["1|'x'", "7|'y'"]),
    .load(
      "types: a key of JSON has another spelling",
      ["--on-error reject --rejects table keeps such records aside; if every spelling means one key, --type … says so"],
      "{\"id\":\"1\",\"a\":\"x\"}\n{\"id\":\"007\",\"a\":\"y\"}\n", file: "f.ndjson",
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (7, 'old')", exit: 65,
      [.add("--on-error reject --rejects table"), .again], exits: [2], rows: ["1|'x'", "7|'old'"]),
    .load(
      "types: a late value, set aside and gone on",
      ["the same command with --on-error reject --rejects table (or FILE) keeps such records and goes on",
        "--type … keeps it as text; --infer full reads all values first"],
      late(), often, exit: 3, [.add("--on-error reject --rejects table"), ], exits: [2],
      query: "SELECT count(*), count(DISTINCT id), max(zip) FROM t", rows: ["1000|1000|11000"]),
    .load(
      "types: a late value, all types anew", ["…; or DROP TABLE … first, and load again with one of these: …"],
      late(), often, exit: 3, [.printedSQL("DROP TABLE t"), .give(["--type", "zip:TEXT"])],
      query: "SELECT count(*), min(zip), typeof(max(zip)) FROM t", rows: ["1001|'00123'|'text'"]),
    .load(
      "types: a late value, and all are read first", ["…; or DROP TABLE … first, and load again with one of these: …"],
      late(), often, exit: 3, [.printedSQL("DROP TABLE t"), .add("--infer full")],
      query: "SELECT count(*), min(zip), typeof(max(zip)) FROM t", rows: ["1001|'00123'|'text'"]),
    .load(
      "types: a late value, and --type without DROP TABLE is refused",
      ["--type … keeps it as text; --infer full reads all values first"], late(), often, exit: 3,
      [.give(["--type", "zip:TEXT"]), .printedSQL("DROP TABLE t"), .again],
      query: "SELECT count(*), min(zip) FROM t", rows: ["1001|'00123'"]),
    .load(
      "types: a late value, and --infer full without DROP TABLE is refused",
      ["--type … keeps it as text; --infer full reads all values first"], late(), often, exit: 3,
      [.give(["--infer", "full"]), .printedSQL("DROP TABLE t(?= first, or load into)"), .again],
      query: "SELECT count(*), min(zip) FROM t", rows: ["1001|'00123'"]),
    .load(
      "types: a late value with --atomic", ["--type … keeps it as text; --infer full reads all values first"],
      late(), ["--atomic"], exit: 65, [.add("--type [^ ]+")], query: "SELECT count(*), min(zip) FROM t",
      rows: ["1001|'00123'"]),
    .load(
      "types: a late value of a column with a blank",
      ["--type … keeps it as text; --infer full reads all values first"], late(zip: "zip code"),
      ["--atomic"], exit: 65, [.add("--type .*(?= keeps)")], query: "SELECT count(*), min(\"zip code\") FROM t",
      rows: ["1001|'00123'"]),
    .load(
      "types: a --type that the table is not",
      [
        "load into a table of another name, or DROP TABLE … first if all of it comes from this input; without --type the column takes numbers as before"
      ],
      "id,zip\n1,00123\n", ["--type", "zip:TEXT"], setup: "CREATE TABLE t(id, zip INTEGER)", exit: 4,
      [.printedSQL("DROP TABLE t"), .again], rows: ["1|'00123'"]),
    .load(
      "types: columns that the input lacks", ["its columns are: …"], "id,a\n1,x\n", ["--key", "nope"], exit: 64,
      [.leaveOut(["nope"]), .give(["id"])], rows: ["1|'x'"]),
    HintScenario(
      name: "types: --infer full for a table that an earlier run has made",
      hints: ["DROP TABLE … first, or load into a table of another name"], files: ["f.csv": late()],
      prepare: "upsurge load d.db t f.csv --commit-every 300 2>/dev/null",
      first: ["load", "d.db", "t", "f.csv", "--infer", "full"] + often, firstExit: 4,
      steps: [.printedSQL("DROP TABLE t(?= first)"), .again], query: "SELECT count(*), min(zip) FROM t", rows: ["1001|'00123'"]),
  ]
}
