import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Notes of each row that feeds deliver, and sweeps of no others.
@Suite("Mirrors that sweep what they own") struct RowStateTests {
  let scratch = Scratch()

  /// Random tables; more with `UPSURGE_OWNED`.
  private static let count =
    ProcessInfo.processInfo.environment["UPSURGE_OWNED"].flatMap { UInt64($0) } ?? 8

  private func job(
    _ name: String, _ shape: OwnedTable.Shape = OwnedTable.shapes[0], database: String = "a.db",
    sweep: RowSweep = .hard
  ) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file("\(name).csv")])
    table.options.rules.key = shape.key
    table.options.rejects.onError = .reject
    table.options.rejects.target = .table
    table.sweep = sweep
    table.ownedBy = name
    table.guards.allowsEmpty = true
    table.guards.leastRatio = 0
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: scratch.file(database), tables: [table])
  }

  private func write(_ records: [(key: Int, value: Int)], _ shape: OwnedTable.Shape, to name: String) {
    let header = (shape.key + ["v"]).joined(separator: ",")
    let lines = records.map { record in
      (shape.values(record.key).map { "\"\($0)\"" } + ["\(record.value)"]).joined(separator: ",")
    }
    _ = scratch.write(([header] + lines).map { $0 + "\n" }.joined(), to: "\(name).csv")
  }

  @Test("Rows and notes are those of a slow model, night by night", arguments: 0..<count)
  func model(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let shape = OwnedTable.shapes[Int(seed) % OwnedTable.shapes.count]
    var model = OwnedTable(shape, isSoft: Bool.random(using: &random))
    let database = Database(scratch.file("\(seed).db"))
    try database.rows(shape.sql)
    var feeds: [String: [(key: Int, value: Int)]] = ["a": [], "b": []]
    for night in 0..<8 {
      for name in ["a", "b"] where Int.random(in: 0..<4, using: &random) > 0 {
        let words = "seed \(seed), night \(night), feed \(name), soft \(model.isSoft), \(shape.sql)"
        try changeLocally(&model, database, &random)
        var records = feeds[name] ?? []
        records.removeAll { _ in Int.random(in: 0..<6, using: &random) == 0 }
        for _ in 0..<Int.random(in: 0...8, using: &random) {
          let place = Int.random(in: 0...records.count, using: &random)
          let value = Int.random(in: 10...20, using: &random)
          records.insert((Int.random(in: 0..<24, using: &random), value), at: place)
        }
        feeds[name] = records
        write(records, shape, to: name)
        var job = job(
          name, shape, database: "\(seed).db", sweep: model.isSoft ? .soft(column: "gone") : .hard)
        let most = Int.random(in: 0..<3, using: &random) == 0 ? 1 : 1_000
        job.tables[0].guards.maximumDeletes = .count(UInt64(most))
        if night % 2 == 1 { job.atomicity = .bounded }
        if night == 5 { job.tables[0].options.transaction.commitEvery = .records(3) }
        let summary = job.run()
        if summary.tables[0].unchangedSince != nil { continue }
        let swept = model.deliver(records, by: name, most: most)
        #expect(
          summary.ledger.swept == UInt64(swept ?? 0) && (summary.exitCode == 4) == (swept == nil),
          "\(words): swept \(summary.ledger.swept), not \(swept ?? -1), \(summary.exitCode) \(summary.tables[0].failure?.description ?? "")")
        #expect(try model.foundRows(database) == model.listedRows, "\(words)")
        #expect(try model.foundNotes(database) == model.listedNotes, "\(words)")
        let stored = Set(records.filter { $0.value != 13 }.map(\.key)).count
        let last = try database.rows(
          """
          SELECT count(*), count(DISTINCT source) FROM upsurge_rows
          WHERE run = (SELECT max(run) FROM upsurge_runs) AND source = '\(scratch.file("\(name).csv"))'
          """)
        if stored > 0 { #expect(last == ["\(stored)|1"], "\(words)") }
      }
    }
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  private func changeLocally(
    _ model: inout OwnedTable, _ database: Database, _ random: inout SeededGenerator
  ) throws {
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let key = Int.random(in: 0..<24, using: &random)
      let values = model.shape.values(key).map { "'" + $0.replacing("'", with: "''") + "'" }
      let names = model.shape.key.map { "\"\($0)\"" }
      let condition = zip(names, values).map { "\($0) = \($1)" }.joined(separator: " AND ")
      if Bool.random(using: &random) {
        try database.rows("DELETE FROM feed WHERE \(condition)")
        model.remove(key)
      } else if model.rows[key] == nil {
        try database.rows(
          "INSERT INTO feed(\(names.joined(separator: ", ")), v) VALUES (\(values.joined(separator: ", ")), 99)"
        )
        model.store(key, 99)
      }
    }
  }

  @Test("Rows that were there first stay, and guards count only what the feed has delivered")
  func firstRun() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows(OwnedTable.shapes[0].sql)
    try database.rows(
      "WITH n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1999) INSERT INTO feed(id, v) SELECT i, 1 FROM n"
    )
    let shape = OwnedTable.shapes[0]
    write((0..<10).map { ($0, 1) }, shape, to: "a")
    var job = job("a")
    job.tables[0].guards.maximumDeletes = .percent(10)
    #expect(job.run().exitCode == 0)
    write((0..<8).map { ($0, 1) }, shape, to: "a")
    let refused = job.run()
    #expect(refused.exitCode == 4 && refused.ledger.swept == 0)
    #expect(
      refused.tables[0].failure?.message
        == "nothing is swept: 2 of 10 rows of table feed are not in the delivery, more than the max-delete of 10%"
    )
    write((0..<9).map { ($0, 1) }, shape, to: "a")
    #expect(job.run().ledger.swept == 1)
    #expect(try database.rows("SELECT count(*), min(id), max(id) FROM feed") == ["1009|0|1999"])
  }

  @Test("A text with a NUL character, and values that only their type tells apart, are keys of their own")
  func exactKeys() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE feed(id UNIQUE, v)")
    try database.rows(
      "INSERT INTO feed VALUES ('a' || char(0) || 'local', 1), ('1', 1), (x'61', 1), (2.5, 1)")
    _ = scratch.write(
      "{\"id\":\"a\\u0000feed\",\"v\":2}\n{\"id\":1,\"v\":2}\n{\"id\":\"a\",\"v\":2}\n{\"id\":\"2.5\",\"v\":2}\n",
      to: "a.csv")
    let job = job("a")
    let first = job.run()
    #expect(
      first.exitCode == 0 && first.ledger.inserted == 4, "\(first.tables[0].failure?.description ?? "")")
    #expect(
      try database.rows("SELECT key FROM upsurge_rows ORDER BY key")
        == ["''2.5''", "''a''", "'1'", "'CAST(X'610066656564' AS TEXT)'"])
    _ = scratch.write("{\"id\":\"z\",\"v\":2}\n", to: "a.csv")
    #expect(job.run().ledger.swept == 4)
    #expect(
      try database.rows("SELECT hex(id), typeof(id), v FROM feed WHERE id IS NOT 'z' ORDER BY rowid")
        == ["'61006C6F63616C'|'text'|1", "'31'|'text'|1", "'61'|'blob'|1", "'322E35'|'real'|1"])
  }

  @Test("What rolls records back takes their notes back", arguments: MirrorJob.Atomicity.allCases)
  func rollback(atomicity: MirrorJob.Atomicity) throws {
    let shape = OwnedTable.shapes[1]
    let database = Database(scratch.file("a.db"))
    try database.rows(shape.sql)
    write((0..<500).map { ($0, 1) }, shape, to: "a")
    var job = job("a", shape)
    job.atomicity = atomicity
    job.tables[0].options.transaction.commitEvery = .records(100)
    #expect(job.run().exitCode == 0)
    let notes = "SELECT key, run, gone FROM upsurge_rows ORDER BY key"
    let before = try database.rows(notes)
    #expect(before.count == 500)
    // The last line is cut.
    write((200..<900).map { ($0, 2) }, shape, to: "a")
    let text = String(decoding: try readFile(scratch.file("a.csv")), as: UTF8.self)
    _ = scratch.write(String(text.dropLast(9)), to: "a.csv")
    let broken = job.run()
    #expect([3, 65].contains(broken.exitCode), "\(broken.exitCode)")
    let equal = "SELECT count(*) FROM feed LEFT JOIN upsurge_rows ON key = quote(id) WHERE key IS NULL"
    if atomicity != .bounded {
      #expect(try database.rows(notes) == before)
    } else {
      #expect(try database.rows("SELECT count(*) FROM feed") == ["800"])
    }
    #expect(try database.rows(equal) == ["0"])
    _ = scratch.write(text, to: "a.csv")
    let last = job.run()
    #expect(last.exitCode == 0 && last.ledger.swept == 200, "\(last.tables[0].failure?.description ?? "")")
    #expect(try database.rows("SELECT count(*), sum(gone) FROM upsurge_rows") == ["700|0"])
    #expect(try database.rows(equal) == ["0"])
    // The history knows of the run that has failed.
    #expect(try database.rows("SELECT count(*) FROM upsurge_runs WHERE state <> 'done'") == ["0"])
  }

  @Test("A table of a job that another one takes back has the notes that it had")
  func group() throws {
    var job = job("a")
    job.tables[0].name = "first"
    var other = job.tables[0]
    other.name = "second"
    other.sources = [Source(scratch.file("b.csv"))]
    job.tables.append(other)
    job.atomicity = .job
    for name in ["a", "b"] { _ = scratch.write("id,v\n1,1\n2,1\n3,1\n", to: "\(name).csv") }
    let first = job.run()
    #expect(first.exitCode == 0, "\(first.tables.map { $0.failure?.description ?? "" })")
    let database = Database(scratch.file("a.db"))
    let notes = "SELECT \"table\", key, run, gone FROM upsurge_rows ORDER BY 1, 2"
    let before = try database.rows(notes)
    #expect(
      before
        == (1...2).flatMap { run in (1...3).map { "'\(run == 1 ? "first" : "second")'|'\($0)'|\(run)|0" } })
    _ = scratch.write("id,v\n1,2\n9,1\n", to: "a.csv")
    _ = scratch.write("id,v\n1,2\n2,", to: "b.csv")
    #expect(job.run().exitCode != 0)
    #expect(try database.rows(notes) == before)
    _ = scratch.write("id,v\n1,2\n", to: "b.csv")
    let last = job.run()
    #expect(last.exitCode == 0 && last.ledger.swept == 4)
    #expect(
      try database.rows("SELECT \"table\", key FROM upsurge_rows ORDER BY 1, 2") == [
        "'first'|'1'", "'first'|'9'", "'second'|'1'",
      ])
  }

  @Test("A record that waited for its parent is noted when it is stored")
  func orphan() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      "CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE feed(id INTEGER PRIMARY KEY, p REFERENCES parent, q REFERENCES feed)"
    )
    var job = job("a")
    var parent = job.tables[0]
    parent.name = "parent"
    parent.sources = [Source(scratch.file("parent.csv"))]
    job.tables.append(parent)
    _ = scratch.write("id\n1\n", to: "parent.csv")
    _ = scratch.write("id,p,q\n1,1,\n2,2,\n", to: "a.csv")
    #expect(job.run().exitCode == 2)
    let notes = "SELECT key FROM upsurge_rows WHERE \"table\" = 'feed' ORDER BY key"
    #expect(try database.rows(notes) == ["'1'"])
    _ = scratch.write("id\n1\n2\n", to: "parent.csv")
    _ = scratch.write("id,p,q\n1,1,\n2,2,\n3,2,4\n4,2,\n", to: "a.csv")
    let next = job.run()
    #expect(next.exitCode == 0, "\(next.tables.map { $0.failure?.description ?? "" })")
    #expect(try database.rows(notes) == ["'1'", "'2'", "'3'", "'4'"])
    _ = scratch.write("id,p,q\n3,2,\n", to: "a.csv")
    _ = scratch.write("id\n2\n", to: "parent.csv")
    #expect(job.run().ledger.swept == 4)
    #expect(
      try database.rows("SELECT (SELECT count(*) FROM feed), (SELECT count(*) FROM upsurge_rows)") == ["1|2"])
  }

  @Test(
    "Rows that no record has become are not the feed's: local ones that are newer, or that a trigger keeps")
  func leftAlone() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      """
      CREATE TABLE feed(id INTEGER PRIMARY KEY, v INT);
      CREATE TRIGGER keep BEFORE UPDATE ON feed WHEN old.v = 50 BEGIN SELECT RAISE(IGNORE); END;
      INSERT INTO feed VALUES (1, 40), (2, 50), (3, 1)
      """)
    _ = scratch.write("id,v\n1,30\n2,60\n3,2\n4,1\n", to: "a.csv")
    var job = job("a")
    job.tables[0].options.rules.merge.newer = Merge.Newer(column: "v")
    let first = job.run()
    #expect(first.ledger.stale == 1 && first.ledger.ignored == 1, "\(first.ledger)")
    #expect(
      try database.rows("SELECT key, stored FROM upsurge_rows ORDER BY 1") == [
        "'1'|0", "'2'|0", "'3'|1", "'4'|1",
      ])
    _ = scratch.write("id,v\n9,1\n", to: "a.csv")
    #expect(job.run().ledger.swept == 2)
    #expect(try database.rows("SELECT id FROM feed ORDER BY 1") == ["1", "2", "9"])
    #expect(try database.rows("SELECT key, stored FROM upsurge_rows ORDER BY 1") == ["'9'|1"])
  }
}
