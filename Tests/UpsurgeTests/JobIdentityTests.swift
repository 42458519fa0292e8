import TestSupport
import Testing
import UpsurgeInput
import UpsurgePlan
import UpsurgeSQLite
import UpsurgeState
import UpsurgeStorage

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is the same job, however it is written, and that no two processes do it at once.
@Suite("Job identity")
struct JobIdentityTests {
  let scratch = Scratch()
  private let database: String

  init() { database = scratch.file("a.db") }

  /// A run that stops at record 8 of ten, with the first six committed in steps of two.
  private static let text = "id,b\n" + (1...10).map { $0 == 8 ? "8\n" : "\($0),x\($0)\n" }.joined()

  private func load(
    _ sources: [String], _ change: (inout LoadOptions) -> Void = { _ in }, isSeen: Bool = true
  ) -> RunSummary {
    var options = LoadOptions()
    options.transaction.commitEvery = 2
    change(&options)
    let job = LoadJob(database: database, table: "t", sources: sources, options: options)
    return job.run(report: { _ in isSeen })
  }

  private func ids() throws -> [String] { try Database(database).rows("SELECT id FROM t ORDER BY rowid") }

  // MARK: - Names

  @Test(
    "The same file under another name is the same job",
    arguments: ["./a.csv", "folder/../a.csv", "link.csv", "linked/a.csv", "//a.csv"])
  func spelling(name: String) throws {
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(mkdir(scratch.file("folder"), 0o700) == 0)
    #expect(symlink(source, scratch.file("link.csv")) == 0)
    #expect(symlink(scratch.file("."), scratch.file("linked")) == 0)
    #expect(load([source]).exitCode == 3)
    let second = load([scratch.file(".") + "/" + name]) { $0.rejects.onError = .reject }
    #expect(second.progress.resumedCount == 6, "\(name): \(String(describing: second.error))")
    #expect(try ids() == ["1", "2", "3", "4", "5", "6", "7", "9", "10"])
  }

  @Test(
    "Other sources that hold a file of an unfinished run: refused without a key, harmless with one",
    arguments: [["*.csv"], ["a.csv", "b.csv"], ["b.csv", "a.csv"], ["copy.csv"]], [false, true])
  func otherSources(names: [String], isKeyed: Bool) throws {
    // Long enough to be told from others by its content.
    let text = "id,b\n1," + String(repeating: "x", count: 5_000) + Self.text.dropFirst("id,b\n1,x1".count)
    let source = scratch.write(text, to: "a.csv")
    let change = { (options: inout LoadOptions) in
      if isKeyed { options.rules.key = ["id"] }
    }
    #expect(load([source], change).exitCode == 3)
    for name in names where !name.contains("*") && name != "a.csv" {
      _ = scratch.write(name == "copy.csv" ? text : "id,b\n11,y\n", to: name)
    }
    let second = load(names.map(scratch.file)) {
      change(&$0)
      $0.rejects.onError = .reject
    }
    if isKeyed {
      #expect(second.exitCode == 2 && second.progress.resumedCount == 0)
      #expect(try Set(ids()).isSuperset(of: ["1", "2", "3", "4", "5", "6", "7", "9", "10"]))
    } else {
      #expect(second.exitCode == 4, "\(names)")
      #expect(second.error?.message.contains("which holds a file of this one") == true)
      #expect(try ids() == ["1", "2", "3", "4", "5", "6"])
      #expect(load(names.map(scratch.file)) { $0.transaction.resume = .require }.exitCode == 4)
    }
  }

  @Test("Other files into the same table are another job")
  func otherFiles() throws {
    #expect(load([scratch.write(Self.text, to: "a.csv")]).exitCode == 3)
    let second = load([scratch.write("id,b\n11,y\n", to: "b.csv")])
    #expect(second.exitCode == 0)
    #expect(try ids() == ["1", "2", "3", "4", "5", "6", "11"])
  }

  @Test("Files that are alike because they hold next to nothing are not shared")
  func alike() throws {
    for folder in ["p1", "p2"] {
      #expect(mkdir(scratch.file(folder), 0o700) == 0)
      _ = scratch.write("id,b\n", to: "\(folder)/0.csv")
    }
    _ = scratch.write(Self.text, to: "p1/1.csv")
    _ = scratch.write("id,b\n11,y\n", to: "p2/1.csv")
    #expect(load([scratch.file("p1/*.csv")]).exitCode == 3)
    #expect(load([scratch.file("p2/*.csv")]).exitCode == 0)
    #expect(try ids().count == 7)
  }

  @Test("The place of a name: from the root, without links")
  func places() throws {
    let source = scratch.write("", to: "a.csv")
    let place = try #require(realpath(source, nil).map { String(cString: $0) })
    let folder = String(place.dropLast("/a.csv".count))
    #expect(SourceName.place(of: source) == place)
    #expect(SourceName.place(of: scratch.file("none/*.csv")) == folder + "/none/*.csv")
    #expect(SourceName.place(of: "/none.csv") == "/none.csv")
    #expect(SourceName.place(of: "/") == "/")
    #expect(SourceName.place(of: "/dev/stdin") == "-")
    let working = try #require(realpath(".", nil).map { String(cString: $0) })
    #expect(SourceName.place(of: "none.csv") == (working == "/" ? "" : working) + "/none.csv")
  }

  // MARK: - What starting over may do twice

  @Test(
    "A key that some records may miss makes starting over no harmless thing",
    arguments: [
      ("CREATE UNIQUE INDEX u ON t(id)", "null keys"),
      ("CREATE UNIQUE INDEX u ON t(id) WHERE id > 100", "partial"),
      ("CREATE UNIQUE INDEX u ON t(id)", "ignore"), ("CREATE UNIQUE INDEX u ON t(id)", "harmless"),
      ("CREATE UNIQUE INDEX u ON t(id)", "harmless ignore"),
    ])
  func harmless(index: String, kind: String) throws {
    try Database(database).rows("CREATE TABLE t(id INT, b); \(index)")
    let change = { (options: inout LoadOptions) in
      options.rules.key = ["id"]
      if kind == "null keys" { options.rules.nullKeys = .insert }
      if kind == "partial" { options.rules.target = .columns(["id"], where: "id > 100") }
      if kind.hasSuffix("ignore") { options.rules.mode = .ignore }
      if kind == "ignore" { options.rules.nullKeys = .insert }
    }
    let isHarmless = kind.hasPrefix("harmless")
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source], change).exitCode == 3)
    _ = scratch.write(Self.text + "11,x\n", to: "a.csv")
    let second = load([source]) {
      change(&$0)
      $0.rejects.onError = .reject
    }
    #expect(second.exitCode == (isHarmless ? 2 : 4), "\(kind): \(String(describing: second.error))")
    #expect(try ids().count == (isHarmless ? 10 : 6))
  }

  @Test(
    "A table that was dropped or emptied is loaded from the start, whatever the first part did to it",
    arguments: ["DROP TABLE t", "DELETE FROM t"], ["inserted", "updated", "one deleted"])
  func gone(sql: String, kind: String) throws {
    let create = "CREATE TABLE t(id INTEGER PRIMARY KEY, b TEXT)"
    let before = kind == "updated" ? (1...10).map { "(\($0),'old')" }.joined(separator: ",") : "(1,'old')"
    try Database(database).rows("\(create); INSERT INTO t VALUES \(before)")
    let change = { (options: inout LoadOptions) in
      options.rules.key = ["id"]
      if kind == "one deleted" { options.rules.tombstone = Tombstone(column: "b", value: "x1") }
    }
    let source = scratch.write(Self.text, to: "a.csv")
    #expect(load([source], change).exitCode == 3)
    try Database(database).rows(sql)
    let second = load([source]) {
      change(&$0)
      $0.rejects.onError = .reject
    }
    #expect(second.exitCode == 2 && second.progress.resumedCount == 0, "\(String(describing: second.error))")
    let expected = (kind == "one deleted" ? [] : ["1"]) + ["2", "3", "4", "5", "6", "7", "9", "10"]
    #expect(try ids() == expected)
  }

  @Test("A run that made the table and has stored nothing yet goes on as the one that made it")
  func madeTable() throws {
    let lines =
      (1...6).map { _ in "{\"id\":null,\"a\":1}" } + [
        "{\"id\":\"k7\",\"a\":1}", "{\"id\":\"k8\",\"late\":2}",
      ]
    let source = scratch.write(lines.joined(separator: "\n"), to: "a.ndjson")
    func run(_ limit: UInt64?) -> RunSummary {
      load([source]) {
        $0.rules.key = ["id"]
        $0.rejects.onError = .reject
        if let limit { $0.rejects.limit = .count(limit) }
      }
    }
    #expect(run(5).exitCode == 3)
    let second = run(nil)
    #expect(second.exitCode == 2, "\(String(describing: second.error))")
    #expect(try Database(database).rows("SELECT id, a, late FROM t") == ["'k7'|1|NULL", "'k8'|NULL|2"])
  }

  @Test("An edit in front of the last committed record that moves the records is found")
  func moved() throws {
    // Behind the first MiB, in the last block, but in front of what is hashed of it.
    let padding = String(repeating: "x", count: 200)
    var rows = (1...8_000).map { $0 == 7_900 ? "7900\n" : "\($0),\(padding)\n" }
    func run(_ policy: ErrorPolicy) -> RunSummary {
      load([scratch.write("id,b\n" + rows.joined(), to: "a.csv")]) {
        $0.transaction.commitEvery = 100
        $0.rejects.onError = policy
      }
    }
    let first = run(.stop)
    #expect(first.exitCode == 3)
    rows[7_649] = String(rows[7_649].dropLast()) + ";"
    let second = run(.reject)
    #expect(second.exitCode == 4, "\(second.ledger)")
    #expect(second.error?.message.contains("a.csv has changed before line") == true)
    #expect(try ids().count == 7_899 - 7_899 % 100)
  }

  // MARK: - Two at a time

  private func job(_ table: String = "t", _ sources: [String] = ["/in.csv"]) -> RunJob {
    RunJob(table: table, sources: sources, options: [])
  }

  @Test("A job's lock is held once, by the place of the database, the table and the sources")
  func lock() throws {
    var held = try JobLock.take(job(), database: database)
    #if os(Linux)
      #expect(held != nil)
      for other in [job(), job("T")] {
        let error = #expect(throws: UpsurgeError.self) { try JobLock.take(other, database: database) }
        #expect(error?.code == .guardRefused && error?.message.contains("this process") == true)
      }
    #endif
    for (other, place) in [
      (job("u"), database), (job("t", ["/b.csv"]), database), (job(), database + "2"),
      (job("t", ["-"]), database),
    ] {
      _ = try JobLock.take(other, database: place)
    }
    held = nil
    _ = held
    held = try JobLock.take(job(), database: database)
  }

  #if os(Linux)
    @Test("A second start is refused with the first's process id before that has committed anything")
    func second() throws {
      let pipe = scratch.file("pipe.csv")
      #expect(mkfifo(pipe, 0o600) == 0)
      try Database(database).rows("CREATE TABLE t(id, b)")
      let child = try Command.start(["load", database, "t", pipe, "--atomic"])
      let writer = open(pipe, O_WRONLY | O_CLOEXEC)
      // It reads by now, so it has looked for earlier runs.
      _ = "id,b\n1,x\n".withCString { write(writer, $0, strlen($0)) }
      for sources in [[pipe], [scratch.file("*.csv")], [scratch.write("id,b\n", to: "b.csv"), pipe]] {
        let refused = try Command.run(["load", database, "t"] + sources + ["--atomic"])
        #expect(refused.exitCode == 4, "\(refused.talk)")
        #expect(refused.talk.contains("this job is running already: process \(child.identifier) loads"))
      }
      close(writer)
      #expect(try child.finish().exitCode == 0)
      #expect(try ids() == ["'1'"] || ids() == ["1"])
    }
  #endif

  /// A run that is recorded as ended early.
  private func stoppedRun() throws -> RunRecord {
    #expect(load([scratch.write(Self.text, to: "a.csv")]).exitCode == 3)
    return try #require(try RunTable.all(Connection(path: database, createIfMissing: false)).first)
  }

  @Test("Of two that go on with a run, the second is refused, also when the first has ended")
  func resumers() throws {
    let run = try stoppedRun()
    for isEnded in [false, true] {
      let connection = try Connection(path: database, createIfMissing: false)
      let late = try RunKeeper(
        connection: connection, job: run.job, resumed: run, replaced: [], keepsHistory: false)
      if isEnded {
        #expect(load(run.job.sources) { $0.rejects.onError = .reject }.exitCode == 2)
        try connection.beginWriting()
        #expect { try late.didBegin() } throws: { ($0 as? UpsurgeError)?.code == .guardRefused }
      } else {
        try connection.beginWriting()
        try late.didBegin()
      }
      try connection.execute("ROLLBACK")
    }
  }

  @Test("A late last act leaves another run of the same number alone")
  func lateEnd() throws {
    let run = try stoppedRun()
    try Database(database).rows("UPDATE upsurge_runs SET owner = '1:2:3:4'")
    try RunKeeper.forget(
      (run.id, run.owner), keepsHistory: false, exitCode: 0,
      on: Connection(path: database, createIfMissing: false))
    #expect(try RunTable.all(Connection(path: database, createIfMissing: false)).map(\.owner) == ["1:2:3:4"])
  }
}
