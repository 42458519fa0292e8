import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Folders into which files are dropped: each is taken once.
@Suite("Drop folders") struct DropFolderTests {
  let scratch = Scratch()

  private func job(_ kind: MirrorTable.Kind = .delta) throws -> MirrorJob {
    try FileManager.default.createDirectory(atPath: scratch.file("drop"), withIntermediateDirectories: true)
    var table = MirrorTable(name: "feed", sources: [scratch.file("drop")])
    table.kind = kind
    table.options.rules.key = ["id"]
    table.options.table.contract = .evolve
    table.options.rejects.onError = .reject
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  @Test("Daily files whose header grows: columns are added, codes stay as they are, each file is read once")
  func daily() throws {
    let job = try job()
    var columns = ["id", "code"]
    var expected: [Int: [String]] = [:]
    for day in 1...12 {
      if day % 3 == 0 { columns.append("extra\(day)") }
      var text = columns.joined(separator: ",") + "\n"
      for id in day * 10..<day * 10 + 20 {
        let fields = ["\(id)", "00\(id)"] + columns.dropFirst(2).map { "\($0) of \(id) on \(day)" }
        text += fields.joined(separator: ",") + "\n"
        // Columns of earlier files that this one lacks stay as they were.
        expected[id] = fields
      }
      _ = scratch.write(text, to: "drop/2026-01-\(day < 10 ? "0" : "")\(day).csv")
      _ = scratch.write("garbage\u{0}", to: "drop/.hidden")
      _ = scratch.write("garbage\u{0}", to: "drop/next.csv.tmp")
      let summary = job.run()
      #expect(summary.exitCode == 0, "day \(day): \(summary.tables[0].failure?.description ?? "")")
      #expect(summary.tables[0].loads.count == 1 && summary.ledger.read == 20, "day \(day)")
      let again = job.run()
      #expect(again.tables[0].loads.isEmpty && again.exitCode == 0)
    }
    let database = Database(job.database)
    #expect(try database.rows("SELECT count(*) FROM pragma_table_info('feed')") == ["\(columns.count)"])
    for (id, fields) in expected {
      let names = columns.prefix(fields.count).map { "\"\($0)\"" }.joined(separator: ", ")
      let row = ["\(fields[0])"] + fields.dropFirst().map { "'\($0)'" }
      #expect(try database.rows("SELECT \(names) FROM feed WHERE id = \(id)") == [row.joined(separator: "|")])
    }
    #expect(try database.rows("SELECT count(*) FROM upsurge_files") == ["12"])
  }

  @Test("A file that comes again under another name is not taken again, and old changes set nothing back")
  func content() throws {
    let job = try job()
    let first = "id,v\n1,old\n2,old\n"
    _ = scratch.write(first, to: "drop/a.csv")
    _ = scratch.write("id,v\n1,new\n", to: "drop/b.csv")
    #expect(job.run().ledger.read == 3)
    _ = scratch.write(first, to: "drop/c.csv")
    #expect(job.run().ledger.read == 0)
    #expect(try Database(job.database).rows("SELECT v FROM feed ORDER BY id") == ["'new'", "'old'"])
  }

  @Test("A file that fails keeps those behind it waiting, and is taken when it is mended")
  func failing() throws {
    let job = try job()
    _ = scratch.write("id,v\n1,a\n", to: "drop/1.csv")
    _ = scratch.write("id,v\n1,b\n2,cut", to: "drop/2.csv")
    _ = scratch.write("id,v\n1,c\n", to: "drop/3.csv")
    let first = job.run()
    #expect(first.exitCode == 3)
    #expect(try Database(job.database).rows("SELECT v FROM feed") == ["'a'"])
    #expect(first.tables[0].failure?.message.contains("2.csv") == true)
    _ = scratch.write("id,v\n1,b\n2,whole\n", to: "drop/2.csv")
    let second = job.run()
    #expect(second.exitCode == 0 && second.ledger.read == 3)
    #expect(try Database(job.database).rows("SELECT v FROM feed ORDER BY id") == ["'c'", "'whole'"])
  }

  @Test("Files that are done are moved or deleted when their ledger was seen", arguments: [false, true])
  func done(isMoved: Bool) throws {
    var job = try job()
    try FileManager.default.createDirectory(atPath: scratch.file("done"), withIntermediateDirectories: true)
    job.tables[0].folder.done = isMoved ? .move(to: scratch.file("done")) : .delete
    _ = scratch.write("id,v\n1,a\n", to: "drop/1.csv")
    #expect(job.run(report: { _ in false }).exitCode == 0)
    #expect(access(scratch.file("drop/1.csv"), F_OK) == 0)
    // Nobody has seen the ledger: it is told again, and nothing is loaded twice.
    let again = job.run()
    #expect(again.ledger.read == 1 && again.ledger.inserted == 1)
    #expect(access(scratch.file("drop/1.csv"), F_OK) != 0)
    #expect((access(scratch.file("done/1.csv"), F_OK) == 0) == isMoved)
    #expect(job.run().ledger.read == 0)
  }

  /// The number of a process that is no more.
  private func goneProcess() throws -> Int32 {
    let child = try Command.start([], script: "exit 0")
    _ = try child.finish()
    return child.processID
  }

  private func content(_ name: String) throws -> String {
    String(decoding: try readFile(scratch.file(name)), as: UTF8.self)
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.file(folder)).sorted()
  }

  @Test(
    "A file that a killed run has held is put back, and done with", arguments: MirrorTable.Kind.allCases,
    [false, true])
  func held(kind: MirrorTable.Kind, isFolder: Bool) throws {
    var job = try job(kind)
    try FileManager.default.createDirectory(atPath: scratch.file("done"), withIntermediateDirectories: true)
    if kind == .delta && !isFolder { job.tables[0].sources = [Source(scratch.file("drop/*.csv"))] }
    _ = scratch.write("id,v\n1,a\n", to: "drop/1.csv")
    _ = scratch.write("id,v\n1,b\n", to: "drop/2.csv")
    #expect(job.run().ledger.read == 2)
    let hidden = "drop/.upsurge-\(try goneProcess())-1.csv"
    #expect(rename(scratch.file("drop/1.csv"), scratch.file(hidden)) == 0)
    job.tables[0].folder.done = .move(to: scratch.file("done"))
    job.dryRun = .count
    _ = job.run()
    #expect(access(scratch.file(hidden), F_OK) == 0, "a trial changes nothing")
    #expect(try names("done") == [])
    job.dryRun = nil
    // It was killed behind its last step but one.
    #expect(link(scratch.file(hidden), scratch.file("done/1.csv")) == 0)
    #expect(job.run().ledger.read == 0)
    #expect(try names("drop") == [] && names("done") == ["1.csv", "2.csv"])
    #expect(try content("done/1.csv") == "id,v\n1,a\n")
    #expect(try Database(job.database).rows("SELECT v FROM feed") == ["'b'"])
  }

  @Test(
    "A file that has come under the name of one that is held stays, and is taken alone",
    arguments: MirrorTable.Kind.allCases, [false, true])
  func heldBeside(kind: MirrorTable.Kind, isMoved: Bool) throws {
    var job = try job(kind)
    _ = scratch.write("id,v\n1,a\n", to: "drop/1.csv")
    #expect(job.run().ledger.read == 1)
    let hidden = "drop/.upsurge-\(try goneProcess())-1.csv"
    #expect(rename(scratch.file("drop/1.csv"), scratch.file(hidden)) == 0)
    _ = scratch.write("id,v\n1,b\n", to: "drop/1.csv")
    // One that was never taken: it stands beside it, and is taken, too.
    _ = scratch.write("id,v\n7,g\n", to: "drop/.upsurge-\(try goneProcess())-0.csv")
    // Where it is to go, nothing can go: all stays.
    job.tables[0].folder.done = .move(to: scratch.file("done"))
    let notes = RunNotes()
    #expect(job.run(note: { notes.add($0.text) }).ledger.read == 2)
    #expect(notes.all.contains { $0.contains("cannot move") && $0.contains("1.csv") }, "\(notes.all)")
    #expect(try content("drop/1.csv") == "id,v\n1,b\n" && content(hidden) == "id,v\n1,a\n")
    try FileManager.default.createDirectory(atPath: scratch.file("done"), withIntermediateDirectories: true)
    if !isMoved { job.tables[0].folder.done = .delete }
    #expect(job.run().ledger.read == 0)
    #expect(try names("drop") == [])
    #expect(try names("done") == (isMoved ? ["0.csv", "1.csv", "2-1.csv"] : []))
    if isMoved {
      #expect(try content("done/1.csv") == "id,v\n1,a\n" && content("done/2-1.csv") == "id,v\n1,b\n")
    }
    #expect(try Database(job.database).rows("SELECT v FROM feed WHERE id = 1") == ["'b'"])
  }

  @Test("What a process holds that runs, and what is hidden by another name, is left alone")
  func heldByOthers() throws {
    var job = try job()
    job.tables[0].folder.done = .delete
    let all = [".upsurge-\(getppid())-1.csv", ".upsurge-x-2.csv", ".upsurge-7", ".upsurge-007-3.csv"]
    for name in all { _ = scratch.write("id,v\n1,a\n", to: "drop/\(name)") }
    #expect(job.run().ledger.read == 0)
    #expect(try names("drop") == all.sorted())
  }

  @Test("The order is that of names or of times", arguments: DropFolder.Order.allCases)
  func order(order: DropFolder.Order) throws {
    var job = try job()
    job.tables[0].folder.order = order
    for (name, time) in [("b.csv", 1_000), ("a.csv", 2_000)] {
      let path = scratch.write("id,v\n1,\(name)\n", to: "drop/\(name)")
      var times = [timeval(tv_sec: time, tv_usec: 0), timeval(tv_sec: time, tv_usec: 0)]
      utimes(path, &times)
    }
    #expect(job.run().exitCode == 0)
    #expect(try Database(job.database).rows("SELECT v FROM feed") == [order == .name ? "'b.csv'" : "'a.csv'"])
  }

  @Test("A snapshot that comes again behind another one is the truth again")
  func again() throws {
    let job = try job(.snapshot)
    for (day, value) in [(1, "a"), (2, "b"), (3, "a"), (4, "b")] {
      _ = scratch.write("id,v\n1,\(value)\n", to: "drop/\(day).csv")
      #expect(job.run().ledger.read == 1)
      #expect(try Database(job.database).rows("SELECT v FROM feed") == ["'\(value)'"])
      #expect(job.run().ledger.read == 0)
    }
  }

  @Test("A snapshot that comes late is taken with a warning, by names", arguments: DropFolder.Order.allCases)
  func late(order: DropFolder.Order) throws {
    var job = try job(.snapshot)
    job.tables[0].folder.order = order
    func warnings() -> [String] {
      let notes = RunNotes()
      #expect(job.run(note: { if $0.level == .warning { notes.add($0.text) } }).exitCode == 0)
      return notes.all
    }
    func value() throws -> [String] { try Database(job.database).rows("SELECT v FROM feed") }
    _ = scratch.write("id,v\n1,first\n", to: "drop/01-01.csv")
    let newest = scratch.write("id,v\n1,third\n", to: "drop/01-03.csv")
    #expect(warnings() == [] && warnings() == [])
    _ = scratch.write("id,v\n1,second\n", to: "drop/01-02.csv")
    let said = warnings()
    #expect(try value() == ["'second'"])
    #expect(said.count == (order == .name ? 1 : 0), "\(said)")
    if order == .time { return }
    #expect(said.first?.contains("/01-02.csv comes late: ") == true, "\(said)")
    #expect(said.first?.contains("/01-03.csv, whose name comes after its own, was taken before") == true)
    #expect(warnings() == [])
    // As the warning says.
    #expect(utimes(newest, nil) == 0)
    #expect(warnings() == [])
    #expect(try value() == ["'third'"])
  }

  @Test("A file that has taken the name of one that is done stays, whatever is to be done with that")
  func replaced() throws {
    var job = try job()
    job.tables[0].folder.done = .delete
    _ = scratch.write("id,v\n1,a\n", to: "drop/1.csv")
    _ = scratch.write("id,v\n2,b\n", to: "next")
    let (from, to) = (scratch.file("next"), scratch.file("drop/1.csv"))
    #expect(job.run(report: { _ in rename(from, to) == 0 }).exitCode == 0)
    #expect(access(to, F_OK) == 0)
    #expect(job.run().ledger.inserted == 1)
    #expect(access(to, F_OK) != 0)
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["2"])
  }

  @Test("A file from a far future, and one that is read while others come, are files like others")
  func times() throws {
    let job = try job()
    let path = scratch.write("id,v\n1,a\n", to: "drop/1.csv")
    var times = [timeval(tv_sec: 13_569_465_600, tv_usec: 0), timeval(tv_sec: 13_569_465_600, tv_usec: 0)]
    utimes(path, &times)
    #expect(job.run().ledger.inserted == 1)
    chmod(path, 0o600)
    #expect(job.run().ledger.read == 0)
  }

  @Test("A folder of hundreds of files needs no more than a few descriptors")
  func many() throws {
    let job = try job()
    for number in 0..<150 { _ = scratch.write("id,v\n\(number),x\n", to: "drop/\(1_000 + number).csv") }
    let outcome = try Command.run(
      [job.database, "--table", "feed", "--source", scratch.file("drop"), "--key", "id", "--kind", "delta"],
      script: #"ulimit -n $(($(ls /dev/fd | sort -n | tail -n 1) + 40)); exec "$0" mirror "$@""#)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["150"])
  }
}
