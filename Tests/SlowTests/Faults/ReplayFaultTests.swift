import CSQLite
import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Replays of rejects on a disk that fails: each record is stored exactly once, and the rest stays.
@Suite("Faults of replays", .serialized)
struct ReplayFaultTests {
  let scratch = Scratch()

  private static let count = 4_200
  /// Each so manieth record can never be stored.
  private static let badStride = 7

  private var path: String { scratch.file("a.db") }
  private var file: String { scratch.file("bad") }

  /// Makes a keyless table whose records were all rejected, and what lets most of them in.
  private func prepare(isFile: Bool) throws {
    let path = scratch.file("start.db")
    try Database(path).rows(
      """
      PRAGMA journal_mode=WAL; CREATE TABLE p(id INTEGER PRIMARY KEY);
      CREATE TABLE t(id INT, p INT REFERENCES p(id), note TEXT)
      """)
    var text = "id,p,note\n"
    for id in 1...Self.count {
      text += "\(id),\(id % Self.badStride == 0 ? 9 : 1),a note that takes some room \(id)\n"
    }
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.rejects.target = isFile ? .file(scratch.file("start.bad")) : .table
    let input = scratch.write(text, to: "in.csv")
    let summary = LoadJob(database: path, table: "t", sources: [input], options: options).run()
    #expect(summary.ledger.rejected == UInt64(Self.count))
    try Database(path).rows("INSERT INTO p VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// The database and the file as they were before the first replay.
  private func restore(isFile: Bool) throws {
    for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
    unlink(file + ".replay")
    _ = scratch.write(try readFile(scratch.file("start.db")), to: "a.db")
    if isFile { _ = scratch.write(try readFile(scratch.file("start.bad")), to: "bad") }
  }

  private func replay(on disk: FaultDisk?, isFile: Bool) -> ReplaySummary {
    var options = ReplayOptions()
    options.commitEvery = 300
    // Without faults it may wait: a child that is just starting holds what this process has locked.
    options.busyTimeout = disk == nil ? 10_000 : 50
    options.memory = .mebibytes(16)
    options.vfsName = disk?.name
    return ReplayJob(database: path, file: isFile ? file : nil, options: options).run()
  }

  /// No record is there twice, and of those in the table none that cannot be.
  private func expectNoneDoubled(isFile: Bool, _ place: String) throws {
    let database = Database(path)
    let doubled = "SELECT count(*) - count(DISTINCT id), coalesce(sum(id % \(Self.badStride) = 0), 0) FROM t"
    #expect(try database.rows(doubled) == ["0|0"], "\(place)")
    if !isFile {
      let all = "SELECT id FROM t UNION ALL SELECT record FROM upsurge_rejects"
      #expect(
        try database.rows("SELECT count(*), count(DISTINCT id) FROM (\(all))") == [
          "\(Self.count)|\(Self.count)"
        ],
        "\(place)")
    }
  }

  private func expectDone(isFile: Bool, _ place: String) throws {
    let database = Database(path)
    let rest = Self.count / Self.badStride
    #expect(
      try database.rows(
        "SELECT count(*), count(DISTINCT id), sum(note = 'a note that takes some room ' || id) FROM t")
        == [String(repeating: "|\(Self.count - rest)", count: 3).dropFirst().description], "\(place)")
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"], "\(place)")
    let numbers =
      isFile
      ? try readFile(file).split(separator: 10).compactMap {
        Self.record(String(decoding: $0, as: UTF8.self))
      }
      : try database.rows("SELECT record FROM upsurge_rejects ORDER BY record").compactMap(Int.init)
    #expect(numbers == (1...rest).map { $0 * Self.badStride }, "\(place)")
  }

  /// The number of the record of a line; nil for a line that says how others are read.
  private static func record(_ line: String) -> Int? {
    guard let start = line.range(of: "\"record\":")?.upperBound, line.contains("\"raw\":") else { return nil }
    return Int(line[start...].prefix { $0.isNumber })
  }

  @Test("Every call fails once in turn", arguments: [true, false])
  func onceInTurn(isFile: Bool) throws {
    try prepare(isFile: isFile)
    var random = SeededGenerator(seed: FaultChoice.seed)
    let counting = FaultDisk()
    try restore(isFile: isFile)
    #expect(replay(on: counting, isFile: isFile).exitCode == 2)
    try expectDone(isFile: isFile, "undisturbed")
    var ends: [Int32: Int] = [:]
    for fault in FaultTests.faults {
      let count = counting.count(fault.calls)
      for nth in FaultChoice.places(of: count, stride: max(1, fault.stride / 2), &random) {
        try restore(isFile: isFile)
        let disk = FaultDisk()
        disk.fail(fault.calls, nth: nth, code: fault.code, errno: fault.errno, forGood: fault.forGood)
        let place = "UPSURGE_SEED=\(FaultChoice.seed), \(fault.calls) \(nth) of \(count), code \(fault.code)"
        let summary = replay(on: disk, isFile: isFile)
        #expect(disk.openFileCount == 0)
        ends[summary.exitCode, default: 0] += 1
        try expectNoneDoubled(isFile: isFile, place)
        if let error = summary.error {
          #expect(disk.failure != nil, "\(place): failed of itself: \(error)")
          #expect(![0, 2].contains(summary.exitCode), "\(place)")
          #expect(error.hint != nil && !error.message.isEmpty, "\(place): \(error)")
        } else {
          #expect(summary.exitCode == 2, "\(place)")
          try expectDone(isFile: isFile, place)
        }
        let again = replay(on: nil, isFile: isFile)
        // Rejects remain, tried by this one or by the first.
        #expect(
          again.exitCode == 2,
          "\(place), again: \(again.error.map(String.init(describing:)) ?? "")")
        try expectDone(isFile: isFile, "\(place), again")
      }
    }
    print("replays of \(isFile ? "a file" : "the table"): exits \(ends.sorted { $0.key < $1.key })")
    #expect(ends[3] ?? 0 > 0 && ends[1] ?? 0 > 0)
  }
}
