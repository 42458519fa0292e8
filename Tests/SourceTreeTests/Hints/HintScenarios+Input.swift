extension HintTable {
  private static let two = "id,a\n1,x\n2,y\n"
  private static let stored = ["1|'x'", "2|'y'"]

  private static func input(
    _ name: String, _ hints: [String], _ source: [String], _ files: [String: String] = ["f.csv": two],
    bytes: [String: [UInt8]] = [:], setup: String = "", exit: Int32? = nil, steps: [HintScenario.Step],
    exits: Set<Int32> = [0], query: String = "SELECT * FROM t", rows: [String] = stored
  ) -> HintScenario {
    HintScenario(
      name: name, hints: hints, files: files, bytes: bytes, setup: setup, first: ["load", "d.db", "t"] + source,
      firstExit: exit, steps: steps, exits: exits, query: query, rows: rows)
  }
  private static func load(_ words: String...) -> HintScenario.Step { .run(["load", "d.db", "t"] + words) }

  /// Where the input comes from, and how it is packed.
  static let inputScenarios: [HintScenario] = [
    input("input: the path is wrong", ["check the path", "; it was looked for in …"], ["g.csv"], exit: 66, steps: [load("f.csv")]),
    input("input: a folder", ["name its files: …*.csv"], ["."], exit: 66, steps: [load("./f.csv")]),
    input("input: no file matches", ["check the pattern", "; it was tried in …"], ["g*.csv"], exit: 66, steps: [load("f*.csv")]),
    input("input: standard input twice", ["name - once"], ["-", "-"], exit: 64, steps: [.shell("upsurge load d.db t - < f.csv")]),
    input("input: a URL of a file", ["name the file by its path"], ["file:///tmp/f.csv"], exit: 66, steps: [load("f.csv")]),
    input(
      "input: another scheme", ["let a program fetch it: 'exec:COMMAND' reads what COMMAND writes"], ["s3://bucket/f.csv"], exit: 66,
      steps: [load("exec:cat f.csv")]),
    input("input: no command", ["give one: 'exec:COMMAND', as sh -c takes it"], ["exec: "], exit: 64, steps: [load("exec:cat f.csv")]),
    input(
      "input: a command that is not there", ["the shell has found no such command; give its path"], ["exec:nocat f.csv"], exit: 65,
      steps: [load("exec:/bin/cat f.csv")]),
    input(
      "input: a command that fails", ["try it by itself…: sh -c … >/dev/null"], ["exec:cat f.csv && false"], exit: 65,
      steps: [.sql("DROP TABLE IF EXISTS t"), load("exec:cat f.csv")]),
    input(
      "input: no rows of a database", ["give …PATH#TABLE, or '…PATH?query=SELECT …'"], ["sqlite:d.db"], exit: 64,
      steps: [.sql("CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,'y')"), .shell("cp d.db s.db"), load("sqlite:s.db#s")]),
    input(
      "input: no rows of a database, and a query", ["give …PATH#TABLE, or '…PATH?query=SELECT …'"], ["sqlite:d.db"], exit: 64,
      steps: [
        .sql("CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,'y')"), .shell("cp d.db s.db"),
        load("sqlite:s.db?query=SELECT id, a FROM s"),
      ]),
    input("input: plain, and gzip is said", ["--compression auto finds out by itself; none takes the bytes as they are"],
      ["f.csv", "--compression", "gzip"], exit: 65, steps: [load("f.csv", "--compression", "auto")]),
    input("input: plain, and nothing is said", ["--compression auto finds out by itself; none takes the bytes as they are"],
      ["f.csv", "--compression", "zstd"], exit: 65, steps: [load("f.csv", "--compression", "none")]),
    input(
      "input: an empty file is no gzip", ["make it again; --compression auto takes an empty file for no records"],
      ["e.csv", "--compression", "gzip"], ["e.csv": ""], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", exit: 65,
      steps: [load("e.csv", "--compression", "auto")], rows: []),
    HintScenario(
      name: "input: gzip, and zstd is said", hints: ["--compression …, or auto"],
      bytes: [
        "f.csv.gz": [
          0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x4C, 0xD1, 0x49, 0xE4, 0x32, 0xD4, 0xA9, 0xE0, 0x02, 0, 0x21, 0x2E, 0xB6, 0x34,
          9, 0, 0, 0,
        ]
      ],
      first: ["load", "d.db", "t", "f.csv.gz", "--compression", "zstd"], firstExit: 65, steps: [.add("--compression gzip")],
      exits: [0, 64, 65], query: "SELECT 1", rows: ["1"]),
    input(
      "input: rows of a database have no format", ["leave out --format"], ["sqlite:s.db#s", "--format", "csv"],
      setup: "CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,'y')", exit: nil,
      steps: [.shell("cp d.db s.db"), load("sqlite:s.db#s")]),
    input(
      "input: a table that the database lacks", ["it has: …"], ["sqlite:d.db#nope"],
      setup: "CREATE TABLE s(id, a); INSERT INTO s VALUES (1,'x'),(2,'y')",
      steps: [.shell("cp d.db s.db"), load("sqlite:s.db#s")]),
    HintScenario(
      name: "input: a pipe cannot be read twice", hints: ["save it to a file first, or make the table before the load"],
      first: ["load", "d.db", "t", "exec:seq 1 200000", "--infer", "full"],
      steps: [.shell("seq 1 200000 > f.csv"), load("f.csv", "--infer", "full")], query: "SELECT count(*) FROM t",
      rows: ["200000"]),
    HintScenario(
      name: "input: grows too much",
      hints: ["--max-ratio … reads on if it is meant to be so repetitive; --max-ratio none sets no bound"],
      prepare: "(echo id,a; for i in 1 2 3 4 5 6 7; do printf '%010000000d,x\\n' $i; done) | gzip -1 > f.csv.gz",
      first: ["load", "d.db", "t", "f.csv.gz", "--atomic", "--max-ratio", "5"],
      steps: [.leaveOut(["--max-ratio", "5"]), .add("--max-ratio [0-9]+")],
      query: "SELECT count(*) FROM t", rows: ["7"]),
    HintScenario(
      name: "input: standard input is closed", hints: ["pipe the input in, or name a file"], files: ["f.csv": two],
      first: ["load", "d.db", "t", "-"], firstExit: 66, closesInput: true,
      steps: [.shell("upsurge load d.db t - < f.csv")], rows: stored),
    HintScenario(
      name: "input: standard input is closed, and a file is named", hints: ["pipe the input in, or name a file"],
      files: ["f.csv": two],
      first: ["load", "d.db", "t"], firstExit: 66, closesInput: true, steps: [load("f.csv")], rows: stored),
  ]
}
