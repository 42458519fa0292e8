import Foundation
import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Direct loads that end early: kills, signals, bad records, damaged input, full disks.
@Suite("Direct loads that end early", .serialized)
struct DirectEndTests {
  let scratch = Scratch()

  private var path: String { scratch.file("a.db") }
  private var image: String { path + "-upsurge" }
  private static let count = "SELECT count(*), count(DISTINCT id) FROM t"

  // MARK: - Kills

  @Test(
    "Killed at random moments, the same command makes one whole database in the end",
    arguments: [false, true])
  func kills(hasReject: Bool) throws {
    let count = 150_000
    // The last rows follow through SQLite.
    let bad = hasReject ? 120_000 : -1
    let text = "id,b\n" + (0..<count).map { "\($0),row \($0)\($0 == bad ? ",surplus" : "")\n" }.joined()
    let source = scratch.write(text, to: "a.csv")
    let rejects = scratch.file("bad")
    let rowCount = hasReject ? count - 1 : count
    let arguments = { (path: String) in
      ["load", path, "t", source, "--direct", "always", "--on-error", "reject", "--rejects", rejects]
    }
    let start = ContinuousClock.now
    let whole = try Command.run(arguments(scratch.file("whole.db")))
    let most = max((ContinuousClock.now - start).microseconds, 100_000)
    #expect(whole.exitCode == (hasReject ? 2 : 0), "\(whole.talk)")
    let expected = try readFile(rejects)
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var (kills, images, parts) = (0, 0, 0)
    for round in 0..<16 {
      let child = try Command.start(arguments(path))
      if round % 2 == 0 {
        usleep(UInt32.random(in: 1_000...most, using: &random))
      } else {
        // On a busy machine few moments are those of packing.
        while access(image, F_OK) != 0 && child.isRunning { usleep(500) }
        usleep(UInt32.random(in: 0...most / 8, using: &random))
      }
      child.send(signal: SIGKILL)
      let outcome = try child.finish()
      if outcome.exitCode == 1_000 + SIGKILL { kills += 1 }
      if access(image, F_OK) == 0 { images += 1 }
      guard access(path, F_OK) == 0 else { continue }
      let database = Database(path)
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"], "seed \(seed)")
      // A prefix of at least a transaction, or all of it.
      let rows = try database.rows("SELECT count(*), count(DISTINCT id) FROM t")[0].split(separator: "|")
      #expect(rows[0] == rows[1] && Int(rows[0]) ?? 0 >= 100_000, "seed \(seed): \(rows)")
      if Int(rows[0]) ?? 0 < rowCount { parts += 1 }
      if try database.rows("SELECT count(*) FROM sqlite_schema") == ["1"] {
        // Its ledger was shown: the next one would be another load.
        #expect(Int(rows[0]) == rowCount, "seed \(seed)")
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
      }
    }
    #expect(kills > 0 && images > 0, "seed \(seed): \(kills) kills, \(images) images left, \(parts) parts")
    let last = try Command.run(arguments(path))
    #expect(last.exitCode == (hasReject ? 2 : 0), "seed \(seed): \(last.talk)")
    #expect(try Database(path).rows(Self.count) == ["\(rowCount)|\(rowCount)"], "seed \(seed)")
    #expect(try Database(path).rows("PRAGMA application_id; PRAGMA user_version") == ["0", "0"])
    #expect(try readFile(rejects) == expected, "seed \(seed)")
    #expect(access(image, F_OK) != 0)
  }

  @Test("What a killed load has left is removed by the next one, whatever it loads", arguments: ["t", "u"])
  func stale(table: String) throws {
    let slow = try SlowPacking(path, scratch)
    slow.child.send(signal: SIGKILL)
    #expect(try slow.finish().exitCode == 1_000 + SIGKILL)
    #expect(access(image, F_OK) == 0 && access(path, F_OK) != 0)
    let next = try Command.run(["load", path, table, scratch.write("id,b\n1,x\n", to: "b.csv")])
    #expect(next.exitCode == 0, "\(next.talk)")
    #expect(try Database(path).rows("SELECT name FROM sqlite_schema") == ["'\(table)'"])
    #expect(access(image, F_OK) != 0)
  }

  // MARK: - Signals

  @Test("A signal ends a load at what is packed so far, and its line goes on", arguments: [SIGINT, SIGHUP])
  func signal(number: Int32) throws {
    let slow = try SlowPacking(path, scratch)
    slow.child.send(signal: number)
    let outcome = try slow.finish()
    #expect(outcome.exitCode == 128 + number, "\(outcome.talk)")
    #expect(access(image, F_OK) != 0)
    #expect(outcome.talk.contains("the same command goes on from there"), "\(outcome.talk)")
    let database = Database(path)
    let count = Int(try database.rows("SELECT count(*) FROM t")[0]) ?? 0
    #expect(count > 0 && count <= SlowPacking.rowCount)
    #expect(try database.rows("PRAGMA journal_mode") == ["'wal'"])
    let listed = try Command.run(["runs", path])
    #expect(listed.output.replacing(",", with: "").contains("\(count)"), "\(listed.output)")
    let last = try Command.run(["load", path, "t", slow.source])
    #expect(last.exitCode == 0 && last.talk.contains("goes on where"), "\(last.talk)")
    #expect(try database.rows(Self.count) == ["\(SlowPacking.rowCount)|\(SlowPacking.rowCount)"])
  }

  // MARK: - Records and input

  /// A hundred rows in batches of ten, of which 50 are enough to be made the database.
  private func job(_ source: String, _ policy: LoadOptions.DirectPolicy) -> LoadJob {
    var options = LoadOptions()
    options.transaction.direct = policy
    options.tuning.directLimits.leastRowCount = 50
    options.tuning.batchSizes = Batch.Sizes(arenaByteCount: 4_000, cellCount: 1_000, recordCount: 10)
    return LoadJob(database: path, table: "t", sources: [source], options: options)
  }

  @Test(
    "A bad record in front of the first commit leaves nothing, as without packing", arguments: [0, 1, 33, 49])
  func badEarly(record: Int) throws {
    let lines = (0..<100).map { "\($0),x\($0 == record ? ",surplus" : "")\n" }
    let source = scratch.write("id,b\n" + lines.joined(), to: "a.csv")
    let summaries = [LoadOptions.DirectPolicy.never, .always].map { policy in
      let summary = job(source, policy).run()
      #expect(access(path, F_OK) != 0 && access(image, F_OK) != 0, "\(policy)")
      return summary
    }
    for summary in summaries {
      #expect(summary.exitCode == 65 && summary.progress.committedCount == 0, "\(summary)")
      #expect(summary.error?.description == summaries[0].error?.description)
      #expect(summary.ledger == summaries[0].ledger)
    }
  }

  @Test(
    "A bad record behind that leaves what was packed, and the same command with --on-error reject goes on")
  func badLate() throws {
    let lines = (0..<100).map { "\($0),x\($0 == 75 ? ",surplus" : "")\n" }
    let source = scratch.write("id,b\n" + lines.joined(), to: "a.csv")
    var job = job(source, .always)
    let summary = job.run()
    #expect(summary.exitCode == 3 && summary.progress.isResumable, "\(summary)")
    #expect(summary.progress.committedCount >= 50 && summary.progress.committedCount <= 75)
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["\(summary.progress.committedCount)"])
    #expect(summary.error?.position?.record == 76)
    job.options.rejects.onError = .reject
    let rest = job.run()
    #expect(rest.exitCode == 2 && rest.progress.resumedCount == summary.progress.committedCount, "\(rest)")
    #expect(rest.ledger.inserted == 99 && rest.ledger.rejected == 1)
    #expect(try Database(path).rows(Self.count) == ["99|99"])
  }

  @Test("Damaged input: nothing, or a prefix of at least a transaction", arguments: [10, 100_000])
  func damaged(leastRowCount: Int) throws {
    var random = SeededGenerator(seed: 3)
    // The first MiB is looked at before anything else.
    let lines = (0..<80_000).map { "\($0),\(UInt64.random(in: 0 ... .max, using: &random))\n" }
    let bytes = Compressing.gzip(Array(("id,b\n" + lines.joined()).utf8))
    let source = scratch.write(Array(bytes.dropLast(bytes.count / 4)), to: "a.csv.gz")
    var job = job(source, .never)
    let ordinary = job.run()
    #expect(ordinary.exitCode == 65 && access(path, F_OK) != 0, "\(ordinary)")
    job.options.transaction.direct = .always
    job.options.tuning.directLimits.leastRowCount = leastRowCount
    let summary = job.run()
    #expect(summary.error?.description == ordinary.error?.description)
    #expect(access(image, F_OK) != 0)
    if leastRowCount == 10 {
      #expect(summary.exitCode == 3 && summary.progress.committedCount > 1_000, "\(summary)")
      #expect(
        try Database(path).rows("SELECT count(*), max(id) + 1 FROM t")
          == ["\(summary.progress.committedCount)|\(summary.progress.committedCount)"])
    } else {
      #expect(summary.exitCode == 65 && access(path, F_OK) != 0, "\(summary)")
    }
  }

  // MARK: - Disks

  private func wide(_ count: Int) -> String {
    let text =
      "id,b\n" + (0..<count).map { "\($0),a name that takes some room in the table \($0)\n" }.joined()
    return scratch.write(text, to: "wide.csv")
  }

  @Test(
    "A disk that gets full while rows are packed: the file goes, and the load ends as without packing",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.skipNote)))
  func fullDisk() throws {
    let disk = try #require(SmallDisk(in: scratch, size: "3m"))
    let path = disk.file("a.db")
    var options = LoadOptions()
    options.transaction.direct = .always
    options.tuning.directLimits.leastFreeByteCount = 0
    let job = LoadJob(database: path, table: "t", sources: [wide(90_000)], options: options)
    let notes = RunNotes()
    let summary = job.run(note: { notes.add($0.text) })
    #expect(summary.exitCode == 1, "\(summary)")
    #expect(summary.error?.message.contains("there is no room left for the database") == true)
    #expect(
      notes.all.contains { $0.hasPrefix("there is no room left for \(path)-upsurge, which is to become") },
      "\(notes.all)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
    #expect(disk.grow(to: "64m"))
    #expect(job.run().exitCode == 0)
    #expect(try Database(path).rows(Self.count) == ["90000|90000"])
  }

  @Test(
    "A disk that gets full while keys are sorted on it: looked at before, or found when it is written",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.skipNote)),
    arguments: [("5m", 0), ("9m", 0), ("13m", 0), ("16m", 0), ("5m", -1 << 30), ("13m", -1 << 30)])
  func fullDiskWhileSorting(size: String, leastFreeByteCount: Int) throws {
    let stem = String(repeating: "a key that is long ", count: 8)
    let text = "k,b\n" + (0..<40_000).map { "\($0 * 7_919 % 40_009) \(stem),\($0)\n" }.joined()
    let disk = try #require(SmallDisk(in: scratch, size: size))
    let path = disk.file("a.db")
    var options = LoadOptions()
    options.transaction.direct = .always
    options.rules.key = ["k"]
    options.transaction.memory = .mebibytes(16)
    options.tuning.directLimits.leastFreeByteCount = leastFreeByteCount
    let job = LoadJob(
      database: path, table: "t", sources: [scratch.write(text, to: "keys.csv")], options: options)
    let notes = RunNotes()
    let summary = job.run(note: { notes.add($0.text) })
    #expect(summary.exitCode != 0, "\(summary)")
    let isLookedAt = leastFreeByteCount == 0
    #expect(notes.all.contains { $0.contains("the disk has little room left") } == isLookedAt, "\(notes.all)")
    let failure = "all rows go through SQLite, from the first one"
    #expect(
      notes.all.contains { $0.contains("system error 28") && $0.contains(failure) } != isLookedAt, "\(notes.all)")
    if size == "5m" && !isLookedAt {
      #expect(
        notes.all.contains { $0.contains("-upsurge-sort, in which keys are sorted, failed") }, "\(notes.all)")
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: disk.path).allSatisfy { !$0.contains("upsurge") })
    #expect(disk.grow(to: "64m"))
    #expect(job.run().exitCode == 0)
    #expect(try Database(path).rows("SELECT count(*), count(DISTINCT k) FROM t") == ["40000|40000"])
    #expect(try Database(path).rows("PRAGMA integrity_check") == ["'ok'"])
  }

  @Test(
    "A disk with little room left: what is packed is made the database, and the rest follows as far as it goes",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.skipNote)))
  func littleRoom() throws {
    let disk = try #require(SmallDisk(in: scratch, size: "4m"))
    let path = disk.file("a.db")
    var options = LoadOptions()
    options.transaction.direct = .always
    options.tuning.directLimits.leastFreeByteCount = 1 << 20
    options.tuning.directLimits.leastRowCount = 1_000
    let job = LoadJob(database: path, table: "t", sources: [wide(100_000)], options: options)
    let summary = job.run()
    #expect(summary.exitCode == 3 && summary.progress.isResumable, "\(summary)")
    #expect(summary.error?.hint?.contains("make room") == true, "\(summary)")
    let count = summary.progress.committedCount
    #expect(count >= 1_000)
    #expect(access(path + "-upsurge", F_OK) != 0)
    // To read the database takes room for its -shm file.
    #expect(disk.grow(to: "64m"))
    #expect(try Database(path).rows(Self.count) == ["\(count)|\(count)"])
    let rest = job.run()
    #expect(rest.exitCode == 0 && rest.progress.resumedCount == count, "\(rest)")
    #expect(try Database(path).rows(Self.count) == ["100000|100000"])
  }
}
