import Foundation
import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which rejects a run reads again, whatever its files are called: what a kill has left of them is cut, and no replay
/// stores it.
@Suite("Places of rejects")
struct RejectPlaceTests {
  let scratch = Scratch()

  private var database: String { scratch.file("a.db") }
  private var rejects: String { scratch.file("bad.ndjson") }

  /// Every third of 30 records lacks a field.
  private static let text = "id,b\n" + (1...30).map { $0 % 3 == 0 ? "\($0)\n" : "\($0),x\n" }.joined()

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map { $0 + "\n" }
  }

  /// The records that the lines are about, with the file's name.
  private func records(_ path: String) throws -> [String] {
    try lines(path).compactMap {
      let json = try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      guard let record = json["record"], let file = json["file"] as? String else { return nil }
      return "\((file as NSString).lastPathComponent) \(record)"
    }
  }

  private func load(
    _ sources: [String], limit: UInt64? = nil, to path: String? = nil,
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.transaction.commitEvery = 4
    options.rejects.onError = .reject
    options.input.csv.delimiter = [UInt8(ascii: ",")]
    options.rejects.path = path ?? rejects
    options.rejects.limit = limit.map { .count($0) }
    change(&options)
    return LoadJob(database: database, table: "t", sources: sources, options: options).run()
  }

  private func makeTable() throws { try Database(database).rows("CREATE TABLE t(id INTEGER, b TEXT)") }

  @Test(
    "A file that is named twice: each reject is of its own reading", arguments: ["a.csv", "./a.csv"], [6, 15])
  func namedTwice(second: String, limit: Int) throws {
    try makeTable()
    let sources = [scratch.write(Self.text, to: "a.csv"), scratch.path + "/" + second]
    let whole = load(sources, to: scratch.file("whole.ndjson"))
    #expect(whole.exitCode == 2 && whole.ledger.rejected == 20)
    let all = try lines(scratch.file("whole.ndjson"))
    try Database(database).rows("DELETE FROM t")

    let stopped = load(sources, limit: UInt64(limit))
    #expect(stopped.exitCode == 3, "\(String(describing: stopped.error))")
    let kept = try lines(rejects)
    #expect(kept.elementsEqual(all.prefix(kept.count)) && kept.count > 5, "\(kept)")
    // What a killed run had written behind its last commit: both readings.
    _ = scratch.write(all.joined(), to: "bad.ndjson")
    let replayed = ReplayJob(database: database, file: rejects).run()
    let untried = replayed.tables.first?.untried.first { $0.code.rawValue == "unfinished" }
    #expect(untried?.count == UInt64(all.count - kept.count), "\(replayed)")
    let last = load(sources)
    #expect(last.exitCode == 2 && last.progress.resumedCount > 0 && last.ledger == whole.ledger, "\(last)")
    #expect(try lines(rejects) == all)
  }

  @Test("The file is the same however it is spelled, and from wherever")
  func spelling() throws {
    try makeTable()
    let folder = scratch.file("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = scratch.write(Self.text, to: "folder/m.csv")
    func start(_ place: String, _ name: String, _ more: [String] = []) throws -> Command.Outcome {
      try Command.run(
        [
          place, "load", database, "t", name, "--on-error", "reject", "--rejects", rejects, "--commit-every",
          "4",
        ]
          + more, script: #"cd "$1" && shift && exec "$0" "$@""#)
    }
    let first = try start(folder, "m.csv", ["--max-rejects", "5"])
    #expect(first.exitCode == 3, "\(first.talk)")
    let count = try records(rejects).count
    // What a killed run, started elsewhere, had written behind its last commit.
    let trial = try Command.run(
      [
        scratch.path, "load", scratch.file("b.db"), "t", "folder/m.csv", "--on-error", "reject", "--rejects",
        scratch.file("trial"),
      ], script: #"cd "$1" && shift && exec "$0" "$@""#)
    #expect(trial.exitCode == 2, "\(trial.talk)")
    let ahead = try lines(scratch.file("trial"))
    _ = scratch.write(
      (try lines(rejects) + [ahead[0]] + ahead.dropFirst(count + 1)).joined(), to: "bad.ndjson")
    #expect(try records(rejects).count == 10)

    let replayed = try Command.run(["replay", database, rejects])
    #expect(replayed.talk.contains("\(10 - count) unfinished"), "\(replayed.talk)")
    let last = try start("/", folder + "/m.csv")
    #expect(last.exitCode == 2, "\(last.talk)")
    #expect(try records(rejects) == (1...10).map { "m.csv \($0 * 3)" })
  }

  @Test(
    "Rejects of records that are read again leave the file that --rejects was before",
    arguments: ["another", "table", "nowhere"])
  func anotherFile(target: String) throws {
    try makeTable()
    let source = scratch.write(Self.text, to: "a.csv")
    let whole = load([source], to: scratch.file("whole.ndjson"))
    let all = try lines(scratch.file("whole.ndjson"))
    try Database(database).rows("DELETE FROM t")
    #expect(whole.exitCode == 2 && load([source], limit: 5).exitCode == 3)
    let kept = try lines(rejects)
    // What a killed run had written behind its last commit.
    _ = scratch.write(all.joined(), to: "bad.ndjson")
    let another = scratch.file("another.ndjson")
    let last = load([source]) {
      switch target {
      case "another": $0.rejects.path = another
      case "table": $0.rejects.target = .table
      default: $0.rejects.target = nil
      }
    }
    #expect(last.exitCode == 2 && last.progress.resumedCount > 0 && last.ledger == whole.ledger, "\(last)")
    #expect(try lines(rejects) == kept)
    if target == "another" { #expect(try lines(another) == [all[0]] + all.dropFirst(kept.count)) }
  }

  @Test("A dry run and other loads leave the rejects of a run alone that has not ended")
  func otherRuns() throws {
    try makeTable()
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source], limit: 5).exitCode == 3)
    let kept = try lines(rejects)
    let trial = load([source]) { $0.output.dryRun = .count }
    #expect(trial.exitCode == 4, "\(String(describing: trial.error))")
    let other = load([scratch.write("id,b\n1\n", to: "b.csv")])
    #expect(other.exitCode == 4, "\(String(describing: other.error))")
    #expect(other.error?.message.contains("holds what run 1 has rejected, which has not ended") == true)
    #expect(try lines(rejects) == kept)
    #expect(load([source]).exitCode == 2)
    #expect(try records(rejects).count == 10)
  }

  @Test("A file of rejects that was emptied holds nothing of a run that has not ended")
  func emptied() throws {
    try makeTable()
    #expect(load([scratch.write(Self.text, to: "a.csv")], limit: 5).exitCode == 3)
    _ = scratch.write("", to: "bad.ndjson")
    let other = load([scratch.write("id,b\n1\n", to: "b.csv")])
    #expect(other.exitCode == 2, "\(String(describing: other.error))")
    #expect(try records(rejects).count == 1)
  }

  @Test("So does a load of the same file into another table")
  func anotherTable() throws {
    try makeTable()
    try Database(database).rows("CREATE TABLE t2(id INTEGER, b TEXT)")
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source], limit: 5).exitCode == 3)
    let kept = try lines(rejects)
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.input.csv.delimiter = [UInt8(ascii: ",")]
    options.rejects.path = rejects
    let other = LoadJob(database: database, table: "t2", sources: [source], options: options).run()
    #expect(other.exitCode == 4, "\(String(describing: other.error))")
    #expect(try lines(rejects) == kept)
  }

  @Test(
    "A run that comes back to its first file of rejects finds there what it has left",
    arguments: [true, false])
  func backAgain(isTable: Bool) throws {
    try makeTable()
    let source = scratch.write(Self.text, to: "a.csv")
    let whole = load([source], to: scratch.file("whole.ndjson"))
    try Database(database).rows("DELETE FROM t")
    let another = scratch.file("another.ndjson")
    #expect(load([source], limit: 3).exitCode == 3)
    let kept = try lines(rejects)
    let second = load([source], limit: 6) { $0.rejects.target = isTable ? .table : .file(another) }
    #expect(second.exitCode == 3 && second.progress.resumedCount > 0)
    // The first file is still what it was to other loads.
    let other = load([scratch.write("id,b\n1\n", to: "b.csv")])
    #expect(other.exitCode == 4, "\(String(describing: other.error))")
    #expect(try lines(rejects) == kept)
    let last = load([source])
    #expect(last.exitCode == 2 && last.ledger == whole.ledger, "\(last)")
    var found = try records(rejects)
    if isTable {
      found += try Database(database).rows("SELECT record FROM upsurge_rejects").map { "a.csv \($0)" }
    } else {
      found += try records(another)
    }
    #expect(found.count == 10 && Set(found) == Set((1...10).map { "a.csv \($0 * 3)" }), "\(found)")
  }

  @Test("A file that was written before the first commit is not replayed unless that commit has come")
  func unconfirmed() throws {
    try makeTable()
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source], limit: 5).exitCode == 3)
    let kept = try lines(rejects)
    #expect(kept[0].hasPrefix("{"))
    // Killed behind its first commit, before the file could say so.
    let asWritten = "#" + kept.joined().dropFirst()
    _ = scratch.write(asWritten, to: "bad.ndjson")
    let replayed = ReplayJob(database: database, file: rejects).run()
    #expect(replayed.ledger.rejected == 5, "\(replayed)")
    _ = scratch.write(asWritten, to: "bad.ndjson")
    #expect(load([source], limit: 7).exitCode == 3)
    #expect(try lines(rejects)[0].hasPrefix("{"))
    // Killed before it.
    _ = scratch.write(asWritten, to: "copy.ndjson")
    let refused = ReplayJob(database: database, file: scratch.file("copy.ndjson")).run()
    #expect(refused.error?.code == .badInput, "\(refused)")
    #expect(refused.error?.message.contains("killed before it had committed") == true, "\(refused)")
    #expect(try String(decoding: readFile(scratch.file("copy.ndjson")), as: UTF8.self) == asWritten)
  }

  @Test(
    "Killed just behind the last commit: the file is confirmed when the ledger is shown, and can be replayed before"
  )
  func unconfirmedEnd() throws {
    try makeTable()
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source]) { $0.transaction.keepsHistory = true }.exitCode == 2)
    try Database(database).rows("UPDATE upsurge_runs SET state = 'complete'")
    let all = try lines(rejects)
    let asWritten = "#" + all.joined().dropFirst()
    _ = scratch.write(asWritten, to: "bad.ndjson")
    #expect(ReplayJob(database: database, file: rejects).run().ledger.rejected == 10)
    _ = scratch.write(asWritten, to: "bad.ndjson")
    let shown = load([source]) { $0.transaction.keepsHistory = true }
    #expect(shown.exitCode == 2 && shown.progress.resumedCount == 30, "\(shown)")
    #expect(try lines(rejects) == all)
  }

  @Test("What a replay has left that was killed before its first commit is in nobody's way")
  func leftReplay() throws {
    try makeTable()
    #expect(load([scratch.write(Self.text, to: "a.csv")]).exitCode == 2)
    let all = try lines(rejects)
    let left = scratch.write("#" + all[0].dropFirst(), to: "bad.ndjson.replay")
    _ = scratch.write(
      all.joined().replacing("\"raw\":\"3\"", with: "\"raw\":\"3,y\""), to: "bad.ndjson")
    let replayed = ReplayJob(database: database, file: rejects).run()
    #expect(replayed.exitCode == 2 && replayed.ledger.inserted == 1, "\(replayed)")
    #expect(try lines(rejects) == [all[0]] + all.dropFirst(2))
    #expect(access(left, F_OK) != 0)
    // What somebody else has put there stays.
    _ = scratch.write(all[0], to: "bad.ndjson.replay")
    let refused = ReplayJob(database: database, file: rejects).run()
    #expect(refused.exitCode == 73, "\(refused)")
    #expect(try lines(left) == [all[0]])
  }

  @Test("Killed within the first line of the file, the run goes on", arguments: [1, 5, 25, 60])
  func tornFirstLine(byteCount: Int) throws {
    try makeTable()
    let text = "id,b\n" + (1...30).map { $0 > 12 && $0 % 3 == 0 ? "\($0)\n" : "\($0),x\n" }.joined()
    let source = scratch.write(text, to: "a.csv")
    let whole = load([source], to: scratch.file("whole.ndjson"))
    let all = try lines(scratch.file("whole.ndjson"))
    try Database(database).rows("DELETE FROM t")
    #expect(load([source], limit: 0).exitCode == 3)
    #expect(try lines(rejects) == [])
    _ = scratch.write("#" + all[0].dropFirst().prefix(byteCount - 1), to: "bad.ndjson")
    let last = load([source])
    #expect(last.exitCode == 2 && last.progress.resumedCount == 12 && last.ledger == whole.ledger, "\(last)")
    #expect(try lines(rejects) == all)
  }

  @Test("A load that is refused before it begins leaves the file of rejects as it was")
  func refused() throws {
    try makeTable()
    _ = scratch.write("earlier\n", to: "bad.ndjson")
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source]) { $0.output.changesPath = scratch.file("none/changes") }.exitCode == 73)
    #expect(try lines(rejects) == ["earlier\n"])
    let empty = scratch.write("id,b\n", to: "empty.csv")
    #expect(load([empty]).exitCode == 0)
    #expect(try lines(rejects) == [])
  }

  @Test("What is not committed is not in the file, so that a kill leaves nothing there for a replay")
  func uncommitted() throws {
    try makeTable()
    let padding = String(repeating: "x", count: 60)
    let source = scratch.write(
      "id,b\n" + (1...400_000).map { $0 % 2 == 0 ? "\($0) \(padding)\n" : "\($0),\(padding)\n" }.joined(), to: "a.csv")
    let child = try Command.start([
      "load", database, "t", source, "--on-error", "reject", "--rejects", rejects, "--atomic", "--memory", "16MiB",
    ])
    var status = stat()
    for _ in 0..<60_000 where stat(database + "-wal", &status) != 0 || status.st_size < 1 << 18 { usleep(200) }
    child.send(signal: SIGKILL)
    #expect(try child.finish().exitCode == 1_000 + SIGKILL)
    #expect(try lines(rejects) == [])
    #expect(try Database(database).rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("A run goes on with a pipe for its rejects, and ends when nobody reads that")
  func pipe() throws {
    try makeTable()
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source], limit: 5).exitCode == 3)
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let second = load([source], to: pipe)
    #expect(
      second.exitCode == 3 && second.error?.message.contains("a pipe that nobody reads") == true, "\(second)")
  }

  @Test("What somebody has put into the place of the earlier file is left alone")
  func foreignFile() throws {
    try makeTable()
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source], limit: 5).exitCode == 3)
    _ = scratch.write("mine\n", to: "bad.ndjson")
    #expect(load([source], to: scratch.file("another.ndjson")).exitCode == 2)
    #expect(try lines(rejects) == ["mine\n"])
  }

  @Test(
    "Kept rejects are read once, also where no row has changed: a replay and the load behind it store nothing twice"
  )
  func onlyRejects() throws {
    try makeTable()
    let text = "id,b\n" + (1...20).map { $0 <= 12 ? "\($0)\n" : "\($0),x\n" }.joined()
    let source = scratch.write(text, to: "a.csv")
    let stopped = load([source], limit: 10)
    #expect(
      stopped.exitCode == 3 && stopped.progress.committedCount == 8 && stopped.progress.isResumable,
      "\(stopped)")
    #expect(try Database(database).rows("SELECT state FROM upsurge_runs") == ["'running'"])
    #expect(try lines(rejects).count == 9)
    _ = scratch.write(
      try lines(rejects).map { line in
        (1...12).reduce(line) { $0.replacing("\"raw\":\"\($1)\"", with: "\"raw\":\"\($1),y\"") }
      }.joined(), to: "bad.ndjson")
    #expect(ReplayJob(database: database, file: rejects).run().ledger.inserted == 8)
    let last = load([source])
    #expect(last.exitCode == 2 && last.progress.resumedCount == 8, "\(String(describing: last.error))")
    #expect(try Database(database).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["16|16"])
    #expect(try records(rejects) == (9...12).map { "a.csv \($0)" })
    #expect(try Database(database).rows("SELECT name FROM sqlite_schema WHERE name = 'upsurge_runs'") == [])
  }

  @Test("Rejects that are only counted, with no row changed, are not said to be stored twice")
  func countedOnly() throws {
    try makeTable()
    let source = scratch.write("id,b\n" + (1...20).map { "\($0)\n" }.joined(), to: "a.csv")
    let outcome = try Command.run([
      "load", database, "t", source, "--on-error", "reject", "--max-rejects", "10", "--commit-every", "4",
      "--delimiter", ",",
    ])
    #expect(outcome.talk.contains("more than 10 records were rejected"), "\(outcome.talk)")
    #expect(!outcome.talk.contains("twice"), "\(outcome.talk)")
    #expect(try Database(database).rows("SELECT name FROM sqlite_schema") == ["'t'"])
  }
}
