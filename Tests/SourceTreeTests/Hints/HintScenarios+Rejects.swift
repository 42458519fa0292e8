extension HintTable {
  private static let text = "id,a\n1,x\n2\n3,z\n"
  private static let rest = ["1|'x'", "3|'z'"]
  private static let keyed = "CREATE TABLE t(id INTEGER PRIMARY KEY, a)"
  /// Leaves a file of rejects with the record 2.
  private static let made = "upsurge load d.db t f.csv --on-error reject --rejects bad.ndjson 2>/dev/null"
  private static let goesOn = ["load", "d.db", "t", "f.csv", "--commit-every", "1", "--on-error", "reject"]
  /// A run that has ended early, with a reject in its file.
  private static let ended =
    "printf 'id,a\\n7,x\\n8\\n' > g.csv; printf '4\\n' >> f.csv; "
    + "upsurge load d.db t f.csv --commit-every 1 --on-error reject --max-rejects 1 --rejects bad.ndjson 2>/dev/null"

  private static func replay(
    _ name: String, _ hints: [String], prepare: String = made, _ first: [String], exit: Int32? = nil,
    steps: [HintScenario.Step], exits: Set<Int32> = [0, 2], rows: [String] = rest
  ) -> HintScenario {
    HintScenario(
      name: name, hints: hints, files: ["f.csv": text], prepare: prepare, setup: keyed, first: first, firstExit: exit,
      steps: steps, exits: exits, rows: rows)
  }

  /// Records that were set aside, and their replay.
  static let rejectScenarios: [HintScenario] = [
    .load(
      "rejects: a record is left out", ["--on-error reject goes on without it; --rejects FILE keeps it"],
      "id,a\n1,x\n2,\n3,z\n", setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL)", exit: 65,
      [.add("--on-error reject"), .give(["--rejects", "bad.ndjson"])], exits: [2], rows: rest),
    .load(
      "rejects: parts of rows change rows that exist", ["--mode update changes only rows that exist"], "id,b\n1,5\n2,6\n",
      ["--on-error", "stop"],
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL, b INT); INSERT INTO t VALUES (1, 'x', 0)", exit: 65,
      [.add("--mode update"), .again], rows: ["1|'x'|5"]),
    replay(
      "rejects: the file is somebody else's", ["move it away, or give another path to --rejects"],
      prepare: "upsurge load d.db t f.csv --commit-every 1 --on-error reject --max-rejects 0 --rejects bad.ndjson 2>/dev/null; echo mine > bad.ndjson",
      ["load", "d.db", "t", "f.csv", "--commit-every", "1", "--on-error", "reject", "--rejects", "bad.ndjson"],
      steps: [.shell("mv bad.ndjson mine"), .again], exits: [2]),
    replay(
      "replay: no such log", ["give at least --wal-limit 4MiB"], ["replay", "d.db", "bad.ndjson", "--wal-limit", "1MiB"], exit: 64,
      steps: [.leaveOut(["1MiB", "--wal-limit"]), .add("--wal-limit 4MiB")]),
    replay(
      "replay: too little memory", ["give at least --memory 16MiB"], ["replay", "d.db", "bad.ndjson", "--memory", "1MiB"], exit: 64,
      steps: [.leaveOut(["1MiB", "--memory"]), .add("--memory 16MiB")]),
    replay(
      "replay: not a file of rejected records", ["give a file that upsurge load --rejects wrote, with its first line"],
      ["replay", "d.db", "f.csv"], exit: 65, steps: [.run(["replay", "d.db", "bad.ndjson"])]),
    replay(
      "replay: a link", ["give the path of the file itself"], prepare: made + "; ln -s bad.ndjson link.ndjson",
      ["replay", "d.db", "link.ndjson"], exit: 64, steps: [.run(["replay", "d.db", "bad.ndjson"])]),
    replay(
      "replay: a pipe", ["save the rejects to a file first"], ["replay", "d.db", "/dev/null"], exit: 64,
      steps: [.run(["replay", "d.db", "bad.ndjson"])]),
    replay(
      "replay: a summary over the rejects", ["give another path to --summary"],
      ["replay", "d.db", "bad.ndjson", "--summary", "bad.ndjson"], exit: 64,
      steps: [.run(["replay", "d.db", "bad.ndjson", "--summary", "s.json"])]),
    replay(
      "replay: something is in the way",
      ["if a replay into another database was cut short, end that one first; else move the file away"],
      prepare: made + "; echo mine > bad.ndjson.replay", ["replay", "d.db", "bad.ndjson"],
      steps: [.shell("mv bad.ndjson.replay mine"), .again]),
    replay(
      "replay: a rule of a file that is not trusted",
      ["upsurge replay --trust-rules runs it; use that only where you know who wrote the rules"],
      prepare:
        "upsurge load d.db t f.csv --set \"a=coalesce(excluded.a, (SELECT max(a) FROM t))\" --on-error reject --rejects bad.ndjson 2>/dev/null; sed -i 's/^2$/2,y/; s/\"raw\":\"2\"/\"raw\":\"2,y\"/' bad.ndjson",
      ["replay", "d.db", "bad.ndjson"], steps: [.give(["--trust-rules"])], rows: ["1|'x'", "2|'y'", "3|'z'"]),
    .load(
      "rejects: more than are borne are shown first", ["; --dry-run with … and without --max-rejects shows them all"],
      text + "4\n", ["--on-error", "reject", "--max-rejects", "1"], exit: 65,
      [
        .leaveOut(["1", "--max-rejects"]), .give(["--dry-run", "--rejects", "bad.ndjson"]),
        .run(["load", "d.db", "t", "f.csv", "--on-error", "reject", "--max-rejects", "2"]),
      ], exits: [2], rows: rest),
    replay(
      "rejects: the file is another run's, and another one is given",
      ["give another path to --rejects; or end that run first by its own command, or give it up: upsurge runs … --forget …"],
      prepare: ended, ["load", "d.db", "t", "g.csv", "--on-error", "reject", "--rejects", "bad.ndjson"], exit: 4,
      steps: [.leaveOut(["bad.ndjson"]), .give(["other.ndjson"]), .shell("test -s bad.ndjson && test -s other.ndjson")],
      exits: [0], rows: ["1|'x'", "3|'z'", "7|'x'"]),
    replay(
      "rejects: the file is another run's, which ends first",
      ["give another path to --rejects; or end that run first by its own command, or give it up: upsurge runs … --forget …"],
      prepare: ended, ["load", "d.db", "t", "g.csv", "--on-error", "reject", "--rejects", "bad.ndjson"], exit: 4,
      steps: [
        .run(goesOn + ["--max-rejects", "2", "--rejects", "bad.ndjson"]),
        .run(["load", "d.db", "t", "g.csv", "--on-error", "reject", "--rejects", "bad.ndjson"]),
      ], rows: ["1|'x'", "3|'z'", "7|'x'"]),
    replay(
      "rejects: the file is another run's, which is given up",
      ["give another path to --rejects; or end that run first by its own command, or give it up: upsurge runs … --forget …"],
      prepare: ended, ["load", "d.db", "t", "g.csv", "--on-error", "reject", "--rejects", "bad.ndjson"], exit: 4,
      steps: [
        .printed("upsurge runs .*--forget [0-9]+"),
        .run(["load", "d.db", "t", "g.csv", "--on-error", "reject", "--rejects", "bad.ndjson"]),
      ], rows: ["1|'x'", "3|'z'", "7|'x'"]),
    replay(
      "replay: the first line is not as it was", ["put back the line as upsurge load --rejects wrote it"],
      prepare: made + "; sed 's/\"raw\":\"2\"/\"raw\":\"2,y\"/' bad.ndjson > good; "
        + "sed 's/\"format\":\"csv\"/\"format\":7/' good > bad.ndjson",
      ["replay", "d.db", "bad.ndjson"], exit: 65, steps: [.shell("mv good bad.ndjson"), .again], rows: ["1|'x'", "2|'y'", "3|'z'"]),
    HintScenario(
      name: "replay: what was kept is no replay's",
      hints: ["UPDATE upsurge_replays SET progress = NULL forgets what earlier replays have not told; no record is lost"],
      files: ["f.csv": "id,a\n1,x\n5,x\n6,x\n7,x\n2\n3\n4\n"],
      prepare: made + "; sed 's/\"raw\":\"\\(.\\)\"/\"raw\":\"\\1,y\"/' bad.ndjson > good; mv good bad.ndjson; "
        + "upsurge replay d.db bad.ndjson --commit-every 1 2>/dev/null",
      setup: keyed + """
        ; CREATE TABLE upsurge_replays (path TEXT PRIMARY KEY, done_bytes INTEGER, done_hash INTEGER, kept_bytes INTEGER,
          kept_hash INTEGER, whole INTEGER, updated_at TEXT NOT NULL DEFAULT (datetime('now')));
        CREATE TRIGGER stop BEFORE UPDATE OF whole ON upsurge_replays BEGIN SELECT RAISE(ABORT, 'stopped here'); END
        """, change: "DROP TRIGGER stop; UPDATE upsurge_replays SET progress = '{'", first: ["replay", "d.db", "bad.ndjson"],
      firstExit: 1, steps: [.printedSQL("UPDATE [^\n]+ NULL"), .again],
      query: "SELECT count(*), max(a) FROM t WHERE id IN (2, 3, 4)", rows: ["3|'y'"]),
    HintScenario(
      name: "replay: a kept record that is large",
      hints: ["the record has … bytes, more than the … of an eighth of --memory; --memory …MiB has room for it"],
      prepare: "(printf '{\"id\":1,\"b\":2,\"a\":\"'; head -c 3000000 /dev/zero | tr '\\0' y; printf '\"}\\n') > f.ndjson; "
        + "upsurge load d.db t f.ndjson --contract quarantine --on-error reject 2>/dev/null",
      setup: keyed, change: "ALTER TABLE t ADD COLUMN b", first: ["replay", "d.db", "--memory", "16MiB"], firstExit: 2,
      steps: [.leaveOut(["16MiB", "--memory"]), .add("--memory [0-9]+MiB")], query: "SELECT id, length(a), b FROM t",
      rows: ["1|3000000|2"]),
    HintScenario(
      name: "replay: records that name files", hints: ["upsurge replay --blob-folder DIR, where their files lie"],
      files: ["f.ndjson": "{\"id\":1,\"a\":\"p\"}\n"],
      prepare: "upsurge load d.db t f.ndjson --blob file --on-error reject --rejects bad.ndjson 2>/dev/null; printf hi > p",
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB)", first: ["replay", "d.db", "bad.ndjson"], firstExit: 2,
      steps: [.give(["--blob-folder", "."])], query: "SELECT id, CAST(a AS TEXT) FROM t", rows: ["1|'hi'"]),
    HintScenario(
      name: "rejects: a record names a file of another folder", hints: ["is outside of … (--blob-folder names another folder)"],
      prepare: "mkdir in o; printf hi > o/p; printf '{\"id\":1,\"a\":\"%s/o/p\"}\\n' \"$PWD\" > in/f.ndjson",
      setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB)", first: ["load", "d.db", "t", "in/f.ndjson", "--blob", "file"],
      firstExit: 65, steps: [.give(["--blob-folder", "o"])], query: "SELECT id, CAST(a AS TEXT) FROM t", rows: ["1|'hi'"]),
  ]
}
