extension HintTable {
  private static let sales = "id,price,qty\n1,2.5,4\n2,10,2\n"
  private static let expression = "give one expression over the record's fields, without ; or parameters"
  private static let fields = "the fields are: …; tables, aggregates and windows are not for one record"
  private static let comparison = "write CAST(… AS …) to compare numbers, or … to compare texts"
  private static let incomplete = "write the rest of the expression; the fields are: …"
  private static let ofLet = "SQL sees no computed column: write the SQL of … in its place; the fields are: …"
  private static let ofRename = "SQL sees the names of the input, before --rename: write …; the fields are: …"
  private static let quoted = "double quotes are for names: write … for the text; the fields are: …"
  private static let late = "--infer full finds a field that comes later; the first ones are: …"
  private static let chosen = "leave … out: columns of --let are stored in any case; its fields are: …"
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
      "shaping: a text compared with a number, as texts", [comparison], sales,
      ["--where", "price IN (5, '10')"], exit: 64,
      [.leaveOut(["price IN (5, '10')"]), .give(["price IN ('5', '10')"])], rows: ["2|10|2"]),
    .load(
      "shaping: a text compared with a large number", [comparison],
      "id,a b\n9007199254740993,9007199254740993\n2,9007199254740992\n",
      ["--where", "\"a b\" = 9007199254740993"], exit: 64,
      [.leaveOut(["\"a b\" = 9007199254740993"]), .give(["CAST(\"a b\" AS INTEGER) = 9007199254740993"])],
      rows: ["9007199254740993|9007199254740993"]),
    .load(
      "shaping: an expression that ends too early", [incomplete], sales, ["--let", "total=price*"], exit: 64,
      [.leaveOut(["total=price*"]), .give(["total=price*qty"])], rows: ["1|2.5|4|10.0", "2|10.0|2|20.0"]),
    .load(
      "shaping: a computed column in an expression", [ofLet], sales,
      ["--let", "total=price*qty", "--let", "twice=total*2"],
      exit: 64, [.leaveOut(["twice=total*2"]), .give(["twice=price*qty*2"])],
      rows: ["1|2.5|4|10.0|20.0", "2|10.0|2|20.0|40.0"]),
    .load(
      "shaping: a new name in an expression", [ofRename], sales,
      ["--rename", "price=cost", "--let", "total=cost*qty"], exit: 64,
      [.leaveOut(["total=cost*qty"]), .give(["total=price*qty"])], rows: ["1|2.5|4|10.0", "2|10.0|2|20.0"]),
    .load(
      "shaping: a text in double quotes", [quoted], "id,GICS Sector\n1,Energy\n2,Other\n",
      ["--where", "\"GICS Sector\" = \"Energy\""], exit: 64,
      [.leaveOut(["\"GICS Sector\" = \"Energy\""]), .give(["\"GICS Sector\" = 'Energy'"])],
      rows: ["1|'Energy'"]),
    .load(
      "shaping: a field that comes late", [late],
      (1...3_000).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "x", count: 500))\"}\n" }.joined()
        + "{\"id\":3001,\"late\":4}\n",
      file: "f.ndjson", ["--where", "late > 3", "--columns", "id"], exit: 64, [.add("--infer full")],
      rows: ["3001"]),
    .load(
      "shaping: a computed column that is chosen", [chosen], sales,
      ["--columns", "id,n", "--let", "n=qty*2"], exit: 64,
      [.leaveOut(["--columns", "id,n"]), .give(["--columns", "id"])], rows: ["1|8", "2|4"]),
    .load(
      "shaping: one column twice", ["put both into one expression"], sales,
      ["--let", "a=price", "--let", "A=qty"], exit: 64,
      [.leaveOut(["--let", "a=price", "--let", "A=qty"]), .give(["--let", "a=price || 'x' || qty"])],
      rows: ["1|2.5|4|'2.5x4'", "2|10.0|2|'10x2'"]),
    .load(
      "shaping: a column that the table lacks", [noColumn], "id\n1\n", ["--let", "n=id+1"],
      setup: "CREATE TABLE t(id INTEGER, m INTEGER)", [.add("--alter")], query: "SELECT id, n FROM t",
      rows: ["1|2"]),
    .load(
      "shaping: a column that the table has", [noColumn], "id\n1\n", ["--let", "n=id+1"],
      setup: "CREATE TABLE t(id INTEGER, m INTEGER)", [.leaveOut(["n=id+1"]), .give(["m=id+1"])],
      rows: ["1|2"]),
    .load(
      "shaping: two keys for one column", [collision], "{\"id\":1,\"a\":2,\"b\":3}\n", file: "f.ndjson",
      ["--rename", "a=b", "--let", "n=id"], exit: 65, [.give(["--rename", "b=c"])],
      query: "SELECT id, b, c, n FROM t",
      rows: ["1|2|3|1"]),
    HintScenario(
      name: "shaping: other SQL of a feed", hints: ["--accept-change goes on with it as it is now"],
      files: ["f.csv": sales, "j.yaml": "tables:\n  t: {source: f.csv, key: [id]}\n"],
      prepare: "upsurge mirror d.db j.yaml 2>/dev/null; sed -i \"s/key:/where: qty <> '4', &/\" j.yaml",
      first: ["mirror", "d.db", "j.yaml"], firstExit: 4, steps: [.add("--accept-change")],
      rows: ["1|2.5|4", "2|10.0|2"]),
  ]
}
