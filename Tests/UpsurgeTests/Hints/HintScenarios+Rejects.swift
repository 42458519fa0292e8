extension HintTable {
  private static let text = "id,a\n1,x\n2\n3,z\n"
  private static let rest = ["1|'x'", "3|'z'"]
  private static let keyed = "CREATE TABLE t(id INTEGER PRIMARY KEY, a)"
  /// Leaves a file of rejects with the record 2.
  private static let made = "upsurge load d.db t f.csv --on-error reject --rejects bad.ndjson 2>/dev/null"

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
      "replay: no file of rejects", ["give a file that upsurge load --rejects wrote, with its first line"],
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
  ]
}
