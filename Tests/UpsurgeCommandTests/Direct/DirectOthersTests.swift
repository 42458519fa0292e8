import Foundation
import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Other programs and other loads that make the database while it is being packed: everybody's rows are there in the
/// end.
@Suite("Direct loads beside others", .serialized)
struct DirectOthersTests {
  let scratch = Scratch()

  private var path: String { scratch.file("a.db") }
  private var image: String { path + "-upsurge" }
  private let wholeTable = ["\(SlowPacking.rowCount)|\(SlowPacking.rowCount)"]
  private static let count = "SELECT count(*), count(DISTINCT id) FROM t"

  @Test("A database that another program makes meanwhile stays, and the rows go into it")
  func madeMeanwhile() throws {
    let slow = try SlowPacking(path, scratch)
    try Database(path).rows("CREATE TABLE mine(a); INSERT INTO mine VALUES (7)")
    let outcome = try slow.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.talk.contains("another program has made the database"), "\(outcome.talk)")
    #expect(outcome.talk.components(separatedBy: "new table:").count == 2, "said twice: \(outcome.talk)")
    #expect(access(image, F_OK) != 0)
    let database = Database(path)
    #expect(try database.rows("SELECT a FROM mine") == ["7"])
    #expect(try database.rows(Self.count) == wholeTable)
    #expect(try database.rows("SELECT name FROM sqlite_schema ORDER BY 1") == ["'mine'", "'t'"])
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  @Test("A table of that name that another program makes meanwhile is filled, by its own types")
  func tableMadeMeanwhile() throws {
    let slow = try SlowPacking(path, scratch)
    try Database(path).rows("CREATE TABLE t(id TEXT, b TEXT); INSERT INTO t VALUES ('own', 'row')")
    let outcome = try slow.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      try Database(path).rows("SELECT count(*), count(DISTINCT id), min(typeof(id)), max(typeof(id)) FROM t")
        == ["\(SlowPacking.rowCount + 1)|\(SlowPacking.rowCount + 1)|'text'|'text'"])
  }

  @Test("A writer that has the database open and has not committed is waited for, whatever it does then")
  func openTransaction() throws {
    for end in ["COMMIT", "ROLLBACK"] {
      let slow = try SlowPacking(path, scratch)
      let other = Database(path)
      try other.rows("BEGIN IMMEDIATE; CREATE TABLE mine(a)")
      slow.child.send(signal: SIGCONT)
      usleep(1_500_000)
      try other.rows(end)
      let outcome = try slow.finish()
      #expect(outcome.exitCode == 0, "\(end): \(outcome.talk)")
      let database = Database(path)
      #expect(try database.rows(Self.count) == wholeTable, "\(end)")
      #expect(
        try database.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'mine'")
          == [end == "COMMIT" ? "1" : "0"])
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }
  }

  @Test("An empty file of the name, or what an older database has left beside it, is no database")
  func leftovers() throws {
    for suffix in ["", "-journal", "-wal"] {
      let slow = try SlowPacking(path, scratch)
      _ = scratch.write(suffix == "" ? "" : String(repeating: "old ", count: 5_000), to: "a.db" + suffix)
      let outcome = try slow.finish()
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(!outcome.talk.contains("another program"), "\(outcome.talk)")
      #expect(try Database(path).rows(Self.count) == wholeTable)
      #expect(access(image, F_OK) != 0)
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }
  }

  @Test("A second load waits for the database that is being made", arguments: ["always", "never"])
  func secondWaits(policy: String) throws {
    let slow = try SlowPacking(path, scratch)
    let second = try Command.start([
      "load", path, "u", scratch.write("id\n1\n", to: "b.csv"), "--direct", policy, "--busy-timeout", "60000",
    ])
    usleep(500_000)
    #expect(access(path, F_OK) != 0)
    let first = try slow.finish()
    #expect(first.exitCode == 0 && !first.talk.contains("another program"), "\(first.talk)")
    let outcome = try second.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows(Self.count) == wholeTable)
    #expect(try Database(path).rows("SELECT count(*) FROM u") == ["1"])
  }

  @Test("A second load that has waited for --busy-timeout makes the database; the first one goes on in it")
  func secondIsFaster() throws {
    let slow = try SlowPacking(path, scratch)
    let second = try Command.run([
      "load", path, "u", scratch.write("id\n1\n", to: "b.csv"), "--busy-timeout", "100",
    ])
    #expect(second.exitCode == 0, "\(second.talk)")
    let outcome = try slow.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows(Self.count) == wholeTable)
    #expect(try Database(path).rows("SELECT count(*) FROM u") == ["1"])
    #expect(access(image, F_OK) != 0)
  }

  @Test("The same job twice is refused with the process id of the first", .enabled(if: isLinux))
  func sameJob() throws {
    let slow = try SlowPacking(path, scratch)
    let second = try Command.run(["load", path, "t", slow.source])
    #expect(second.exitCode == 4, "\(second.talk)")
    #expect(
      second.talk.contains("this job is running already: process \(slow.child.processID) loads"),
      "\(second.talk)")
    let outcome = try slow.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows(Self.count) == wholeTable)
  }

  @Test("Loads that make the same database and table at once store all they read")
  func together() throws {
    for round in 0..<6 {
      let path = scratch.file("\(round).db")
      // Different files, as the same job twice would be refused.
      let children = try (0..<3).map { index in
        let text = "id,n\n" + (1...5_000).map { "\($0),\(round)\n" }.joined()
        let source = scratch.write(text, to: "\(round)-\(index).csv")
        return try Command.start([
          "load", path, "t", source, "--direct", index < 2 ? "always" : "never", "--busy-timeout", "60000",
        ])
      }
      for child in children {
        let outcome = try child.finish()
        #expect(outcome.exitCode == 0, "round \(round): \(outcome.talk)")
      }
      let database = Database(path)
      #expect(try database.rows("SELECT count(*), sum(id) FROM t") == ["15000|37507500"])
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
      #expect(access(path + "-upsurge", F_OK) != 0)
    }
  }

  @Test("The progress goes on while nothing is there")
  func progress() throws {
    let text = "id,b\n" + (0..<100_000).map { "\($0),row \($0)\n" }.joined()
    let source = scratch.write(text, to: "a.csv")
    var options = LoadOptions()
    options.transaction.direct = .always
    let control = RunControl()
    let path = path
    let watcher = try WorkerThread {
      while control.progress.records < 100_000 && access(path, F_OK) != 0 {
        if control.progress.records > 0 && access(path, F_OK) != 0 { control.cancel(signal: 15) }
        usleep(200)
      }
    }
    let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run(
      control: control)
    watcher.join()
    // Cancelled by who has seen records go by, and goes on from what was packed.
    #expect(summary.signal == 15 || summary.ledger.read == 100_000)
    #expect(summary.signal == 15, "nobody saw a record go by")
    if summary.ledger.read < 100_000 {
      #expect(summary.progress.isResumable && summary.progress.committedCount == summary.ledger.read)
      let rest = LoadJob(database: path, table: "t", sources: [source]).run()
      #expect(rest.exitCode == 0 && rest.progress.resumedCount == summary.progress.committedCount, "\(rest)")
    }
    #expect(
      try Database(path).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["100000|100000"])
  }
}

private let isLinux: Bool = {
  #if os(Linux)
    true
  #else
    false
  #endif
}()
