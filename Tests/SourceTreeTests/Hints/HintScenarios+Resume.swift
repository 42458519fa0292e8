extension HintTable {
  private static let keyed = "CREATE TABLE t(id INTEGER PRIMARY KEY, a)"
  private static let often = ["--commit-every", "2"]
  private static let cut = "id,a\n1,x\n2,y\n3,z\n4\n5,w\n"
  private static let whole = "id,a\n1,x\n2,y\n3,z\n4,v\n5,w\n"
  private static let stored = ["1|'x'", "2|'y'", "3|'z'", "4|'v'", "5|'w'"]
  private static let without4 = ["1|'x'", "2|'y'", "3|'z'", "5|'w'"]

  /// Loads that end early, go on, or must not.
  static let resumeScenarios: [HintScenario] = [
    .load(
      "resume: goes on with rejects", ["the same command with --on-error reject --rejects table (or FILE) keeps such records and goes on"],
      cut, often, exit: 3, [.add("--on-error reject --rejects table")], exits: [2], rows: without4),
    .load(
      "resume: goes on by the command that is printed",
      ["the same command with --on-error reject --rejects table (or FILE) keeps such records and goes on"], cut, often, exit: 3,
      [.shell("true"), .run(["load", "--on-error", "reject", "--rejects", "table", "d.db", "t", "f.csv"] + often)], exits: [2],
      rows: without4),
    .load(
      "resume: with other options it is refused without a key, and then anew",
      ["…; with other options it is another job, from the first record: …"], cut, often, exit: 3,
      [.add("--ragged pad"), .printedSQL("DROP TABLE t"), .again],
      rows: ["1|'x'", "2|'y'", "3|'z'", "4|NULL", "5|'w'"]),
    .load(
      "resume: with other options and a key", ["…; with other options it is another job, from the first record: …"], cut,
      often, setup: keyed, exit: 3, [.add("--ragged pad")], rows: ["1|'x'", "2|'y'", "3|'z'", "4|NULL", "5|'w'"]),
    .load(
      "resume: another input without a key is refused, and the rows are removed",
      ["…; with other options it is another job, from the first record: …"], cut, often, exit: 3,
      [.write("f.csv", "id,a\n9,changed\n" + whole.dropFirst(5)), .again, .printedSQL("DROP TABLE t"), .again],
      query: "SELECT count(*), min(a) FROM t", rows: ["6|'changed'"]),
    HintScenario(
      name: "resume: refused, and the run is forgotten when its rows are deleted",
      hints: [
        "bring input and options back as they were…; ",
        "or remove the rows of that run: DROP TABLE … where they are all of it, else DELETE them and `upsurge runs … --forget …`",
      ],
      files: ["f.csv": cut],
      prepare: "upsurge load d.db t f.csv --commit-every 2 2>/dev/null; printf 'id,a\\n8,n\\n9,m\\n' > f.csv",
      first: ["load", "d.db", "t", "f.csv"] + often, firstExit: 4,
      steps: [.sql("DELETE FROM t"), .printed("upsurge runs .*--forget [0-9]+"), .again], rows: ["8|'n'", "9|'m'"]),
    HintScenario(
      name: "resume: refused, and input and options are brought back",
      hints: ["bring input and options back as they were…; "], files: ["f.csv": cut],
      prepare: "upsurge load d.db t f.csv --commit-every 2 2>/dev/null",
      first: ["load", "d.db", "t", "f.csv", "--ragged", "pad"] + often, firstExit: 4,
      steps: [.leaveOut(["--ragged", "pad"]), .again, .give(["--on-error", "reject"])], exits: [2], rows: without4),
    HintScenario(
      name: "resume: required, and the input has changed, without a key",
      hints: ["--resume never reads the input from its start; without a key, delete first what that run has stored"],
      files: ["f.csv": cut],
      prepare: "upsurge load d.db t f.csv --commit-every 2 2>/dev/null; printf 'id,a\\n8,n\\n9,m\\n' > f.csv",
      first: ["load", "d.db", "t", "f.csv", "--resume", "require"] + often, firstExit: 4,
      steps: [.sql("DELETE FROM t"), .leaveOut(["require", "--resume"]), .add("--resume never")], rows: ["8|'n'", "9|'m'"]),
    HintScenario(
      name: "resume: required, and the input has changed, with a key",
      hints: ["--resume never reads the input from its start; without a key, delete first what that run has stored"],
      files: ["f.csv": cut, "g.csv": whole.replacing("1,x", with: "1,u")],
      prepare: "upsurge load d.db t f.csv --commit-every 2 2>/dev/null; mv g.csv f.csv", setup: keyed,
      first: ["load", "d.db", "t", "f.csv", "--resume", "require"] + often, firstExit: 4,
      steps: [.leaveOut(["require", "--resume"]), .add("--resume never")],
      rows: ["1|'u'", "2|'y'", "3|'z'", "4|'v'", "5|'w'"]),
    .load(
      "resume: required, and there is nothing", ["leave out --resume require to load from the first record"], whole,
      ["--resume", "require"], exit: 4, [.leaveOut(["--resume", "require"]), .again], rows: stored),
    HintScenario(
      name: "resume: a stream cannot go on",
      hints: [
        "…: delete the rows of that run, or keep them, and forget it (upsurge runs … --forget …); then load from a file, or with --atomic"
      ],
      files: ["f.csv": cut], prepare: "upsurge load d.db t 'exec:cat f.csv' --commit-every 2 2>/dev/null",
      first: ["load", "d.db", "t", "exec:cat f.csv"] + often, firstExit: 4,
      steps: [
        .sql("DELETE FROM t"), .printed("upsurge runs .*--forget [0-9]+"), .write("f.csv", whole),
        .run(["load", "d.db", "t", "f.csv"]),
      ], rows: stored),
    HintScenario(
      name: "resume: a run that ended is forgotten",
      hints: [
        "`upsurge runs … --forget …` forgets that run: what it has committed stays, and the same command loads from the first record"
      ],
      files: ["f.csv": cut],
      prepare: "upsurge load d.db t f.csv --commit-every 2 2>/dev/null", change: "UPDATE upsurge_runs SET position = '{'",
      first: ["load", "d.db", "t", "f.csv"] + often,
      steps: [.sql("DELETE FROM t"), .write("f.csv", whole), .printed("upsurge runs .*--forget [0-9]+"), .again], rows: stored),
    HintScenario(
      name: "resume: a run that is not listed", hints: ["upsurge runs … lists them"], files: ["f.csv": cut],
      prepare: "upsurge load d.db t f.csv --commit-every 2 2>/dev/null", first: ["runs", "d.db", "--forget", "77"],
      steps: [.printed("upsurge runs d.db"), .run(["load", "d.db", "t", "f.csv", "--on-error", "reject"] + often)],
      exits: [2], rows: without4),
    HintScenario(
      name: "resume: a stream ended early", hints: ["  running it again would … …… twice; --atomic makes a run all or nothing"],
      files: ["f.csv": cut], first: ["load", "d.db", "t", "exec:cat f.csv"] + often, firstExit: 3,
      steps: [.sql("DROP TABLE t"), .write("f.csv", whole), .add("--atomic")], rows: stored),
  ]
}
