import CSQLite
import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Every call of a load into the file system fails once in turn: never a wrong table, never a silent end.
@Suite("Faults", .serialized)
struct FaultTests {
  /// How calls of some kind fail.
  struct Fault: Sendable {
    var calls: FaultDisk.Calls
    var code: Int32
    var errno: Int32
    /// Whether data may be lost by it, so that a run that met it must not end well.
    var isGrave: Bool
    /// In an ordinary run of the tests, each so manieth call is tried.
    var stride: Int
  }

  static let faults: [Fault] = [
    Fault(calls: .write, code: FaultDisk.Code.write, errno: 5, isGrave: true, stride: 131),
    Fault(calls: .write, code: SQLITE_FULL, errno: 28, isGrave: true, stride: 149),
    Fault(calls: .sync, code: FaultDisk.Code.sync, errno: 5, isGrave: true, stride: 5),
    Fault(calls: .truncate, code: FaultDisk.Code.truncate, errno: 5, isGrave: false, stride: 1),
    Fault(calls: .lock, code: SQLITE_BUSY, errno: 11, isGrave: false, stride: 4),
    Fault(calls: .lock, code: FaultDisk.Code.lock, errno: 5, isGrave: false, stride: 4),
    Fault(calls: .shmLock, code: SQLITE_BUSY, errno: 11, isGrave: false, stride: 29),
    Fault(calls: .shmLock, code: FaultDisk.Code.shmLock, errno: 5, isGrave: false, stride: 41),
    Fault(
      calls: [.open, .delete, .shmMap, .fileSize], code: SQLITE_IOERR, errno: 5, isGrave: false, stride: 11),
    Fault(calls: .read, code: FaultDisk.Code.read, errno: 5, isGrave: false, stride: 131),
  ]

  /// One load, disturbed as the disk was told.
  /// - Returns: what has failed before the ledger was shown, beside the summary. Only the run's mark is removed then.
  private func run(
    _ oracle: FaultOracle, _ disk: FaultDisk
  ) throws -> (summary: RunSummary, failure: String?) {
    let path = oracle.scratch.file("a.db")
    try oracle.fault.prepare(path)
    unlink(oracle.scratch.file("rejects.ndjson"))
    var job = oracle.fault.job(path, input: oracle.input, rejects: oracle.scratch.file("rejects.ndjson"))
    job.options.vfsName = disk.name
    var failure: String?
    let summary = job.run(report: { _ in
      failure = disk.failure
      return true
    })
    #expect(disk.openFileCount == 0)
    return (summary, failure)
  }

  /// Looks at what a run left and said.
  private func check(
    _ summary: RunSummary, _ oracle: FaultOracle, failure: String?, isGrave: Bool, _ place: String
  ) throws {
    let committed = Int(summary.committedCount)
    let state = try FaultCase.state(oracle.scratch.file("a.db"))
    let isAsClaimed = try state == oracle.state(after: committed)
    #expect(isAsClaimed, "\(place): the table is not that of \(committed) records: \(summary.exitCode)")
    #expect(summary.ledger.isBalanced)
    let rejects = try FaultCase.recordCount(inRejects: oracle.scratch.file("rejects.ndjson"))
    #expect(rejects == oracle.rejectCount(after: committed), "\(place): rejects of \(committed) records")
    guard let error = summary.error else {
      #expect(committed == FaultCase.recordCount, "\(place): ended well with \(committed) records")
      #expect(summary.exitCode == 2, "\(place)")
      #expect(failure == nil || !isGrave, "\(place): \(failure ?? "") went unnoticed")
      return
    }
    #expect(failure != nil, "\(place): failed of itself: \(error)")
    #expect(summary.exitCode == (committed > 0 ? 3 : error.exitCode(hasCommittedWork: false)), "\(place)")
    #expect(error.message.contains("a.db"), "\(place): \(error)")
    #expect(error.hint != nil, "\(place): \(error)")
    if committed == FaultCase.recordCount {
      #expect(error.message.contains("all rows are committed"), "\(place): \(error)")
    }
  }

  @Test("Every call fails once in turn", arguments: FaultCase.all)
  func onceInTurn(_ fault: FaultCase) throws {
    let oracle = FaultOracle(fault)
    let disk = FaultDisk()
    try check(run(oracle, disk).summary, oracle, failure: nil, isGrave: false, "undisturbed")
    var tried = 0
    var ends: [Int32: Int] = [:]
    for fault in Self.faults {
      let counting = FaultDisk()
      _ = try run(oracle, counting)
      let count = counting.count(fault.calls)
      for nth in stride(from: 1, through: count, by: triesEveryFault ? 1 : fault.stride) {
        let disk = FaultDisk()
        disk.fail(fault.calls, nth: nth, code: fault.code, errno: fault.errno)
        let (summary, failure) = try run(oracle, disk)
        let place = "\(fault.calls) \(nth) of \(count), code \(fault.code)"
        try check(summary, oracle, failure: failure, isGrave: fault.isGrave, place)
        try oracle.goOn(
          oracle.scratch.file("a.db"), rejects: oracle.scratch.file("rejects.ndjson"), after: summary, place)
        tried += 1
        ends[summary.exitCode, default: 0] += 1
      }
    }
    let figures = ends.sorted { $0.key < $1.key }.map { "exit \($0.key): \($0.value)" }
    print("\(fault.name): \(tried) faults; \(figures.joined(separator: ", "))")
  }
}
