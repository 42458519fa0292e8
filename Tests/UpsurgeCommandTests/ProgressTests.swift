import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// What takes longer than a second shows how far it is, on a terminal.
@Suite("Progress on a terminal")
struct ProgressTests {
  let scratch = Scratch()

  /// A table of so many rows with an index's worth of text, made by SQLite itself.
  private func makeTable(_ name: String, rows: Int, in path: String) throws {
    try Database(path).rows(
      """
      CREATE TABLE \(name)(id INTEGER PRIMARY KEY, v TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO \(name) SELECT i, 'x' || (i * 7919 % \(rows)) FROM n
      """)
  }

  /// Runs with more and more rows until the line was seen: how long a machine takes is not known.
  private func expectLine(
    _ parts: String..., rows: [Int], run: (_ rows: Int, _ database: String) throws -> Command.Session
  ) throws {
    var last: Command.Session?
    for count in rows {
      let session = try run(count, scratch.file("\(count).db"))
      #expect(session.exitCode == 0, "\(session.screen.suffix(2_000))")
      if session.drawn.contains(where: { line in parts.allSatisfy(line.contains) }) { return }
      last = session
    }
    Issue.record("no line says \(parts): \(last?.screen.suffix(2_000) ?? "")")
  }

  @Test("A load shows its share, its rate and the time that is left")
  func load() throws {
    let source = scratch.write(
      "id,name\n" + (1...400_000).map { "\($0),name \($0)\n" }.joined(), to: "in.csv")
    try expectLine(" rows/s  ETA ", rows: [1, 4, 16]) { count, database in
      try Command.runOnTerminal(["load", database, "t"] + Array(repeating: source, count: count * 4))
    }
  }

  @Test("An index that is built says its name and for how long")
  func index() throws {
    try expectLine("building the index t_v_idx  0:0", rows: [1_000_000, 4_000_000]) { count, database in
      try makeTable("t", rows: count, in: database)
      let one = scratch.write("id,v\n0,a\n", to: "one.csv")
      return try Command.runOnTerminal(["load", database, "t", one, "--key", "id", "--index", "v"])
    }
  }

  @Test("Rows that a sweep removes")
  func sweep() throws {
    try expectLine("removing rows  0:0", rows: [1_000_000, 4_000_000]) { count, database in
      try makeTable("t", rows: count, in: database)
      let one = scratch.write("id,v\n0,a\n", to: "one.csv")
      return try Command.runOnTerminal([
        "mirror", database, "--table", "t", "--source", one, "--key", "id", "--sweep", "hard", "--max-delete",
        "100%",
      ])
    }
  }

  @Test("Tables of one transaction, which are swept and committed behind the last one")
  func group() throws {
    try expectLine("storing and removing rows of all tables  0:0", rows: [1_000_000, 4_000_000]) {
      count, database in
      for name in ["t", "u"] { try makeTable(name, rows: count, in: database) }
      _ = scratch.write("id,v\n0,a\n", to: "one.csv")
      let table = "{source: one.csv, key: id, sweep: hard, guards: {max-delete: 100%}}"
      let job = scratch.write("atomic: job\ntables: {t: \(table), u: \(table)}\n", to: "job.yaml")
      return try Command.runOnTerminal(["mirror", database, job])
    }
  }

  @Test("Keys that become UUIDs")
  func keys() throws {
    try expectLine(" keys/s  ETA ", rows: [50_000, 1_000_000, 4_000_000]) { count, database in
      try makeTable("t", rows: count, in: database)
      return try Command.runOnTerminal(["migrate-keys", database, "t"])
    }
  }

  @Test("Rejected records that are tried again, of how many there are")
  func replay() throws {
    try expectLine("replaying", " records/s  ETA ", rows: [30_000, 300_000, 1_000_000]) { count, database in
      let source = scratch.write("id,v\n" + (1...count).map { "\($0),\n" }.joined(), to: "in.csv")
      try Database(database).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT NOT NULL)")
      let load = try Command.run([
        "load", database, "t", source, "--key", "id", "--null", "", "--on-error", "reject", "--max-rejects",
        "100%",
        "--rejects", "table", "-q",
      ])
      #expect(load.exitCode == 2, "\(load.talk)")
      try Database(database).rows("DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
      return try Command.runOnTerminal(["replay", database])
    }
  }

  @Test("A source that is looked at, without a share where its length is not known")
  func inspect() throws {
    let session = try Command.runOnTerminal([
      "inspect", "--check", "exec:echo id; seq 1 2000; sleep 2; seq 2001 2500",
    ])
    #expect(session.exitCode == 0, "\(session.screen)")
    #expect(session.drawn.contains { $0.hasPrefix("looking at the input  ") && $0.contains("/s") })
    #expect(session.screen.contains("2,500 records, 0 with errors"))
  }

  @Test("What is over at once draws nothing, and a line is never wider than the terminal")
  func width() throws {
    let source = scratch.write("a\n1\n", to: "a.csv")
    var short: Command.Session?
    let duration = try ContinuousClock().measure {
      short = try Command.runOnTerminal(["load", scratch.file("a.db"), "t", source])
    }
    #expect(short?.exitCode == 0, "\(short?.screen ?? "")")
    if duration < .milliseconds(500) { #expect(short?.drawn == []) }
    let narrow = try Command.runOnTerminal(
      ["load", scratch.file("b.db"), "t", "exec:echo id; seq 1 2000; sleep 2; seq 2001 2500"], columns: 20)
    #expect(!narrow.drawn.isEmpty && narrow.drawn.allSatisfy { $0.count < 20 }, "\(narrow.drawn)")
  }

  @Test("With -q and --progress never, nothing is drawn", arguments: ["-q", "--progress=never"])
  func silent(option: String) throws {
    let session = try Command.runOnTerminal([
      "load", scratch.file("a.db"), "t", "exec:echo id; seq 1 200; sleep 1; seq 201 250", option,
    ])
    #expect(session.exitCode == 0 && session.drawn.isEmpty, "\(session.screen)")
  }

  @Test("Each stage has its words")
  func words() {
    let control = RunControl()
    func line(seconds: Double = 2) -> String { ProgressLine.text(control.progress, seconds: seconds) }
    #expect(line() == "reading  0:00")
    control.note(totalBytes: 4_096)
    control.note(bytes: 1_024)
    #expect(line() == "reading  [#####...............] 25 %  1.0 KiB  512 B/s  ETA 0:06")
    control.note(records: 1_000, rejects: 3)
    #expect(
      line() == "loading  [#####...............] 25 %  1.0 KiB  1,000 rows  500 rows/s  ETA 0:06  3 rejected")
    control.note(records: 1_000, rejects: 0, stage: .packing)
    #expect(line().hasPrefix("packing  [#####"))
    let others: [(RunControl.Stage, String)] = [
      (.sorting, "sorting keys"), (.sweeping, "removing rows"), (.indexing, "making indexes"),
      (.finishing, "writing to disk"),
    ]
    for (stage, words) in others {
      control.note(stage: stage)
      #expect(line() == "\(words)  0:00  1,000 rows")
    }
    control.note(stage: .indexing, work: "building the index a\u{1B}b")
    #expect(line().hasPrefix("building the index a") && !line().contains("\u{1B}"))
  }

  @Test("Records of which the number is known have a share")
  func share() {
    let control = RunControl()
    control.note(totalRecords: 2_000)
    control.note(records: 500, rejects: 0, stage: .replaying)
    #expect(
      ProgressLine.text(control.progress, seconds: 1)
        == "replaying  [#####...............] 25 %  500 of 2,000 records  500 records/s  ETA 0:03")
  }
}
