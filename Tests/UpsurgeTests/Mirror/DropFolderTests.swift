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
    table.options.key = ["id"]
    table.options.contract = .evolve
    table.options.onError = .reject
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
