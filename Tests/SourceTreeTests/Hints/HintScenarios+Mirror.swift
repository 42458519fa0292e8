extension HintTable {
  private static let feed = "id,a\n1,x\n2,y\n"
  private static let ten = "id,a\n" + (1...10).map { "\($0),x\n" }.joined()

  /// A feed that was mirrored once, what comes then, and what is done about it.
  private static func mirror(
    _ name: String, _ hints: [String], _ settings: String = "key: [id]", before: String? = feed, files: [String: String],
    setup: String = "", exit: Int32? = 4, steps: [HintScenario.Step], exits: Set<Int32> = [0],
    query: String = "SELECT * FROM t", rows: [String]
  ) -> HintScenario {
    let job = "tables:\n  t:\n    source: f.csv\n" + settings.split(separator: "\n").map { "    \($0)\n" }.joined()
    var all = ["j.yaml": job]
    for (name, text) in files { all["new-" + name] = text }
    if let before { all["f.csv"] = before }
    let moves = files.keys.sorted().map { "mv new-\($0) \($0)" }.joined(separator: "; ")
    return HintScenario(
      name: "mirror: " + name, hints: hints, files: all,
      prepare: (before == nil ? "" : "upsurge mirror d.db j.yaml 2>/dev/null; ") + (moves.isEmpty ? "true" : moves), setup: setup,
      first: ["mirror", "d.db", "j.yaml"], firstExit: exit, steps: steps, exits: exits, query: query, rows: rows)
  }
  private static func job(_ settings: String) -> HintScenario.Step {
    .write("j.yaml", "tables:\n  t:\n    source: f.csv\n" + settings.split(separator: "\n").map { "    \($0)\n" }.joined())
  }

  /// A feed of crm was mirrored; now one of erp comes, with another key.
  private static func erp(_ name: String, _ steps: [HintScenario.Step]) -> HintScenario {
    HintScenario(
      name: "mirror: " + name,
      hints: ["give all of them the same key; a feed that is no more leaves with its rows of upsurge_rows"],
      files: [
        "f.csv": feed, "g.csv": "id,a\n3,z\n", "j.yaml": "tables:\n  t: {source: f.csv, key: [id], owned-by: crm, sweep: hard}\n",
        "k.yaml": "tables:\n  t: {source: g.csv, key: [a], owned-by: erp, sweep: hard}\n",
      ], prepare: "upsurge mirror d.db j.yaml 2>/dev/null", setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE)",
      first: ["mirror", "d.db", "k.yaml"], firstExit: 4, steps: steps, rows: ["1|'x'", "2|'y'", "3|'z'"])
  }

  private static let editsUnknown =
    "give the column back with its values; or run the job once without local-edits, which gives all rows back to the feed"
  private static let edited = "id,a,b\n1,x,v\n2,y,v\n"
  private static let editing = "upsurge mirror d.db j.yaml 2>/dev/null; printf 'id,a\\n1,z\\n2,z\\n' > f.csv"
  private static let editedHere = "UPDATE t SET a = 'mine' WHERE id = 1; ALTER TABLE t DROP COLUMN b"
  private static func edits(_ setting: String) -> String { "tables:\n  t: {source: f.csv, key: [id]\(setting)}\n" }

  private static let takesOld =
    "--columns-gone keep, or --accept-change, takes it with the old values, which an UPDATE can clear; "
    + "a feed that is a file, a URL or exec:COMMAND can be read twice"

  /// A feed that is a named pipe brings records without a column, which is known at their end.
  private static func gone(_ name: String, _ steps: [HintScenario.Step], b: String) -> HintScenario {
    HintScenario(
      name: "mirror: " + name, hints: [takesOld],
      files: [
        "f.ndjson": "{\"id\":1,\"a\":\"x\",\"b\":\"y\"}\n",
        "j.yaml": "tables:\n  t: {source: p, key: [id], columns-gone: 'null'}\n",
      ],
      prepare: "mkfifo p; (cat f.ndjson > p &); upsurge mirror d.db j.yaml 2>/dev/null; "
        + "printf '{\"id\":1,\"a\":\"z\"}\\n' > f.ndjson; (cat f.ndjson > p 2>/dev/null &)",
      first: ["mirror", "d.db", "j.yaml"], firstExit: 4, steps: steps, rows: ["1|'z'|\(b)"])
  }

  /// No name is left by which SQLite would give the rows' numbers.
  private static let badlyNamed =
    "CREATE TABLE t(rowid TEXT UNIQUE, a, oid, _rowid_); INSERT INTO t(rowid, a) VALUES ('3', 'z')"
  private static func unnamed(_ setting: String) -> String {
    "tables:\n  t: {source: f.csv, key: [rowid], rename: {id: rowid}, \(setting)}\n"
  }
  private static func pair(_ atomic: String) -> String {
    "atomic: \(atomic)\ntables:\n  t: {source: f.csv, key: [id], init: i.sql}\n  u: {source: f.csv, key: [id]}\n"
  }

  /// Guards, and feeds that are not what they were.
  static let mirrorScenarios: [HintScenario] = [
    mirror(
      "a column goes, and it is accepted",
      ["--accept-change goes on without …; --columns-gone keep does so whenever a column goes, and --columns-gone null stores NULL there"],
      files: ["f.csv": "id\n1\n2\n3\n"], steps: [.add("--accept-change"), .leaveOut(["--accept-change"]), .again],
      rows: ["1|'x'", "2|'y'", "3|NULL"]),
    mirror(
      "a column goes, and NULL is stored", ["--accept-change goes on without …; --columns-gone keep does so whenever a column goes, and --columns-gone null stores NULL there"],
      files: ["f.csv": "id\n1\n2\n3\n"], steps: [job("key: [id]\ncolumns-gone: null"), .again, .again],
      exits: [0, 64], query: "SELECT count(*) > 1 FROM t", rows: ["1"]),
    mirror(
      "a column goes, and its values stay", ["--accept-change goes on without …; --columns-gone keep does so whenever a column goes, and --columns-gone null stores NULL there"],
      files: ["f.csv": "id\n1\n2\n3\n"], steps: [job("key: [id]\ncolumns-gone: keep"), .again, .again],
      rows: ["1|'x'", "2|'y'", "3|NULL"]),
    mirror(
      "the key goes", ["deliver it again; where it has another name now, --rename … with --accept-change"],
      files: ["f.csv": "ident,a\n1,z\n2,y\n"], steps: [job("key: [id]\nrename: {ident: id}"), .give(["--accept-change"])],
      rows: ["1|'z'", "2|'y'"]),
    HintScenario(
      name: "mirror: too many rows would go, without a job file", hints: ["look at the delivery; --max-delete … lets them go"],
      files: ["f.csv": feed], prepare: "upsurge mirror d.db --table t --source f.csv --key id --sweep hard 2>/dev/null; printf 'id,a\\n1,x\\n' > f.csv",
      first: ["mirror", "d.db", "--table", "t", "--source", "f.csv", "--key", "id", "--sweep", "hard"], firstExit: 4,
      steps: [.add("--max-delete [0-9]+")], rows: ["1|'x'"]),
    mirror(
      "it is written in another way", ["give … to say how it is to be read; --accept-change goes on with it as it looks now"],
      files: ["f.csv": "id;a\n1;x\n2;z\n"], steps: [.add("--accept-change"), .leaveOut(["--accept-change"]), .again],
      rows: ["1|'x'", "2|'z'"]),
    mirror(
      "the delivery is empty", ["--allow-empty, if that is the whole truth"], "key: [id]\nsweep: hard",
      files: ["f.csv": "id,a\n"], steps: [job("key: [id]\nsweep: hard\nguards: {allow-empty: true, max-delete: 100%}"), .again],
      rows: []),
    mirror(
      "too many rows would go", ["look at the delivery; --max-delete … lets them go"], "key: [id]\nsweep: hard",
      files: ["f.csv": "id,a\n1,x\n"], steps: [job("key: [id]\nsweep: hard\nguards: {max-delete: 1}"), .again], rows: ["1|'x'"]),
    mirror(
      "one delivery is let through", ["--accept-delivery … lets this one delivery through"], "key: [id]\nsweep: hard",
      files: ["f.csv": "id,a\n1,x\n"], steps: [.add("--accept-delivery [0-9a-f]+")], rows: ["1|'x'"]),
    mirror(
      "fewer rows than there must be", ["deliver it again, or lower min-rows"], "key: [id]\nguards: {min-rows: 2}",
      files: ["f.csv": "id,a\n1,z\n"], steps: [job("key: [id]\nguards: {min-rows: 1}"), .again], rows: ["1|'z'", "2|'y'"]),
    mirror(
      "another count than expected", ["deliver it again, or correct expect-count"], "key: [id]\nguards: {expect-count: 2}",
      files: ["f.csv": "id,a\n1,z\n"], steps: [job("key: [id]\nguards: {expect-count: 1}"), .again], rows: ["1|'z'", "2|'y'"]),
    mirror(
      "much less than the last time", ["deliver it again, or lower min-ratio"], "key: [id]\nguards: {min-ratio: 0.9}",
      files: ["f.csv": "id,a\n1,z\n"], steps: [job("key: [id]\nguards: {min-ratio: 0.1}"), .again], rows: ["1|'z'", "2|'y'"]),
    mirror(
      "a count that a source cuts at", ["ask the source for more; take … out of suspicious, if that is the whole truth"],
      "key: [id]\nguards: {suspicious: [3]}", files: ["f.csv": "id,a\n1,z\n2,y\n3,w\n"],
      steps: [job("key: [id]"), .again], rows: ["1|'z'", "2|'y'", "3|'w'"]),
    mirror(
      "records that cannot be read", ["correct the delivery and run the job again"], "key: [id]\nsweep: hard\non-error: reject",
      files: ["f.csv": "id,a\n1,z\n2\n"], steps: [.write("f.csv", "id,a\n1,z\n2,w\n"), .again], rows: ["1|'z'", "2|'w'"]),
    mirror(
      "a last line without an end", ["deliver it again; --line-end any takes feeds whose last line never ends"],
      files: ["f.csv": "id,a\n1,z\n2,w"], exit: nil, steps: [job("key: [id]\nguards: {line-end: any}"), .again], rows: ["1|'z'", "2|'w'"]),
    mirror(
      "a trailer that is another",
      ["deliver it again; or correct --trailer, where * is any text and {count} the number of records"],
      "key: [id]\nguards: {trailer: 'END {count}'}", before: nil, files: ["f.csv": "id,a\n1,z\n2,w\nTRL 2\n"], exit: nil,
      steps: [job("key: [id]\nguards: {trailer: 'TRL {count}'}"), .again], rows: ["1|'z'", "2|'w'"]),
    mirror(
      "a trailer that counts otherwise",
      ["deliver it again; {count} in trailer stands for records, without the header and the last line"],
      "key: [id]\nguards: {trailer: 'TRL {count}'}", before: nil, files: ["f.csv": "id,a\n1,z\n2,w\nTRL 3\n"], exit: nil,
      steps: [.write("f.csv", "id,a\n1,z\n2,w\nTRL 2\n"), .again], rows: ["1|'z'", "2|'w'"]),
    mirror(
      "a mark without a column", ["ALTER TABLE adds one such as deleted_at TEXT"], "key: [id]\nsweep: {soft: deleted_at}", before: nil,
      files: ["f.csv": feed], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", exit: nil,
      steps: [.sql("ALTER TABLE t ADD COLUMN deleted_at TEXT"), .again], rows: ["1|'x'|NULL", "2|'y'|NULL"]),
    mirror(
      "rows outside of the scope", ["correct the scope, or leave such records out of the feed"],
      "key: [id]\nsweep: hard\nscope: id < 5", before: nil, files: ["f.csv": "id,a\n1,x\n9,y\n"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (9, 'mine')",
      steps: [.write("f.csv", "id,a\n1,x\n"), .again], rows: ["1|'x'", "9|'mine'"]),
    mirror(
      "rows that are owned, and a sweep of all",
      ["give this feed a name, owned-by: NAME, so that it sweeps only its own rows; where … is no more, delete its rows of upsurge_rows"],
      "key: [id]\nsweep: hard\nowned-by: crm", files: ["j.yaml": "tables:\n  t:\n    source: f.csv\n    key: [id]\n    sweep: hard\n"],
      steps: [job("key: [id]\nsweep: hard\nowned-by: crm"), .again], rows: ["1|'x'", "2|'y'"]),
    mirror(
      "row state without a key", ["key: [COLS] names them; or leave out row-state and owned-by"], "row-state: true", before: nil,
      files: ["f.csv": feed], exit: nil, steps: [job("row-state: true\nkey: [id]"), .again], rows: ["1|'x'", "2|'y'"]),
    mirror(
      "row state of another mode", ["leave out mode, or row-state and owned-by"], "row-state: true\nmode: ignore\nkey: [id]", before: nil,
      files: ["f.csv": feed], exit: 64, steps: [job("row-state: true\nkey: [id]"), .again], rows: ["1|'x'", "2|'y'"]),
    mirror(
      "a sweep of another mode", ["leave out mode: with a key it is upsert"], "sweep: hard\nmode: insert\nkey: [id]", before: nil,
      files: ["f.csv": feed], exit: 64, steps: [job("sweep: hard\nkey: [id]"), .again], rows: ["1|'x'", "2|'y'"]),
    mirror(
      "rejects of a delta", ["rejects: table keeps those of all of them"], "kind: delta\nrejects: b.ndjson\nkey: [id]", before: nil,
      files: ["f.csv": feed], exit: 64, steps: [job("kind: delta\nrejects: table\nkey: [id]"), .again], rows: ["1|'x'", "2|'y'"]),
    mirror(
      "repaired rows and rules", ["leave out …"], "key: [id]\nlocal-edits: repair\nmerge: keep", before: nil, files: ["f.csv": feed], exit: 64,
      steps: [job("key: [id]\nlocal-edits: repair"), .again], exits: [0, 64], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: command, a sweep without a key", hints: ["add --key COLS"], files: ["f.csv": feed],
      first: ["mirror", "d.db", "--table", "t", "--source", "f.csv", "--sweep", "hard"], firstExit: 64, steps: [.give(["--key", "id"])],
      rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: command, a scope without a sweep", hints: ["add --sweep hard"], files: ["f.csv": feed],
      first: ["mirror", "d.db", "--table", "t", "--source", "f.csv", "--key", "id", "--scope", "id < 9"], firstExit: 64,
      steps: [.add("--sweep hard")], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: command, an owner without a sweep", hints: ["add --sweep hard, or give --row-state in its place"],
      files: ["f.csv": feed], first: ["mirror", "d.db", "--table", "t", "--source", "f.csv", "--key", "id", "--owned-by", "crm"],
      firstExit: 64, steps: [.leaveOut(["--owned-by", "crm"]), .add("--row-state")], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: command, a sweep of a delta", hints: ["give --kind snapshot, or leave out --sweep"], files: ["f.csv": feed],
      first: ["mirror", "d.db", "--table", "t", "--source", "f.csv", "--key", "id", "--sweep", "hard", "--kind", "delta"], firstExit: 64,
      steps: [.leaveOut(["--kind", "delta"]), .add("--kind snapshot")], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: command, a mark that is the key", hints: ["name another column"], files: ["f.csv": feed],
      first: ["mirror", "d.db", "--table", "t", "--source", "f.csv", "--key", "id", "--sweep", "soft:id"], firstExit: 64,
      steps: [.leaveOut(["soft:id"]), .give(["soft:gone"])], exits: [0, 64], query: "SELECT 1", rows: ["1"]),
    HintScenario(
      name: "mirror: command, rules for repaired rows",
      hints: ["leave out --merge, --set and --update-if, or give --kind snapshot or --local-edits keep"], files: ["f.csv": feed],
      first: ["mirror", "d.db", "--table", "t", "--source", "f.csv", "--key", "id", "--local-edits", "repair", "--merge", "keep"],
      firstExit: 64, steps: [.leaveOut(["--merge", "keep"]), .again], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: command, a feed is forgotten", hints: ["--yes does it; --dry-run tries it and takes it back"],
      files: ["f.csv": feed], prepare: "upsurge mirror d.db --table t --source f.csv --key id 2>/dev/null",
      first: ["mirror", "d.db", "--forget", "t"], firstExit: 4, steps: [.add("--yes")], rows: []),
    HintScenario(
      name: "mirror: command, a feed is forgotten in a trial", hints: ["--yes does it; --dry-run tries it and takes it back"],
      files: ["f.csv": feed], prepare: "upsurge mirror d.db --table t --source f.csv --key id 2>/dev/null",
      first: ["mirror", "d.db", "--forget", "t"], firstExit: 4, steps: [.add("--dry-run")], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: command, no such feed", hints: ["its mirrors: …"], files: ["f.csv": feed],
      prepare: "upsurge mirror d.db --table t --source f.csv --key id 2>/dev/null",
      first: ["mirror", "d.db", "--forget", "u"], firstExit: 64, steps: [.run(["mirror", "d.db", "--forget", "t", "--yes"])], rows: []),
    HintScenario(
      name: "mirror: command, nothing is mirrored", hints: ["upsurge mirror brings tables in step with feeds"], files: ["f.csv": feed],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", first: ["mirror", "d.db", "--forget", "t"], firstExit: 64,
      steps: [.run(["mirror", "d.db", "--table", "t", "--source", "f.csv", "--key", "id"])], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: init, a key that the source lacks", hints: ["upsurge inspect shows its columns"], files: ["f.csv": feed],
      first: ["mirror", "init", "d.db", "f.csv", "--key", "zzzzz"], firstExit: 64, steps: [
        .run(["inspect", "f.csv"]),
        .shell("upsurge mirror init d.db f.csv --key id > j.yaml && upsurge mirror d.db j.yaml"),
      ], query: "SELECT * FROM f", rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: init, an empty folder", hints: ["name a file that will come into it"], files: ["f.csv": feed], prepare: "mkdir e",
      first: ["mirror", "init", "d.db", "e", "--key", "id"], firstExit: nil,
      steps: [.shell("upsurge mirror init d.db f.csv --key id > j.yaml && upsurge mirror d.db j.yaml")], query: "SELECT * FROM f",
      rows: ["1|'x'", "2|'y'"]),
    mirror(
      "another key of owned rows",
      [
        "--accept-change goes on with it as it is now; rows that the former feed has brought and this one does not are swept",
        ", unless it goes by another key: then nothing is this feed's until it is delivered",
      ], "key: [id]\nsweep: hard\nowned-by: crm",
      files: [
        "f.csv": "id,a\n2,y\n3,z\n",
        "j.yaml": "tables:\n  t:\n    source: f.csv\n    key: [a]\n    sweep: hard\n    owned-by: crm\n",
      ], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE)",
      steps: [
        .add("--accept-change"), .leaveOut(["--accept-change"]), .again,
        // It was delivered, and is this feed's: what the next delivery lacks goes.
        job("key: [a]\nsweep: hard\nowned-by: crm\nguards: {max-delete: 100%}"), .write("f.csv", "id,a\n3,z\n"), .again,
      ], rows: ["1|'x'", "3|'z'"]),
    erp(
      "feeds that tell rows by different columns",
      [.write("k.yaml", "tables:\n  t: {source: g.csv, key: [id], owned-by: erp, sweep: hard}\n"), .again]),
    erp("a feed that is no more told rows by different columns", [.sql("DELETE FROM upsurge_rows WHERE owned_by = 'crm'"), .again]),
    HintScenario(
      name: "mirror: the column that tells local edits comes back", hints: [editsUnknown],
      files: ["f.csv": edited, "j.yaml": edits(", local-edits: keep")], prepare: editing, change: editedHere,
      first: ["mirror", "d.db", "j.yaml", "--accept-change"], firstExit: 4,
      steps: [.sql("ALTER TABLE t ADD COLUMN b; UPDATE t SET b = 'v'"), .again], rows: ["1|'mine'|'v'", "2|'z'|'v'"]),
    HintScenario(
      name: "mirror: the column that tells local edits is gone, and rows are given back", hints: [editsUnknown],
      files: ["f.csv": edited, "j.yaml": edits(", local-edits: keep")], prepare: editing, change: editedHere,
      first: ["mirror", "d.db", "j.yaml", "--accept-change"], firstExit: 4,
      steps: [
        .write("j.yaml", edits("")), .again, .write("j.yaml", edits(", local-edits: keep")), .again,
        .write("f.csv", "id,a\n1,w\n2,w\n"), .again,
      ], rows: ["1|'w'", "2|'w'"]),
    gone(
      "a stream lacks a column, which is accepted",
      [.shell("(cat f.ndjson > p &); upsurge mirror d.db j.yaml --accept-change"), .sql("UPDATE t SET b = NULL")], b: "NULL"),
    gone(
      "a stream lacks a column, which keeps its values",
      [
        .write("j.yaml", "tables:\n  t: {source: p, key: [id], columns-gone: keep}\n"),
        .shell("(cat f.ndjson > p &); upsurge mirror d.db j.yaml"),
      ], b: "'y'"),
    HintScenario(
      name: "mirror: rows without a key of their own cannot be swept", hints: ["sweep: none leaves rows alone"],
      files: ["f.csv": feed, "j.yaml": unnamed("sweep: hard")], setup: badlyNamed,
      first: ["mirror", "d.db", "j.yaml"], firstExit: 64, steps: [.write("j.yaml", unnamed("sweep: none")), .again],
      query: "SELECT rowid, a FROM t", rows: ["'3'|'z'", "'1'|'x'", "'2'|'y'"]),
    HintScenario(
      name: "mirror: rows without a key of their own have no state", hints: ["leave out row-state and owned-by"],
      files: ["f.csv": feed, "j.yaml": unnamed("row-state: true")], setup: badlyNamed,
      first: ["mirror", "d.db", "j.yaml"], firstExit: 64, steps: [.write("j.yaml", unnamed("sweep: none")), .again],
      query: "SELECT rowid, a FROM t", rows: ["'3'|'z'", "'1'|'x'", "'2'|'y'"]),
    mirror(
      "a sweep of records without a key", ["leave out null-keys: insert and key-where, or sweep: none"],
      "key: [id]\nsweep: hard\nnull-keys: insert", before: nil, files: ["f.csv": feed], setup: "CREATE TABLE t(id INT UNIQUE, a); INSERT INTO t VALUES (1, 'old')",
      exit: 64, steps: [job("key: [id]\nsweep: hard"), .again], rows: ["1|'x'", "2|'y'"]),
    mirror(
      "no sweep of records without a key", ["leave out null-keys: insert and key-where, or sweep: none"],
      "key: [id]\nsweep: hard\nnull-keys: insert", before: nil, files: ["f.csv": feed], setup: "CREATE TABLE t(id INT UNIQUE, a); INSERT INTO t VALUES (1, 'old')",
      exit: 64, steps: [job("key: [id]\nsweep: none\nnull-keys: insert"), .again], rows: ["1|'x'", "2|'y'"]),
    mirror(
      "a trigger keeps rows", ["look at the triggers and constraints of the table"],
      "key: [id]\nsweep: hard\nguards: {max-delete: 100%}", before: nil, files: ["f.csv": "id,a\n1,x\n"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y'); "
        + "CREATE TRIGGER r BEFORE DELETE ON t BEGIN SELECT raise(ABORT, 'no'); END",
      steps: [.sql("DROP TRIGGER r"), .again], rows: ["1|'x'"]),
    mirror(
      "a mark that is in the feed", ["name another one, or leave it out of the feed: columns: [...]"],
      "key: [id]\nsweep: {soft: a}", before: nil, files: ["f.csv": feed],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a, gone)", exit: 64,
      steps: [job("key: [id]\nsweep: {soft: gone}"), .again], rows: ["1|'x'|NULL", "2|'y'|NULL"]),
    mirror(
      "a mark that is left out of the feed", ["name another one, or leave it out of the feed: columns: [...]"],
      "key: [id]\nsweep: {soft: a}", before: nil, files: ["f.csv": feed], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)",
      exit: 64, steps: [job("key: [id]\nsweep: {soft: a}\ncolumns: [id]"), .again], rows: ["1|NULL", "2|NULL"]),
    HintScenario(
      name: "mirror: one transaction of tables with different scripts", hints: ["atomic: table makes each table visible at once"],
      files: ["f.csv": feed, "i.sql": "PRAGMA recursive_triggers = ON;", "j.yaml": pair("job")],
      first: ["mirror", "d.db", "j.yaml"], firstExit: 64, steps: [.write("j.yaml", pair("table")), .again],
      query: "SELECT * FROM t UNION ALL SELECT * FROM u", rows: ["1|'x'", "2|'y'", "1|'x'", "2|'y'"]),
    HintScenario(
      name: "mirror: a job whose name no unit can hold", hints: ["rename it"],
      files: ["f.csv": feed, "j\tx.yaml": "tables:\n  t: {source: f.csv, key: [id]}\n"],
      first: ["mirror", "d.db", "j\tx.yaml", "--systemd"], firstExit: 64,
      steps: [
        .shell("mv j*x.yaml j.yaml && upsurge mirror d.db j.yaml --systemd >/dev/null"), .run(["mirror", "d.db", "j.yaml"]),
      ], rows: ["1|'x'", "2|'y'"]),
  ]
}
