import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Deliveries that are cut, empty or halved: no row goes because of one.
@Suite("Mirrors of broken deliveries") struct MirrorGuardTests {
  let scratch = Scratch()

  enum Form: String, CaseIterable { case csv, ndjson, json, gzip, zstd }

  /// 600 records, and the next delivery of them: one is gone, one changed.
  private func text(_ form: Form, isNext: Bool) -> [UInt8] {
    let rows = (0..<600).filter { !isNext || $0 != 77 }.map {
      (id: $0, v: isNext && $0 == 5 ? "new" : "value \($0)")
    }
    switch form {
    case .csv: return Array(("id,v\n" + rows.map { "\($0.id),\($0.v)\n" }.joined()).utf8)
    case .ndjson: return Array(rows.map { "{\"id\":\($0.id),\"v\":\"\($0.v)\"}\n" }.joined().utf8)
    case .json:
      return Array(
        ("[" + rows.map { "{\"id\":\($0.id),\"v\":\"\($0.v)\"}" }.joined(separator: ",") + "]").utf8)
    case .gzip: return Compressing.gzip(text(.csv, isNext: isNext))
    case .zstd: return Compressing.zstd(text(.csv, isNext: isNext))
    }
  }

  private func job(_ form: Form, isChunked: Bool = false) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file("feed")])
    if isChunked {
      (table.options.tuning.chunkSizes.usual, table.options.tuning.chunkSizes.least) = (500, 100)
    }
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  @Test(
    "Cut at any byte, a delivery takes no row away, and the reason is said", arguments: Form.allCases,
    [false, true])
  func cut(form: Form, isChunked: Bool) throws {
    let job = job(form, isChunked: isChunked)
    _ = scratch.write(text(form, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    let whole = text(form, isNext: true)
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let original = try readFile(job.database)
    for _ in 0..<SeededGenerator.some(20, most: 200) {
      let count = Int.random(in: 1..<whole.count, using: &random)
      _ = scratch.write(Array(whole.prefix(count)), to: "feed")
      for suffix in ["-wal", "-shm"] { unlink(job.database + suffix) }
      _ = scratch.write(original, to: "a.db")
      let summary = job.run()
      let found = try Database(job.database).rows("SELECT count(*) FROM feed")
      let words = "\(form), seed \(seed), \(count) of \(whole.count) bytes: \(summary.exitCode)"
      // At a border of records near the end, the rest is no more than may go.
      let mayGo = (form == .csv || form == .ndjson) && whole[count - 1] == 0x0A && summary.ledger.read >= 540
      if mayGo { continue }
      #expect(found == ["600"], "\(words)")
      #expect([3, 4, 65].contains(summary.exitCode), "\(words)")
      #expect(summary.tables[0].failure?.message.isEmpty == false, "\(words)")
    }
    // What stands of the last cut one is taken back, too.
    for suffix in ["-wal", "-shm"] { unlink(job.database + suffix) }
    _ = scratch.write(original, to: "a.db")
    _ = scratch.write(whole, to: "feed")
    let last = job.run()
    #expect(
      last.exitCode == 0 && last.ledger.swept == 1 && last.ledger.updated == 1,
      "\(last.tables[0].failure?.description ?? "")")
  }

  /// A text, with a last line that says how many records it has.
  private func trailed(_ form: Form, isNext: Bool, count: Int? = nil) -> [UInt8] {
    text(form, isNext: isNext) + Array("END 2026-11-22 00\(count ?? (isNext ? 599 : 600))\n".utf8)
  }

  @Test(
    "With a trailer, a text that is cut anywhere takes no row away, also between two records",
    arguments: [Form.csv, .ndjson], [false, true])
  func trailer(form: Form, isChunked: Bool) throws {
    var job = job(form, isChunked: isChunked)
    job.tables[0].guards.trailer = "END * {count}"
    _ = scratch.write(trailed(form, isNext: false), to: "feed")
    let first = job.run()
    #expect(first.exitCode == 0 && first.ledger.read == 600, "\(first.tables[0].failure?.description ?? "")")
    let whole = trailed(form, isNext: true)
    let borders = whole.indices.filter { whole[$0] == 0x0A }.map { $0 + 1 }
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let original = try readFile(job.database)
    var deliveries = borders.dropLast().suffix(3).map { Array(whole.prefix($0)) }
    for _ in 0..<SeededGenerator.some(10, most: 200) {
      deliveries.append(Array(whole.prefix(Int.random(in: 0..<whole.count - 1, using: &random))))
      // One that lacks a part between two records.
      let ends = (0..<2).map { _ in borders.dropFirst().dropLast(2).randomElement(using: &random) ?? 0 }
        .sorted()
      if ends[0] < ends[1] { deliveries.append(Array(whole[..<ends[0]] + whole[ends[1]...])) }
    }
    for delivery in deliveries {
      _ = scratch.write(delivery, to: "feed")
      for suffix in ["-wal", "-shm"] { unlink(job.database + suffix) }
      _ = scratch.write(original, to: "a.db")
      let summary = job.run()
      let words = "\(form), seed \(seed), \(delivery.count) of \(whole.count) bytes: \(summary.exitCode)"
      #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["600"], "\(words)")
      #expect([3, 4, 65].contains(summary.exitCode), "\(words)")
      #expect(summary.tables[0].failure?.message.contains("is not whole") == true, "\(words)")
    }
    _ = scratch.write(whole, to: "feed")
    let last = job.run()
    #expect(
      last.exitCode == 0 && last.ledger.swept == 1 && last.ledger.updated == 1 && last.ledger.read == 599,
      "\(last.tables[0].failure?.description ?? "")")
  }

  @Test(
    "What a trailer says of a delivery without a record is told", arguments: [("END 0", 4), ("END 1", 65)])
  func trailerAlone(line: String, exitCode: Int32) throws {
    for (form, text) in [(Form.csv, "id,v\n"), (.ndjson, "")] {
      var job = job(form)
      job.tables[0].guards.trailer = "END {count}"
      if form == .ndjson { job.tables[0].options.input.format = .ndjson }
      _ = scratch.write(text + line + "\n", to: "feed")
      let summary = job.run()
      #expect(
        summary.exitCode == exitCode, "\(form), \(text): \(summary.tables[0].failure?.description ?? "")")
    }
  }

  @Test("Under another trailer, a file that has not changed is read again", arguments: [nil, "FIN {count}"])
  func otherTrailer(last: String?) throws {
    var job = job(.csv)
    job.tables[0].guards.trailer = last
    _ = scratch.write("id,v\n1,a\n2,b\nEND 9,\nFIN 3\n", to: "feed")
    #expect(job.run().ledger.inserted == 3)
    job.tables[0].guards.trailer = "END {count}"
    let summary = job.run()
    #expect(summary.exitCode == 65, "\(summary.exitCode)")
    _ = scratch.write("id,v\n1,a\n2,b\nEND 2\n", to: "feed")
    job.tables[0].guards.maximumDeletes = .percent(100)
    #expect(job.run().exitCode == 0)
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["2"])
  }

  @Test("A count that a trailer proves is no sign of a feed that is cut off")
  func trailerOfRoundCount() throws {
    var job = job(.csv)
    for (pattern, count) in [("END {count}", 0), ("END *", 1)] {
      job.tables[0].guards.trailer = pattern
      job.verifiesAll = true
      _ = scratch.write(trailed(.csv, isNext: false), to: "feed")
      let notes = RunNotes()
      job.tables[0].guards.trailer = pattern.replacing("END", with: "END 2026-11-22")
      #expect(job.run().exitCode == 0)
      #expect(job.run(note: { notes.add($0.text) }).exitCode == 0)
      #expect(notes.all.count { $0.contains("records again") } == count, "\(notes.all)")
    }
  }

  @Test("A change file that lacks its trailer is cut, and taken when it is whole")
  func trailerOfDelta() throws {
    var job = job(.csv)
    job.tables[0].kind = .delta
    job.tables[0].sweep = .none
    job.tables[0].guards.trailer = "# {count} records"
    for (trailer, exitCode) in [("", 65), ("# 3 records\n", 65), ("# 2 records\r\n\r\n", 0)]
      as [(String, Int32)]
    {
      _ = scratch.write("id,v\n1,a\n2,b\n" + trailer, to: "feed")
      let summary = job.run()
      #expect(summary.exitCode == exitCode, "\(trailer): \(summary.tables[0].failure?.description ?? "")")
    }
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["2"])
  }

  @Test("An empty delivery and half of one take no row away", arguments: Form.allCases)
  func empty(form: Form) throws {
    let job = job(form)
    _ = scratch.write(text(form, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    var deliveries: [[UInt8]] = [[]]
    switch form {
    case .csv: deliveries += [Array("id,v\n".utf8), Array("id,v\n1,value 1\n".utf8)]
    case .ndjson: deliveries += [Array("\n".utf8), Array("{\"id\":1,\"v\":\"value 1\"}\n".utf8)]
    case .json: deliveries += [Array("[]".utf8), Array("[{\"id\":1,\"v\":\"value 1\"}]".utf8)]
    case .gzip: deliveries += [Compressing.gzip([]), Compressing.gzip(Array("id,v\n1,value 1\n".utf8))]
    case .zstd: deliveries += [Compressing.zstd([]), Compressing.zstd(Array("id,v\n1,value 1\n".utf8))]
    }
    for delivery in deliveries {
      _ = scratch.write(delivery, to: "feed")
      let summary = job.run()
      let words =
        "\(form), \(delivery.count) bytes: \(summary.exitCode) \(summary.tables[0].failure?.description ?? "")"
      #expect([4, 65].contains(summary.exitCode), "\(words)")
      #expect(summary.tables[0].failure?.message.isEmpty == false, "\(words)")
      #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["600"], "\(words)")
    }
  }

  @Test("An empty delivery is told, also where nothing is swept")
  func emptyWithoutSweep() throws {
    var job = job(.csv)
    job.tables[0].sweep = .none
    _ = scratch.write(text(.csv, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    for delivery in ["", "id,v\n"] {
      _ = scratch.write(delivery, to: "feed")
      let summary = job.run()
      #expect(summary.exitCode == 4)
      #expect(summary.tables[0].failure?.message == "the delivery has no record")
    }
    #expect(try Database(job.database).rows("SELECT failures, records FROM upsurge_feeds") == ["2|600"])
  }

  @Test(
    "A feed that has never delivered is no other one when its path or key is put right",
    arguments: [false, true])
  func mistyped(isKey: Bool) throws {
    var job = job(.csv)
    let database = Database(job.database)
    try database.rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v TEXT)")
    _ = scratch.write(text(.csv, isNext: false), to: "feed")
    let right = job.tables[0]
    if isKey { job.tables[0].options.rules.key = ["idd"] } else { job.tables[0].sources = [Source(scratch.file("fed"))] }
    let failed = job.run()
    #expect(isKey ? failed.exitCode != 0 : failed.exitCode == 66, "\(failed.exitCode)")
    // It stays so when it fails again.
    _ = job.run()
    #expect(try FeedStatus.all(database: job.database).map(\.failureCount) == [2])
    job.tables[0] = right
    let mended = job.run()
    #expect(mended.exitCode == 0, "\(mended.tables[0].failure?.description ?? "")")
    // Now rows are of the feed, also when a run behind that fails.
    job.tables[0].sources = [Source(scratch.file("fed"))]
    #expect(job.run().exitCode == 4)
    try FileManager.default.removeItem(atPath: scratch.file("feed"))
    job.tables[0] = right
    #expect(job.run().exitCode == 66)
    job.tables[0].sources = [Source(scratch.file("fed"))]
    #expect(job.run().exitCode == 4)
  }

  @Test("What is committed before a first run fails is of its feed")
  func partOfFirst() throws {
    var job = job(.csv)
    job.atomicity = .bounded
    job.tables[0].options.transaction.commitEvery = .records(100)
    _ = scratch.write(text(.csv, isNext: false) + Array("600,cut".utf8), to: "feed")
    #expect(job.run().exitCode == 3)
    job.tables[0].sources = [Source(scratch.write(text(.csv, isNext: false), to: "other"))]
    let refused = job.run()
    #expect(
      refused.exitCode == 4 && refused.tables[0].error?.message.contains("source (was ") == true,
      "\(refused.tables[0].failure?.description ?? "")")
  }

  @Test("A feed with another key, source, scope or kind is refused until that is confirmed")
  func changed() throws {
    var job = job(.csv)
    _ = scratch.write(text(.csv, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    _ = scratch.write(text(.csv, isNext: false), to: "other")
    job.tables[0].sources = [Source(scratch.file("other"))]
    let refused = job.run()
    #expect(refused.exitCode == 4)
    #expect(refused.tables[0].error?.message.contains("source (was ") == true)
    #expect(refused.tables[0].error?.hint?.contains("--accept-change") == true)
    job.acceptsChanges = true
    #expect(job.run().exitCode == 0)
    job.acceptsChanges = false
    #expect(job.run().exitCode == 0)
    job.tables[0].scope = "id < 1000"
    #expect(job.run().exitCode == 4)
  }

  @Test("Another table's failure does not keep a table from its turn, and the state of each is noted")
  func several() throws {
    var job = job(.csv)
    _ = scratch.write(text(.csv, isNext: false), to: "feed")
    var missing = MirrorTable(name: "missing", sources: [scratch.file("nowhere.csv")])
    missing.options.rules.key = ["id"]
    job.tables.insert(missing, at: 0)
    let first = job.run()
    #expect(first.exitCode == 3)
    #expect(first.tables.map(\.exitCode) == [66, 0])
    // Also of one that has failed before there was a database.
    let state = "SELECT \"table\", failures, exit_code, good_at IS NULL FROM upsurge_feeds ORDER BY 1"
    #expect(try Database(job.database).rows(state) == ["'feed'|0|0|0", "'missing'|1|66|1"])
    let status = try FeedStatus.all(database: job.database)
    #expect(status.map(\.table) == ["feed", "missing"] && status[1].message?.contains("nowhere.csv") == true)
    _ = job.run()
    #expect(try Database(job.database).rows(state) == ["'feed'|0|0|0", "'missing'|2|66|1"])
    #expect(
      try Database(job.database).rows("SELECT records FROM upsurge_feeds WHERE failures = 0") == ["600"])
  }

  @Test(
    "A delivery that has left rejects says so as long as it is the last one, whatever has failed since",
    arguments: [false, true])
  func rejects(isFromEarlierVersion: Bool) throws {
    var job = job(.csv)
    job.tables[0].sweep = .none
    job.tables[0].options.rejects.target = .table
    for (text, code) in [("id,v\n1,a\n2,b,c\n", Int32(2)), ("id,v\n1,a\n2,b\n", 0)] {
      let path = scratch.write(text, to: "feed")
      #expect(job.run().exitCode == code)
      if isFromEarlierVersion {
        // That went by the exit code of the last run.
        try Database(job.database).rows("ALTER TABLE upsurge_feeds DROP COLUMN has_rejects")
      }
      #expect(job.run().exitCode == code)
      unlink(path)
      #expect(job.run().exitCode == 66)
      _ = scratch.write(text, to: "feed")
      for _ in 0..<2 {
        let same = job.run()
        #expect(same.tables[0].loads.isEmpty)
        #expect(same.exitCode == code, "\(text)")
      }
    }
  }

  @Test("What is swept is listed by a dry run, and is there afterwards; --changes lists it, too")
  func changes() throws {
    var job = job(.csv)
    let changes = scratch.file("changes.ndjson")
    job.tables[0].options.output.changesPath = changes
    _ = scratch.write(text(.csv, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    _ = scratch.write(text(.csv, isNext: true), to: "feed")
    job.dryRun = .count
    let trial = job.run()
    #expect(trial.exitCode == 0 && trial.ledger.swept == 1 && trial.ledger.updated == 1)
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["600"])
    job.dryRun = nil
    #expect(job.run().ledger.swept == 1)
    let lines = String(decoding: try readFile(changes), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 2, "\(lines)")
    #expect(
      lines.last?.hasPrefix(
        #"{"op":"delete","table":"feed","key":{"id":77},"before":{"id":77,"v":"value 77"}"#) == true)
  }

  @Test("The same file under other options, or for a table with other columns, is read again")
  func options() throws {
    var job = job(.csv)
    job.tables[0].sweep = .none
    _ = scratch.write(text(.csv, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    #expect(job.run().ledger.read == 0)
    job.tables[0].sweep = .hard
    #expect(job.run().ledger.unchanged == 600)
    #expect(job.run().ledger.read == 0)
    try Database(job.database).rows("ALTER TABLE feed ADD COLUMN extra")
    #expect(job.run().ledger.unchanged == 600)
  }

  @Test("A run in bounded transactions that was cut goes on, and sweeps nothing that it has not seen")
  func resumed() throws {
    var job = job(.csv)
    job.atomicity = .bounded
    job.tables[0].options.transaction.commitEvery = .records(100)
    _ = scratch.write(text(.csv, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    // The next delivery changes every row, and one of them is refused at first.
    let next = "id,v\n" + (1..<600).map { "\($0),next \($0)\n" }.joined()
    _ = scratch.write(next, to: "feed")
    job.tables[0].options.rejects.onError = .stop
    let database = Database(job.database)
    try database.rows(
      "CREATE TRIGGER no BEFORE UPDATE ON feed WHEN old.id = 400 BEGIN SELECT RAISE(ABORT, 'not yet'); END")
    let first = job.run()
    #expect(first.exitCode == 3 && first.ledger.updated >= 300, "\(first.exitCode)")
    #expect(try database.rows("SELECT count(*) FROM feed") == ["600"])
    try database.rows("DROP TRIGGER no")
    let second = job.run()
    #expect(second.exitCode == 0, "\(second.tables[0].failure?.description ?? "")")
    #expect(second.tables[0].loads.first?.progress.resumedCount ?? 0 >= 300)
    // The ledger is that of one run that nobody disturbed.
    #expect(second.ledger.read == 599 && second.ledger.updated == 599 && second.ledger.swept == 1)
    #expect(try database.rows("SELECT count(*), min(id) FROM feed") == ["599|1"])
    #expect(job.run().ledger.read == 0)
  }
}

/// Rows that are marked as gone, by feeds whose records name their columns.
@Suite("Soft sweeps of NDJSON") struct SoftNDJSONTests {
  let scratch = Scratch()

  private func run(_ lines: [String]) -> MirrorSummary {
    var table = MirrorTable(
      name: "t", sources: [scratch.write(lines.map { $0 + "\n" }.joined(), to: "t.ndjson")])
    table.options.rules.key = ["id"]
    table.sweep = .soft(column: "gone")
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: scratch.file("a.db"), tables: [table]).run()
  }

  @Test("rows that are gone are marked, come back, and the mark is the sweep's alone")
  func marks() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, n TEXT, gone INTEGER)")
    #expect(run(["{\"id\":1,\"n\":\"a\"}", "{\"id\":2,\"n\":\"b\"}"]).exitCode == 0)
    #expect(run(["{\"id\":1,\"n\":\"a\"}"]).exitCode == 0)
    #expect(try database.rows("SELECT id || n || ifnull(gone, 0) FROM t") == ["'1a0'", "'2b1'"])
    #expect(run(["{\"id\":2,\"n\":\"c\"}"]).exitCode == 0)
    #expect(try database.rows("SELECT id || n || ifnull(gone, 0) FROM t") == ["'1a1'", "'2c0'"])
    let named = run(["{\"id\":2,\"n\":\"d\",\"gone\":1}"])
    #expect(named.exitCode == 64)
    #expect(
      named.tables[0].failure?.message
        == "sweep: soft: the input has a key \"gone\" for the column that marks rows as gone, and only the sweep may set it"
    )
    #expect(named.tables[0].failure?.position?.line == 1)
    #expect(try database.rows("SELECT id || n || ifnull(gone, 0) FROM t") == ["'1a1'", "'2c0'"])
  }

  @Test(
    "A record that names the mark is refused wherever it comes, unless its key is left out",
    arguments: [SchemaContract.freeze, .evolve, .quarantine], [false, true])
  func named(contract: SchemaContract, isThere: Bool) throws {
    let lines = ["{\"id\":1}", "{\"id\":2}", "{\"id\":3,\"GONE\":1}"]
    var table = MirrorTable(
      name: "t", sources: [scratch.write(lines.map { $0 + "\n" }.joined(), to: "t.ndjson")])
    table.options.rules.key = ["id"]
    table.options.table.contract = contract
    table.sweep = .soft(column: "gone")
    var job = MirrorJob(database: scratch.file("a.db"), tables: [table])
    if isThere { try Database(job.database).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, gone INTEGER)") }
    let refused = job.run()
    let failure = refused.tables[0].failure
    if !isThere && contract == .quarantine {
      // Without a table every record waits, as it is.
      #expect(refused.exitCode != 0)
    } else {
      #expect(
        refused.exitCode == 64 && failure?.message.hasSuffix("only the sweep may set it") == true,
        "\(failure?.description ?? "")")
    }
    job.tables[0].options.table.columns = ["id"]
    if isThere || contract != .quarantine { #expect(job.run().ledger.inserted == 3) }
  }
}
