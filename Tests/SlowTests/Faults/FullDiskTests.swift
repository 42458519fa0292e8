import Synchronization
import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A disk that gets full: the run ends at a commit, and goes on when there is room.
@Suite("Full disks", .serialized)
struct FullDiskTests {
  let scratch = Scratch()

  private static let count = 60_000

  /// Records without a key, so that one that is stored twice is there twice; each so manieth is bad.
  private func input(badStride: Int = .max) -> String {
    var text = "id,name\n"
    for id in 1...Self.count {
      text += id % badStride == 0 ? "\(id)\n" : "\(id),a name that takes some room in the table \(id)\n"
    }
    return scratch.write(text, to: "in.csv")
  }

  private func job(_ path: String, input: String, commitEvery: Int = 5_000) -> LoadJob {
    var options = LoadOptions()
    options.transaction.commitEvery = .records(commitEvery)
    options.rejects.onError = .reject
    options.transaction.memory = .mebibytes(16)
    return LoadJob(database: path, table: "t", sources: [input], options: options)
  }

  private func expectPrefix(_ path: String, _ committed: UInt64) throws {
    let database = Database(path)
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(
      try database.rows("SELECT count(*), count(DISTINCT id), max(id) FROM t")
        == ["\(committed)|\(committed)|\(committed)"])
  }

  @Test(
    "A file system that gets full ends the run at a commit, and the same command completes it",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.skipNote)), arguments: ["3m", "5m"])
  func smallFileSystem(_ size: String) throws {
    let disk = try #require(SmallDisk(in: scratch, size: size))
    let path = disk.file("a.db")
    let job = job(path, input: input())
    let summary = job.run()
    let error = try #require(summary.error)
    #expect(summary.exitCode == 3, "\(error)")
    #expect(
      error.message.contains("free, and the next transaction may need") || error.message.contains("no room"),
      "\(error)")
    #expect(error.hint?.contains("make room") == true, "\(error)")
    #expect(summary.progress.committedCount > 0 && summary.progress.committedCount < Self.count)
    try expectPrefix(path, summary.progress.committedCount)
    #expect(disk.grow(to: "64m"))
    let again = job.run()
    #expect(again.exitCode == 0, "\(again.error.map(String.init(describing:)) ?? "")")
    #expect(again.progress.resumedCount == summary.progress.committedCount)
    try expectPrefix(path, UInt64(Self.count))
  }

  @Test(
    "A first transaction that the disk has no room for leaves nothing",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.skipNote)))
  func oneTransaction() throws {
    let disk = try #require(SmallDisk(in: scratch, size: "1m"))
    let path = disk.file("a.db")
    var job = job(path, input: input(), commitEvery: 1_000_000)
    job.options.transaction.walLimit = .mebibytes(4)
    job.options.transaction.isAtomic = true
    let notes = Mutex<[String]>([])
    let summary = job.run(note: { note in notes.withLock { $0.append(note.text) } })
    let warned = notes.withLock { $0.contains { $0.hasPrefix("the input is about 3 MiB, and the disk of") } }
    #expect(warned, "\(notes.withLock { $0 })")
    #expect(summary.exitCode == 1)
    #expect(summary.error?.message.contains("there is no room left for the database") == true)
    #expect(access(path, F_OK) != 0, "the new file is still there")
    #expect(disk.grow(to: "64m"))
    #expect(job.run().exitCode == 0)
    try expectPrefix(path, UInt64(Self.count))
  }

  @Test(
    "Rejects and changes that find no room end the run at a commit; they are whole in the end",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.skipNote)), arguments: [false, true])
  func outputs(_ areChanges: Bool) throws {
    let disk = try #require(SmallDisk(in: scratch, size: "1m"))
    let path = scratch.file("a.db")
    let output = disk.file("out.ndjson")
    var job = job(path, input: input(badStride: 3))
    if areChanges { job.options.output.changesPath = output } else { job.options.rejects.path = output }
    let summary = job.run()
    let error = try #require(summary.error)
    #expect(summary.exitCode == 3, "\(error)")
    #expect(error.message.contains(areChanges ? "--changes" : "--rejects"), "\(error)")
    #expect(error.message.contains("No space left on device"), "\(error)")
    #expect(
      try Database(path).rows("SELECT count(*) FROM t")
        == ["\(summary.progress.committedCount - summary.progress.committedCount / 3)"])
    #expect(disk.grow(to: "64m"))
    let again = job.run()
    #expect(again.exitCode == 2, "\(again.error.map(String.init(describing:)) ?? "")")
    #expect(again.ledger.read == UInt64(Self.count))
    #expect(again.ledger.rejected == UInt64(Self.count / 3))
    #expect(try Database(path).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["40000|40000"])
    let lineCount =
      try areChanges
      ? readFile(output).count { $0 == 10 } : FaultCase.recordCount(inRejects: output)
    #expect(lineCount == (areChanges ? Self.count - Self.count / 3 : Self.count / 3))
  }

  @Test("A disk of any size: what is committed stays, the rest comes when there is room")
  func anyCapacity() throws {
    var ends: [Int32: Int] = [:]
    var wholeCount = 0
    for fault in FaultCase.all {
      let oracle = FaultOracle(fault)
      for capacity in stride(from: 50_000, to: 2_800_000, by: FaultChoice.isEvery ? 25_000 : 1_100_000) {
        let disk = FaultDisk()
        disk.setCapacity(capacity)
        let summary = try oracle.run(on: disk, anew: true)
        let place = "\(fault.name), \(capacity) bytes: \(summary.error.map(String.init(describing:)) ?? "")"
        let difference = try oracle.found().difference(
          from: oracle.state(after: Int(summary.progress.committedCount)))
        #expect(difference == nil, "\(place): \(difference ?? "")")
        #expect((disk.failure == nil) == (summary.error == nil), "\(place)")
        if let error = summary.error {
          #expect(summary.exitCode == (summary.progress.committedCount > 0 ? 3 : 1), "\(place)")
          #expect(error.message.contains("no room left"), "\(place)")
          if summary.progress.committedCount == FaultCase.recordCount {
            wholeCount += 1
            #expect(error.message.contains("all rows are committed"), "\(place)")
          }
        }
        ends[summary.exitCode, default: 0] += 1
        try oracle.goOn(after: summary, place)
      }
    }
    print("full disks: \(ends.sorted { $0.key < $1.key }.map { "exit \($0.key): \($0.value)" })")
    #expect(wholeCount > 0, "no last checkpoint found the disk full")
    #expect(ends[3] ?? 0 > wholeCount)
  }
}
