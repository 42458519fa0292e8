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
    /// Whether all later calls fail as well.
    var forGood = false
  }

  static let faults: [Fault] = [
    Fault(calls: .write, code: FaultDisk.Code.write, errno: 5, isGrave: true, stride: 453),
    Fault(calls: .write, code: SQLITE_FULL, errno: 28, isGrave: true, stride: 543),
    Fault(calls: .sync, code: FaultDisk.Code.sync, errno: 5, isGrave: true, stride: 15),
    Fault(calls: .changes, code: SQLITE_IOERR, errno: 5, isGrave: true, stride: 933, forGood: true),
    Fault(calls: .truncate, code: FaultDisk.Code.truncate, errno: 5, isGrave: false, stride: 3),
    Fault(calls: .lock, code: SQLITE_BUSY, errno: 11, isGrave: false, stride: 15),
    Fault(calls: .lock, code: FaultDisk.Code.lock, errno: 5, isGrave: false, stride: 15),
    Fault(calls: .shmLock, code: SQLITE_BUSY, errno: 11, isGrave: false, stride: 123),
    Fault(calls: .shmLock, code: FaultDisk.Code.shmLock, errno: 5, isGrave: false, stride: 141),
    Fault(
      calls: [.open, .delete, .shmMap, .fileSize], code: SQLITE_IOERR, errno: 5, isGrave: false, stride: 39),
    Fault(calls: .read, code: FaultDisk.Code.read, errno: 5, isGrave: false, stride: 453),
    Fault(calls: .access, code: FaultDisk.Code.access, errno: 5, isGrave: false, stride: 15),
    Fault(calls: .checkLock, code: FaultDisk.Code.checkLock, errno: 5, isGrave: false, stride: 9),
    Fault(calls: [.unlock, .shmUnmap], code: FaultDisk.Code.unlock, errno: 5, isGrave: false, stride: 33),
  ]

  /// Looks at what a run left and said.
  ///
  /// - Parameters:
  ///   - failure: what has failed before the ledger was shown. Only the run's mark is removed then.
  ///   - isInDoubt: whether this run, or the one before that left it so, does not know if it has committed.
  ///   - earlier: what stood when the run began: one that fails before it can read that knows of no record.
  private func check(
    _ summary: RunSummary, _ oracle: FaultOracle, failure: String?, isGrave: Bool, earlier: Int = 0,
    isInDoubt: Bool = false, _ place: String
  ) throws {
    let committed =
      summary.error == nil
      ? Int(summary.progress.committedCount) : max(earlier, Int(summary.progress.committedCount))
    var difference = try oracle.found().difference(from: oracle.state(after: committed))
    if difference != nil, isInDoubt {
      // Either, and the rejects are those of the later, for the run that goes on to look through.
      let next = min(committed + oracle.fault.commitEvery, FaultCase.recordCount)
      let later = try oracle.found().difference(from: oracle.state(after: next))
      if later == nil || difference == "the rejects" { difference = nil }
    }
    #expect(
      difference == nil,
      "\(place): \(difference ?? "") is not that of \(committed) records: exit \(summary.exitCode)")
    #expect(summary.ledger.isBalanced)
    guard let error = summary.error else {
      #expect(committed == FaultCase.recordCount, "\(place): ended well with \(committed) records")
      #expect(summary.exitCode == 2, "\(place)")
      #expect(failure == nil || !isGrave, "\(place): \(failure ?? "") went unnoticed")
      return
    }
    #expect(failure != nil, "\(place): failed of itself: \(error)")
    let hasCommittedWork = summary.progress.committedCount > 0
    #expect(summary.exitCode == (hasCommittedWork ? 3 : error.exitCode(hasCommittedWork: false)), "\(place)")
    #expect(summary.exitCode != 0 && summary.exitCode != 2, "\(place)")
    #expect(error.message.contains("a.db"), "\(place): \(error)")
    #expect(error.hint != nil, "\(place): \(error)")
    // One that goes on and fails before it can write only says what stood.
    if earlier < FaultCase.recordCount && Int(summary.progress.committedCount) == FaultCase.recordCount {
      #expect(error.message.contains("all rows are committed"), "\(place): \(error)")
    }
  }

  /// One run on a disk that fails as it was told, and what came of it.
  private func disturb(
    _ oracle: FaultOracle, _ disk: FaultDisk, isGrave: Bool, after last: RunSummary? = nil, _ place: String
  ) throws -> RunSummary {
    var failure: String?
    let summary = try oracle.run(on: disk, anew: last == nil) { _ in
      failure = disk.failure
      return true
    }
    let isInDoubt = [summary, last].contains {
      $0?.error?.message.contains("whether the last transaction is committed") == true
    }
    try check(
      summary, oracle, failure: failure, isGrave: isGrave, earlier: Int(last?.progress.committedCount ?? 0),
      isInDoubt: isInDoubt, place)
    return summary
  }

  /// The run that goes on meets a fault of its own, anywhere.
  private func disturbAgain(
    _ oracle: FaultOracle, after last: RunSummary, _ random: inout SeededGenerator, _ place: String
  ) throws -> RunSummary {
    let fault = Self.faults.filter { !$0.forGood }.randomElement(using: &random)!
    let nth = Int.random(in: 1...fault.stride * 6, using: &random)
    let disk = FaultDisk()
    disk.fail(fault.calls, nth: nth, code: fault.code, errno: fault.errno)
    return try disturb(
      oracle, disk, isGrave: fault.isGrave, after: last,
      "\(place), then \(fault.calls) \(nth), code \(fault.code)")
  }

  @Test("Every call fails once in turn", arguments: FaultCase.all)
  func onceInTurn(_ fault: FaultCase) throws {
    let oracle = FaultOracle(fault)
    var random = SeededGenerator(seed: FaultChoice.seed)
    let counting = FaultDisk()
    _ = try disturb(oracle, counting, isGrave: false, "undisturbed")
    var tried = 0
    var twice = 0
    var ends: [Int32: Int] = [:]
    for fault in Self.faults {
      let count = counting.count(fault.calls)
      for nth in FaultChoice.places(of: count, stride: fault.stride, &random) {
        let disk = FaultDisk()
        disk.fail(fault.calls, nth: nth, code: fault.code, errno: fault.errno, forGood: fault.forGood)
        let place = """
          UPSURGE_SEED=\(FaultChoice.seed), \(fault.calls) \(nth) of \(count), code \(fault.code)\
          \(fault.forGood ? " for good" : "")
          """
        var summary = try disturb(oracle, disk, isGrave: fault.isGrave, place)
        tried += 1
        ends[summary.exitCode, default: 0] += 1
        if summary.error != nil {
          summary = try disturbAgain(oracle, after: summary, &random, place)
          twice += summary.error != nil ? 1 : 0
        }
        try oracle.goOn(after: summary, place)
      }
    }
    let figures = ends.sorted { $0.key < $1.key }.map { "exit \($0.key): \($0.value)" }
    print("\(fault.name): \(tried) faults, \(twice) runs failed twice; \(figures.joined(separator: ", "))")
  }
}
