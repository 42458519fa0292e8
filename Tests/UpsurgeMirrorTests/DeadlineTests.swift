import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Runs that take too long, and runs that are tried again.
@Suite("Deadlines and retries of mirrors") struct DeadlineTests {
  let scratch = Scratch()

  private func job(_ sources: [String: String]) -> MirrorJob {
    let tables = sources.sorted { $0.key < $1.key }.map { name, source in
      var table = MirrorTable(name: name, sources: [source])
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.options.transaction.busyTimeout = 50
      table.unattended.retryPause = 0.01
      return table
    }
    return MirrorJob(database: scratch.file("a.db"), tables: tables)
  }

  private func run(
    _ job: MirrorJob, onNote: @escaping @Sendable (String) -> Void = { _ in }
  ) -> (summary: MirrorSummary, notes: [String]) {
    let notes = RunNotes()
    let summary = job.run(note: { note in
      notes.add(note.text)
      onNote(note.text)
    })
    return (summary, notes.all)
  }

  /// What a feed writes that begins well and then hangs.
  private static let hanging = "exec:echo id; seq 1 200000; exec sleep 60"

  @Test("A table that hangs is ended, leaves nothing or what is committed, and the next one has its turn")
  func table() throws {
    _ = scratch.write("id\n7\n", to: "b.csv")
    for (atomicity, code) in [(MirrorJob.Atomicity.table, Int32(1)), (.bounded, 3)] {
      var job = job(["a": Self.hanging, "b": scratch.file("b.csv")])
      job.database = scratch.file("\(atomicity).db")
      job.atomicity = atomicity
      // What becomes of a table is noted where there is a database; no time is spent on types.
      try Database(job.database).rows("CREATE TABLE a(id INTEGER PRIMARY KEY)")
      job.tables[0].unattended.deadline = 5
      job.tables[0].options.transaction.commitEvery = .records(1_000)
      job.tables[0].unattended.retryCount = 5
      let start = ContinuousClock.now
      let (summary, notes) = run(job)
      #expect(ContinuousClock.now - start < .seconds(55))
      #expect(summary.tables.map(\.exitCode) == [code, 0], "\(atomicity): \(notes)")
      #expect(summary.exitCode == 3 && summary.signal == nil && summary.error == nil)
      let failure = try #require(summary.tables[0].failure)
      #expect(failure.code == .deadline)
      #expect(failure.message == "table a was not done by its deadline of 5.00 s and was ended")
      #expect(notes.contains { $0.hasPrefix("the deadline is reached: ") }, "\(notes)")
      let database = Database(job.database)
      #expect(try database.rows("SELECT * FROM b") == ["7"])
      let found = try database.rows("SELECT count(*) FROM a").first.flatMap { UInt64($0) } ?? 0
      #expect(
        atomicity == .table ? found == 0 : found > 0 && found == summary.tables[0].ledger.read, "\(found)")
      let state = try database.rows(
        "SELECT \"table\", failures, exit_code, message LIKE '%deadline%' FROM upsurge_feeds ORDER BY 1")
      #expect(state == ["'a'|1|\(code)|1", "'b'|0|0|NULL"])
    }
  }

  @Test("A table whose foreign keys lead out of the job, or to itself, has its own deadline and retries")
  func alone() throws {
    _ = scratch.write("id\n7\n", to: "b.csv")
    for atomicity in [MirrorJob.Atomicity.table, .job] {
      var job = job(["a": Self.hanging])
      job.database = scratch.file("alone-\(atomicity).db")
      job.atomicity = atomicity
      let database = Database(job.database)
      try database.rows(
        "CREATE TABLE o(id INTEGER PRIMARY KEY); CREATE TABLE a(id INTEGER PRIMARY KEY, o REFERENCES o, up REFERENCES a)"
      )
      job.tables[0].unattended.deadline = 1
      let (hanging, hangingNotes) = run(job)
      #expect(hanging.exitCode == 1 && hanging.signal == nil, "\(atomicity): \(hangingNotes)")
      #expect(hanging.tables[0].failure?.code == .deadline)
      #expect(
        hanging.tables[0].failure?.message == "table a was not done by its deadline of 1.00 s and was ended")
      #expect(try database.rows("SELECT count(*) FROM a") == ["0"])
      job.tables[0].unattended.deadline = nil
      // It comes before the second try.
      let late = scratch.file("late-\(atomicity).csv")
      job.tables[0].sources = [Source(late)]
      job.acceptsChanges = true
      job.tables[0].unattended.retryCount = 2
      let (retried, notes) = run(job) { text in
        guard text.contains("it is tried again in") else { return }
        try? Data("id,o\n1,\n2,5\n".utf8).write(to: URL(fileURLWithPath: late))
      }
      #expect(retried.exitCode == 2, "\(atomicity): \(notes)")
      #expect(retried.ledger.inserted == 1 && retried.ledger.quarantined == 1, "\(atomicity): \(notes)")
      #expect(notes.filter { $0.contains("it is tried again in") }.count == 1, "\(notes)")
      #expect(!notes.contains { $0.contains("do not count") })
      let state = "SELECT failures, exit_code FROM upsurge_feeds"
      #expect(try database.rows(state) == ["0|2"])
    }
  }

  @Test("A job that hangs is ended, and what has not begun does not begin")
  func whole() throws {
    _ = scratch.write("id\n7\n", to: "b.csv")
    var job = job(["a": Self.hanging, "b": scratch.file("b.csv")])
    job.deadline = 5
    // The table's own is longer.
    job.tables[0].unattended.deadline = 50
    let (summary, notes) = run(job)
    #expect(summary.tables.map(\.name) == ["a"] && summary.exitCode == 1, "\(notes)")
    #expect(summary.error?.code == .deadline && summary.tables[0].failure?.code == .deadline)
    #expect(summary.error?.message == "the job was not done by its deadline of 5.00 s and was ended")
    #expect(String(decoding: summary.json, as: UTF8.self).contains("\"deadline\""))
    // Where it is long enough, nothing is said of it.
    job.tables.removeFirst()
    job.deadline = 3_000
    #expect(run(job).summary.exitCode == 0)
  }

  @Test("A signal is told as such, also behind a deadline, and what comes next is not ended")
  func signals() {
    let control = RunControl()
    control.expire()
    #expect(control.isExpired && control.cancellationSignal != nil)
    #expect(control.takeExpiry() && control.cancellationSignal == nil && !control.takeExpiry())
    control.expire()
    control.cancel(signal: 15)
    control.expire()
    #expect(!control.isExpired && !control.takeExpiry() && control.cancellationSignal == 15)
  }

  @Test("A source that is not there is tried again until it is")
  func unreadable() throws {
    var job = job(["a": scratch.file("late.csv")])
    job.tables[0].unattended.retryCount = 3
    let folder = scratch.path
    let tries = Atomic<Int>(0)
    let (summary, notes) = run(job) { text in
      guard text.contains("it is tried again in") else { return }
      // It comes before the third try.
      if tries.add(1, ordering: .relaxed).newValue == 2 {
        try? Data("id\n7\n".utf8).write(to: URL(fileURLWithPath: folder + "/late.csv"))
      }
    }
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 1, "\(notes)")
    #expect(tries.load(ordering: .relaxed) == 2)
    #expect(notes.contains { $0.contains("late.csv") && $0.contains("(2 of 3)") }, "\(notes)")
    #expect(try Database(job.database).rows("SELECT failures, exit_code FROM upsurge_feeds") == ["0|0"])
    // One that never comes is one failure, not four.
    unlink(scratch.file("late.csv"))
    let last = run(job)
    #expect(last.summary.exitCode == 66 && last.notes.filter { $0.contains("tried again") }.count == 3)
    #expect(try Database(job.database).rows("SELECT failures, exit_code FROM upsurge_feeds") == ["1|66"])
  }

  @Test(
    "What failed before there was a database is noted with its last try, and a good try is not overwritten",
    arguments: [false, true])
  func beforeDatabase(comes: Bool) throws {
    _ = scratch.write("id\n7\n", to: "b.csv")
    var job = job(["a": scratch.file("late.csv"), "b": scratch.file("b.csv")])
    job.tables[0].unattended.retryCount = 2
    let folder = scratch.path
    let (summary, notes) = run(job) { text in
      guard comes, text.contains("(2 of 2)") else { return }
      try? Data("id\n7\n".utf8).write(to: URL(fileURLWithPath: folder + "/late.csv"))
    }
    #expect(summary.tables.map(\.exitCode) == [comes ? 0 : 66, 0], "\(notes)")
    let state =
      "SELECT \"table\", failures, exit_code, good_at IS NULL, message IS NULL FROM upsurge_feeds ORDER BY 1"
    #expect(
      try Database(job.database).rows(state) == [comes ? "'a'|0|0|0|1" : "'a'|1|66|1|0", "'b'|0|0|0|1"])
    // Where no table has made one, there is none.
    job.database = scratch.file("none.db")
    job.tables = [MirrorTable(name: "c", sources: [scratch.file("nowhere.csv")])]
    #expect(run(job).summary.exitCode == 66 && !FileManager.default.fileExists(atPath: job.database))
  }

  @Test("A run that cannot be noted says what comes of that: nothing is read again that has not changed")
  func unnoted() throws {
    _ = scratch.write("id\n7\n", to: "a.csv")
    let job = job(["a": scratch.file("a.csv")])
    #expect(run(job).summary.exitCode == 0)
    let database = Database(job.database)
    try database.rows("BEGIN IMMEDIATE")
    let (same, notes) = run(job)
    try database.rows("COMMIT")
    #expect(same.tables[0].unchangedSince != nil)
    let note = notes.first { $0.contains("could not be noted") } ?? ""
    #expect(note.hasSuffix("; upsurge status shows the one before it"), "\(notes)")
    #expect(run(job).summary.ledger.read == 0)
  }

  @Test("What is not stored after all is not read to its end to be known again")
  func vainLook() throws {
    // A hole that takes minutes to read, behind a header that has no key.
    let path = scratch.write("id\n7\n", to: "a.csv")
    #expect(truncate(path, 1 << 43) == 0)
    let look = try BackgroundLook([Source(path)], control: RunControl())
    look.giveUp()
    let start = ContinuousClock.now
    #expect(look.files() == nil)
    var job = job(["a": path])
    job.tables[0].options.rules.key = ["nope"]
    #expect(run(job).summary.exitCode == 64)
    #expect(ContinuousClock.now - start < .seconds(300))
  }

  @Test("A database that is busy is tried again, and each file of a folder is taken once all the same")
  func busy() throws {
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    for name in ["1", "2"] { _ = scratch.write("id,n\n\(name),1\n", to: "in/\(name).csv") }
    var job = job(["a": scratch.file("in")])
    job.tables[0].unattended.retryCount = 2
    let database = Database(scratch.file("a.db"))
    try database.rows(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY, n);
      PRAGMA journal_mode = WAL; BEGIN IMMEDIATE
      """)
    let blocker = Blocker(database)
    let (summary, notes) = run(job) { text in
      if text.contains("it is tried again in") { blocker.end() }
    }
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 2, "\(notes)")
    #expect(summary.tables[0].loads.count == 2)
    #expect(notes.filter { $0.contains("it is tried again in") }.count == 1, "\(notes)")
    #expect(try Database(job.database).rows("SELECT id FROM a") == ["1", "2"])
    #expect(run(job).summary.ledger.read == 0)
  }

  #if os(Linux)
    @Test("A file of a folder that fails is tried again, and those before it are not stored twice")
    func folder() throws {
      try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
      for name in ["1", "2"] { _ = scratch.write("id,n\n\(name),1\n", to: "in/\(name).csv") }
      // Can be opened, and not read; beside the folder, as a link in it is not followed.
      let path = scratch.file("late.csv")
      symlink("/proc/self/mem", path)
      var job = job(["a": scratch.file("in")])
      job.tables[0].unattended.retryCount = 2
      job.tables[0].options.rules.key = []
      job.tables[0].folder.done = .delete
      job.tables[0].sources.append(Source(path))
      // The link goes, and the file that comes in its place has another path from the root.
      job.acceptsChanges = true
      let (summary, notes) = run(job) { text in
        guard text.contains("it is tried again in") else { return }
        unlink(path)
        try? Data("id,n\n3,1\n".utf8).write(to: URL(fileURLWithPath: path))
      }
      #expect(
        summary.exitCode == 0 && summary.ledger.inserted == 3,
        "\(notes) \(summary.tables[0].failure?.description ?? "")")
      #expect(summary.tables[0].loads.count == 3)
      #expect(try Database(job.database).rows("SELECT id FROM a ORDER BY 1") == ["1", "2", "3"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("in")) == [])
      #expect(
        try Database(job.database).rows("SELECT state, count(*) FROM upsurge_runs GROUP BY 1") == ["'done'|3"]
      )
    }
  #endif

  @Test("A command that fails is tried again, as what it sent was not all")
  func command() throws {
    let tries = scratch.file("tries")
    var job = job(["a": "exec:echo x >> '\(tries)'; echo id; echo 7; [ $(wc -l < '\(tries)') -eq 3 ]"])
    job.tables[0].unattended.retryCount = 1
    #expect(run(job).summary.exitCode == 65)
    let (summary, notes) = run(job)
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 1, "\(notes)")
    #expect(try readFile(tries).count == 6)
  }

  @Test("What another try would not mend is not tried again", arguments: ["guard", "bad", "usage"])
  func never(kind: String) throws {
    _ = scratch.write("id\n7\n", to: "a.csv")
    var job = job(["a": scratch.file("a.csv")])
    job.tables[0].unattended.retryCount = 3
    if kind != "usage" { #expect(run(job).summary.exitCode == 0) }
    switch kind {
    case "guard": _ = scratch.write("id\n", to: "a.csv")
    case "bad":
      job.tables[0].options.rejects.onError = .stop
      _ = scratch.write("id\n8,9\n", to: "a.csv")
    default: job.tables[0].options.rules.key = ["nope"]
    }
    let (summary, notes) = run(job)
    #expect(["guard": 4, "bad": 65, "usage": 64][kind] == summary.exitCode)
    #expect(!notes.contains { $0.contains("tried again") }, "\(notes)")
  }

  @Test(
    "A run that ends while it waits for another try has failed, for who watches, too",
    arguments: ["signal", "deadline", "killed"], [false, true])
  func endsWaiting(how: String, refers: Bool) throws {
    let path = scratch.write("id,v\n7,1\n", to: "a.csv")
    var job = job(["a": path])
    let reference = refers ? "REFERENCES a" : ""
    try Database(job.database).rows("CREATE TABLE a(id INTEGER PRIMARY KEY, v, up \(reference))")
    #expect(run(job).summary.exitCode == 0)
    let status = { try FeedStatus.all(database: job.database)[0] }
    #expect(try status().isGood(maximumAge: 3_600))
    unlink(path)
    job.tables[0].unattended.retryCount = 2
    job.tables[0].unattended.retryPause = how == "killed" ? 0.01 : 50
    if how == "deadline" { job.tables[0].unattended.deadline = 1 }
    let control = RunControl()
    let database = job.database
    let seen = RunNotes()
    let summary = job.run(
      control: control,
      note: { note in
        guard note.text.contains("it is tried again in") else { return }
        if how == "signal" { control.cancel(signal: 15) }
        // What would be left if the process were killed here.
        let waiting = try? FeedStatus.all(database: database)[0]
        seen.add(
          "\(waiting?.isGood(maximumAge: nil) == false) \(waiting?.failureCount ?? -1) \(waiting?.exitCode ?? -1)"
        )
        if how == "killed" {
          let result = try? Command.run(["status", database])
          seen.add("\(result?.exitCode ?? -1) \(result?.output.hasPrefix("FAIL  a: last in step ") == true)")
        }
      })
    #expect(summary.tables[0].failure?.code == .unreadableInput)
    let expected = how == "killed" ? ["true 0 66", "1 true", "true 0 66", "1 true"] : ["true 0 66"]
    #expect(seen.all == expected, "\(seen.all)")
    let last = try status()
    #expect(!last.isGood(maximumAge: nil) && last.failureCount == 1 && last.exitCode == 66)
    #expect(last.message?.contains("a.csv") == true)
    let shown = try Command.run(["status", job.database])
    #expect(
      shown.exitCode == 1 && shown.output.contains("the last run failed, exit code 66"), "\(shown.output)")
    _ = scratch.write("id,v\n7,2\n", to: "a.csv")
    #expect(job.run().exitCode == 0)
    #expect(try status().isGood(maximumAge: 3_600))
  }

  @Test("Waits grow, to an hour at most")
  func pauses() {
    var rules = UnattendedRules()
    #expect((1...9).map(rules.pause) == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
    rules.retryPause = 7_200
    #expect((1...2).map(rules.pause) == [7_200, 7_200])
    #expect(rules.pause(before: .max) == 7_200)
  }
}

/// Another program that holds the write lock.
private final class Blocker: @unchecked Sendable {
  // Sendable because only one thread at a time uses it: SQLite's own lock is the connection's.
  private let database: Database

  init(_ database: Database) { self.database = database }

  func end() { _ = try? database.rows("COMMIT") }
}
