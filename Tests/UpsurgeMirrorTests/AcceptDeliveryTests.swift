import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// What a refusal says, and what lets a delivery through.
@Suite("Refused deliveries that come again") struct AcceptDeliveryTests {
  let scratch = Scratch()

  private func job(_ guards: MirrorGuards = MirrorGuards(), sweep: RowSweep = .hard) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file("feed.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = sweep
    table.guards = guards
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func deliver(_ ids: some Sequence<Int>, extra: String = "") {
    _ = scratch.write("id,v\n" + ids.map { "\($0),a\n" }.joined() + extra, to: "feed.csv")
  }

  private func count(_ condition: String = "1") throws -> String {
    try Database(scratch.file("a.db")).rows("SELECT count(*) FROM feed WHERE \(condition)")[0]
  }

  /// Each guard, and a delivery that it refuses after one of 1 to 10.
  static let refusals: [(name: String, guards: MirrorGuards, ids: [Int], extra: String, reason: String)] = {
    func guards(_ change: (inout MirrorGuards) -> Void) -> MirrorGuards {
      var guards = MirrorGuards()
      (guards.leastRatio, guards.maximumDeletes) = (0, .percent(100))
      change(&guards)
      return guards
    }
    return [
      (
        "max-delete", guards { $0.maximumDeletes = .percent(10) }, Array(101...300), "",
        "nothing is swept: 10 of 10 rows of table feed are not in the delivery, more than the max-delete of 10%"
      ),
      (
        "max-delete N", guards { $0.maximumDeletes = .count(2) }, Array(101...300), "",
        "nothing is swept: 10 of 10 rows of table feed are not in the delivery, more than the max-delete of 2"
      ),
      (
        "min-rows", guards { $0.leastRows = 5 }, [101, 102], "",
        "nothing is swept: the delivery has 2 records, less than the min-rows of 5"
      ),
      (
        "min-ratio", guards { $0.leastRatio = 0.5 }, [101, 102], "",
        "nothing is swept: the delivery has 2 records, and the last one had 10: less than the min-ratio of 0.5"
      ),
      (
        "expect-count", guards { $0.expectedCount = 10 }, Array(101...120), "",
        "nothing is swept: the delivery has 20 records, and 10 were expected"
      ),
      (
        "suspicious", guards { $0.suspiciousCounts = [20] }, Array(101...120), "",
        "nothing is swept: the delivery has exactly 20 records, which suspicious names: its source may cut it off there"
      ),
      ("allow-empty", guards { _ in }, [], "", "nothing is swept: the delivery has no record"),
      (
        "no key", guards { _ in }, Array(101...120), "12x,a\n",
        "nothing is swept: 1 of 21 records could not be read, or have no key, so the rows they are about cannot be told "
          + "from rows that are gone"
      ),
      (
        "no value of the key", guards { _ in }, Array(101...120), ",a\n",
        "nothing is swept: 1 of 21 records could not be read, or have no key, so the rows they are about cannot be told "
          + "from rows that are gone"
      ),
    ]
  }()

  @Test(
    "Five times, no guard gives way, whatever the file is called; its digest lets it through once",
    arguments: 0..<refusals.count, [MirrorJob.Atomicity.table, .job, .bounded])
  func again(index: Int, atomicity: MirrorJob.Atomicity) throws {
    let refusal = Self.refusals[index]
    var job = job(refusal.guards)
    job.atomicity = atomicity
    job.tables[0].options.transaction.commitEvery = .records(7)
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver(refusal.ids, extra: refusal.extra)
    var digests: Set<String> = []
    for number in 1...5 {
      if number == 3 {
        try FileManager.default.moveItem(atPath: scratch.file("feed.csv"), toPath: scratch.file("other.csv"))
        job.tables[0].sources = [Source(scratch.file("other.csv"))]
        job.acceptsChanges = true
      }
      let summary = job.run()
      let failure = try #require(summary.tables[0].failure, "\(refusal.name)")
      #expect(
        summary.exitCode == 4 && summary.ledger.swept == 0 && failure.message == refusal.reason,
        "\(number): \(failure)")
      let digest = try #require(summary.tables[0].loads.last?.acceptance.refusedDigest, "\(refusal.name)")
      #expect(digest.count == 16)
      #expect(
        failure.hint?.hasSuffix("; --accept-delivery \(digest) lets this one delivery through") == true,
        "\(failure)")
      digests.insert(digest)
      #expect(try count("id BETWEEN 1 AND 10") == "10", "\(refusal.name), run \(number)")
    }
    #expect(digests.count == 1, "the same delivery has the same digest")
    job.acceptsChanges = false
    job.acceptedDelivery = digests.first
    let accepted = job.run()
    #expect(
      accepted.exitCode == (refusal.extra.isEmpty ? 0 : 2), "\(accepted.tables[0].failure?.description ?? "")"
    )
    #expect(accepted.tables[0].loads.last?.acceptance.isByDigest == true && accepted.ledger.swept == 10)
    #expect(try count() == "\(refusal.ids.count)")
    // The flag in a crontab accepts nothing else.
    _ = scratch.write("id,v\n1,a\n2,a\n", to: "other.csv")
    job.tables[0].guards = MirrorGuards()
    if refusal.ids.isEmpty { job.tables[0].guards.leastRows = 3 }
    let notes = RunNotes()
    #expect(job.run(note: { notes.add($0.text) }).exitCode == 4)
    #expect(notes.all.contains { $0.contains("no delivery of this run was refused under that digest") })
  }

  @Test("What the hints say leads there: a guard that lets the rows go is asked again")
  func hints() throws {
    var job = job()
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver(101...300)
    for _ in 0..<2 {
      let hint = job.run().tables[0].failure?.hint ?? ""
      #expect(hint.hasPrefix("look at the delivery; --max-delete 10 lets them go; "), "\(hint)")
    }
    // Another guard that does not let it through is no waiver.
    job.tables[0].guards.maximumDeletes = .percent(20)
    #expect(job.run().exitCode == 4)
    job.tables[0].guards.maximumDeletes = .count(10)
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 10)
  }

  @Test("It stays refused where its guards would let it through since, as somebody has deleted rows")
  func edited() throws {
    let job = job()
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver(101...300)
    #expect(job.run().exitCode == 4)
    let database = Database(job.database)
    let refusedAt = try database.rows("SELECT refused_at FROM upsurge_refusals")[0].replacingOccurrences(
      of: "'", with: "")
    try database.rows("DELETE FROM feed WHERE id <= 10")
    let failure = job.run().tables[0].failure
    #expect(
      failure?.message
        == "nothing is swept: this delivery was refused at \(refusedAt): 10 of 10 rows of table feed are not in the delivery, "
        + "more than the max-delete of 10%")
    #expect(job.run().tables[0].failure?.message == failure?.message)
  }

  @Test("A delivery that passes by itself takes the refused one's rows with it")
  func passing() throws {
    let job = job()
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver(101...300)
    #expect(job.run().exitCode == 4)
    #expect(try count() == "210")
    deliver(1...9, extra: "11,b\n")
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 201, "\(summary.ledger.swept)")
    #expect(try count() == "10")
  }

  @Test(
    "Where nothing is swept, a refused delivery is let through as well, and a sweep that begins later is careful"
  )
  func unswept() throws {
    var job = job(sweep: .none)
    job.tables[0].guards.leastRows = 5
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver([101, 102])
    var digest = ""
    for _ in 0..<2 {
      let summary = job.run()
      #expect(
        summary.exitCode == 4
          && summary.tables[0].failure?.message == "the delivery has 2 records, less than the min-rows of 5")
      digest = summary.tables[0].loads.last?.acceptance.refusedDigest ?? ""
    }
    var swept = job
    swept.tables[0].sweep = .hard
    (swept.tables[0].guards.leastRows, swept.tables[0].guards.maximumDeletes) = (1, .percent(90))
    swept.tables[0].guards.leastRatio = 0
    #expect(
      swept.run().tables[0].failure?.message
        == "nothing is swept: 10 rows of table feed are not in the delivery; what share that is cannot be told, as nobody knows "
        + "which rows came with a delivery that was refused before")
    job.acceptedDelivery = digest
    #expect(job.run().exitCode == 0)
    #expect(try count() == "12")
  }

  @Test("A trial says how the digest comes about, and remembers nothing")
  func trial() throws {
    var job = job()
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver(101...300)
    job.dryRun = .count
    for _ in 0..<2 {
      let hint = job.run().tables[0].failure?.hint ?? ""
      #expect(
        hint.hasSuffix(
          "a run without --dry-run prints the digest for --accept-delivery, which lets one delivery through"))
    }
    #expect(
      try Database(job.database).rows("SELECT 1 FROM sqlite_schema WHERE name LIKE 'upsurge_refus%'").isEmpty)
  }

  @Test("What a feed with a name remembers is its own, and a feed that gets a name keeps what it has")
  func owners() throws {
    var crm = job()
    crm.tables[0].ownedBy = "crm"
    deliver(1...10)
    #expect(crm.run().exitCode == 0)
    deliver(101...300)
    #expect(crm.run().exitCode == 4)
    var shop = job()
    shop.tables[0].ownedBy = "shop"
    shop.tables[0].sources = [Source(scratch.write("id,v\n501,s\n", to: "shop.csv"))]
    #expect(shop.run().exitCode == 0)
    #expect(try Database(crm.database).rows("SELECT DISTINCT owned_by FROM upsurge_unaccepted") == ["'crm'"])
    #expect(crm.run().exitCode == 4)
    #expect(try count("id <= 10") == "10")
    try FeedRemoval(database: crm.database, table: "feed").perform()
    #expect(
      try Database(crm.database).rows(
        "SELECT name FROM sqlite_schema WHERE name IN ('upsurge_refusals', 'upsurge_unaccepted')"
      ).isEmpty)
  }

  @Test(
    "Rows that others have made stay theirs when a refused delivery has them, too, and dilute no share",
    arguments: MirrorJob.Atomicity.allCases, [RowSweep.hard, .soft(column: "gone")])
  func claimed(atomicity: MirrorJob.Atomicity, sweep: RowSweep) throws {
    var job = job()
    job.atomicity = atomicity
    job.tables[0].ownedBy = "crm"
    job.tables[0].sweep = sweep
    job.tables[0].options.transaction.commitEvery = .records(50)
    let database = Database(job.database)
    try database.rows("CREATE TABLE feed (id INTEGER PRIMARY KEY, v TEXT, gone TEXT)")
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    try database.rows(
      "WITH n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO feed (id, v) SELECT i, 'own' FROM n")
    // Others are near it, and not the same; each is refused for all rows of the feed.
    for last in [300, 300, 299, 290, 300] {
      deliver(101...last)
      let summary = job.run()
      #expect(summary.exitCode == 4)
      #expect(summary.tables[0].failure?.message.contains("10 of 10 rows") == true)
      #expect(try count("id <= 10 AND gone IS NULL") == "10")
    }
    // One that has some of them is accepted: those are the feed's, and the others are not.
    deliver(Array(1...10) + Array(101...150))
    #expect(job.run().exitCode == 0)
    #expect(try count("id > 100 AND gone IS NULL") == "200")
    (job.tables[0].guards.maximumDeletes, job.tables[0].guards.leastRatio) = (.percent(90), 0)
    deliver(1...10)
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 50)
    #expect(try count("id > 100 AND gone IS NULL") == "150")
  }

  @Test("Killed at any moment, five times, a refused delivery takes no row", arguments: ["table", "bounded"])
  func kills(atomic: String) throws {
    let job = scratch.write(
      """
      atomic: \(atomic)
      tables:
        feed: { source: feed.csv, key: [id], kind: snapshot, sweep: hard, commit-every: 500 }
      """, to: "job.yaml")
    let database = scratch.file("a.db")
    deliver(1...1_000)
    #expect(try Command.run(["mirror", database, job]).exitCode == 0)
    deliver(10_001...20_000)
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for number in 0..<5 {
      let child = try Command.start(["mirror", database, job])
      usleep(UInt32.random(in: 1_000...120_000, using: &random))
      child.send(signal: SIGKILL)
      let outcome = try child.finish()
      #expect(
        [4, 1_000 + SIGKILL].contains(outcome.exitCode), "seed \(seed), kill \(number): \(outcome.talk)")
      #expect(try count("id <= 1000") == "1000", "seed \(seed), kill \(number)")
    }
    for _ in 0..<2 { #expect(try Command.run(["mirror", database, job]).exitCode == 4) }
    #expect(try count("id <= 1000") == "1000", "seed \(seed)")
    deliver(1...1_000)
    let passed = try Command.run(["mirror", database, job])
    #expect(passed.exitCode == 0, "seed \(seed): \(passed.talk)")
    #expect(try count() == "1000", "seed \(seed)")
  }

  @Test("A record of a snapshot without its INTEGER PRIMARY KEY is a reject, so that no night adds a row")
  func nullRowids() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v)")
    let job = job()
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    // 11 would be the number of the one in front of it.
    deliver(1...9, extra: ",nobody\n11,mine\n")
    for _ in 0..<3 {
      let summary = job.run()
      let load = try #require(summary.tables.first?.loads.last)
      #expect(summary.exitCode == 4 && load.ledger.rejected == 1 && load.ledger.swept == 0)
      #expect(load.rejectsByReason.map(\.code) == [.nullKey])
      #expect(try count() == "11" && count("v = 'mine'") == "1")
    }
    let status = try #require(try FeedStatus.all(database: scratch.file("a.db")).first)
    let digest = try #require(status.refusedDelivery)
    #expect(status.failureCount == 3)
    var accepting = job
    accepting.acceptedDelivery = digest
    #expect(accepting.run().exitCode == 2)
    #expect(try count() == "10")
    #expect(try FeedStatus.all(database: scratch.file("a.db")).first?.refusedDelivery == nil)
  }

  @Test("The same where the member is missing, and where nothing is swept")
  func missingRowids() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v)")
    for sweep in [RowSweep.none, .hard] {
      var job = job(sweep: sweep)
      job.tables[0].sources = [Source(scratch.file("\(sweep).ndjson"))]
      job.acceptsChanges = true
      _ = scratch.write("{\"id\":1,\"v\":1}\n{\"v\":2}\n{\"id\":null,\"v\":3}\n", to: "\(sweep).ndjson")
      let load = try #require(job.run().tables.first?.loads.last)
      #expect(load.ledger.rejected == 2, "\(sweep): \(load.ledger)")
      #expect(try count() == "1")
    }
  }

  @Test("Records of a refused delivery that a replay stores count for no guard")
  func replayed() throws {
    var job = job()
    job.tables[0].options.rejects.target = .table
    job.tables[0].guards.leastRatio = 0
    let database = Database(job.database)
    try database.rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v CHECK (v <> 'b'))")
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,v\n" + (101...300).map { "\($0),b\n" }.joined(), to: "feed.csv")
    #expect(job.run().exitCode == 4)
    try database.rows("ALTER TABLE feed RENAME TO old")
    try database.rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v)")
    try database.rows("INSERT INTO feed SELECT * FROM old")
    try database.rows("DROP TABLE old")
    #expect(ReplayJob(database: job.database).run().ledger.inserted == 200)
    // What is remembered of the refused delivery stays, and that nobody knows its rows is one line.
    #expect(
      try database.rows("SELECT content IS NULL, rows_known FROM upsurge_refusals ORDER BY 1") == [
        "0|1", "1|0",
      ])
    _ = scratch.write("id,v\n" + (101...301).map { "\($0),b\n" }.joined(), to: "feed.csv")
    for _ in 0..<2 { #expect(job.run().exitCode == 4) }
    #expect(try count("id < 11") == "10")
    // One that has all that was there goes through.
    _ = scratch.write(
      "id,v\n" + ((1...10).map { "\($0),a\n" } + (101...301).map { "\($0),b\n" }).joined(), to: "feed.csv")
    #expect(job.run().exitCode == 0)
  }

  @Test("A delivery that another option lets through is judged again")
  func mended() throws {
    let job = job()
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver(1...9, extra: "10\n")
    for _ in 0..<2 { #expect(job.run().exitCode == 4) }
    var mended = job
    mended.tables[0].options.input.csv.ragged = .pad
    #expect(mended.run().exitCode == 0)
  }

  @Test("Bounded, rows that enter the scope are those of the delivery")
  func entering() throws {
    var job = job()
    job.atomicity = .bounded
    job.tables[0].scope = "tenant = 7"
    job.tables[0].options.transaction.commitEvery = .records(10)
    job.tables[0].guards.leastRatio = 0
    try Database(job.database).rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, tenant INT)")
    try Database(job.database).rows(
      "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO feed SELECT i, iif(i < 11, 7, 8) FROM n"
    )
    func deliver(_ ids: some Sequence<Int>) {
      _ = scratch.write("id,tenant\n" + ids.map { "\($0),7\n" }.joined(), to: "feed.csv")
    }
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    deliver(20...100)
    #expect(job.run().exitCode != 0)
    deliver(Array(3...10) + Array(20...99))
    #expect(job.run().exitCode != 0)
    #expect(try count("id < 3") == "2")
  }

  @Test(
    "Of a folder in a group with row-state, what an accepted file has brought counts behind one that is refused"
  )
  func groupedFolder() throws {
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    let database = Database(scratch.file("a.db"))
    try database.rows(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE feed(id INTEGER PRIMARY KEY, v, p INT DEFAULT 1 REFERENCES p(id))
      """)
    _ = scratch.write("id\n1\n", to: "p.csv")
    func deliver(_ ids: some Sequence<Int>, _ name: String) {
      _ = scratch.write("id,v\n" + ids.map { "\($0),a\n" }.joined(), to: "in/\(name).csv")
    }
    var parents = MirrorTable(name: "p", sources: [scratch.file("p.csv")])
    parents.options.rules.key = ["id"]
    var job = job()
    job.tables[0].sources = [Source(scratch.file("in"))]
    job.tables[0].keepsRowState = true
    job.tables[0].guards.leastRatio = 0
    job.tables.insert(parents, at: 0)
    deliver(1...10, "1")
    #expect(job.run().exitCode == 0)
    deliver(1...100, "2")
    deliver(Array(31...100) + Array(200...400), "3")
    #expect(job.run().exitCode == 4)
    unlink(scratch.file("in/3.csv"))
    deliver(1...30, "4")
    for _ in 0..<2 { #expect(job.run().exitCode == 4) }
    #expect(try count("id <= 100") == "100")
  }

  @Test("Rows that cannot be looked up as they were are said to be unknown")
  func untold() throws {
    var job = job()
    job.atomicity = .bounded
    job.tables[0].scope = "part = (SELECT x FROM temp.config)"
    job.tables[0].options.table.initSQL = "CREATE TEMP TABLE config(x); INSERT INTO config VALUES (7)"
    job.tables[0].guards.leastRatio = 0
    try Database(job.database).rows("CREATE TABLE feed(id INT PRIMARY KEY, part INT) WITHOUT ROWID")
    func deliver(_ ids: some Sequence<Int>) {
      _ = scratch.write("id,part\n" + ids.map { "\($0),7\n" }.joined(), to: "feed.csv")
    }
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    for last in 300...302 {
      deliver(101...last)
      #expect(job.run().exitCode == 4)
    }
    #expect(try count("id <= 10") == "10")
  }
}
