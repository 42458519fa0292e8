import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge

/// Loads and mirrors of a feed that trickles: another program that writes all the time never waits for the feed.
@Suite("Slow feeds and other writers", .serialized)
struct SlowFeedTests {
  let scratch = Scratch()

  /// A command, and the tables that hold all records of the feed afterwards.
  struct Case: Sendable, CustomStringConvertible {
    var description: String
    var schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, v)"
    /// The options of a load; nil where a job is mirrored.
    var options: [String]?
    var source = Feed.command
    /// The job, of which `SOURCE` stands for the feed.
    var job = ""
    var table = "t"
  }

  enum Feed: Sendable { case command, pipe, standardInput, url }

  private static let parent = "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"
  private static let child = parent + "CREATE TABLE k(id INTEGER PRIMARY KEY, v, p REFERENCES t)"

  static let loads: [Case] = [
    Case(description: "load", options: []),
    Case(description: "load into a new table", schema: "", options: []),
    Case(description: "load into a new table with an index", schema: "", options: ["--index", "v"]),
    Case(description: "load --commit-every", options: ["--commit-every", "1000"]),
    Case(description: "load from standard input", options: ["--key", "id"], source: .standardInput),
    Case(description: "load --atomic", options: ["--atomic"]),
    Case(description: "load --atomic from a pipe", options: ["--atomic"], source: .pipe),
    Case(description: "load --atomic from standard input", options: ["--atomic"], source: .standardInput),
    Case(description: "load --atomic from a URL", options: ["--atomic"], source: .url),
    Case(
      description: "load --foreign-keys deferred", schema: child, options: ["--foreign-keys", "deferred"]),
    Case(
      description: "load --indexes defer", schema: parent + "CREATE INDEX i ON t(v)",
      options: ["--indexes", "defer"]),
  ]

  static let mirrors: [Case] =
    ["table", "job", "bounded"].flatMap { atomic in
      [
        Case(
          description: "mirror, atomic: \(atomic), sweep: hard",
          job:
            "atomic: \(atomic)\ntables:\n  t: { source: \"SOURCE\", key: id, kind: snapshot, sweep: hard }\n"),
        Case(
          description: "mirror, atomic: \(atomic), a delta",
          job: "atomic: \(atomic)\ntables:\n  t: { source: \"SOURCE\", key: id, kind: delta }\n"),
        Case(
          description: "mirror, atomic: \(atomic), the feed of a child", schema: child,
          job: """
            atomic: \(atomic)
            tables:
              t: { source: FILE, key: id, kind: snapshot, sweep: hard }
              k: { source: "SOURCE", key: id, kind: snapshot, sweep: hard }

            """, table: "k"),
      ]
    } + [
      Case(
        description: "mirror, a URL", source: .url,
        job: "tables:\n  t: { source: \"SOURCE\", key: id, kind: snapshot, sweep: hard }\n")
    ]

  private static let pieceCount = 16
  private static let rowCount = 10_000
  private static let pauseMilliseconds = 120
  /// What no wait may take that the feed is to blame for.
  private static let limit = 0.5

  @Test("Nobody waits half a second for a feed that trickles", arguments: loads + mirrors)
  func waits(example: Case) throws {
    // What else is at work on the machine may hold up one try.
    var longest = Double.infinity
    for number in 1...3 where longest >= Self.limit { longest = try longestWait(example, number: number) }
    #expect(longest < Self.limit, "\(longest) s")
  }

  /// Runs the command beside another program that writes over and over.
  /// - Returns: how long that has waited at most while the feed had not ended.
  private func longestWait(_ example: Case, number: Int) throws -> Double {
    let path = scratch.file("\(number).db")
    try Database(path).rows("PRAGMA journal_mode=WAL; CREATE TABLE other(x); \(example.schema)")
    let pieces = Self.pieces()
    let trickle = try Trickle(
      example.source, pieces: pieces, pauseMilliseconds: Self.pauseMilliseconds, scratch: scratch,
      number: number)
    let file = scratch.write("id,v\n1,1\n2,500\n", to: "file.csv")
    var arguments: [String]
    if let options = example.options {
      arguments = ["load", path, example.table, trickle.name] + options
    } else {
      let job = example.job.replacing("SOURCE", with: trickle.name).replacing("FILE", with: file)
      arguments = ["mirror", path, scratch.write(job, to: "job.yaml")]
    }
    let writer = OtherWriter(path)
    let child = try Command.start(arguments, script: trickle.script)
    trickle.start()
    let outcome = try child.finish()
    let waits = writer.end()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let found = try Database(path).rows("SELECT count(*), max(id) FROM \(example.table)")
    #expect(found == ["\(Self.rowCount)|\(Self.rowCount)"], "\(outcome.talk)")
    let end = try #require(trickle.endSeconds)
    #expect(waits.count > 10)
    return waits.map { min($0.end, end) - $0.start }.max() ?? 0
  }

  /// 10,000 records of 400 bytes.
  private static func pieces() -> [[UInt8]] {
    let padding = String(repeating: "x", count: 400)
    let count = rowCount / pieceCount
    return (0..<pieceCount).map { piece in
      let rows = (1...count).map { "\(piece * count + $0),\(padding)\n" }.joined()
      return Array(((piece == 0 ? "id,v\n" : "") + rows).utf8)
    }
  }

  @Test("A feed for which there is no room is refused before anything is written, and the folder is named")
  func noRoom() throws {
    let path = scratch.file("a.db")
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    var options = LoadOptions()
    options.transaction.isAtomic = true
    options.environment.spoolRoom = { 32 << 20 }
    let source = "exec:echo id,v; seq -f '%.0f,a value of some length' 1 200000"
    let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
    #expect(summary.exitCode == 73)
    #expect(
      summary.error?.message
        == "\(source) cannot be read ahead, which keeps the database free for others meanwhile: it needs 1MiB in "
        + "\(scratch.path.replacing("//", with: "/")), which has 32MiB free, and 32MiB stay free")
    #expect(
      summary.error?.hint
        == "make room there, or let records be committed as they come: leave out --atomic (of a mirror, atomic: bounded)"
    )
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["0"])
    // What is committed on the way needs no room.
    options.transaction.isAtomic = false
    let plain = LoadJob(database: path, table: "t", sources: [source], options: options).run()
    #expect(plain.exitCode == 0 && plain.ledger.inserted == 200_000)
  }

  @Test("What was read ahead counts as it would have, and leaves no file behind")
  func counts() throws {
    let text = "id,v\n" + (1...200_000).map { "\($0),a value of some length\n" }.joined()
    let body = Compressing.gzip(Array(text.utf8))
    let packed = scratch.write(body, to: "feed.csv.gz")
    let plain = scratch.write(text, to: "feed.csv")
    let cases: [(sources: [String], bytes: Int, rows: Int)] = [
      (["exec:cat \(packed)"], body.count, 200_000), (["exec:cat \(plain)"], text.utf8.count, 200_000),
      ([plain, "exec:cat \(packed)", "exec:cat \(plain)"], body.count + 2 * text.utf8.count, 600_000),
    ]
    for (index, example) in cases.enumerated() {
      var options = LoadOptions()
      options.transaction.isAtomic = true
      let path = scratch.file("\(index).db")
      let notes = RunNotes()
      let summary = LoadJob(database: path, table: "t", sources: example.sources, options: options).run(
        note: { notes.add($0.text) })
      #expect(summary.exitCode == 0, "\(summary.error?.description ?? "")")
      #expect(
        summary.metrics.bytesRead == UInt64(example.bytes) && summary.ledger.inserted == UInt64(example.rows))
      let said = notes.all.filter {
        $0.hasPrefix("the input was read ahead, so that other programs can write")
      }
      // What fits into memory is not worth a word.
      #expect(said.count == (index == 0 ? 0 : 1), "\(notes.all)")
      #expect(said.allSatisfy { $0.hasSuffix("wait in a temporary file in \(scratch.path)") }, "\(notes.all)")
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
    #expect(!left.contains { $0.hasPrefix(".upsurge") }, "\(left)")
  }

  @Test("A command that fails behind many records fails the load as ever, and a record that ends it, too")
  func failing() throws {
    var options = LoadOptions()
    options.transaction.isAtomic = true
    let rows = "echo id,v; seq -f '%.0f,a value of some length' 1 200000"
    for (index, source) in ["exec:\(rows); exit 3", "exec:\(rows); echo 1,2,3; sleep 0.1; echo 7,8"]
      .enumerated()
    {
      let path = scratch.file("\(index).db")
      try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
      let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
      #expect(summary.exitCode == 65)
      let words = index == 0 ? "failed with exit status 3" : "found 3"
      #expect(summary.error?.message.contains(words) == true, "\(summary.error?.description ?? "")")
      #expect(try Database(path).rows("SELECT count(*) FROM t") == ["0"])
    }
  }
}

/// A feed that sends piece after piece, with pauses.
private final class Trickle: @unchecked Sendable {
  // Sendable because `descriptor` and `server` are set before the thread is started, which alone sets `end`.
  let name: String
  /// What starts the command, where the feed is its standard input.
  var script: String?
  private let pieces: [[UInt8]]
  private let pauseMilliseconds: Int
  private var pipe: String?
  private var endPath: String?
  private let end = Mutex<Double?>(nil)
  private var server: HTTPTestServer?

  init(
    _ feed: SlowFeedTests.Feed, pieces: [[UInt8]], pauseMilliseconds: Int, scratch: Scratch, number: Int
  ) throws {
    (self.pieces, self.pauseMilliseconds) = (pieces, pauseMilliseconds)
    switch feed {
    case .command:
      for (index, piece) in pieces.enumerated() { _ = scratch.write(piece, to: "piece\(index)") }
      let ended = scratch.file("ended\(number)")
      endPath = ended
      let pause = Double(pauseMilliseconds) / 1_000
      name =
        "exec:for i in $(seq 0 \(pieces.count - 1)); do cat \(scratch.file("piece"))$i; sleep \(pause); done; touch \(ended)"
    case .pipe, .standardInput:
      let path = scratch.file("pipe\(number)")
      guard mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
      pipe = path
      name = feed == .pipe ? path : "-"
      if feed == .standardInput { script = "exec \"$0\" \"$@\" < '\(path)'" }
    case .url:
      var steps: [HTTPTestServer.Step] = [
        HTTPTestServer.head("200 OK", ["Content-Length: \(pieces.reduce(0) { $0 + $1.count })"])
      ]
      for piece in pieces { steps += [.send(piece), .pause(milliseconds: pauseMilliseconds)] }
      let answer = steps
      let server = try HTTPTestServer { _ in answer }
      self.server = server
      name = server.url("/feed.csv")
    }
  }

  /// Begins to send what no program of its own sends.
  func start() {
    if server != nil {
      end.withLock { $0 = now() + Double(pieces.count * pauseMilliseconds) / 1_000 }
    }
    guard let pipe else { return }
    Thread.detachNewThread { [self] in
      let descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
      for piece in pieces {
        var rest = piece[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
          if count <= 0 { break }
          rest = rest.dropFirst(count)
        }
        usleep(UInt32(pauseMilliseconds) * 1_000)
      }
      end.withLock { $0 = now() }
      close(descriptor)
    }
  }

  /// When the last piece was sent, in seconds since 1970.
  var endSeconds: Double? {
    if let endPath {
      let attributes = try? FileManager.default.attributesOfItem(atPath: endPath)
      return (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
    }
    return end.withLock { $0 }
  }
}

private func now() -> Double { Date().timeIntervalSince1970 }

/// Another program that writes to a database over and over, and notes how long each of its transactions waits.
private final class OtherWriter: Sendable {
  private let isOver = Mutex(false)
  private let waits = Mutex<[(start: Double, end: Double)]>([])
  private let threads = DispatchGroup()

  init(_ path: String) {
    threads.enter()
    Thread.detachNewThread { [self] in
      defer { threads.leave() }
      let database = Database(path)
      guard (try? database.rows("PRAGMA busy_timeout=60000")) != nil else { return }
      while !isOver.withLock({ $0 }) {
        let start = now()
        guard (try? database.rows("BEGIN IMMEDIATE")) != nil else { return }
        let end = now()
        waits.withLock { $0.append((start, end)) }
        guard (try? database.rows("INSERT INTO other VALUES (1); COMMIT")) != nil else { return }
        usleep(5_000)
      }
    }
  }

  func end() -> [(start: Double, end: Double)] {
    isOver.withLock { $0 = true }
    threads.wait()
    return waits.withLock { $0 }
  }
}
