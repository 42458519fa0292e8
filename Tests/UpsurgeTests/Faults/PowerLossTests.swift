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
  private static var cutCount: Int { triesEveryFault ? 300 : 30 }

  @Test("The database opens and holds a prefix", arguments: [Durability.full, .normal])
  func prefix(_ durability: Durability) throws {
    var lost = 0
    var early = 0
    for (index, fault) in FaultCase.all.enumerated() {
      var fault = fault
      fault.durability = durability
      let oracle = FaultOracle(fault)
      let path = oracle.scratch.file("a.db")
      let counting = FaultDisk()
      try fault.prepare(path)
      let rejects = oracle.scratch.file("rejects.ndjson")
      var job = fault.job(path, input: oracle.input, rejects: rejects)
      job.options.vfsName = counting.name
      #expect(job.run().exitCode == 2)
      let changeCount = counting.count(.changes)
      for cut in stride(from: index, to: Self.cutCount, by: FaultCase.all.count) {
        let seed = UInt64(cut)
        var random = SeededGenerator(seed: seed)
        let disk = FaultDisk()
        try fault.prepare(path)
        unlink(rejects)
        disk.losePower(atChange: Int.random(in: 1...changeCount, using: &random))
        job.options.vfsName = disk.name
        let summary = job.run()
        let place = "\(fault.name), durability \(durability), seed \(seed), \(disk.failure ?? "no cut")"
        #expect(disk.isDark == (disk.failure != nil), "\(place)")
        #expect(disk.restorePower(seed: seed), "\(place)")
        let reported = Int(summary.committedCount)
        let state = try FaultCase.state(path)
        let found = try Self.borders(fault).filter { try oracle.state(after: $0) == state }
        let isPrefix = !found.isEmpty
        #expect(isPrefix, "\(place): the table is that of no prefix")
        // A commit whose sync was cut may be there or not.
        let most = found.max() ?? 0
        if durability == .full { #expect(most >= reported, "\(place): \(reported) were committed") }
        #expect(most <= reported + fault.commitEvery, "\(place): \(reported) were committed")
        lost += most < reported ? 1 : 0
        try oracle.goOn(path, rejects: rejects, after: summary, place)
        early += summary.error != nil ? 1 : 0
      }
    }
    print(
      "durability \(durability): \(Self.cutCount) cuts, \(early) runs ended by them, \(lost) lost a commit")
    #expect(early > Self.cutCount / 2)
  }

  /// Records after which a commit falls.
  private static func borders(_ fault: FaultCase) -> [Int] {
    Array(stride(from: 0, to: FaultCase.recordCount, by: fault.commitEvery)) + [FaultCase.recordCount]
  }
}
