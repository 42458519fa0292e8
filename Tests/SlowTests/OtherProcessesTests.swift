import CSQLite
import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge

/// Writers and readers at the same time: every one gets its turn, and every reader sees a committed state.
///
/// `UPSURGE_SECONDS=60 swift test --filter OtherProcesses` runs it for a minute, with the default timeout for all.
@Suite("Other processes", .serialized)
struct OtherProcessesTests {
  let scratch = Scratch()
  private static let asked = ProcessInfo.processInfo.environment["UPSURGE_SECONDS"].flatMap(Double.init)
  private let seconds = Self.asked ?? 5
  /// On a busy machine five seconds are no long time; who asks for a measurement gets the default.
  private let timeout: Int32 = Self.asked == nil ? 30_000 : 5_000

  @Test(
    "Two loads and a foreign writer write, three readers see prefixes",
    arguments: ["1000", "100000"])
  func together(commitEvery: String) throws {
    let path = scratch.file("a.db")
    try Database(path).rows(
      """
      PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE other(x INTEGER PRIMARY KEY)
      """)
    let programs = Programs(path: path, timeout: timeout, end: Date().addingTimeInterval(seconds))
    let notes = programs.notes
    var children: [Command.Child] = []
    // Threads, not tasks, which would wait behind other tests.
    let threads = Threads()
    let fed = Mutex([0, 0])
    for index in 0..<2 {
      let pipe = scratch.file("pipe\(index)")
      #expect(mkfifo(pipe, 0o600) == 0)
      children.append(
        try Command.start([
          "load", path, "t", pipe, "--key", "id", "--commit-every", commitEvery, "--busy-timeout",
          "\(timeout)",
        ]))
      threads.start {
        let count = programs.feed(pipe, first: index * keyCount)
        fed.withLock { $0[index] = count }
      }
    }
    threads.start { programs.write() }
    for _ in 0..<3 { threads.start { programs.read() } }
    threads.join()
    let counts = fed.withLock { $0 }
    for child in children {
      let outcome = try child.finish()
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
    }
    #expect(notes.failures.isEmpty, "\(notes.failures)")
    let database = Database(path)
    for index in 0..<2 {
      let range = "id BETWEEN \(index * keyCount) AND \(index * keyCount + keyCount - 1)"
      let state = try database.rows("SELECT count(*), min(n), max(n), sum(n) FROM t WHERE \(range)")
      #expect(state == [programs.prefix(counts[index])], "of \(counts[index])")
    }
    let writes = notes.waits.sorted()
    #expect(try database.rows("SELECT count(*) FROM other") == ["\(writes.count)"])
    #expect(!writes.isEmpty && notes.snapshotCount > 0)
    if Self.asked != nil, let longest = writes.last {
      print(
        "commit-every \(commitEvery): \(counts) records, \(notes.snapshotCount) snapshots, \(writes.count) foreign "
          + "writes: p50 \(writes[writes.count / 2]) s, p99 \(writes[writes.count * 99 / 100]) s, max \(longest) s"
      )
    }
  }

  @Test("Two loads that make the same database and table at once both store all they read")
  func beginTogether() throws {
    for round in 0..<8 {
      let path = scratch.file("\(round).db")
      let text = "id,n\n" + (1...500).map { "\($0),\(round)\n" }.joined()
      // Two files, as the same job twice would be refused.
      let children = try (0..<2).map { index in
        let source = scratch.write(text, to: "\(round)-\(index).csv")
        return try Command.start(["load", path, "t", source, "--busy-timeout", "\(timeout)"])
      }
      for child in children {
        let outcome = try child.finish()
        #expect(outcome.exitCode == 0, "round \(round): \(outcome.talk)")
      }
      let database = Database(path)
      #expect(try database.rows("SELECT count(*), sum(id) FROM t") == ["1000|250500"])
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    }
  }

  @Test("A load that waits for input keeps nobody from writing")
  func slowInput() throws {
    let path = scratch.file("a.db")
    let database = try Programs(path: path, timeout: timeout, end: Date()).foreign()
    try database.rows("PRAGMA journal_mode=WAL; CREATE TABLE t(id INT, n); CREATE TABLE other(x)")
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
    let child = try Command.start(["load", path, "t", pipe, "--stop-after", "300000"])
    func pour(_ range: ClosedRange<Int>) {
      let head = range.lowerBound == 1 ? "id,n\n" : ""
      var rest = Array((head + range.map { "\($0),x\n" }.joined()).utf8)[...]
      while !rest.isEmpty {
        rest = rest.dropFirst(
          max(rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }, 0))
      }
    }
    pour(1...250_000)
    // Less than a transaction's worth of records waits for more of them; it is committed all the same.
    var count = 0
    for _ in 0..<3_000 where count <= 200_000 {
      count = Int(try database.rows("SELECT count(*) FROM t").first ?? "") ?? 0
      usleep(10_000)
    }
    #expect(count > 200_000)
    try database.rows("INSERT INTO other VALUES (1)")
    pour(250_001...300_000)
    close(descriptor)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try database.rows("SELECT count(*), max(id) FROM t") == ["300000|300000"])
  }
}

/// The keys of each load.
private let keyCount = 1_000

/// What runs beside the loads, each on a thread of its own.
private struct Programs: Sendable {
  let path: String
  let timeout: Int32
  let end: Date
  let notes = Notes()

  /// Feeds `id,n` to a named pipe until the time is over: keys `first...` in turn, `n` counting up from 1.
  func feed(_ pipe: String, first: Int) -> Int {
    let descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var n = 0
    var text = "id,n\n"
    while Date() < end {
      for _ in 0..<500 {
        text += "\(first + n % keyCount),\(n + 1)\n"
        n += 1
      }
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 && errno != EINTR { return n }
        rest = rest.dropFirst(max(count, 0))
      }
      text = ""
    }
    return n
  }

  /// A connection of another program, with SQLite's own way of waiting.
  func foreign() throws -> Database {
    let database = Database(path)
    try database.rows("PRAGMA busy_timeout=\(timeout)")
    return database
  }

  /// What the table holds of one load behind its first `count` records.
  func prefix(_ count: Int) -> String {
    let rows = min(count, keyCount)
    if rows == 0 { return "0|NULL|NULL|NULL" }
    let least = count - rows + 1
    return "\(rows)|\(least)|\(count)|\((least + count) * rows / 2)"
  }

  /// Writes as other programs do, and notes how long each write took to begin.
  func write() {
    do {
      let database = try foreign()
      while Date() < end {
        let start = Date()
        try database.rows("BEGIN IMMEDIATE")
        notes.add(wait: Date().timeIntervalSince(start))
        try database.rows("INSERT INTO other DEFAULT VALUES; COMMIT")
        usleep(20_000)
      }
    } catch {
      notes.add(failure: "writer: \(error)")
    }
  }

  /// Takes snapshots: each is a prefix of both loads, and none lies before the one before.
  func read() {
    do {
      let database = try foreign()
      var last = [0, 0]
      while Date() < end {
        let rows = try database.rows(
          """
          SELECT count(*), min(n), max(n), sum(n), id / \(keyCount) FROM t GROUP BY id / \(keyCount) ORDER BY 5
          """)
        for row in rows {
          let parts = row.split(separator: "|").map { Int($0) ?? -1 }
          let state = parts.dropLast().map(String.init).joined(separator: "|")
          if state != prefix(parts[2]) || parts[2] < last[parts[4]] {
            notes.add(failure: "a reader saw \(row) behind \(last)")
          }
          last[parts[4]] = parts[2]
        }
        notes.addSnapshot()
      }
    } catch {
      notes.add(failure: "reader: \(error)")
    }
  }
}

/// Runs blocking work on a thread of its own.
/// Threads that are waited for together.
private final class Threads: Sendable {
  private let group = DispatchGroup()

  func start(_ body: @escaping @Sendable () -> Void) {
    let group = self.group
    group.enter()
    Thread {
      body()
      group.leave()
    }.start()
  }

  func join() { group.wait() }
}

/// What the threads of a test have seen.
private final class Notes: Sendable {
  private let state = Mutex<(failures: [String], waits: [Double], snapshots: Int)>(([], [], 0))
  var failures: [String] { state.withLock { $0.failures } }
  var waits: [Double] { state.withLock { $0.waits } }
  var snapshotCount: Int { state.withLock { $0.snapshots } }
  func add(failure: String) { state.withLock { $0.failures.append(failure) } }
  func add(wait: Double) { state.withLock { $0.waits.append(wait) } }
  func addSnapshot() { state.withLock { $0.snapshots += 1 } }
}
