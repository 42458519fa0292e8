import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs that end early and go on: what is the same job, what has changed, and what is told.
@Suite("Resume")
struct ResumeTests {
  let scratch = Scratch()
  private let database: String

  init() { database = scratch.file("a.db") }

  /// A run that stops at record 8 of ten, with the first six committed in steps of two.
  private static let rows = (1...10).map { $0 == 8 ? "8" : "\($0),x\($0)" }

  private func input(_ rows: [String] = rows, _ name: String = "a.csv") -> String {
    scratch.write("id,b\n" + rows.joined(separator: "\n") + "\n", to: name)
  }

  private func load(
    _ source: String, _ change: (inout LoadOptions) -> Void = { _ in }, isSeen: Bool = true,
    notes: RunNotes? = nil
  ) -> RunSummary {
    var options = LoadOptions()
    options.transaction.commitEvery = 2
    change(&options)
    let job = LoadJob(database: database, table: "t", sources: [source], options: options)
    return job.run(note: { notes?.add($0.text) }, report: { _ in isSeen })
  }

  private func ids() throws -> [String] { try Database(database).rows("SELECT id FROM t ORDER BY rowid") }

  private func isListed() throws -> Bool {
    try !Database(database).rows("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_runs'").isEmpty
  }

  // MARK: - Going on

  @Test("A run that stopped goes on behind its last commit, with options that only tune changed")
  func goesOn() throws {
    let source = input()
    let first = load(source)
    #expect(first.exitCode == 3)
    // What resumes is said once, and not again as what would not.
    let fix = first.error?.hint ?? ""
    #expect(fix.contains("--on-error reject") && fix.ranges(of: "--on-error").count == 1, "\(fix)")
    #expect(fix.contains("--ragged pad"), "\(fix)")
    #expect(first.progress.committedCount == 6 && first.progress.isResumable)
    #expect(try isListed())
    let past = try PastRun.all(database: database)
    #expect(past.map(\.state) == [.stopped] && past[0].ledger.read == 6)

    let second = load(source) {
      $0.rejects.onError = .reject
      $0.transaction.commitEvery = 3
      $0.rejects.path = scratch.file("bad.ndjson")
    }
    #expect(second.exitCode == 2, "\(String(describing: second.error))")
    #expect(second.progress.resumedCount == 6)
    #expect(second.ledger.read == 10 && second.ledger.inserted == 9 && second.ledger.rejected == 1)
    #expect(try ids() == ["1", "2", "3", "4", "5", "6", "7", "9", "10"])
    #expect(try !isListed())
    #expect(try PastRun.all(database: database).isEmpty)
  }

  @Test("A ledger that nobody saw is told again with its warnings", arguments: [true, false])
  func warnings(keepsHistory: Bool) throws {
    let source = scratch.write("id,b,b\n1,x,y\n2,z,w\n3,u,v\n", to: "a.csv")
    let first = load(source, { $0.transaction.keepsHistory = keepsHistory }, isSeen: false)
    #expect(first.exitCode == 0 && first.warnings.entries.map(\.code) == [.headerRenamed])
    let again = load(source, { $0.transaction.keepsHistory = keepsHistory })
    #expect(again.exitCode == 0 && again.progress.resumedCount == 3 && again.ledger == first.ledger)
    #expect(again.warnings == first.warnings)
  }

  @Test("A file that was only touched, or copied to its place again, is the same")
  func touched() throws {
    let source = input()
    #expect(load(source).exitCode == 3)
    var times = [timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
    utimensat(AT_FDCWD, source, &times, 0)
    #expect(load(source) { $0.rejects.onError = .reject }.progress.resumedCount == 6)
    #expect(try ids().count == 9)
  }

  @Test(
    "Changed input: keyless is refused, keyed starts over",
    arguments: ["same size", "longer", "another file list"])
  func changedInput(change: String) throws {
    for isKeyed in [false, true] {
      let scratch = Scratch()
      let database = scratch.file("a.db")
      func write(_ rows: [String]) -> String {
        scratch.write("id,b\n" + rows.joined(separator: "\n") + "\n", to: "a.csv")
      }
      func load(_ sources: [String], _ policy: ResumePolicy = .auto) -> RunSummary {
        var options = LoadOptions()
        options.transaction.commitEvery = 2
        options.transaction.resume = policy
        if isKeyed { options.rules.key = ["id"] }
        return LoadJob(database: database, table: "t", sources: sources, options: options).run()
      }
      let pattern = scratch.file("*.csv")
      #expect(load([write(Self.rows)].map { _ in pattern }).exitCode == 3)
      var rows = Self.rows
      rows[7] = "8,x8"
      switch change {
      case "same size":
        rows = Self.rows
        rows[0] = "1,y1"
      case "another file list": _ = scratch.write("id,b\n11,x\n", to: "b.csv")
      default: break
      }
      // The time of the last change may be the same.
      var times = [timespec(tv_sec: 1_000, tv_nsec: 0), timespec(tv_sec: 1_000, tv_nsec: 0)]
      utimensat(AT_FDCWD, write(rows), &times, 0)
      let required = load([pattern], .require)
      #expect(required.exitCode == 4 && required.error?.code == .guardRefused)
      let again = load([pattern])
      if !isKeyed {
        #expect(again.exitCode == 4, "\(change)")
        #expect(again.error?.description.contains("after 6 committed records") == true)
        // That would store the rows again.
        #expect(again.error?.hint?.contains("--resume never") == false)
        #expect(again.error?.hint?.contains(" --forget ") == true)
        #expect(try Database(database).rows("SELECT count(*) FROM t") == ["6"])
      } else {
        #expect(again.progress.resumedCount == 0)
        #expect(
          again.exitCode == (change == "same size" ? 3 : 0), "\(change): \(String(describing: again.error))")
        #expect(again.ledger.unchanged >= 5)
      }
      let never = load([pattern], .never)
      #expect(never.progress.resumedCount == 0 && never.exitCode == (change == "same size" ? 3 : 0))
    }
  }

  @Test(
    "A file that has changed in its last committed block starts over, with the script of --init run once more"
  )
  func changedBlock() throws {
    let filler = String(repeating: "x", count: 200)
    func rows(_ word: String) -> [String] {
      (1...8_000).map { $0 == 7_900 ? "\($0)" : "\($0),\($0 == 7_800 ? word : filler)" }
    }
    let options: (inout LoadOptions) -> Void = {
      $0.rules.key = ["id"]
      $0.transaction.commitEvery = 100
      $0.table.initSQL = "CREATE TEMP TABLE once(x)"
    }
    #expect(load(input(rows("aaa")), options).exitCode == 3)
    // Behind the first MiB, and of the same size.
    let again = load(input(rows("bbb"))) {
      options(&$0)
      $0.rejects.onError = .reject
    }
    #expect(again.exitCode == 2, "\(String(describing: again.error))")
    #expect(again.progress.resumedCount == 0 && again.ledger.updated == 1)
    #expect(try Database(database).rows("SELECT b FROM t WHERE id = 7800") == ["'bbb'"])
    #expect(try !isListed())
  }

  @Test("A record of a run that was edited is no way to a crash", arguments: ["9", "123456789012"])
  func edited(index: String) throws {
    let source = input()
    #expect(load(source).exitCode == 3)
    try Database(database).rows(
      "UPDATE upsurge_runs SET position = json_set(position, '$.source', \(index))")
    #expect(load(source).exitCode == 4)
    #expect(try ids().count == 6)
  }

  @Test("Other options are another job: refused without a key, and named")
  func changedOptions() throws {
    let source = input()
    #expect(load(source).exitCode == 3)
    let refused = load(source) {
      $0.rejects.onError = .reject
      $0.table.renames = ["b": "c"]
      $0.table.contract = .evolve
    }
    #expect(refused.exitCode == 4)
    #expect(refused.error?.message.contains("--rename, --contract have changed") == true)
    // As terms, so that a job file's reader sees its keys.
    #expect(refused.error?.said.terms.isSuperset(of: [.rename, .contract]) == true)
    let one = load(source) { $0.table.contract = .evolve }
    #expect(one.error?.message.hasSuffix("--contract has changed") == true, "\(one.error?.message ?? "none")")
    #expect(try ids().count == 6)
  }

  @Test("Require refuses where there is nothing to resume, also without a database")
  func require() throws {
    let source = input()
    let refused = load(source) { $0.transaction.resume = .require }
    #expect(refused.exitCode == 4)
    #expect(access(database, F_OK) != 0)
    #expect(load(source).exitCode == 3)
    #expect(
      load(source) { ($0.transaction.resume, $0.rejects.onError) = (.require, .reject) }.progress.resumedCount
        == 6)
    #expect(load(source) { $0.transaction.resume = .require }.exitCode == 4)
  }

  @Test(
    "A table that was dropped or emptied since is loaded from the start",
    arguments: ["DROP TABLE t", "DELETE FROM t"])
  func emptied(sql: String) throws {
    let source = input()
    #expect(load(source).exitCode == 3)
    try Database(database).rows(sql)
    let again = load(source) { $0.rejects.onError = .reject }
    #expect(again.progress.resumedCount == 0 && again.ledger.inserted == 9)
    #expect(try ids().count == 9)
  }

  // MARK: - The end

  @Test("A complete run whose ledger nobody saw tells it once more, and reads nothing")
  func unseen() throws {
    let source = input()
    let first = load(source, { $0.rejects.onError = .reject }, isSeen: false)
    #expect(first.exitCode == 2)
    #expect(try PastRun.all(database: database).map(\.state) == [.unseen])
    let second = load(source) { $0.rejects.onError = .reject }
    #expect(second.exitCode == 2)
    #expect(second.ledger == first.ledger)
    #expect(second.rejectsByReason.map(\.code) == [.ragged])
    #expect(second.metrics.bytesRead == 0)
    #expect(try ids().count == 9)
    #expect(try !isListed())
    // Now it is forgotten, and the same command is a new run.
    #expect(load(source) { $0.rejects.onError = .reject }.ledger.inserted == 9)
    #expect(try ids().count == 18)
  }

  @Test("A complete run whose input has changed since is over: the next one loads")
  func unseenButChanged() throws {
    let rows = (1...4).map { "\($0),x" }
    #expect(load(input(rows), isSeen: false).exitCode == 0)
    let next = load(input(rows + ["5,x"]))
    #expect(next.exitCode == 0 && next.ledger.inserted == 5)
    #expect(try !isListed())
    #expect(try ids().count == 9)
  }

  @Test("Never loads again what is complete and unseen")
  func unseenNever() throws {
    let source = input((1...4).map { "\($0),x" })
    #expect(load(source, isSeen: false).exitCode == 0)
    #expect(load(source) { $0.transaction.resume = .never }.ledger.inserted == 4)
    #expect(try ids().count == 8)
    #expect(try !isListed())
  }

  @Test("A run that changes no row writes nothing: no position, no table, no log")
  func unchanged() throws {
    let source = input((1...10).map { "\($0),x" })
    #expect(load(source) { $0.rules.key = ["id"] }.exitCode == 0)
    let again = load(source, { $0.rules.key = ["id"] }, isSeen: false)
    #expect(again.ledger.unchanged == 10)
    #expect(again.wal.bytesWritten == 0)
    #expect(try !isListed())
  }

  @Test("History keeps runs, also one that changed nothing; forget removes them")
  func history() throws {
    let source = input((1...3).map { "\($0),x" })
    for _ in 0..<2 {
      #expect(
        load(source) {
          $0.rules.key = ["id"]
          $0.transaction.keepsHistory = true
        }.exitCode == 0)
    }
    let runs = try PastRun.all(database: database)
    #expect(runs.map(\.state) == [.ended, .ended])
    #expect(runs.map(\.ledger.inserted) == [3, 0] && runs.map(\.ledger.unchanged) == [0, 3])
    #expect(
      runs.allSatisfy { $0.exitCode == 0 && $0.table == "t" && $0.sources == [SourceName.place(of: source)] })
    #expect(load(source) { $0.rules.key = ["id"] }.ledger.unchanged == 3)
    for run in runs { try PastRun.forget(run.id, database: database) }
    #expect(try !isListed())
    #expect(throws: UpsurgeError.self) { try PastRun.forget(1, database: database) }
  }

  // MARK: - Atomic

  @Test("Atomic: too many rejects leave the table as it was", arguments: ["1", "5%"])
  func atomicLimit(limit: String) throws {
    try Database(database).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 'old')")
    var rows = Self.rows
    rows[5] = "6"
    let summary = load(input(rows)) {
      $0.transaction.isAtomic = true
      $0.rejects.onError = .reject
      $0.rejects.limit = RowLimit(text: limit)
    }
    #expect(summary.exitCode == 65)
    #expect(try Database(database).rows("SELECT * FROM t") == ["1|'old'"])
    #expect(try !isListed())
  }

  @Test("Atomic: one commit, whatever commit-every says; a new table and its indexes are part of it")
  func atomic() throws {
    let failed = load(input()) {
      $0.transaction.isAtomic = true
      $0.indexes.wanted = [["b"]]
    }
    #expect(failed.exitCode == 65)
    #expect(access(database, F_OK) != 0)
    let whole = load(input((1...10).map { "\($0),x" })) {
      $0.transaction.isAtomic = true
      $0.indexes.wanted = [["b"]]
    }
    #expect(whole.exitCode == 0 && whole.ledger.inserted == 10)
    #expect(try Database(database).rows("SELECT count(*) FROM sqlite_schema") == ["2"])
  }

  // MARK: - Output files

  @Test("Rejects and changes are cut back to the last commit, and go on")
  func outputs() throws {
    let (rejects, changes) = (scratch.file("bad.ndjson"), scratch.file("changes.ndjson"))
    let options: (inout LoadOptions) -> Void = {
      $0.rejects.onError = .reject
      ($0.rejects.path, $0.output.changesPath) = (rejects, changes)
    }
    var rows = (1...12).map { $0 % 3 == 0 ? "\($0)" : "\($0),x" }
    let whole = load(input(rows), options)
    #expect(whole.exitCode == 2)
    let expected = try (readFile(rejects), readFile(changes))
    unlink(database)

    let stopped = load(input(rows)) {
      options(&$0)
      $0.rejects.limit = .count(2)
    }
    #expect(stopped.exitCode == 3 && stopped.progress.committedCount > 0)
    // What a killed run had written behind its last commit.
    let file = fopen(rejects, "a")
    fputs("{\"half a line", file)
    fclose(file)
    let resumed = load(input(rows), options)
    #expect(resumed.exitCode == 2 && resumed.progress.resumedCount > 0)
    #expect(resumed.ledger == whole.ledger)
    #expect(try readFile(rejects) == expected.0)
    #expect(try readFile(changes) == expected.1)

    rows.append("13,x")
    unlink(database)
    #expect(
      load(input(rows)) {
        options(&$0)
        $0.rejects.limit = .count(2)
      }.exitCode == 3)
    let before = try readFile(changes)
    unlink(changes)
    let notes = RunNotes()
    let others = load(input(rows), options, notes: notes)
    #expect(others.exitCode == 2, "\(String(describing: others.error))")
    #expect(
      notes.all.contains { $0.contains("of --changes is gone or empty: from here on a new one") },
      "\(notes.all)")
    let count = { (bytes: [UInt8]) in bytes.split(separator: 0x0A).count }
    #expect(try count(before) + count(readFile(changes)) == count(expected.1) + 1)
  }

  // MARK: - Two at a time

  @Test("A second run of a job is refused with the process id of the first")
  func second() throws {
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    try Database(database).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, b); PRAGMA journal_mode=WAL")
    let arguments = ["load", database, "t", pipe, "--commit-every", "1000", "--key", "id"]
    let child = try Command.start(arguments)
    let writer = open(pipe, O_WRONLY | O_CLOEXEC)
    // More than the sample and the batches on their way.
    let padding = String(repeating: "x", count: 60)
    let text = "id,b\n" + (1...60_000).map { "\($0),\(padding)\n" }.joined()
    _ = text.withCString { write(writer, $0, strlen($0)) }
    for _ in 0..<2_000 {
      if (try? isListed()) == true { break }
      usleep(5_000)
    }
    #expect(try isListed())
    let refused = try Command.run(arguments)
    #expect(refused.exitCode == 4, "\(refused.talk)")
    let run = try #require(try PastRun.all(database: database).first)
    #expect(run.state == .running)
    #expect(
      refused.talk.contains(
        "this job is running already: process \(run.pid ?? 0) loads \(SourceName.place(of: pipe))"))
    // Another job into the same table is not.
    let other = try Command.run(
      ["load", database, "t", "-", "--key", "id"], input: Array("id,b\n0,y\n".utf8))
    #expect(other.exitCode == 0, "\(other.talk)")
    close(writer)
    let done = try child.finish()
    #expect(done.exitCode == 0, "\(done.talk)")
    #expect(try Database(database).rows("SELECT count(*) FROM t") == ["60001"])
    #expect(try !isListed())
  }

  @Test("A table of that name that is not ours is left alone")
  func foreignTable() throws {
    try Database(database).rows("CREATE TABLE upsurge_runs(x)")
    let summary = load(input())
    #expect(summary.exitCode == 4)
    #expect(try Database(database).rows("SELECT count(*) FROM sqlite_schema") == ["1"])
  }
}
