import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// What a mirror keeps beside its tables does not grow with every night.
@Suite("Retention of rejects, kept records and taken files") struct RecordRetentionTests {
  let scratch = Scratch()

  private var path: String { scratch.file("a.db") }
  private var database: Database { Database(path) }

  private func job(_ change: (inout MirrorTable) -> Void = { _ in }) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [scratch.file("feed.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.options.rejects.target = .table
    change(&table)
    return MirrorJob(database: path, tables: [table])
  }

  /// Runs a job, and says what it has told.
  private func run(_ job: MirrorJob) -> (summary: MirrorSummary, notes: [String]) {
    let notes = Guarded<[String]>([])
    let summary = job.run(note: { note in notes.withLock { $0.append(note.text) } })
    return (summary, notes.withLock { $0 })
  }

  private static let counts =
    "SELECT raw, count, record, added_at < last_at FROM upsurge_rejects ORDER BY id"

  @Test("The same bad record of a snapshot is one row, with a count and the first and last time")
  func nights() throws {
    let job = job()
    for night in 1...100 {
      let more = night % 2 == 0 ? "0,even\n" : ""
      _ = scratch.write("id,v\n\(more)1,\(night)\n7,x,y\n7,x,y\n", to: "feed.csv")
      #expect(run(job).summary.ledger.rejected == 2)
    }
    // Two equal lines are two records, each night the same two; the last night has a line more above them.
    #expect(try database.rows(Self.counts) == ["'7,x,y'|100|3|1", "'7,x,y'|100|4|1"])
    // Another bad record has its own row.
    _ = scratch.write("id,v\n1,101\n8,x,y\n7,x,y\n", to: "feed.csv")
    #expect(run(job).summary.ledger.rejected == 2)
    #expect(
      try database.rows(Self.counts) == ["'7,x,y'|101|3|1", "'7,x,y'|100|4|1", "'8,x,y'|1|2|0"])
    // Each is tried once, and stored once.
    try database.rows("UPDATE upsurge_rejects SET raw = replace(raw, ',y', '')")
    let replay = ReplayJob(database: path).run()
    #expect(replay.ledger.read == 3 && replay.ledger.inserted == 2 && replay.ledger.unchanged == 1)
    #expect(try database.rows("SELECT id, v FROM t WHERE id > 1 ORDER BY id") == ["7|'x'", "8|'x'"])
  }

  @Test("Files of a drop folder are deliveries of one snapshot; other loads keep every record")
  func others() throws {
    try FileManager.default.createDirectory(atPath: scratch.file("drop"), withIntermediateDirectories: true)
    let folder = job { $0.sources = [Source(scratch.file("drop"))] }
    for night in 1...3 {
      _ = scratch.write("id,v\n1,\(night)\n7,x,y\n", to: "drop/\(night).csv")
      #expect(run(folder).summary.ledger.rejected == 1)
    }
    #expect(try database.rows("SELECT count, file LIKE '%/3.csv' FROM upsurge_rejects") == ["3|1"])
    let delta = job {
      $0.name = "u"
      $0.kind = .delta
    }
    for night in 1...3 {
      _ = scratch.write("id,v\n\(night),z\n7,x,y\n", to: "feed.csv")
      #expect(run(delta).summary.ledger.rejected == 1)
    }
    #expect(try database.rows("SELECT count FROM upsurge_rejects ORDER BY id") == ["3", "1", "1", "1"])
  }

  @Test("A table of an earlier version gets the columns, and keeps its records")
  func migrated() throws {
    try database.rows(
      """
      CREATE TABLE upsurge_reject_contexts (id INTEGER PRIMARY KEY, context TEXT NOT NULL UNIQUE);
      CREATE TABLE upsurge_rejects (id INTEGER PRIMARY KEY, "table" TEXT NOT NULL COLLATE NOCASE, context INTEGER NOT NULL,
        file TEXT, record INTEGER, line INTEGER, byte INTEGER, "column" TEXT, code TEXT NOT NULL, reason TEXT NOT NULL,
        raw NOT NULL, raw_cut INTEGER NOT NULL DEFAULT 0,
        added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')));
      INSERT INTO upsurge_reject_contexts VALUES (1, '{}');
      INSERT INTO upsurge_rejects ("table", context, code, reason, raw, added_at)
        VALUES ('t', 1, 'unique', '', 'old', '2020-01-01T00:00:00.000Z');
      """)
    // A load that does not count leaves the table as it is.
    let plain = try Command.run([
      "load", path, "other", scratch.write("id,v\n1,2,3\n4,5\n", to: "b.csv"), "--on-error", "reject", "--rejects",
      "table",
    ])
    #expect(plain.exitCode == 2, "\(plain.talk)")
    #expect(try database.rows("SELECT count(*) FROM pragma_table_info('upsurge_rejects')") == ["13"])
    for night in 1...2 {
      _ = scratch.write("id,v\n1,\(night)\n7,x,y\n", to: "feed.csv")
      #expect(run(job()).summary.ledger.rejected == 1)
    }
    #expect(
      try database.rows("SELECT raw, count, last_at = added_at FROM upsurge_rejects ORDER BY id") == [
        "'old'|1|1", "'1,2,3'|1|1", "'7,x,y'|2|0",
      ])
  }

  @Test("keep-rejects keeps the newest of the table, and says how many went")
  func rejects() throws {
    let job = job { $0.unattended.keptRejectCount = 2 }
    try database.rows("CREATE TABLE other(id)")
    for night in 1...4 {
      _ = scratch.write("id,v\n1,\(night)\n7,x,y\n\(night),\(night),z\n", to: "feed.csv")
      let outcome = run(job)
      #expect(outcome.summary.exitCode == 2)
      #expect(
        outcome.notes.filter { $0.contains("forgotten") }
          == (night < 2
            ? []
            : ["table t: 1 rejected record was forgotten (keep-rejects: 2), and cannot be replayed any more"]),
        "night \(night)")
    }
    // The one that comes each night is the newest, too.
    #expect(
      try database.rows("SELECT raw, count FROM upsurge_rejects ORDER BY id") == ["'7,x,y'|4", "'4,4,z'|1"])
  }

  @Test("keep-quarantine keeps the newest, and says how many will not be stored")
  func kept() throws {
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    let job = job {
      $0.options.table.contract = .quarantine
      $0.kind = .delta
      $0.unattended.keptQuarantineCount = 3
    }
    _ = scratch.write("id,v,new\n" + (1...5).map { "\($0),a,b\n" }.joined(), to: "feed.csv")
    let outcome = run(job)
    #expect(outcome.summary.ledger.quarantined == 5)
    #expect(
      outcome.notes.filter { $0.contains("forgotten") } == [
        "table t: 2 quarantined records were forgotten (keep-quarantine: 3), and will not be stored"
      ])
    #expect(try database.rows("SELECT number FROM upsurge_quarantine ORDER BY id") == ["3", "4", "5"])
    // Without the key all of them stay.
    _ = scratch.write("id,v,new\n" + (6...9).map { "\($0),a,b\n" }.joined(), to: "feed.csv")
    let all = self.job {
      $0.options.table.contract = .quarantine
      $0.kind = .delta
    }
    #expect(run(all).notes.filter { $0.contains("forgotten") } == [])
    #expect(try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["7"])
  }

  @Test(
    "keep-files forgets files that have left the folder, and none that is there", arguments: [true, false])
  func files(isDelta: Bool) throws {
    let drop = scratch.file("drop")
    try FileManager.default.createDirectory(atPath: drop, withIntermediateDirectories: true)
    let job = job {
      $0.sources = [Source(drop)]
      $0.kind = isDelta ? .delta : .snapshot
      $0.unattended.keptFileCount = 2
    }
    func known() throws -> [String] {
      try database.rows("SELECT name FROM upsurge_files ORDER BY name").map {
        String($0.dropLast().suffix(5))
      }
    }
    // Of sizes of their own.
    func write(_ number: Int) {
      _ = scratch.write(
        "id,v\n\(number),\(String(repeating: "x", count: number))\n", to: "drop/\(number).csv")
    }
    for number in 1...5 { write(number) }
    #expect(run(job).summary.ledger.read == 5)
    #expect(try known() == ["1.csv", "2.csv", "3.csv", "4.csv", "5.csv"])
    write(6)
    #expect(run(job).summary.ledger.read == 1)
    #expect(try known().count == 6)
    // A folder that is empty may be the wrong one.
    for number in 1...5 { rename(scratch.file("drop/\(number).csv"), scratch.file("\(number).csv")) }
    rename(scratch.file("drop/6.csv"), scratch.file("6.csv"))
    #expect(run(job).summary.ledger.read == 0)
    #expect(try known().count == 6)
    for number in 4...6 { rename(scratch.file("\(number).csv"), scratch.file("drop/\(number).csv")) }
    // One whose content lies there under another name stays known, too.
    rename(scratch.file("1.csv"), scratch.file("drop/0.csv"))
    let again = run(job).summary.ledger.read
    #expect(again == (isDelta ? 0 : 1))
    write(7)
    #expect(run(job).summary.ledger.read == 1)
    // Gone are 2 and 3, of which the newest two may stay.
    #expect(try Set(known()).isSuperset(of: ["1.csv", "2.csv", "3.csv", "4.csv", "5.csv", "6.csv", "7.csv"]))
    for number in 4...6 { unlink(scratch.file("drop/\(number).csv")) }
    write(8)
    #expect(run(job).summary.ledger.read == 1)
    let left = try known()
    #expect(left.contains("7.csv") && left.contains("8.csv") && left.contains("1.csv"))
    #expect(left.filter { ["2.csv", "3.csv", "4.csv", "5.csv", "6.csv"].contains($0) }.count == 2, "\(left)")
    // Nothing that is there is taken again.
    #expect(run(job).summary.ledger.read == 0)
  }
}
