extension HintTable {
  private static let sales = "id,price,qty\n1,2.5,4\n2,10,2\n"
  private static let expression = "give one expression over the record's fields, without ; or parameters"
  private static let fields = "the fields are: …; tables, aggregates and windows are not for one record"
  private static let comparison = "write CAST(… AS REAL) to compare numbers, or '…' to compare texts"
  private static let noColumn = "--alter adds the column; --let COL=SQL may name one that is there"
  private static let collision = "--rename OLD=NEW gives one of them another name"

  /// SQL over the fields of a record.
  static let shapingScenarios: [HintScenario] = [
    .load(
      "shaping: two statements", [expression], sales, ["--let", "total=price*qty;"], exit: 64,
      [.leaveOut(["total=price*qty;"]), .give(["total=price*qty"])], rows: ["1|2.5|4|10.0", "2|10.0|2|20.0"]),
    .load(
      "shaping: a field that is not there", [fields], sales, ["--let", "total=cost*qty"], exit: 64,
      [.leaveOut(["total=cost*qty"]), .give(["total=price*qty"])], rows: ["1|2.5|4|10.0", "2|10.0|2|20.0"]),
    .load(
      "shaping: a text compared with a number", [comparison], sales, ["--where", "price > 5"], exit: 64,
      [.leaveOut(["price > 5"]), .give(["CAST(price AS REAL) > 5"])], rows: ["2|10|2"]),
    .load(
      "shaping: one column twice", ["put both into one expression"], sales, ["--let", "a=price", "--let", "A=qty"], exit: 64,
      [.leaveOut(["--let", "a=price", "--let", "A=qty"]), .give(["--let", "a=price || 'x' || qty"])],
      rows: ["1|2.5|4|'2.5x4'", "2|10.0|2|'10x2'"]),
    .load(
      "shaping: a column that the table lacks", [noColumn], "id\n1\n", ["--let", "n=id+1"],
      setup: "CREATE TABLE t(id INTEGER, m INTEGER)", [.add("--alter")], query: "SELECT id, n FROM t", rows: ["1|2"]),
    .load(
      "shaping: a column that the table has", [noColumn], "id\n1\n", ["--let", "n=id+1"],
      setup: "CREATE TABLE t(id INTEGER, m INTEGER)", [.leaveOut(["n=id+1"]), .give(["m=id+1"])], rows: ["1|2"]),
    .load(
      "shaping: two keys for one column", [collision], "{\"id\":1,\"a\":2,\"b\":3}\n", file: "f.ndjson",
      ["--rename", "a=b", "--let", "n=id"], exit: 65, [.give(["--rename", "b=c"])], query: "SELECT id, b, c, n FROM t",
      rows: ["1|2|3|1"]),
    HintScenario(
      name: "shaping: other SQL of a feed", hints: ["--accept-change goes on with it as it is now"],
      files: ["f.csv": sales, "j.yaml": "tables:\n  t: {source: f.csv, key: [id]}\n"],
      prepare: "upsurge mirror d.db j.yaml 2>/dev/null; sed -i 's/key:/where: \"qty <> 4\", &/' j.yaml",
      first: ["mirror", "d.db", "j.yaml"], firstExit: 4, steps: [.add("--accept-change")], rows: ["1|2.5|4", "2|10.0|2"]),
  ]
}
