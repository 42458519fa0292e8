import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Power that fails at a random moment of a load: what is left is the state after some commit.
@Suite("Power loss", .serialized)
struct PowerLossTests {
  private static var cutCount: Int { FaultChoice.isEvery ? 300 : 12 }

  @Test("The database opens and holds a prefix", arguments: [Durability.full, .normal])
  func prefix(_ durability: Durability) throws {
    var lost = 0
    var codes: [Int32: Int] = [:]
    var early = 0
    for (index, fault) in FaultCase.all.enumerated() {
      var fault = fault
      fault.durability = durability
      let oracle = FaultOracle(fault)
      let counting = FaultDisk()
      #expect(try oracle.run(on: counting, anew: true).exitCode == 2)
      let changeCount = counting.count(.changes)
      for cut in stride(from: index, to: Self.cutCount, by: FaultCase.all.count) {
        let seed = FaultChoice.seed + UInt64(cut)
        var random = SeededGenerator(seed: seed)
        let disk = FaultDisk()
        disk.losePower(atChange: Int.random(in: 1...changeCount, using: &random))
        let summary = try oracle.run(on: disk, anew: true)
        let place =
          "\(fault.name), durability \(durability), UPSURGE_SEED=\(seed), \(disk.failure ?? "no cut")"
        Self.check(summary, isDark: disk.isDark, place)
        codes[summary.exitCode, default: 0] += 1
        #expect(disk.isDark == (disk.failure != nil), "\(place)")
        #expect(disk.restorePower(seed: seed), "\(place)")
        let reported = Int(summary.progress.committedCount)
        // The file of rejects lies on another disk and may be ahead; what goes on cuts it back.
        let table = try oracle.found().table
        let found = try Self.borders(fault).filter { try oracle.state(after: $0).table == table }
        let isPrefix = !found.isEmpty
        #expect(isPrefix, "\(place): the table is that of no prefix")
        // A commit whose sync was cut may be there or not.
        let most = found.max() ?? 0
        if durability == .full { #expect(most >= reported, "\(place): \(reported) were committed") }
        let step = fault.isAtomic ? FaultCase.recordCount : fault.commitEvery
        #expect(most <= reported + step, "\(place): \(reported) were committed")
        lost += most < reported ? 1 : 0
        try oracle.goOn(after: summary, place)
        early += summary.error != nil ? 1 : 0
      }
    }
    print(
      "durability \(durability): \(Self.cutCount) cuts, \(early) runs ended by them, \(lost) lost a commit; exit codes",
      codes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
    #expect(early > Self.cutCount / 2)
    // Of the one promise it is the price, of the other the break.
    if durability == .full { #expect(lost == 0) } else { #expect(lost > 0, "normal is as full") }
  }

  /// What a run says that loses its power: that it failed, at which file, and what of it is committed.
  private static func check(_ summary: RunSummary, isDark: Bool, _ place: String) {
    #expect(summary.ledger.isBalanced, "\(place)")
    guard let error = summary.error else {
      // Only its mark was still to be removed.
      #expect(summary.exitCode == 2 && summary.progress.committedCount == FaultCase.recordCount, "\(place)")
      return
    }
    #expect(isDark, "\(place): failed of itself: \(error)")
    #expect(summary.exitCode == (summary.progress.committedCount > 0 ? 3 : 1), "\(place): \(error)")
    #expect(error.message.contains("a.db") && error.hint != nil, "\(place): \(error)")
  }

  /// Records after which a commit falls.
  private static func borders(_ fault: FaultCase) -> [Int] {
    if fault.isAtomic { return [0, FaultCase.recordCount] }
    return Array(stride(from: 0, to: FaultCase.recordCount, by: fault.commitEvery)) + [FaultCase.recordCount]
  }
}
