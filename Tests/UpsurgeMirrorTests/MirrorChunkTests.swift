import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Nights that read only what has changed.
@Suite("Mirrors that skip what they know") struct MirrorChunkTests {
  let scratch = Scratch()

  /// Groups of ten random feeds; so many with `UPSURGE_FEEDS`.
  private static let groups =
    ProcessInfo.processInfo.environment["UPSURGE_FEEDS"].flatMap { UInt64($0) }.map { 0..<$0 }
    ?? SeededGenerator.some(of: 12)

  private static func skipped(_ summary: MirrorSummary) -> UInt64 {
    summary.tables[0].loads.first?.metrics.settings.first { $0.name == "skipped_records" }?.value ?? 0
  }

  private func copy(_ database: String, to other: String) throws {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: other + suffix)
      if FileManager.default.fileExists(atPath: database + suffix) {
        try FileManager.default.copyItem(atPath: database + suffix, toPath: other + suffix)
      }
    }
  }

  @Test(
    "Tables and ledgers are those of nights that compare everything", arguments: groups,
    [false, true])
  func equal(group: UInt64, refers: Bool) throws {
    var skipped: UInt64 = 0
    for seed in group * 10..<group * 10 + 10 {
      var feed = ChunkedFeed(seed: seed, refers: refers)
      let job = feed.job(database: scratch.file("\(seed).db"), source: scratch.file("feed"))
      var other = feed.job(database: scratch.file("\(seed)-all.db"), source: scratch.file("feed"))
      other.verifiesAll = true
      if !feed.schema.isEmpty { try Database(job.database).rows(feed.schema) }
      for night in 0..<4 {
        let words = "seed \(seed), night \(night), \(feed.form), \(feed.schema)"
        _ = scratch.write(feed.bytes(), to: "feed")
        if night == 2, refers {
          try Database(job.database).rows("INSERT OR IGNORE INTO parts VALUES \(ChunkedFeed.parts)")
        }
        if FileManager.default.fileExists(atPath: job.database) { try copy(job.database, to: other.database) }
        let summary = job.run()
        let whole = other.run()
        skipped += Self.skipped(summary)
        if summary.tables[0].unchangedSince == nil {
          #expect(summary.ledger == whole.ledger, "\(words)")
          #expect(summary.exitCode == whole.exitCode, "\(words)")
          #expect(summary.tables[0].replayed == whole.tables[0].replayed, "\(words)")
          #expect(summary.tables[0].failure?.message == whole.tables[0].failure?.message, "\(words)")
        }
        guard FileManager.default.fileExists(atPath: job.database) else { break }
        try expectEqual(job.database, other.database, feed, words)
        if Int.random(in: 0..<4) == 0 { try Database(job.database).rows("VACUUM") }
        feed.change()
      }
    }
    #expect(skipped > 0, "group \(group)")
  }

  @Test(
    "Where the same bytes are read in another way, the keys that were remembered are not used",
    arguments: [false, true], [false, true])
  func otherKey(verifies: Bool, renames: Bool) throws {
    // Two keys that name each other's rows.
    let swapped = [100: 9_000, 9_000: 100]
    let lines = ["a,b"] + (0..<20_000).map { "\($0),\(swapped[$0] ?? $0)" }
    let write = { (lines: [String]) in _ = scratch.write(lines.map { $0 + "\n" }.joined(), to: "feed.csv") }
    write(lines)
    let plain = Database(scratch.file("a.db"))
    try plain.rows("CREATE TABLE t(a INTEGER UNIQUE NOT NULL, b INTEGER UNIQUE NOT NULL)")
    var table = MirrorTable(name: "t", sources: [scratch.file("feed.csv")])
    table.sweep = .hard
    table.options.rules.key = ["a"]
    #expect(MirrorJob(database: scratch.file("a.db"), tables: [table]).run().exitCode == 0)
    // The column that is the key is read from the other field, or is another one.
    if renames {
      table.options.table.renames = ["a": "b", "b": "a"]
    } else {
      table.options.rules.key = ["b"]
    }
    var job = MirrorJob(database: scratch.file("a.db"), tables: [table])
    job.acceptsChanges = true
    #expect(job.run().exitCode == 0)
    if verifies {
      job.verifiesAll = true
      #expect(job.run().exitCode == 0)
      job.verifiesAll = false
    }
    write(lines.filter { !$0.hasPrefix("100,") })
    let last = job.run()
    #expect(last.exitCode == 0 && last.ledger.swept == 1)
    let rest = renames ? "SELECT a FROM t WHERE b IN (100, 9000)" : "SELECT b FROM t WHERE a IN (100, 9000)"
    #expect(try plain.rows(rest) == ["100"])
    #expect(try plain.rows("SELECT count(*) FROM t") == ["19999"])
    #expect(Self.skipped(last) > 0)
  }

  private func expectEqual(_ database: String, _ other: String, _ feed: ChunkedFeed, _ words: String) throws {
    let tables = "SELECT name FROM sqlite_schema WHERE name = 'feed'"
    if try Database(database).rows(tables).isEmpty { return }
    var columns = "id, typeof(id), part, typeof(part), v, typeof(v), w, typeof(w)"
    if feed.sweep != .hard { columns += ", gone" }
    let rows = "SELECT \(columns) FROM feed ORDER BY id, part"
    #expect(try Database(database).rows(rows) == Database(other).rows(rows), "\(words)")
    #expect(try Database(database).rows("PRAGMA integrity_check") == ["'ok'"], "\(words)")
    #expect(try Database(database).rows("PRAGMA foreign_key_check").isEmpty, "\(words)")
    let waiting = "SELECT name FROM sqlite_schema WHERE name = 'upsurge_quarantine'"
    if try !Database(database).rows(waiting).isEmpty {
      let kept = "SELECT record, reason, number, line, byte FROM upsurge_quarantine ORDER BY number"
      #expect(try Database(database).rows(kept) == Database(other).rows(kept), "\(words)")
    }
    if try Database(database).rows("SELECT name FROM sqlite_schema WHERE name = 'upsurge_chunks'").isEmpty {
      return
    }
    // What is remembered is what the table holds.
    let sums =
      "SELECT max(records) FILTER (WHERE place = 0) IS sum(records) FILTER (WHERE place > 0) FROM upsurge_chunks"
    let isAny = try !Database(database).rows("SELECT 1 FROM upsurge_chunks WHERE place = 0 AND records > 0")
      .isEmpty
    if isAny { #expect(try Database(database).rows(sums) == ["1"], "\(words)") }
  }

  @Test("What is remembered does not depend on how the bytes come", arguments: 0..<20)
  func batches(seed: UInt64) throws {
    let feed = ChunkedFeed(seed: seed)
    _ = scratch.write(feed.bytes(), to: "feed")
    var found: [String]?
    for (number, byteCount) in [256 << 10, 700, 5_000].enumerated() {
      var job = feed.job(database: scratch.file("\(number).db"), source: scratch.file("feed"))
      job.tables[0].options.tuning.batchSizes = Batch.Sizes(
        arenaByteCount: byteCount, cellCount: byteCount / 8, recordCount: byteCount / 16)
      if !feed.schema.isEmpty { try Database(job.database).rows(feed.schema) }
      _ = job.run()
      guard FileManager.default.fileExists(atPath: job.database) else { return }
      let database = Database(job.database)
      if try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_chunks'").isEmpty { return }
      let rows = try database.rows(
        "SELECT place, head, hex(hash), bytes, lines, records, hex(keys) FROM upsurge_chunks ORDER BY place")
      if let found { #expect(rows == found, "seed \(seed), batches of \(byteCount) bytes") }
      found = rows
    }
  }

  // MARK: - By example

  /// - Parameter refers: whether the table is there and refers to another one, so that it shares a transaction with records
  ///   that wait.
  private func job(key: [String] = ["id"], refers: Bool = false) -> MirrorJob {
    if refers {
      _ = try? Database(scratch.file("a.db")).rows(
        "CREATE TABLE o(id INTEGER PRIMARY KEY); CREATE TABLE feed(id INTEGER PRIMARY KEY, v, o REFERENCES o)"
      )
    }
    var table = MirrorTable(name: "feed", sources: [scratch.file("feed.csv")])
    table.options.rules.key = key
    table.options.rejects.onError = .reject
    table.sweep = .hard
    (table.options.tuning.chunkSizes.usual, table.options.tuning.chunkSizes.least) = (1_000, 100)
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func deliver(_ rows: [Int: String], leavingOut gone: Set<Int> = [], more: String = "") {
    let text = (0..<2_000).filter { !gone.contains($0) }.map { "\($0),\(rows[$0] ?? "value \($0)")\n" }
      .joined()
    _ = scratch.write("id,v\n" + text + more, to: "feed.csv")
  }

  @Test(
    "A night with few changes reads little, writes the changed rows alone, and sweeps what is gone",
    arguments: [false, true])
  func few(refers: Bool) throws {
    let job = job(refers: refers)
    deliver([:])
    #expect(job.run().ledger.inserted == 2_000)
    try Database(job.database).rows(
      """
      CREATE TABLE log(n);
      CREATE TRIGGER i AFTER INSERT ON feed BEGIN INSERT INTO log VALUES (new.id); END;
      CREATE TRIGGER u AFTER UPDATE ON feed BEGIN INSERT INTO log VALUES (new.id); END;
      CREATE TRIGGER d AFTER DELETE ON feed BEGIN INSERT INTO log VALUES (-old.id); END
      """)
    deliver([500: "new", 1_500: "new"], leavingOut: [77, 78], more: "5000,more\n")
    let summary = job.run()
    var expected = Ledger()
    (expected.read, expected.inserted, expected.updated, expected.unchanged, expected.swept) = (
      1_999, 1, 2, 1_996, 2
    )
    #expect(summary.ledger == expected && summary.exitCode == 0)
    #expect(Self.skipped(summary) > 1_500, "\(Self.skipped(summary))")
    #expect(
      try Database(job.database).rows("SELECT n FROM log ORDER BY n") == [
        "-78", "-77", "500", "1500", "5000",
      ])
    // And once more, from what is remembered now.
    deliver([500: "newer", 1_500: "new"], leavingOut: [77, 78], more: "5000,more\n")
    let again = job.run()
    #expect(again.ledger.updated == 1 && again.ledger.unchanged == 1_998 && Self.skipped(again) > 1_800)
  }

  @Test("Rows that others have changed are found by --verify, and where their part of the delivery changes")
  func local() throws {
    var job = job()
    deliver([:])
    #expect(job.run().exitCode == 0)
    try Database(job.database).rows(
      "UPDATE feed SET v = 'local' WHERE id = 3; DELETE FROM feed WHERE id = 1000; INSERT INTO feed VALUES (-1, 'local')"
    )
    deliver([1_001: "new"])
    let summary = job.run()
    #expect(summary.ledger.inserted == 1 && summary.ledger.updated == 1 && Self.skipped(summary) > 0)
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed WHERE v = 'local'") == ["2"])
    job.verifiesAll = true
    let verified = job.run()
    #expect(verified.ledger.updated == 1 && verified.ledger.swept == 1 && verified.exitCode == 0)
    job.verifiesAll = false
    deliver([1_001: "newer"])
    let next = job.run()
    #expect(next.ledger.updated == 1 && next.ledger.unchanged == 1_999 && Self.skipped(next) > 1_500)
  }

  @Test(
    "A row that is there already, and that the last delivery did not have, has the whole delivery compared",
    arguments: [false, true])
  func known(refers: Bool) throws {
    let job = job(refers: refers)
    deliver([:], leavingOut: [5])
    #expect(job.run().exitCode == 0)
    try Database(job.database).rows("INSERT INTO feed(id, v) VALUES (5, 'local')")
    deliver([:])
    let summary = job.run()
    #expect(summary.ledger.updated == 1 && summary.ledger.unchanged == 1_999 && Self.skipped(summary) == 0)
    // A record twice: the later one counts, wherever it stands.
    deliver([:], more: "7,again\n")
    let twice = job.run()
    #expect(twice.ledger.read == 2_001 && twice.ledger.updated == 1 && Self.skipped(twice) == 0)
    #expect(try Database(job.database).rows("SELECT v FROM feed WHERE id = 7") == ["'again'"])
    deliver([:])
    #expect(job.run().ledger.updated == 1)
    deliver([9: "new"])
    #expect(Self.skipped(job.run()) > 0)
  }

  @Test(
    "A delivery that has changed everywhere is compared as a whole, and the one behind it is remembered again",
    arguments: [false, true])
  func everywhere(refers: Bool) throws {
    var job = job(refers: refers)
    job.tables[0].options.tuning.chunkSizes.patience = 5_000
    deliver([:])
    #expect(job.run().exitCode == 0)
    let rows = Dictionary(uniqueKeysWithValues: stride(from: 0, to: 2_000, by: 10).map { ($0, "new") })
    deliver(rows, leavingOut: [77])
    let summary = job.run()
    #expect(summary.ledger.updated == 200 && summary.ledger.unchanged == 1_799 && summary.ledger.swept == 1)
    #expect(Self.skipped(summary) == 0)
    let count = "SELECT count(*) FROM upsurge_chunks"
    #expect(try Database(job.database).rows(count) == ["0"])
    deliver(rows, leavingOut: [77, 78])
    #expect(job.run().ledger.swept == 1)
    deliver(rows, leavingOut: [77, 78, 1_999])
    let last = job.run()
    #expect(last.ledger.swept == 1 && last.ledger.unchanged == 1_997 && Self.skipped(last) > 1_500)
  }

  @Test(
    "A small table is remembered every night, so that it is known in part as soon as it has grown",
    arguments: [false, true])
  func small(refers: Bool) throws {
    var job = job(refers: refers)
    (job.tables[0].options.tuning.chunkSizes.usual, job.tables[0].options.tuning.chunkSizes.least) = (
      2_000, 1_000
    )
    let write = { (count: Int, value: Int) in
      let lines = (0..<count).map { "\($0),\($0 == 3 ? "value \(value)" : "value")\n" }
      _ = scratch.write("id,v\n" + lines.joined(), to: "feed.csv")
    }
    let known = "SELECT count(*), sum(records), max(hash IS NOT NULL) FROM upsurge_chunks WHERE place > 0"
    for night in 0..<4 {
      write(20, night)
      let summary = job.run()
      #expect(summary.exitCode == 0 && summary.ledger.updated == (night > 0 ? 1 : 0))
      #expect(try Database(job.database).rows(known) == ["1|20|0"], "night \(night)")
    }
    write(2_000, 4)
    #expect(job.run().ledger.inserted == 1_980)
    write(2_000, 5)
    let grown = job.run()
    #expect(grown.ledger.updated == 1 && Self.skipped(grown) > 1_500)
  }

  @Test(
    "Guards count the records that were not read",
    arguments: [false, true])
  func guards(refers: Bool) throws {
    var job = job(refers: refers)
    deliver([:])
    #expect(job.run().exitCode == 0)
    deliver([:], leavingOut: Set(100..<400))
    let refused = job.run()
    #expect(refused.exitCode == 4 && refused.ledger.read == 1_700 && refused.ledger.swept == 0)
    #expect(refused.tables[0].failure?.message.contains("300 of 2000 rows") == true)
    #expect(Self.skipped(refused) > 0)
    // Nothing is known of the table now.
    let again = job.run()
    #expect(again.exitCode == 4 && Self.skipped(again) == 0)
    job.tables[0].guards.expectedCount = 1_999
    deliver([:], leavingOut: [1])
    #expect(job.run().exitCode == 0)
    deliver([:], leavingOut: [1, 2])
    #expect(job.run().tables[0].failure?.message.contains("1998 records, and 1999 were expected") == true)
  }

  @Test(
    "Nothing is skipped under other options, for another header, in bounded transactions, or of what was taken away",
    arguments: 0..<5, [false, true])
  func notTrusted(change: Int, refers: Bool) throws {
    var job = job(refers: refers)
    deliver([:])
    #expect(job.run().exitCode == 0)
    deliver([3: "new"])
    switch change {
    case 0:
      job.tables[0].options.table.renames = ["v": "w"]
      job.acceptsChanges = true
    case 1:
      let text = String(decoding: try readFile(scratch.file("feed.csv")), as: UTF8.self)
      _ = scratch.write(text.replacing("id,v\n", with: "id, v\n"), to: "feed.csv")
      job.tables[0].options.table.contract = .evolve
    case 2: job.atomicity = .bounded
    case 3: try Database(job.database).rows("DELETE FROM upsurge_chunks WHERE place > 0 AND place % 2 = 0")
    default: try Database(job.database).rows("UPDATE upsurge_chunks SET keys = x'09' WHERE place > 0")
    }
    if change == 0 { try Database(job.database).rows("ALTER TABLE feed RENAME v TO w") }
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
    #expect(Self.skipped(summary) == 0)
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["2000"])
    if change == 2 {
      #expect(try Database(job.database).rows("SELECT count(*) FROM upsurge_chunks") == ["0"])
    }
  }

  @Test(
    "A quote that stays open in front of a known part has all of it read",
    arguments: [false, true])
  func openQuote(refers: Bool) throws {
    let job = job(refers: refers)
    deliver([:])
    #expect(job.run().exitCode == 0)
    deliver([500: "\"open", 1_500: "close\""])
    let summary = job.run()
    var fresh = job
    fresh.database = scratch.file("fresh.db")
    let other = fresh.run()
    #expect(summary.ledger.read == other.ledger.read && summary.ledger.rejected == other.ledger.rejected)
    #expect(Self.skipped(summary) == 0)
  }

  enum Reference: String, CaseIterable {
    /// A row of another table that stays refers to one that goes.
    case kept
    /// A row that goes takes the reference of another one with it, by way of another table.
    case acting
    /// Rows refer to others of their table.
    case own
  }

  @Test(
    "Parts are skipped only where rows that go do not change those that stay", arguments: Reference.allCases)
  func references(reference: Reference) throws {
    let job = job()
    let database = Database(job.database)
    let up =
      switch reference {
      case .kept: "REFERENCES other"
      case .acting: "REFERENCES other ON DELETE SET NULL"
      case .own: "REFERENCES feed"
      }
    let action = reference == .acting ? "ON DELETE CASCADE" : ""
    try database.rows(
      """
      CREATE TABLE other(id INTEGER PRIMARY KEY, feed REFERENCES feed \(action));
      CREATE TABLE feed(id INTEGER PRIMARY KEY, v, up INTEGER \(up)); INSERT INTO other VALUES (100, NULL)
      """)
    let deliver = { (gone: Set<Int>, new: String) in
      let lines = (0..<2_000).filter { !gone.contains($0) }.map { id in
        "\(id),\(id == 1_500 ? new : "value \(id)"),\(id == 900 ? "100" : "")\n"
      }
      _ = scratch.write("id,v,up\n" + lines.joined(), to: "feed.csv")
    }
    deliver([], "a")
    #expect(job.run().ledger.inserted == 2_000)
    try database.rows("UPDATE other SET feed = 100")
    deliver([5], "b")
    let first = job.run()
    #expect((Self.skipped(first) > 1_500) == (reference == .kept), "\(Self.skipped(first))")
    #expect(first.exitCode == 0 && first.ledger.swept == 1 && first.ledger.updated == 1)
    deliver([5, 100], "c")
    let second = job.run()
    let isSwept = reference == .acting
    #expect(second.exitCode == (isSwept ? 0 : 4) && second.ledger.swept == (isSwept ? 1 : 0))
    #expect((Self.skipped(second) > 1_500) == (reference == .kept))
    #expect(
      try database.rows("SELECT sum(id = 100), count(*) FROM feed") == [isSwept ? "0|1998" : "1|1999"])
    // What has lost its reference is seen the next night.
    deliver([5, 100], "d")
    let third = job.run()
    #expect(third.exitCode == (isSwept ? 2 : 4) && third.ledger.quarantined == (isSwept ? 1 : 0))
    #expect(try database.rows("PRAGMA foreign_key_check").isEmpty)
  }

  @Test("A record of a changed part waits for its parent, and what it may be is read as a whole meanwhile")
  func waits() throws {
    let job = job(refers: true)
    let database = Database(job.database)
    let deliver = { (changed: [Int: String]) in
      let lines = (0..<2_000).map { "\($0),\(changed[$0] ?? "v,")\n" }
      _ = scratch.write("id,v,o\n" + lines.joined(), to: "feed.csv")
    }
    deliver([:])
    #expect(job.run().ledger.inserted == 2_000)
    deliver([700: "new,7"])
    let waiting = job.run()
    #expect(waiting.exitCode == 2 && waiting.ledger.quarantined == 1 && Self.skipped(waiting) > 1_500)
    #expect(try database.rows("SELECT count(*), sum(o) FROM feed") == ["2000|NULL"])
    try database.rows("INSERT INTO o VALUES (7)")
    deliver([700: "new,7", 800: "new,"])
    let stored = job.run()
    #expect(stored.exitCode == 0 && Self.skipped(stored) == 0, "\(stored.exitCode)")
    #expect(try database.rows("SELECT count(*), sum(o) FROM feed") == ["2000|7"])
    for night in 0..<2 {
      deliver([700: "new,7", 800: "newer \(night),"])
      let next = job.run()
      #expect(next.ledger.updated == 1 && (Self.skipped(next) > 1_500) == (night > 0), "night \(night)")
    }
  }

  @Test("Of several tables in one transaction all is read, and of a folder in one")
  func several() throws {
    var job = job(refers: true)
    var other = job.tables[0]
    other.name = "o"
    other.sources = [Source(scratch.write("id\n7\n", to: "o.csv"))]
    job.tables.append(other)
    for night in 0..<2 {
      deliver([3: "night \(night)"])
      let summary = job.run()
      #expect(
        summary.exitCode == 0
          && summary.tables.allSatisfy {
            $0.loads.allSatisfy { load in
              !load.metrics.settings.contains { $0.name == "skipped_records" }
            }
          })
    }
    job.tables.removeLast()
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    job.tables[0].sources = [Source(scratch.file("in"))]
    job.acceptsChanges = true
    for night in 2..<4 {
      deliver([3: "night \(night)"])
      try FileManager.default.moveItem(
        atPath: scratch.file("feed.csv"), toPath: scratch.file("in/\(night).csv"))
      let summary = job.run()
      #expect(summary.exitCode == 0 && Self.skipped(summary) == 0 && summary.ledger.updated == 1)
    }
  }
}
