import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Files that a run writes, must not write, and must not remove.
@Suite("Output files")
struct OutputFileTests {
  let scratch = Scratch()

  @Test(
    "The reject that ends a run is told, and not left in the file: the same command reads it again",
    arguments: [
      ["--on-error", "stop"],
      ["--on-error", "reject", "--max-rejects", "0"],
    ])
  func rejectsAreKept(policy: [String]) throws {
    let source = scratch.write("a,b\n1,2\n3\n", to: "in.csv")
    let rejects = scratch.file("rejects")
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", source, "--rejects", rejects] + policy)
    #expect(outcome.exitCode == 65)
    #expect(try readFile(rejects).isEmpty)
    #expect(
      outcome.talk.contains("line 3, record 2, byte 8") && outcome.talk.contains("here: 3"), "\(outcome.talk)"
    )
  }

  @Test(
    "What is taken back is gone, buffered or written out, held back or not", arguments: [false, true],
    [10, 200_000])
  func takenBack(holdsBack: Bool, count: Int) throws {
    let path = scratch.file("output")
    func bytes(_ letter: Character) -> [UInt8] { Array(String(repeating: letter, count: count).utf8) }
    let file = try OutputFile(path: path, option: "--rejects", holdsBack: holdsBack)
    try file.append(bytes("a"))
    try file.keep()
    try file.append(bytes("b"))
    let mark = file.end
    try file.append(bytes("c"))
    try file.takeBack(to: mark)
    try file.append(bytes("d"))
    #expect(file.length == UInt64(3 * count))
    #expect(try readFile(path).contains(UInt8(ascii: "b")) == (!holdsBack && count > 65_536))
    try file.sync()
    try file.keep()
    #expect(try readFile(path) == bytes("a") + bytes("b") + bytes("d"))
    try file.append(bytes("e"))
    file.discard()
    #expect(try readFile(path).count == 3 * count)
  }

  @Test("Rejects of a transaction that is rolled back leave the file again, as they leave the ledger")
  func rejectsOfARollback() throws {
    let lines = (1...40).map { $0 % 10 == 0 ? "\($0)" : "\($0),x" }
    let source = scratch.write((["a,b"] + lines).joined(separator: "\n") + "\n", to: "in.csv")
    let rejects = scratch.file("rejects")
    func load(_ options: [String]) throws -> (code: Int32, ledger: Int?, records: [Int], talk: String) {
      try? FileManager.default.removeItem(atPath: scratch.file("a.db"))
      let outcome = try Command.run(
        [
          "load", scratch.file("a.db"), "t", source, "--rejects", rejects, "--summary", "-", "--on-error",
          "reject",
        ]
          + options)
      let summary = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
      // The first line says how the records were read.
      let records = try readFile(rejects).split(separator: 0x0A).dropFirst().map { line in
        (try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])?["record"] as? Int ?? -1
      }
      return (outcome.exitCode, (summary?["ledger"] as? [String: Int])?["rejected"], records, outcome.talk)
    }
    // Record 40 ends the run; 10 and 20 are committed with their neighbours, 30 is rolled back.
    let stopped = try load(["--commit-every", "25", "--max-rejects", "3"])
    #expect(stopped.code == 3 && stopped.ledger == 3 && stopped.records == [10, 20], "\(stopped)")
    let share = try load(["--max-rejects", "5%"])
    #expect(share.code == 65 && share.ledger == 0 && share.records.isEmpty, "\(share)")
    #expect(share.talk.contains("4 of 40 records were rejected"), "\(share.talk)")
    let complete = try load(["--max-rejects", "4"])
    #expect(
      complete.code == 2 && complete.ledger == 4 && complete.records == [10, 20, 30, 40], "\(complete)")
    for options in [["--dry-run"], ["--dry-run", "--max-rejects", "5%"]] {
      let trial = try load(options)
      #expect(trial.code == (options.count == 1 ? 2 : 65) && trial.records == [10, 20, 30, 40], "\(trial)")
    }
  }

  @Test("--rejects - is refused, as standard output cannot take rejects back")
  func rejectsToStandardOutput() throws {
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", "-", "--rejects", "-"], input: Array("a\n1\n".utf8))
    #expect(outcome.exitCode == 64 && outcome.talk.contains("--rejects takes a file"), "\(outcome.talk)")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }

  @Test(
    "No output overwrites an input, the database or another output",
    arguments: [
      ["--summary", "IN"], ["--summary", "DB"], ["--rejects", "IN"], ["--rejects", "DB"],
      ["--rejects", "NEW", "--summary", "NEW"],
    ])
  func overwriting(words: [String]) throws {
    let source = scratch.write("a,b\n1,2\n", to: "in.csv")
    let database = scratch.file("a.db")
    try Database(database).rows("CREATE TABLE kept(x)")
    let options = words.map {
      $0 == "IN" ? source : $0 == "DB" ? database : $0 == "NEW" ? scratch.file("new") : $0
    }
    let outcome = try Command.run(["load", database, "t", source] + options)
    #expect(outcome.exitCode == 64)
    #expect(outcome.talk.contains("would overwrite"))
    #expect(try readFile(source) == Array("a,b\n1,2\n".utf8))
    #expect(try Database(database).rows("SELECT count(*) FROM sqlite_schema") == ["1"])
  }

  @Test("A summary that cannot be made is said before anything is loaded")
  func summaryFirst() throws {
    let source = scratch.write("a\n1\n", to: "in.csv")
    let outcome = try Command.run(["load", scratch.file("a.db"), "t", source, "--summary", "/nowhere/s"])
    #expect(outcome.exitCode == 73)
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
  }

  @Test("A failed run leaves another process's database alone")
  func othersDatabase() throws {
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let child = try Command.start(["load", scratch.file("a.db"), "t", pipe])
    // While the first run waits for its input, somebody else makes the database.
    try Database(scratch.file("a.db")).rows(
      "PRAGMA journal_mode=WAL; CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)")
    let descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
    let bytes = Array("a,b\n1,2\n3\n".utf8)
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    #expect(try child.finish().exitCode == 65)
    #expect(try Database(scratch.file("a.db")).rows("SELECT * FROM theirs") == ["1"])
  }

  @Test("--infer full reads redirected standard input twice, all of it")
  func inferFullFromStandardInput() throws {
    let text = "id,v\n" + (1...200_000).map { "\($0),value of \($0)\n" }.joined()
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", "-", "--infer", "full"], input: Array(text.utf8))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      try Database(scratch.file("a.db")).rows("SELECT count(*), min(id), max(id) FROM t") == [
        "200000|1|200000"
      ])
  }

  @Test("One large record does not make all batches after it large")
  func largeRecordFirst() throws {
    var text = "id,v\n0,\"" + String(repeating: "x", count: 3 << 20) + "\"\n"
    for id in 1...400_000 { text += "\(id),value of \(id)\n" }
    let source = scratch.write(text, to: "in.csv")
    let outcome = try Command.run([
      "load", scratch.file("a.db"), "t", source, "--summary", "-", "--delimiter", ",", "--quote", "\"",
    ])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let summary = try #require(
      JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(try #require(summary["peak_memory_bytes"] as? Int) <= 96 << 20)
    #expect(
      try Database(scratch.file("a.db")).rows("SELECT count(*), max(length(v)) FROM t") == ["400001|3145728"])
  }

  @Test("JSON whose first record is larger than the sample is loaded all the same")
  func largeFirstRecord() throws {
    let text = #"{"a":1,"b":""# + String(repeating: "x", count: 1_200_000) + "\"}\n{\"a\":2}\n"
    let source = scratch.write(text, to: "in.ndjson")
    let outcome = try Command.run(["load", scratch.file("a.db"), "t", source])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(scratch.file("a.db")).rows("SELECT a, length(b) FROM t") == ["1|1200000", "2|NULL"])
  }

  @Test(
    "A type that is none is refused",
    arguments: [
      ["--type", "a:TEXT, evil INTEGER"], ["--type", "a:TEXT PRIMARY KEY"],
      ["--strict", "--type", "a:NUMERIC"],
      ["--type", "a:"],
    ])
  func types(words: [String]) throws {
    let source = scratch.write("a\n1\n", to: "in.csv")
    #expect(try Command.run(["load", scratch.file("a.db"), "t", source] + words).exitCode == 64)
  }
}
