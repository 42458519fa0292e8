import PostgresSupport
import TestSupport
import Testing
import Upsurge

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

  @Test(
    "A COMMIT whose answer is lost costs no row and no reject, whoever looks it up",
    arguments: ProxiedJob.Path.allCases, [true, false])
  func lostCommit(path: ProxiedJob.Path, connectsAgain: Bool) throws {
    let job = try ProxiedJob(path)
    let undisturbed = try job.undisturbed()
    if !connectsAgain { job.connectSeconds = [] }
    var number = 0
    repeat {
      number += 1
      let found = try job.run(with: .cut(.beforeAnswer, .commit, at: number))
      #expect(found.result == undisturbed, "\(path), COMMIT \(number), begun \(found.startCount) times")
    } while job.database.proxy.events.contains(where: \.isCut)
    #expect(number > 1, "\(path)")
  }

  @Test("A run is written down once, although the answer was lost", arguments: ProxiedJob.Path.allCases)
  func lostRow(path: ProxiedJob.Path) throws {
    let job = try ProxiedJob(path)
    let undisturbed = try job.undisturbed()
    let found = try job.run(with: .cut(.beforeAnswer, .statement(.containing("VALUES ('running'"))))
    let isCut = job.database.proxy.events.contains(where: \.isCut)
    #expect(isCut && found.result == undisturbed, "\(path)")
  }

  @Test(
    "What a device cannot be shown of a COMMIT that nobody has answered is said", arguments: [false, true])
  func lostChanges(isAtomic: Bool) throws {
    PostgresStores.register()
    let (scratch, database, notes) = (Scratch(), try ProxiedDatabase(), RunNotes())
    try database.direct.run("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)")
    let source = scratch.write("id,n\n1,1\n2,2\n", to: "feed.csv")
    var options = LoadOptions()
    (options.rules.key, options.output.changesPath) = (["id"], "/dev/null")
    (options.transaction.isAtomic, options.tuning.connectSeconds) = (isAtomic, [])
    database.proxy.set([.cut(.beforeAnswer, .commit, at: 1)])
    let url = database.proxy.url(database: database.direct.database)
    let summary = LoadJob(database: url, table: "t", sources: [source], options: options).run(note: {
      notes.add($0.text)
    })
    let isCut = database.proxy.events.contains(where: \.isCut)
    #expect(isCut)
    #expect(notes.all.contains { $0.contains("what it has changed is not in the output of --changes") }, "\(notes.all)")
    #expect(
      try database.direct.texts("SELECT count(*) FROM t") == [["2"]], "\(summary.error?.description ?? "")")
  }

  @Test("A run is taken up once, although the answer was lost")
  func lostOwner() throws {
    PostgresStores.register()
    let (scratch, database) = (Scratch(), try ProxiedDatabase())
    try database.direct.run("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 1000))")
    let lines = (1...300).map { "\($0),\($0 == 250 ? 5_000 : 1)\n" }
    let source = scratch.write("id,n\n" + lines.joined(), to: "feed.csv")
    var options = LoadOptions()
    (options.rules.key, options.transaction.commitEvery) = (["id"], 100)
    options.tuning.batchSizes.recordCount = 100
    let url = database.proxy.url(database: database.direct.database)
    let stopped = LoadJob(database: url, table: "t", sources: [source], options: options).run()
    #expect(stopped.error?.code == .badInput && stopped.progress.committedCount >= 200)
    database.proxy.set([.cut(.beforeAnswer, .statement(.containing("SET owner = $3")))])
    options.rejects.onError = .reject
    let resumed = LoadJob(database: url, table: "t", sources: [source], options: options).run()
    #expect(resumed.error == nil && resumed.progress.resumedCount == stopped.progress.committedCount)
    let isCut = database.proxy.events.contains(where: \.isCut)
    #expect(isCut && resumed.ledger.inserted == 299 && resumed.ledger.rejected == 1)
  }
}
