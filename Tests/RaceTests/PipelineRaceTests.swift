import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Everything that the threads of a load hand to each other, for ThreadSanitizer: `.ci/run` builds these alone with it.
@Suite("Threads of a load")
struct PipelineRaceTests {
  let folder = RaceFolder()

  /// Small batches: many hand-offs.
  func options(_ generator: inout SeededGenerator) -> LoadOptions {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.rejects.onError = .reject
    options.transaction.commitEvery = .records(Int.random(in: 50...1_000, using: &generator))
    options.tuning.batchSizes = Batch.Sizes(
      arenaByteCount: Int.random(in: 200...5_000, using: &generator), cellCount: 300, recordCount: 100)
    return options
  }

  func csv(_ range: Range<Int>, badEvery: Int = 97) -> String {
    range.reduce(into: "id,a,b\n") {
      $0 += $1 % badEvery == 13 ? "\($1),\"x\"y,1\n" : "\($1),text \($1 % 7),\($1).5\n"
    }
  }

  @Test(
    "Several files of all kinds, with rejects, watched by another thread",
    arguments: 1...3 as ClosedRange<UInt64>)
  func severalFiles(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let lines = (5_000..<8_000).map { "{\"id\":\($0),\"a\":\"x\",\"late\($0 / 700)\":\($0)}\n" }.joined()
    let sources = [
      folder.write(csv(0..<4_000), "1.csv"), folder.write(csv(3_000..<5_000), "2.csv"),
      folder.write(lines, "3.ndjson"),
    ]
    var options = options(&generator)
    options.rejects.path = folder.path + "/rejects"
    options.table.contract = .evolve
    let control = RunControl()
    let watcher = try WorkerThread {
      while control.progress.records < 7_900 && control.cancellationSignal == nil { usleep(200) }
    }
    let notes = NoteCount()
    let job = LoadJob(database: folder.path + "/a.db", table: "t", sources: sources, options: options)
    let summary = job.run(control: control, note: { _ in notes.add() }, tick: { _ in notes.add() })
    control.cancel()
    watcher.join()
    #expect(summary.error == nil && summary.ledger.isBalanced)
    #expect(summary.ledger.read == 9_000 && summary.ledger.rejected > 50)
    #expect(notes.count > 0)
  }

  @Test("A cancellation from another thread at any moment", arguments: 1...8 as ClosedRange<UInt64>)
  func cancellation(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let source = folder.write(csv(0..<20_000), "1.csv")
    let job = LoadJob(
      database: folder.path + "/a.db", table: "t", sources: [source], options: options(&generator))
    let control = RunControl()
    let limit = UInt64.random(in: 0...15_000, using: &generator)
    let canceller = try WorkerThread {
      while control.progress.records < limit { usleep(50) }
      control.cancel(signal: 15)
    }
    let summary = job.run(control: control)
    canceller.join()
    #expect(summary.ledger.isBalanced)
    #expect(summary.signal == 15 || summary.ledger.read == 20_000)
    #expect(summary.progress.committedCount <= 20_000)
  }

  @Test("The log is brought into the database beside the writer")
  func checkpointBeside() throws {
    let rows = (0..<60_000).reduce(into: "id,a\n") {
      $0 += "\($1 * 7919 % 60_000),\(String(repeating: "x", count: 150))\n"
    }
    let source = folder.write(rows, "1.csv")
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.direct = .never
    options.transaction.walLimit = .mebibytes(32)
    options.transaction.commitEvery = .records(5_000)
    let summary = LoadJob(database: folder.path + "/a.db", table: "t", sources: [source], options: options)
      .run()
    #expect(summary.error == nil && summary.ledger.inserted == 60_000)
    #expect(summary.timeFacts.checkpointCount > 2)
  }

  @Test(
    "Rows that are packed, in two loads that make one database, one of which is cancelled",
    arguments: 1...4 as ClosedRange<UInt64>)
  func packing(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var options = options(&generator)
    options.transaction.commitEvery = .auto
    options.transaction.direct = .always
    options.tuning.directLimits.leastRowCount = Int(seed)
    options.transaction.busyTimeout = 60_000
    let control = RunControl()
    let results = NoteCount()
    var threads: [WorkerThread] = []
    for (index, name) in ["a", "b"].enumerated() {
      // The second has rejects on its way, so that its last rows go through SQLite.
      let source = folder.write(csv(100..<8_100, badEvery: index == 0 ? 1_000_003 : 5_003), "\(name).csv")
      let job = LoadJob(
        database: folder.path + "/a.db", table: name, sources: [source], options: options)
      threads.append(
        try WorkerThread {
          let summary = index == 0 ? job.run(control: control) : job.run()
          let isWhole = index == 0 || summary.ledger.read == 8_000
          if summary.error == nil && isWhole && summary.ledger.isBalanced { results.add() }
        })
    }
    let limit = UInt64.random(in: 1...6_000, using: &generator)
    for _ in 0..<100_000 where control.progress.records < limit { usleep(50) }
    control.cancel(signal: 15)
    for thread in threads { thread.join() }
    #expect(results.count == 2, "seed \(seed)")
  }

  @Test("A slow writer holds the reader back; a pipe that is fed slowly holds the writer up")
  func backPressure() throws {
    var generator = SeededGenerator(seed: 1)
    var options = options(&generator)
    options.table.initSQL = """
      CREATE TEMP TRIGGER slow AFTER INSERT ON t WHEN new.id % 50 = 0 BEGIN
        SELECT count(*) FROM (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n);
      END
      """
    var plain = LoadOptions()
    plain.rules.key = ["id"]
    let first = LoadJob(
      database: folder.path + "/a.db", table: "t", sources: [folder.write("id,a,b\n0,x,1\n", "0.csv")],
      options: plain)
    #expect(first.run().error == nil)
    signal(SIGPIPE, SIG_IGN)
    let pipe = folder.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    let text = csv(1..<3_000)
    let feeder = try WorkerThread {
      let descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(1_500))
        let count = write(descriptor, piece, piece.count)
        if count <= 0 { break }
        rest = rest.dropFirst(count)
        usleep(500)
      }
      close(descriptor)
    }
    let job = LoadJob(database: folder.path + "/a.db", table: "t", sources: [pipe], options: options)
    let summary = job.run()
    // Whatever became of the load, the feeder must not wait for a reader.
    let reader = open(pipe, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    feeder.join()
    close(reader)
    #expect(summary.error == nil, "\(summary.error?.description ?? "")")
    #expect(summary.ledger.read == 2_999)
  }

  @Test("Loads side by side, in one process, two of them into one database") func sideBySide() throws {
    let source = folder.write(csv(0..<3_000), "1.csv")
    var generator = SeededGenerator(seed: 2)
    var threads: [WorkerThread] = []
    let results = NoteCount()
    for (index, name) in ["a", "b", "b"].enumerated() {
      var options = options(&generator)
      // Not how long they wait for each other is tried here.
      options.transaction.busyTimeout = 120_000
      let job = LoadJob(
        database: "\(folder.path)/\(name).db", table: "t\(index)", sources: [source], options: options)
      threads.append(
        try WorkerThread {
          let summary = job.run()
          #expect(summary.error == nil, "load \(index): \(summary.error?.description ?? "")")
          if summary.error == nil && summary.ledger.isBalanced && summary.ledger.read == 3_000 {
            results.add()
          }
        })
    }
    for thread in threads { thread.join() }
    #expect(results.count == 3)
  }

  @Test("Closing a channel while both ends wait and work") func channel() throws {
    for round in 0..<40 {
      let channel = BatchChannel(capacity: 2)
      let received = NoteCount()
      let sender = try WorkerThread {
        for _ in 0..<30 {
          let batch = Batch(sizes: Batch.Sizes(arenaByteCount: 16, cellCount: 1, recordCount: 1))
          if !channel.send(batch) { break }
        }
        channel.close()
      }
      let receiver = try WorkerThread {
        while let batch = channel.receive() {
          _ = consume batch
          received.add()
        }
      }
      if round % 2 == 0 { channel.close() }
      sender.join()
      receiver.join()
      #expect(round % 2 == 0 || received.count == 30)
      #expect(channel.isEnded)
    }
  }
}
