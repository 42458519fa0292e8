import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Deadlines and retries of single ones of several tables that share a transaction.
@Suite("Retries of one table among several") struct MirrorGroupRetryTests {
  let scratch = Scratch()

  /// `child` refers to `parent`, which comes first.
  private func job(_ atomic: MirrorJob.Atomicity) throws -> MirrorJob {
    let tables = ["child", "parent"].map { name in
      var table = MirrorTable(name: name, sources: [scratch.file("\(name).csv")])
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.options.transaction.busyTimeout = 50
      table.unattended.retryPause = 0.01
      table.unattended.retryCount = 2
      return table
    }
    var job = MirrorJob(database: scratch.file("a.db"), tables: tables)
    job.atomicity = atomic
    try Database(job.database).rows(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE parent(id INTEGER PRIMARY KEY, v);
      CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent);
      CREATE TABLE other(n)
      """)
    return job
  }

  private func run(
    _ job: MirrorJob, onWait: @escaping @Sendable (String) -> Void = { _ in }
  ) -> (summary: MirrorSummary, waits: [String]) {
    let notes = RunNotes()
    let summary = job.run(note: { note in
      guard note.text.contains("tried again") else { return }
      notes.add(note.text)
      onWait(note.text)
    })
    return (summary, notes.all)
  }

  private let state = "SELECT \"table\", failures, exit_code FROM upsurge_feeds ORDER BY 1"

  @Test(
    "A feed that comes late is waited for, and nobody sees one table without the other",
    arguments: [MirrorJob.Atomicity.table, .job])
  func late(atomic: MirrorJob.Atomicity) throws {
    let job = try job(atomic)
    _ = scratch.write("id,v\n7,1\n", to: "parent.csv")
    let (database, folder) = (job.database, scratch.path)
    let seen = RunNotes()
    let (summary, waits) = run(job) { text in
      seen.add((try? Database(database).rows("SELECT count(*) FROM parent")[0]) ?? "locked")
      let isWritable = (try? Database(database).rows("INSERT INTO other VALUES (1)")) != nil
      seen.add(isWritable ? "writable" : "locked")
      guard text.contains("(2 of 2)") else { return }
      try? Data("id,p\n1,7\n2,8\n".utf8).write(to: URL(fileURLWithPath: folder + "/child.csv"))
    }
    #expect(summary.exitCode == 2, "\(waits)")
    #expect(summary.tables.map(\.ledger.inserted) == [1, 1] && summary.tables[1].ledger.quarantined == 1)
    #expect(seen.all == ["0", "writable", "0", "writable"])
    #expect(waits.count == 2 && waits.allSatisfy { !$0.contains("cannot write") }, "\(waits)")
    #expect(waits[0].contains("table child: "))
    #expect(try Database(database).rows(state) == ["'child'|0|2", "'parent'|0|0"])
    #expect(try Database(database).rows("SELECT count(*) FROM upsurge_runs WHERE state = 'done'") == ["2"])
  }

  @Test(
    "While nothing is stored, a feed is waited for without a lock",
    arguments: [MirrorJob.Atomicity.table, .job])
  func unlocked(atomic: MirrorJob.Atomicity) throws {
    var job = try job(atomic)
    _ = scratch.write("id,p\n1,7\n", to: "child.csv")
    // It sends a part before it fails.
    let tries = scratch.file("tries")
    job.tables[1].sources = [
      Source("exec:echo x >> '\(tries)'; echo id,v; seq -f %.0f,1 1 200000; [ $(wc -l < '\(tries)') -eq 2 ]")
    ]
    let database = job.database
    let seen = RunNotes()
    let (summary, waits) = run(job) { _ in
      seen.add((try? Database(database).rows("INSERT INTO other VALUES (1)")) == nil ? "locked" : "writable")
    }
    #expect(summary.exitCode == 0, "\(waits) \(summary.tables.map { $0.failure?.description })")
    #expect(summary.tables.map(\.ledger.inserted) == [200_000, 1])
    #expect(seen.all == ["writable"] && waits.allSatisfy { !$0.contains("cannot write") }, "\(waits)")
    #expect(try Database(database).rows("SELECT count(*) FROM other") == ["1"])
  }

  @Test(
    "A feed that never comes is one failure, of the table or of all of the job",
    arguments: [MirrorJob.Atomicity.table, .job])
  func never(atomic: MirrorJob.Atomicity) throws {
    let job = try job(atomic)
    _ = scratch.write("id,v\n7,1\n", to: "parent.csv")
    let (summary, waits) = run(job)
    #expect(waits.count == 2, "\(waits)")
    #expect(summary.tables[1].exitCode == 66)
    let database = Database(job.database)
    #expect(try database.rows("SELECT count(*) FROM parent") == [atomic == .job ? "0" : "1"])
    let parent = atomic == .job ? "'parent'|1|66" : "'parent'|0|0"
    #expect(try database.rows(state) == ["'child'|1|66", parent])
  }

  @Test(
    "A table that hangs is ended by its own deadline; the others have their turn, or nothing stays",
    arguments: [MirrorJob.Atomicity.table, .job], ["parent", "child"])
  func deadline(atomic: MirrorJob.Atomicity, hanging: String) throws {
    var job = try job(atomic)
    _ = scratch.write("id,v\n7,1\n", to: "parent.csv")
    _ = scratch.write("id,p\n1,\n", to: "child.csv")
    let index = hanging == "child" ? 0 : 1
    job.tables[index].sources = ["exec:echo id; seq 1 2000; exec sleep 60"]
    job.tables[index].unattended.deadline = 1
    let start = ContinuousClock.now
    let (summary, waits) = run(job)
    #expect(ContinuousClock.now - start < .seconds(50))
    #expect(waits.isEmpty && summary.signal == nil && summary.error == nil, "\(waits)")
    let table = try #require(summary.tables.first { $0.name == hanging })
    #expect(table.failure?.message == "table \(hanging) was not done by its deadline of 1.00 s and was ended")
    #expect(table.failure?.code == .deadline && table.exitCode == 1)
    let other = try #require(summary.tables.first { $0.name != hanging })
    let words = "nothing of the job is stored, as table \(hanging) has failed (atomic: job)"
    #expect(other.failure?.message == (atomic == .job ? words : nil))
    let database = Database(job.database)
    #expect(try database.rows("SELECT count(*) FROM \(other.name)") == [atomic == .job ? "0" : "1"])
    #expect(try database.rows("SELECT count(*) FROM \(hanging)") == ["0"])
    let failed = try database.rows("SELECT \"table\" FROM upsurge_feeds WHERE failures = 1")
    #expect(failed.count == (atomic == .job ? 2 : 1), "\(failed)")
  }

  @Test("A deadline ends the wait in front of a try, too, and what it waited for is the reason")
  func deadlineOfWait() throws {
    var job = try job(.table)
    _ = scratch.write("id,v\n7,1\n", to: "parent.csv")
    job.tables[0].unattended.retryPause = 50
    job.tables[0].unattended.deadline = 1
    let (summary, waits) = run(job)
    #expect(summary.tables.map(\.exitCode) == [0, 66] && summary.signal == nil, "\(waits)")
    #expect(
      waits.last == "table child has reached its deadline of 1.00 s and is not tried again", "\(waits)")
    #expect(try Database(job.database).rows(state) == ["'child'|1|66", "'parent'|0|0"])
  }

  @Test("A database that is busy is tried again")
  func busy() throws {
    let job = try job(.table)
    _ = scratch.write("id,v\n7,1\n", to: "parent.csv")
    _ = scratch.write("id,p\n1,7\n", to: "child.csv")
    let database = Database(job.database)
    try database.rows("BEGIN IMMEDIATE")
    let holder = Holder(database)
    let (summary, waits) = run(job) { _ in holder.end() }
    #expect(summary.exitCode == 0 && waits.count == 1, "\(waits)")
    #expect(summary.tables.map(\.ledger.inserted) == [1, 1])
  }

  #if os(Linux)
    @Test(
      "Files of a folder that were stored before the one that fails are stored once",
      arguments: [MirrorJob.Atomicity.table, .job], [MirrorTable.Kind.snapshot, .delta])
    func folder(atomic: MirrorJob.Atomicity, kind: MirrorTable.Kind) throws {
      var job = try job(atomic)
      _ = scratch.write("id,v\n7,1\n", to: "parent.csv")
      try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
      for number in 1...2 { _ = scratch.write("id,p\n\(number),7\n9,\n", to: "in/\(number).csv") }
      // Can be opened, and not read; beside the folder, as a link in it is not followed.
      let path = scratch.file("late.csv")
      symlink("/proc/self/mem", path)
      job.tables[0].sources = [Source(scratch.file("in")), Source(path)]
      job.tables[0].kind = kind
      job.tables[0].folder.done = .delete
      if kind == .snapshot {
        job.tables[0].sweep = .hard
        job.tables[0].guards.maximumDeletes = .percent(100)
      }
      let (summary, waits) = run(job) { _ in
        unlink(path)
        try? Data("id,p\n3,7\n9,\n".utf8).write(to: URL(fileURLWithPath: path))
      }
      #expect(summary.exitCode == 0 && waits.count == 1, "\(waits)")
      #expect(summary.tables[1].loads.map(\.ledger.inserted) == [2, 1, 1])
      #expect(summary.tables[1].loads.map(\.ledger.unchanged) == [0, 1, 1])
      let database = Database(job.database)
      let left = kind == .snapshot ? ["3", "9"] : ["1", "2", "3", "9"]
      #expect(try database.rows("SELECT id FROM child ORDER BY id") == left)
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("in")).isEmpty)
      #expect(try database.rows("SELECT count(*) FROM upsurge_files") == ["3"])
      #expect(try database.rows("SELECT state, count(*) FROM upsurge_runs GROUP BY 1") == ["'done'|4"])
      #expect(run(job).summary.ledger.read == 0)
    }
  #endif
}

/// Another program that holds the write lock.
private final class Holder: @unchecked Sendable {
  // Sendable because only one thread at a time uses it: SQLite's own lock is the connection's.
  private let database: Database

  init(_ database: Database) { self.database = database }

  func end() { _ = try? database.rows("COMMIT") }
}
