extension HintTable {
  private static let stored = ["1|'x'", "2|'y'"]

  private static func json(
    _ name: String, _ hints: [String], _ text: String, _ options: [String] = [], setup: String = "", exit: Int32? = nil,
    steps: [HintScenario.Step], exits: Set<Int32> = [0], query: String = "SELECT * FROM t", rows: [String] = stored
  ) -> HintScenario {
    .load(
      name, hints, text, file: "f.json", options, setup: setup, exit: exit, steps, exits: exits, query: query, rows: rows)
  }

  static let jsonScenarios: [HintScenario] = [
    json(
      "json: an object wraps the records", [" reads its records; --json-path '$' takes the object as one record"],
      "{\"data\":[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]}", exit: 65, steps: [.add("--json-path [^ ]+(?= reads)")]),
    json(
      "json: the object is the record", [" reads its records; --json-path '$' takes the object as one record"],
      "{\"data\":[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]}", exit: 65, steps: [.add("--json-path '[$]'")],
      query: "SELECT count(*), json_array_length(data) FROM t", rows: ["1|2"]),
    json(
      "json: the wrapper's key has marks", [" reads its records; --json-path '$' takes the object as one record"],
      "{\"my.data\":[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]}", exit: 65, steps: [.add("--json-path .*(?= reads)")]),
    json(
      "json: a map holds the records", ["--json-map …"], "{\"p\":{\"v\":1},\"q\":{\"v\":2}}", exit: 65,
      steps: [.add("--json-map [^ ]+(?= reads)")], query: "SELECT * FROM t ORDER BY v", rows: ["1|'p'", "2|'q'"]),
    json(
      "json: a map in an object", ["--json-path … "], "{\"data\":{\"p\":{\"v\":1},\"q\":{\"v\":2}}}", exit: 65,
      steps: [.add("--json-path .*(?= reads)")], query: "SELECT * FROM t ORDER BY v", rows: ["1|'p'", "2|'q'"]),
    json(
      "json: the records have the map's column", ["--json-map NAME gives the keys of the map a column of another name"],
      "{\"p\":{\"v\":1},\"q\":{\"v\":2}}", ["--json-map", "v"], exit: 65,
      steps: [.leaveOut(["v"]), .give(["k"])], query: "SELECT v, k FROM t ORDER BY v", rows: ["1|'p'", "2|'q'"]),
    json(
      "json: the path leads nowhere", ["--json-path must name the keys that lead to the array of records"],
      "{\"data\":[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]}", ["--json-path", "nope"], exit: 65,
      steps: [.leaveOut(["nope"]), .give(["data"])]),
    json(
      "json: the path leads to no records", ["--json-path names the keys that lead to the array of records"],
      "{\"n\":1,\"data\":[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]}", ["--json-path", "n"], exit: 65,
      steps: [.leaveOut(["n"]), .give(["data"])]),
    json(
      "json: a map that is an array", ["--json-map is for an object each of whose values is a record; leave it out for an array"],
      "[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]", ["--json-map", "k"], exit: 65,
      steps: [.leaveOut(["--json-map", "k"]), .again]),
    json(
      "json: a path that is none", ["--json-path takes keys with dots between them: data.items or 'data.\"odd.key\"'"],
      "{\"data\":[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]}", ["--json-path", "data."], exit: 64,
      steps: [.leaveOut(["data."]), .give(["data"])]),
    json(
      "json: a path with an odd key, as the hint writes it",
      ["--json-path takes keys with dots between them: data.items or 'data.\"odd.key\"'"],
      "{\"data\":{\"odd.key\":[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]}}", ["--json-path", "data."], exit: 64,
      steps: [.leaveOut(["data."]), .add("'data.\"odd.key\"'")]),
    json(
      "json: nothing at all", ["a JSON document without records is []"], "", ["--format", "json"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", steps: [.write("f.json", "[]"), .again], rows: []),
    json(
      "json: an array that is no record", ["records are objects, or arrays after an array of column names"],
      "[[1,\"x\"],[2,\"y\"]]", steps: [.write("f.json", "[[\"id\",\"a\"],[1,\"x\"],[2,\"y\"]]"), .again]),
    json(
      "json: a key without a column", ["--alter adds the column; --columns A,B leaves it out"],
      "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"y\",\"b\":3}\n", setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", exit: 4,
      steps: [.add("--alter"), .again], rows: ["1|'x'|NULL", "2|'y'|3"]),
    json(
      "json: a key is left out", ["--alter adds the column; --columns A,B leaves it out"],
      "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"y\",\"b\":3}\n", setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", exit: 4,
      steps: [.give(["--columns", "id,a"]), .again]),
    json(
      "json: a key stands twice", ["--duplicate-keys last-wins takes the last value"],
      "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"w\",\"a\":\"y\"}\n", ["--duplicate-keys", "reject"], exit: 65,
      steps: [.leaveOut(["--duplicate-keys", "reject"]), .add("--duplicate-keys last-wins")]),
    json(
      "json: NaN", ["--json-nan null stores NULL for it"], "{\"id\":1,\"a\":NaN}\n{\"id\":2,\"a\":5}\n", exit: 65,
      steps: [.add("--json-nan null")], rows: ["1|NULL", "2|5"]),
    json(
      "json: a value whose spelling changes", ["--type … keeps the spelling; --infer full looks at all values first"],
      "{\"id\":1,\"a b\":5}\n" + (2...6_000).map { "{\"id\":\($0),\"a b\":\($0),\"v\":\"\(String(repeating: "x", count: 200))\"}\n" }.joined()
        + "{\"id\":6001,\"a b\":\"007\"}\n",
      ["--atomic"], exit: 65, steps: [.add("--type .*(?= keeps)")],
      query: "SELECT \"a b\", (SELECT count(*) FROM t) FROM t WHERE id = 6001", rows: ["'007'|6001"]),
    json(
      "json: a record of a BLOB", ["--blob base64, hex or file says what text in BLOB columns is; without it text stays text"],
      "{\"id\":1,\"a\":\"6869\"}\n{\"id\":2,\"a\":\"zz\"}\n", ["--blob", "hex"], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB)",
      exit: 65, steps: [.leaveOut(["--blob", "hex"]), .again], rows: ["1|'6869'", "2|'zz'"]),
    json(
      "json: the document is cut", [], "[{\"id\":1,\"a\":\"x\"},{\"id\":2,", exit: 65,
      steps: [.write("f.json", "[{\"id\":1,\"a\":\"x\"},{\"id\":2,\"a\":\"y\"}]"), .again]),
    json(
      "json: values one behind the other, one of them broken", ["--on-error reject goes on without it; --rejects FILE keeps it"],
      "{\"id\":1,\"a\":\"x\"} {\"id\":2,\"a\":\"y\"}\n{\"id\":3,\"a\":}\n", exit: 65, steps: [.add("--on-error reject")], exits: [2]),
    json(
      "json: no record can be read", ["make the table first; its bad records can then be rejected one by one"],
      "{\"id\":1,\"a\":}\n{\"id\":2\n", ["--on-error", "reject"], exit: 65,
      steps: [.sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a)"), .again], exits: [2], rows: []),
    json(
      "json: no record can be read, and a stop", ["make the table first; its bad records can then be rejected one by one"],
      "{\"id\":1,\"a\":}\n{\"id\":2\n", exit: 65,
      steps: [.sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a)"), .again, .add("--on-error reject")], exits: [2], rows: []),
    json(
      "json: more columns than SQLite takes", ["--columns A,B reads only the keys it names"],
      "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"y\"," + (1...2_100).map { "\"c\($0)\":1" }.joined(separator: ",") + "}\n",
      steps: [.give(["--columns", "id,a"])]),
    json(
      "json: flattened keys that SQLite has no room for", ["--columns A,B reads only the keys it names"],
      "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"y\",\"m\":{" + (1...2_100).map { "\"c\($0)\":1" }.joined(separator: ",") + "}}\n",
      ["--flatten"], steps: [.leaveOut(["--flatten"]), .again], query: "SELECT id, a FROM t"),
  ]
}
