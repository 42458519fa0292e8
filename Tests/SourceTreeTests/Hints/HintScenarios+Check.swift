extension HintTable {
  private static let feed = "id,a\n1,x\n2,y\n"
  private static let stored = ["1|'x'", "2|'y'"]

  private static func job(_ settings: String, source: String = "f.csv") -> String {
    "tables:\n  t:\n    source: \(source)\n" + settings.split(separator: "\n").map { "    \($0)\n" }.joined()
  }

  /// What `upsurge mirror --check` warns of; the job runs after it was mended.
  private static func check(
    _ name: String, _ hints: [String], _ settings: String, _ setup: String, source: String = "f.csv",
    _ mended: [HintScenario.Step], rows: [String] = stored
  ) -> HintScenario {
    HintScenario(
      name: "check: " + name, hints: hints, files: ["f.csv": feed, "j.yaml": job(settings, source: source)],
      setup: setup,
      first: ["mirror", "d.db", "j.yaml", "--check"], steps: mended + [.run(["mirror", "d.db", "j.yaml"])],
      query: "SELECT id, a FROM t ORDER BY id", rows: rows)
  }

  private static func keys(
    _ name: String, _ hints: [String], _ setup: String, tables: [String] = ["t"], _ steps: [HintScenario.Step],
    query: String = "SELECT typeof(id) FROM t", rows: [String] = ["'text'"]
  ) -> HintScenario {
    HintScenario(
      name: "keys: " + name, hints: hints, setup: setup, first: ["migrate-keys", "d.db"] + tables, steps: steps, query: query, rows: rows)
  }
  private static let keyed = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1,'x'); "

  private static let either = "… for …; or …; or … RESTRICT or NO ACTION in table …"
  private static func family(_ parent: String, _ child: String) -> String {
    "tables:\n  p: {source: p.csv, key: [id], \(parent)}\n  c: {source: c.csv, key: [id], \(child)}\n"
  }
  private static func refer(_ action: String) -> String {
    "DROP TABLE IF EXISTS c; CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(code) \(action), y INT); "
      + "INSERT INTO c VALUES (1, 'A', 2)"
  }

  /// Rows that are to be kept, and that go or change with those to which they refer.
  private static func kept(
    _ name: String, _ hints: [String], _ action: String, _ parent: String, _ mended: [HintScenario.Step]
  ) -> HintScenario {
    HintScenario(
      name: "kept: " + name, hints: hints,
      files: ["p.csv": "id,code,x\n1,A,5\n", "c.csv": "id,p,y\n1,A,3\n", "j.yaml": family(parent, "local-edits: keep")],
      setup: "CREATE TABLE p(id INTEGER PRIMARY KEY, code UNIQUE, x INT); INSERT INTO p VALUES (1, 'A', 1); " + refer(action),
      first: ["mirror", "d.db", "j.yaml"], firstExit: 4, steps: mended + [.again],
      query: "SELECT p.x, c.p, c.y FROM p JOIN c ON c.p = p.code", rows: ["5|'A'|3"])
  }

  /// What a schema keeps a job, or keys that become UUIDs, from.
  static let checkScenarios: [HintScenario] = [
    check("no table", ["make it with CREATE TABLE, or leave out create"], "key: [id]\ncreate: never", "CREATE TABLE o(a)",
      [.write("j.yaml", job("key: [id]"))]),
    check("no table yet", ["upsurge inspect SOURCE shows its CREATE TABLE; make it yourself to decide on types and constraints"],
      "key: [id]", "CREATE TABLE o(a)", [.run(["inspect", "f.csv"])]),
    check("no key", ["add key: [COLUMN], and a UNIQUE index on it"], "alter: true", "CREATE TABLE t(id INT, a)",
      [.sql("CREATE UNIQUE INDEX i ON t(id)"), .write("j.yaml", job("key: [id]"))]),
    check("a key without an index", ["create-key: true, which makes it"], "key: [id]", "CREATE TABLE t(id INT, a)",
      [.write("j.yaml", job("key: [id]\ncreate-key: true"))]),
    check("a key without an index, which is made", ["…; or ", "create-key: true, which makes it"], "key: [id]", "CREATE TABLE t(id INT, a)",
      [.printedSQL("CREATE UNIQUE INDEX [^;]+")]),
    check("a key index that is not there", ["key-index takes one of: …"], "key-index: nope",
      "CREATE TABLE t(id INT, a); CREATE UNIQUE INDEX i ON t(id)", [.write("j.yaml", job("key-index: i"))]),
    check("no key index", ["make it, or name columns by key"], "key-index: nope", "CREATE TABLE t(id INT, a)",
      [.sql("CREATE UNIQUE INDEX nope ON t(id)")]),
    check("two keys", ["any-key: true, if either key says which row a record is about; else DROP the index, or leave the column out by columns"],
      "key: [id]", "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE)", [.write("j.yaml", job("any-key: true"))]),
    check("a column that must have a value",
      ["give it a DEFAULT, or make it nullable; rename: {OTHER: …}, if the feed has it by another name"], "key: [id]",
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a, n NOT NULL)",
      [.sql("DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, a, n NOT NULL DEFAULT 0)")]),
    check("a column that must have a value and is left out", ["take it by columns, or give it a DEFAULT, or make it nullable"],
      "key: [id]\ncolumns: [id]", "CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL)", [.write("j.yaml", job("key: [id]\ncolumns: [id, a]"))]),
    check("a column that is computed", ["if the feed has a field of this name: columns without it, or rename it to another column"],
      "key: [id]", "CREATE TABLE t(id INTEGER PRIMARY KEY, b, a AS (b) STORED)",
      [.sql("DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, b, a)")]),
    check("a mark that is not there", ["ALTER TABLE … ADD COLUMN … TEXT"], "key: [id]\nsweep: {soft: gone}",
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", [.printedSQL("ALTER TABLE [^\n]+ TEXT")]),
    check("a scope that is none", ["write SQL over its columns, as in: tenant = 7"], "key: [id]\nsweep: hard\nscope: nope = 7",
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", [.write("j.yaml", job("key: [id]\nsweep: hard\nscope: id < 7"))]),
    check("rows that others refer to", ["ON DELETE CASCADE or SET NULL in …, or sweep: {soft: COLUMN}, which marks rows"],
      "key: [id]\nsweep: hard", "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE c(t REFERENCES t(id))",
      [.sql("DROP TABLE c; CREATE TABLE c(t REFERENCES t(id) ON DELETE CASCADE)")]),
    keys("a key that refers to another", ["name both tables"],
      "CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); "
        + "CREATE TABLE t(id INTEGER PRIMARY KEY REFERENCES p(id)); INSERT INTO t VALUES (1)", [.run(["migrate-keys", "d.db", "t", "p"])]),
    keys("a key of texts", ["only keys of one integer column can be migrated; columns that refer to them follow by themselves"],
      keyed + "CREATE TABLE u(k TEXT, l, PRIMARY KEY (k, l))", tables: ["u"], [.run(["migrate-keys", "d.db", "t"])]),
    keys("an index that compares keys", ["drop the index first, and make it again with UUIDs"], keyed + "CREATE INDEX i ON t(a) WHERE id > 5",
      [.sql("DROP INDEX i"), .again]),
    keys("rows that refer to none", ["PRAGMA foreign_key_check shows them; repair them first"],
      keyed + "CREATE TABLE c(t INT REFERENCES t(id)); INSERT INTO c VALUES (9)", [.sql("DELETE FROM c"), .again]),
    HintScenario(
      name: "keys: a mirrored table", hints: ["end the mirror first; what it knows of the table is in upsurge_feeds"], files: ["f.csv": feed],
      prepare: "upsurge mirror d.db --table t --source f.csv --key id 2>/dev/null", first: ["migrate-keys", "d.db", "t"],
      steps: [.sql("DELETE FROM upsurge_feeds"), .again], query: "SELECT DISTINCT typeof(id) FROM t", rows: ["'text'"]),
    HintScenario(
      name: "keys: a run that ended early", hints: ["end it first by its own command, or give it up: upsurge runs … --forget …"],
      files: ["f.csv": "id,a\n1,x\n2,y\n3\n"], prepare: "upsurge load d.db t f.csv --key id --commit-every 1 2>/dev/null",
      first: ["migrate-keys", "d.db", "t"], steps: [.printed("upsurge runs .*--forget [0-9]+"), .run(["migrate-keys", "d.db", "t"])],
      query: "SELECT DISTINCT typeof(id) FROM t", rows: ["'text'"]),
    HintScenario(
      name: "feed: another source", hints: ["--accept-change goes on with it as it is now"],
      files: ["f.csv": feed, "g.csv": "id,a\n1,z\n2,y\n", "j.yaml": job("key: [id]")],
      prepare: "upsurge mirror d.db j.yaml 2>/dev/null; sed -i 's/f.csv/g.csv/' j.yaml", first: ["mirror", "d.db", "j.yaml"], firstExit: 4,
      steps: [.add("--accept-change"), .leaveOut(["--accept-change"]), .again], rows: ["1|'z'", "2|'y'"]),
    HintScenario(
      name: "feed: another source that is swept",
      hints: ["--accept-change goes on with it as it is now; rows that the former feed has brought and this one does not are swept"],
      files: ["f.csv": feed, "g.csv": "id,a\n2,y\n3,z\n", "j.yaml": job("key: [id]\nsweep: hard\nguards: {max-delete: 100%}")],
      prepare: "upsurge mirror d.db j.yaml 2>/dev/null; sed -i 's/f.csv/g.csv/' j.yaml", first: ["mirror", "d.db", "j.yaml"], firstExit: 4,
      steps: [.add("--accept-change"), .leaveOut(["--accept-change"]), .again], rows: ["2|'y'", "3|'z'"]),
    HintScenario(
      name: "feed: owned rows with keys that are NULL", hints: ["give a key of columns alone, without key-where and null-keys: insert"],
      files: ["f.csv": feed, "j.yaml": job("key: [id]\nrow-state: true\nnull-keys: insert")],
      setup: "CREATE TABLE t(id INT UNIQUE, a)", first: ["mirror", "d.db", "j.yaml"],
      steps: [.write("j.yaml", job("key: [id]\nrow-state: true")), .again], rows: stored),
    HintScenario(
      name: "feed: rows that others refer to are forgotten", hints: ["delete first what refers to them, or let it go with them: ON DELETE CASCADE"],
      files: ["f.csv": feed], prepare: "upsurge mirror d.db --table t --source f.csv --key id 2>/dev/null",
      change: "CREATE TABLE c(t INT REFERENCES t(id)); INSERT INTO c VALUES (1)", first: ["mirror", "d.db", "--forget", "t", "--yes"],
      steps: [.sql("DELETE FROM c"), .again], rows: []),
    HintScenario(
      name: "feed: rows that others refer to are swept",
      hints: ["delete or change those rows of …, or mirror that table in the same job, so that they go first; then run the job again"],
      files: ["f.csv": feed, "g.csv": "id,a\n2,y\n", "j.yaml": job("key: [id]\nsweep: hard\nguards: {max-delete: 100%}")],
      prepare: "upsurge mirror d.db j.yaml 2>/dev/null; mv g.csv f.csv", change: "CREATE TABLE c(t INT REFERENCES t(id)); INSERT INTO c VALUES (1)",
      first: ["mirror", "d.db", "j.yaml"], steps: [.sql("DELETE FROM c"), .again], rows: ["2|'y'"]),
    HintScenario(
      name: "json: a document that is one large object",
      hints: ["--json-path KEY reads the array inside the document; --memory …MiB gives more room"],
      prepare: "(printf '{\"data\":[{\"id\":1}'; seq 2 600000 | sed 's/.*/,{\"id\":&}/'; printf ']}') > f.json",
      first: ["load", "d.db", "t", "f.json", "--json-path", "$", "--atomic", "--memory", "16MiB"],
      steps: [.leaveOut(["$", "--json-path"]), .give(["--json-path", "data"])], query: "SELECT count(*) FROM t", rows: ["600000"]),
    HintScenario(
      name: "database: too few keys of a flattened record", hints: ["without --flatten the record can be read"], files: ["f.json": "{}"],
      prepare: "(printf '{\"id\":1}\\n{\"id\":2,\"m\":{'; seq -s, 1 70000 | sed 's/[0-9][0-9]*/\"k&\":1/g'; printf '}}\\n') > f.json",
      first: ["load", "d.db", "t", "f.json", "--atomic", "--flatten", "--columns", "id,m"], steps: [.leaveOut(["--flatten"]), .again],
      query: "SELECT id FROM t", rows: ["1", "2"]),
    check(
      "one column of numbers for two sources",
      ["a key that no two sources share, such as PRIMARY KEY (source, id), or UUIDs; or a table for each source"],
      "key: [id]", "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a)", source: "[f.csv, g.csv]",
      [
        .sql("DROP TABLE t; CREATE TABLE t(source TEXT, id INTEGER, a, PRIMARY KEY (source, id))"),
        .write("f.csv", "source,id,a\nf,1,x\n"), .write("g.csv", "source,id,a\ng,1,y\n"),
        .write("j.yaml", "tables:\n  t: {source: [f.csv, g.csv], key: [source, id]}\n"),
      ], rows: ["1|'x'", "1|'y'"]),
    kept(
      "the parent's sweep goes", ["write sweep: {soft: COL} or sweep: none", either], "ON DELETE CASCADE", "sweep: hard",
      [.write("j.yaml", family("sweep: none", "local-edits: keep"))]),
    kept(
      "the parent's sweep marks", ["write sweep: {soft: COL} or sweep: none", either], "ON DELETE CASCADE", "sweep: hard",
      [.sql("ALTER TABLE p ADD COLUMN gone TEXT"), .write("j.yaml", family("sweep: {soft: gone}", "local-edits: keep"))]),
    kept(
      "the child is repaired", [either], "ON DELETE CASCADE", "sweep: hard",
      [.write("j.yaml", family("sweep: hard", "local-edits: repair"))]),
    kept(
      "the reference restricts", [either], "ON DELETE CASCADE", "sweep: hard", [.sql(refer("ON DELETE RESTRICT"))]),
    kept(
      "the column that is referred to is left out", ["list columns without the one that is referred to", either],
      "ON UPDATE CASCADE", "sweep: none", [.write("j.yaml", family("columns: [id, x]", "local-edits: keep"))]),
  ]
}
