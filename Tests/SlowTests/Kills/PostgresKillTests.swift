import Foundation
import PostgresSupport
import TestSupport
import Testing

/// Loads into PostgreSQL whose client, backend or server is killed at random moments give what an undisturbed one gives. A longer
/// loop is `Benchmarks/run kills --postgres`; UPSURGE_POSTGRES_KILLS says how many loads of each path are killed here.
@Suite(
  "Loads into PostgreSQL under SIGKILL", .serialized,
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresKillTests {
  private static let loadCount: UInt64 =
    ProcessInfo.processInfo.environment["UPSURGE_POSTGRES_KILLS"].flatMap { UInt64($0) } ?? 2

  /// A moment of the run: its ends, too.
  private static func moment(_ length: UInt32, _ random: inout SeededGenerator) -> UInt32 {
    UInt32.random(in: 0...length + length / 20, using: &random)
  }

  @Test(
    "The client is killed, and the command given again until it is done",
    arguments: PostgresKillLoad.Path.allCases)
  func client(path: PostgresKillLoad.Path) throws {
    let load = try PostgresKillLoad(path, on: .shared())
    let (undisturbed, length) = try load.undisturbed()
    var killCount = 0
    for seed in 0..<Self.loadCount + 20 where seed < Self.loadCount || killCount == 0 {
      var random = SeededGenerator(seed: seed)
      try load.reset()
      var isDone = false
      for attempt in 0..<4 where !isDone {
        let child = try load.start()
        usleep(Self.moment(attempt == 0 ? length : length / 2, &random))
        child.send(signal: SIGKILL)
        let outcome = try child.finish()
        if outcome.exitCode != 1_000 + SIGKILL {
          #expect(outcome.exitCode == 2, "\(path), seed \(seed): \(outcome.talk)")
          isDone = true
        } else {
          killCount += 1
          if load.hasTold {
            try load.settle()
            isDone = try !load.isListed()
          }
        }
      }
      if !isDone { _ = try load.finish() }
      #expect(try load.result() == undisturbed, "\(path), seed \(seed)")
    }
    #expect(killCount > 0, "\(path): no load was killed before its end")
  }

  @Test("A backend is ended, and the load goes on by itself", arguments: PostgresKillLoad.Path.allCases)
  func backend(path: PostgresKillLoad.Path) throws {
    let load = try PostgresKillLoad(path, on: .shared())
    let (undisturbed, length) = try load.undisturbed()
    var killCount = 0
    // Each costs the second after which a load connects again.
    for seed in 0..<(Self.loadCount + 1) / 2 + 20 where seed < (Self.loadCount + 1) / 2 || killCount == 0 {
      var random = SeededGenerator(seed: seed)
      try load.reset()
      let child = try load.start()
      usleep(Self.moment(length, &random))
      if try load.terminateBackends() { killCount += 1 }
      let outcome = try child.finish()
      if outcome.exitCode != 2 {
        // One transaction for all cannot go on, nor can what had stored nothing.
        #expect([75, 3].contains(outcome.exitCode), "\(path), seed \(seed): \(outcome.talk)")
        _ = try load.finish()
      }
      #expect(try load.result() == undisturbed, "\(path), seed \(seed)")
    }
    #expect(killCount > 0, "\(path): no load had a backend to end")
  }

  @Test(
    "The server is killed and recovers, and the load ends well",
    arguments: [PostgresKillLoad.Path.newTable, .ordered])
  func server(path: PostgresKillLoad.Path) throws {
    let load = try PostgresKillLoad(path, on: .alone())
    let (undisturbed, length) = try load.undisturbed()
    for seed in 0..<(Self.loadCount + 3) / 4 {
      var random = SeededGenerator(seed: seed)
      try load.reset()
      let child = try load.start()
      usleep(Self.moment(length, &random))
      try load.server.crash()
      let outcome = try child.finish()
      if outcome.exitCode != 2 {
        #expect([75, 3].contains(outcome.exitCode), "\(path), seed \(seed): \(outcome.talk)")
        _ = try load.finish()
      }
      #expect(try load.result() == undisturbed, "\(path), seed \(seed)")
    }
  }

  @Test(
    "A crash that empties a table, as it is UNLOGGED, has it loaded from the first record",
    arguments: [true, false])
  func unlogged(isFile: Bool) throws {
    let load = try PostgresKillLoad(.append, on: .alone())
    let (undisturbed, _) = try load.undisturbed()
    try load.reset()
    try load.server.psql("ALTER TABLE t SET UNLOGGED", in: load.url)
    let gate = try load.gate()
    let child = try load.start(isFile ? .file : .command)
    try gate.open(to: 7_000)
    try load.server.crash()
    try gate.open()
    let outcome = try child.finish()
    #expect(outcome.talk.contains("is UNLOGGED") && outcome.talk.contains("has emptied"), "\(outcome.talk)")
    #expect(outcome.exitCode == (isFile ? 2 : 3), "\(outcome.talk)")
    if isFile { #expect(try load.result() == undisturbed) }
  }
}
