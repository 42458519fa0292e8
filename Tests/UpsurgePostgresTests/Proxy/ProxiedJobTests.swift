import PostgresSupport
import TestSupport
import Testing

@testable import UpsurgePostgres

@Suite(
  "Whole loads whose connections break",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ProxiedJobTests {
  /// Every n-th message is one where it is cut; all of them with UPSURGE_SEEDS=all.
  private static let stride = SeededGenerator.some(37, most: 1)

  @Test(
    "Rows, ledger and rejects are those of an undisturbed load, at whichever message it is cut",
    arguments: ProxiedJob.Path.allCases)
  func everyMessage(path: ProxiedJob.Path) throws {
    let job = try ProxiedJob(path)
    let undisturbed = try job.undisturbed()
    let seed = SeededGenerator.firstSeed()
    try MessageCut.atEveryMessage(of: job.database.proxy, stride: Self.stride, from: seed) { cut, number in
      let found = try job.run(with: cut.fault(at: number))
      #expect(
        found.result == undisturbed,
        "\(path), \(cut) at \(number), begun \(found.startCount) times, from \(seed)")
    }
  }
}
