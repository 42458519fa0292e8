import PostgresSupport
import TestSupport
import Testing

@testable import UpsurgePostgres

@Suite(
  "Runs whose connections break",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ProxiedRunTests {
  /// Every n-th message is one where it is cut; all of them with UPSURGE_SEEDS=all.
  private static let stride = SeededGenerator.some(9, most: 1)

  @Test(
    "Rows and ledger are those of an undisturbed run, at whichever message it is cut",
    arguments: ProxiedLoad.Kind.all)
  func everyMessage(kind: ProxiedLoad.Kind) throws {
    let load = try ProxiedLoad(kind)
    let undisturbed = try load.undisturbed()
    let seed = SeededGenerator.firstSeed()
    var unnoticedCounts: [String: Int] = [:]
    try MessageCut.atEveryMessage(of: load.database.proxy, stride: Self.stride, from: seed) { cut, number in
      let result = try load.run(with: [cut.fault(at: number)]).result
      #expect(result == undisturbed, "\(kind), \(cut) at \(number)")
      let events = load.database.proxy.events
      if events.contains(where: \.isCut), events.count(where: \.isConnection) == 1 {
        unnoticedCounts["\(cut)", default: 0] += 1
      }
    }
    // After the last answer nobody notices a cut, and the load before may say goodbye first.
    #expect(unnoticedCounts.values.allSatisfy { $0 <= 2 }, "\(kind), \(unnoticedCounts), from \(seed)")
  }

  @Test(
    "Rows and ledger are those of an undisturbed run, whatever happens at random",
    arguments: ProxiedLoad.Kind.all)
  func random(kind: ProxiedLoad.Kind) throws {
    let load = try ProxiedLoad(kind)
    let undisturbed = try load.undisturbed()
    let first = SeededGenerator.firstSeed()
    var (foundCount, connectionCount) = (0, 0)
    for seed in first..<first + UInt64(SeededGenerator.some(6, most: 300)) {
      let found = try load.run(with: ProxiedLoad.faults(seed: seed))
      #expect(found.result == undisturbed, "\(kind), seed \(seed)")
      foundCount += found.foundCommitCount
      connectionCount += found.connectionCount
    }
    #expect(foundCount > 0 && connectionCount > 6, "seeds from \(first)")
  }

  @Test(
    "Processes that end with their connection store each record once, one after another",
    arguments: ProxiedLoad.Kind.all)
  func restarts(kind: ProxiedLoad.Kind) throws {
    let load = try ProxiedLoad(kind)
    var undisturbed = try load.undisturbed()
    (undisturbed.ledger, undisturbed.states) = (nil, [])
    let first = SeededGenerator.firstSeed()
    var processCount = 0
    for seed in first..<first + UInt64(SeededGenerator.some(6, most: 300)) {
      let found = try load.restarted(with: ProxiedLoad.faults(seed: seed))
      #expect(found.result == undisturbed, "\(kind), seed \(seed)")
      processCount += found.processCount
    }
    #expect(processCount > 12, "seeds from \(first)")
  }

  @Test("A COMMIT is looked up, also after attempts to connect that failed, and after a lock that was held")
  func lookedUp() throws {
    let load = try ProxiedLoad(.sums)
    let undisturbed = try load.undisturbed()
    for moment in [ProxyFault.Moment.before, .after, .beforeAnswer] {
      let more: [[ProxyFault]] = [
        [], [.cut(.before, .startUp, at: 2, times: 3)],
        [.answer(.statement(.containing("FOR UPDATE")), "55P03", at: 3, times: 2)],
        [.answer(.statement(.containing("FOR UPDATE")), "57P01", at: 3)],
      ]
      for faults in more {
        let found = try load.run(with: [.cut(moment, .commit, at: 2)] + faults)
        #expect(found.result == undisturbed, "\(moment), \(faults)")
        #expect(found.foundCommitCount == (moment == .before ? 0 : 1), "\(moment), \(faults)")
      }
    }
  }

  @Test(
    "A server that has not heard of a cut keeps the run's row locked, and is waited for",
    arguments: [10_000, 50])
  func silent(lockTimeout: Int) throws {
    let load = try ProxiedLoad(.sums)
    let undisturbed = try load.undisturbed()
    let found = try load.run(
      with: [.cut(.before, .commit, at: 2, serverSeconds: 1.5)], lockTimeout: lockTimeout)
    #expect(found.result == undisturbed && found.foundCommitCount == 0)
    // One for each batch, one more after the cut, and those that waited in vain.
    let lockCount = load.database.proxy.events.count {
      if case .asked(_, let text) = $0 { text.contains("FOR UPDATE") } else { false }
    }
    #expect(lockTimeout == 50 ? lockCount > 4 : lockCount == 4)
  }

  @Test("A server that takes no rows for a while is asked again, each time by a new connection")
  func readOnly() throws {
    let load = try ProxiedLoad(.sums)
    let undisturbed = try load.undisturbed()
    let found = try load.run(with: [.answer(.statement(.containing("FOR UPDATE")), "25006", at: 2, times: 3)])
    #expect(found.result == undisturbed && found.connectionCount == 4)
  }

  @Test(
    "What a server says of a COMMIT decides nothing: the position does", arguments: ["40003", "08007"],
    [false, true])
  func unknown(state: String, commits: Bool) throws {
    let load = try ProxiedLoad(.sums)
    let undisturbed = try load.undisturbed()
    let found = try load.run(with: [.answer(.commit, ProxyError(state), commits: commits, times: 5)])
    #expect(found.result == undisturbed)
    #expect(
      found.foundCommitCount == (commits ? 3 : 0)
        && load.database.proxy.events.count(where: \.isAnswer) == (commits ? 3 : 5))
  }
}
