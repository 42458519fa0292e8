import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeMove

/// Moves that are killed at any moment, and begun again until they are done.
///
/// `UPSURGE_MOVE_KILLS` says how many kills there are each way.
@Suite(
  "Moves that are killed", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct MoveKillTests {
  let scratch = Scratch()

  private static let killCount =
    ProcessInfo.processInfo.environment["UPSURGE_MOVE_KILLS"].flatMap { Int($0) } ?? 2

  /// Of the largest table: with more kills there is more to kill.
  private static let rowCount = killCount > 5 ? 30_000 : 2_100

  private static let sum = 7 * rowCount * (rowCount + 1) / 2

  /// Kills moves after longer and longer, until so many were killed, and lets the last one end.
  private func moveWithKills(_ source: String, _ target: String, whole: Double) throws -> Command.Outcome {
    for kill in 1...Self.killCount {
      let child = try Command.start(["move", source, target])
      usleep(UInt32(whole * 1_000_000 * Double(kill) / Double(Self.killCount + 1)))
      child.send(signal: SIGKILL)
      _ = try child.finish()
    }
    return try Command.run(["move", source, target])
  }

  @Test("After kills at any moment the databases are equal, there and back")
  func kills() throws {
    let (first, last) = (scratch.file("first.db"), scratch.file("last.db"))
    try Shop.make(first, rowCount: Self.rowCount)
    let measured = MonotonicClock.seconds
    #expect(try Command.run(["move", first, try MoveServer.freshURL()]).exitCode == 0)
    let whole = MonotonicClock.seconds - measured
    let url = try MoveServer.freshURL()
    let there = try moveWithKills(first, url, whole: whole)
    #expect(there.exitCode == 0, "\(there.talk)")
    #expect(
      try MoveServer.texts("SELECT count(*), sum(total) FROM orders", url) == ["\(Self.rowCount)|\(Self.sum)"]
    )
    #expect(try MoveServer.texts("SELECT count(*) FROM pg_constraint WHERE contype = 'f'", url) == ["11"])
    #expect(try PastRun.all(database: url).isEmpty)
    let back = try moveWithKills(url, last, whole: whole)
    #expect(back.exitCode == 0, "\(back.talk)")
    #expect(
      try Database(last).rows("SELECT count(*), sum(total) FROM orders") == ["\(Self.rowCount)|\(Self.sum)"])
    #expect(try Database(last).rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(try PastRun.all(database: last).isEmpty)
  }
}
