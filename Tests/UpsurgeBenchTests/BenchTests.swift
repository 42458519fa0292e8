import Foundation
import TestSupport
import Testing
import Upsurge
import UpsurgeBench

/// Benchmarks: all contenders store the same, and what does not is refused; nothing is left behind.
@Suite("Bench")
struct BenchTests {
  let scratch = Scratch()

  private func job(_ suite: BenchJob.Suite = .new, rows: UInt64 = 700) -> BenchJob {
    var job = BenchJob()
    job.suite = suite
    job.rowCount = rows
    job.roundCount = 2
    job.scratch = scratch.path
    job.peerPath = scratch.file("bin")
    return job
  }

  private func job(file text: String, key: [String] = []) -> BenchJob {
    var job = job()
    job.rowCount = nil
    job.file = scratch.write(text, to: "input file")
    job.options.rules.key = key
    return job
  }

  /// The folders that benchmarks have left.
  private var leftovers: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: scratch.path))?.filter {
      $0.hasPrefix("upsurge-bench")
    }
      ?? []
  }

  /// Puts a program into the folder where peers are looked for.
  private func addProgram(_ name: String, _ script: String) throws {
    try FileManager.default.createDirectory(
      atPath: scratch.file("bin"), withIntermediateDirectories: true)
    let path = scratch.write("#!/bin/sh\n" + script, to: "bin/" + name)
    #expect(chmod(path, 0o700) == 0)
  }

  private func absence(_ name: String, in report: BenchReport) throws -> BenchReport.Absence? {
    try #require(report.entries.first { $0.name.contains(name) }).absence
  }

  @Test("All contenders store the rows that are made, in every suite", arguments: BenchJob.Suite.allCases)
  func suites(suite: BenchJob.Suite) throws {
    let report = try job(suite).run(control: RunControl())
    #expect(report.rowCount == 700)
    #expect(
      report.entries.map(\.kind) == (suite == .new ? [.floor, .floor] : []) + [
        .pattern, .pattern, .pattern, .upsurge,
      ])
    for entry in report.entries { #expect(entry.absence == nil && entry.runs.count == 2, "\(entry)") }
    #expect(leftovers.isEmpty)
  }

  @Test(
    "All contenders store a file as the load does",
    arguments: [
      ("a,b,c\n1,x,2.5\n,,\n3,\"\",1e3\n\"q\"\"q\",é,007\n", []),
      ("id,b\n1,x\n2,y\n1,z\n2,\n", ["id"]),
      ("b,id,c\nx,1,p\ny,2,p\nz,1,p\nx,1,q\n", ["c", "id"]),
      ("{\"a\":1,\"b\":[1,2]}\n{\"b\":\"\\n\",\"c\":null}\n{\"d\":1.5}\n", []),
      (
        "{\"id\":1,\"b\":{\"$base64\":true,\"encoded\":\"AAE=\"}}\n{\"id\":2,\"b\":{\"$base64\":true,\"encoded\":\"\"}}\n",
        ["id"]
      ),
    ] as [(String, [String])])
  func files(text: String, key: [String]) throws {
    let report = try job(file: text, key: key).run(control: RunControl())
    for entry in report.entries where entry.kind != .floor {
      #expect(entry.absence == nil && entry.runs.count == 2, "\(entry)")
    }
    // A key twice is more than an INSERT can take; that is said, and nothing else.
    for entry in report.entries where entry.kind == .floor && entry.absence != nil {
      #expect(entry.absence?.reason.text.contains("UNIQUE constraint failed") == true, "\(entry)")
    }
    #expect(leftovers.isEmpty)
  }

  @Test("Each round runs all of them once, in another order")
  func order() throws {
    var job = job(rows: 10)
    job.roundCount = 3
    var seen: [[String]] = [[], [], []]
    let report = try job.run(control: RunControl()) { progress in
      #expect(progress.roundCount == 3)
      seen[progress.round - 1].append(progress.contender)
    }
    for names in seen { #expect(Set(names) == Set(report.entries.map(\.name)) && names.count == 6) }
    #expect(Set(seen.map(\.first)).count == 3, "nobody is always the first")
  }

  @Test("--rows takes the first rows of a file, and other programs cannot")
  func firstRows() throws {
    var job = job(file: "id,b\n" + (1...500).map { "\($0),x\n" }.joined(), key: ["id"])
    job.rowCount = 123
    job.peers = [.sqlite3]
    try addProgram("sqlite3", "exit 0")
    let report = try job.run(control: RunControl())
    #expect(report.rowCount == 123 && report.input.hasPrefix("123 rows of "))
    for entry in report.entries where entry.kind != .peer { #expect(entry.absence == nil, "\(entry)") }
    #expect(try absence("sqlite3", in: report)?.reason.text.contains("it reads whole files") == true)
  }

  @Test("A pattern whose table is another one has no figure")
  func otherTable() throws {
    // A record that does not speak of b leaves it alone; a statement that binds NULL does not.
    let report = try job(file: "{\"id\":1,\"b\":2,\"c\":0}\n{\"id\":1,\"c\":3}\n", key: ["id"]).run(
      control: RunControl())
    for name in ["a new statement for each row", "one cached statement", "multi-row VALUES"] {
      let absence = try #require(try absence(name, in: report))
      #expect(absence.isFailure)
      #expect(
        absence.reason.text.contains("its table is not the one of upsurge load")
          && absence.reason.text.contains("this row is missing: 1, 2, 3"), "\(absence.reason)")
    }
    #expect(report.hasFailure && report.ownMedian != nil)
    #expect(report.entries.filter { $0.kind == .pattern }.allSatisfy { $0.median == nil })
  }

  @Test("Programs that are missing, fail, say nothing or store nothing are named, and the rest is measured")
  func peers() throws {
    var job = job(rows: 50)
    job.peers = [.sqlite3, .sqliteUtils, .duckdb]
    try addProgram("sqlite3", "[ \"$1\" = --version ] && { echo 9.9; exit 0; }; cat >/dev/null; exit 0")
    try addProgram("sqlite-utils", "[ \"$1\" = --version ] && { echo 9.9; exit 0; }; echo boom >&2; exit 3")
    let report = try job.run(control: RunControl())
    #expect(
      try absence("duckdb", in: report)
        == .init(isFailure: false, reason: "not installed: there is no program duckdb on the PATH"))
    let silent = try #require(try absence("sqlite3", in: report))
    #expect(silent.isFailure && silent.reason.text.contains("has made no database"), "\(silent)")
    let failing = try #require(try absence("sqlite-utils", in: report))
    #expect(failing.isFailure && failing.reason == "it failed: exit code 3: boom", "\(failing)")
    for entry in report.entries where entry.kind != .peer { #expect(entry.absence == nil) }
    #expect(report.notes.contains("sqlite3 is 9.9"))
    try addProgram("duckdb", "[ \"$1\" = --version ] && { echo v1; exit 0; }; echo 'no network' >&2; exit 1")
    job.peers = [.duckdb]
    let other = try job.run(control: RunControl())
    #expect(
      try absence("duckdb", in: other)?.reason == "its sqlite extension cannot be installed: no network")
    #expect(leftovers.isEmpty)
  }

  @Test(
    "sqlite3, where it is installed, stores the same; what it cannot store is refused",
    .enabled(if: ChildProcess.find("sqlite3") != nil))
  func realSQLite3() throws {
    for suite in BenchJob.Suite.allCases {
      var job = job(suite, rows: 200)
      job.peers = [.sqlite3]
      job.peerPath = nil
      let report = try job.run(control: RunControl())
      #expect(try absence("sqlite3", in: report) == nil, "\(report.entries)")
      #expect(report.commands.last?.contains("DIR/run.db") == true, "\(report.commands)")
    }
    var empty = job(file: "id,b\n1,x\n2,\n", key: ["id"])
    empty.peers = [.sqlite3]
    empty.peerPath = nil
    let reason = try #require(try absence("sqlite3", in: try empty.run(control: RunControl()))).reason
    #expect(reason.text.contains("this row is missing: 2, NULL"), "\(reason)")
  }

  @Test(
    "Names that programs could take for something else are files to them",
    .enabled(if: ChildProcess.find("sqlite3") != nil),
    arguments: [
      "-init.csv", "|touch mark.csv", "a b'c\"d\\e.csv", "a\n.shell touch mark\nSELECT 1;.csv", "é#?%41.csv",
    ])
  func hostileNames(name: String) throws {
    let mark = "mark-\(UInt64.random(in: 0 ... .max))"
    let path = scratch.write("id,b\n1,x\n2,y\n", to: name.split(separator: "mark").joined(separator: mark))
    var job = job()
    (job.rowCount, job.roundCount, job.peerPath) = (nil, 1, nil)
    job.options.rules.key = ["id"]
    job.peers = [.sqlite3]
    job.file = path
    #expect(try absence("sqlite3", in: try job.run(control: RunControl())) == nil)
    #expect(
      access(scratch.file(mark), F_OK) != 0 && access(mark, F_OK) != 0, "no command of the name was run")
    #expect(leftovers.isEmpty)
  }

  @Test("A cancellation ends a program and all that it has started, and removes the folder")
  func cancelChild() throws {
    let mark = scratch.file("mark")
    try addProgram(
      "sqlite3", "[ \"$1\" = --version ] && { echo 9.9; exit 0; }; sleep 100 & echo $! > \(mark); wait")
    var job = job(rows: 20)
    job.peers = [.sqlite3]
    let (control, finished) = (RunControl(), job)
    let waiter = Thread {
      while (try? readFile(mark).count) ?? 0 < 2 { usleep(10_000) }
      control.cancel(signal: SIGTERM)
    }
    waiter.start()
    let error = #expect(throws: UpsurgeError.self) { try finished.run(control: control) }
    #expect(error?.code == .interrupted)
    let text = String(decoding: try readFile(mark), as: UTF8.self)
    let sleeper = try #require(pid_t(text.split(separator: "\n")[0]))
    for _ in 0..<500 where kill(sleeper, 0) == 0 && !isZombie(sleeper) { usleep(10_000) }
    #expect(kill(sleeper, 0) != 0 || isZombie(sleeper))
    #expect(leftovers.isEmpty)
  }

  private func isZombie(_ process: pid_t) -> Bool {
    let status = (try? readFile("/proc/\(process)/status")).map { String(decoding: $0, as: UTF8.self) }
    return status?.contains("State:\tZ") ?? true
  }

  @Test("The rows are the same everywhere, and a later delivery differs in every row but not in the keys")
  func rows() throws {
    func lines(_ rows: NarrowRows) -> [[Substring]] {
      rows.text.split(separator: "\n").map { $0.split(separator: ",") }
    }
    let (before, after) = (lines(NarrowRows(count: 300)), lines(NarrowRows(count: 300, isChanged: true)))
    #expect(before.count == 301 && after.count == 301)
    for (old, new) in zip(before, after).dropFirst() {
      #expect(old.count == 6 && old[..<3] == new[..<3] && old[3...] != new[3...])
      #expect(old[5].count == 19)
    }
    let few = lines(NarrowRows(count: 300, isChanged: true, rowsPerChange: 100))
    #expect(few.indices.filter { few[$0] != before[$0] } == [100, 200, 300])
    #expect(few[200] == after[200])
    #expect(before[1].joined(separator: ",") == Self.firstRow)
    #expect(NarrowRows(count: 300).text == NarrowRows(count: 300).text)
    #expect(NarrowRows(count: 3, seed: 2).text != NarrowRows(count: 3).text)
  }

  private static let firstRow = "1,Liam Tanaka,books,280,6090.15,2024-03-01T20:48:50"
}
