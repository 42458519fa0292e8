import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Rows that somebody edits between the nights: `local-edits: repair` and `keep`.
@Suite("Mirrors whose rows are edited") struct LocalEditTests {
  let scratch = Scratch()

  /// Random tables; more with `UPSURGE_EDITED`.
  private static let count =
    ProcessInfo.processInfo.environment["UPSURGE_EDITED"].flatMap { UInt64($0) } ?? 20

  private var database: String { scratch.file("a.db") }

  private func job(
    _ edits: LocalEdits?, database: String = "a.db", key: [String] = ["id"], sweep: RowSweep = .hard
  ) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file("feed.csv")])
    table.options.rules.key = key
    table.options.rejects.onError = .reject
    table.options.rejects.target = .table
    table.sweep = sweep
    table.localEdits = edits
    table.guards.allowsEmpty = true
    table.guards.leastRatio = 0
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: scratch.file(database), tables: [table])
  }

  private func message(_ summary: MirrorSummary) -> String {
    (summary.error ?? summary.tables.first?.failure)?.description ?? ""
  }

  private func edits(_ summary: MirrorSummary) -> LocalEditCounts? {
    summary.tables.first?.loads.first?.localEdits
  }

  private func counts(repaired: UInt64 = 0, kept: UInt64 = 0, unswept: UInt64 = 0) -> LocalEditCounts {
    var counts = LocalEditCounts()
    (counts.repaired, counts.kept, counts.unswept) = (repaired, kept, unswept)
    return counts
  }

  // MARK: - The model

  @Test("Rows, ledger and counts are those of a slow model, night by night", arguments: 0..<count)
  func model(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let shape = OwnedTable.shapes[Int(seed) % OwnedTable.shapes.count]
    let edits: LocalEdits = seed / 5 % 2 == 0 ? .repair : .keep
    var model = EditedTable(
      edits, isSoft: Bool.random(using: &random), isOwned: Bool.random(using: &random))
    let database = Database(scratch.file("\(seed).db"))
    let sql = shape.sql.replacing("gone INT", with: "w TEXT, note TEXT, gone INT")
    try database.rows(sql)
    var records: [(key: Int, content: EditedTable.Content)] = []
    var met = 0
    for night in 0..<14 {
      let words =
        "seed \(seed), night \(night), \(edits), soft \(model.isSoft), owned \(model.isOwned), \(sql)"
      try edit(&model, shape, database, &random)
      if records.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
        repeat { change(&records, &random) } while records.isEmpty
        write(records, shape)
      }
      var job = job(
        edits, database: "\(seed).db", key: shape.key, sweep: model.isSoft ? .soft(column: "gone") : .hard)
      if model.isOwned { job.tables[0].ownedBy = "crm" }
      let most = Int.random(in: 0..<4, using: &random) == 0 ? 1 : 1_000
      job.tables[0].guards.maximumDeletes = .count(UInt64(most))
      if night % 3 == 1 { job.atomicity = .bounded }
      if night % 5 == 4 { job.tables[0].options.transaction.commitEvery = .records(3) }
      if Int.random(in: 0..<6, using: &random) == 0 { job.verifiesAll = true }
      var trial = job
      trial.dryRun = .count
      let tried = Int.random(in: 0..<3, using: &random) == 0 ? trial.run() : nil
      let summary = job.run()
      if summary.tables[0].unchangedSince != nil {
        #expect(!model.needsRepair, "\(words)")
        continue
      }
      let expected = model.deliver(records, most: most)
      #expect(self.night(of: summary) == expected, "\(words): \(message(summary))")
      if let tried { #expect(self.night(of: tried) == expected, "dry run, \(words): \(message(tried))") }
      #expect(try EditedTable.found(shape, database) == model.listed(shape), "\(words)")
      #expect(try EditedTable.foundKnown(shape, database) == model.listedKnown(shape), "\(words)")
      met += Int(expected.edits.repaired + expected.edits.kept)
    }
    #expect(met > 0, "seed \(seed)")
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  private func night(of summary: MirrorSummary) -> EditedTable.Night {
    let ledger = summary.ledger
    var night = EditedTable.Night()
    (night.inserted, night.updated, night.unchanged) = (ledger.inserted, ledger.updated, ledger.unchanged)
    (night.ignored, night.rejected, night.swept) = (ledger.ignored, ledger.rejected, ledger.swept)
    night.edits = edits(summary) ?? LocalEditCounts()
    night.isRefused = summary.exitCode == 4
    return night
  }

  private func change(
    _ records: inout [(key: Int, content: EditedTable.Content)], _ random: inout SeededGenerator
  ) {
    records.removeAll { _ in Int.random(in: 0..<7, using: &random) == 0 }
    for _ in 0..<Int.random(in: 0...7, using: &random) {
      let place = Int.random(in: 0...records.count, using: &random)
      let content = EditedTable.Content(
        v: Int.random(in: 10...16, using: &random), w: ["x", "y", "1"].randomElement(using: &random) ?? "")
      records.insert((Int.random(in: 0..<18, using: &random), content), at: place)
    }
  }

  private func write(_ records: [(key: Int, content: EditedTable.Content)], _ shape: OwnedTable.Shape) {
    let lines = records.map { record in
      (shape.values(record.key).map { "\"\($0)\"" } + ["\(record.content.v)", record.content.w]).joined(
        separator: ",")
    }
    _ = scratch.write(
      ([(shape.key + ["v", "w"]).joined(separator: ",")] + lines).map { $0 + "\n" }.joined(), to: "feed.csv")
  }

  private func edit(
    _ model: inout EditedTable, _ shape: OwnedTable.Shape, _ database: Database,
    _ random: inout SeededGenerator
  ) throws {
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let key = Int.random(in: 0..<18, using: &random)
      let values = shape.values(key).map { "'" + $0.replacing("'", with: "''") + "'" }
      let names = shape.key.map { "\"\($0)\"" }
      let condition = zip(names, values).map { "\($0) = \($1)" }.joined(separator: " AND ")
      guard var row = model.rows[key] else {
        if Bool.random(using: &random) { continue }
        try database.rows(
          """
          INSERT INTO feed(\(names.joined(separator: ", ")), v, w) VALUES (\(values.joined(separator: ", ")), 11, 'y')
          """)
        model.set(key, EditedTable.Row(content: EditedTable.Content(v: 11, w: "y")))
        continue
      }
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        try database.rows("DELETE FROM feed WHERE \(condition)")
        model.set(key, nil)
        continue
      case 1: row.note = "mine"
      case 2: row.content.w = ["x", "z"].randomElement(using: &random) ?? ""
      case 3: row.content = model.known[key]?.content ?? row.content
      default: row.content.v = Int.random(in: 10...12, using: &random)
      }
      try database.rows(
        """
        UPDATE feed SET v = \(row.content.v), w = '\(row.content.w)', note = \(row.note.map { "'\($0)'" } ?? "NULL")
        WHERE \(condition)
        """)
      model.set(key, row)
    }
  }

  // MARK: - Examples

  @Test("The feed wins, also where its file is the last one once more")
  func repair() throws {
    _ = scratch.write("id,v\n1,a\n2,b\n3,c\n", to: "feed.csv")
    let job = job(.repair)
    #expect(job.run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("ALTER TABLE feed ADD COLUMN note")
    #expect(job.run().exitCode == 0, "the table has another column")
    try plain.rows("UPDATE feed SET note = 'mine' WHERE id = 1")
    #expect(job.run().tables[0].unchangedSince != nil, "a column that the feed does not have")
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1; DELETE FROM feed WHERE id = 2")
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.ledger.updated == 1 && summary.ledger.inserted == 1)
    #expect(edits(summary) == counts(repaired: 2))
    #expect(try plain.rows("SELECT id, v, note FROM feed") == ["1|'a'|'mine'", "2|'b'|NULL", "3|'c'|NULL"])
    #expect(
      try plain.rows("SELECT key FROM upsurge_rows WHERE edit = 'repaired'") == ["'1'", "'2'"],
      "which they were can be asked")
    #expect(job.run().tables[0].unchangedSince != nil)
  }

  @Test("The edit wins, whatever the feed says, and the sweep leaves it")
  func keep() throws {
    _ = scratch.write("id,v\n1,a\n2,b\n3,c\n4,d\n", to: "feed.csv")
    let job = job(.keep)
    #expect(job.run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id IN (1, 3); DELETE FROM feed WHERE id = 2")
    #expect(job.run().tables[0].unchangedSince != nil)
    _ = scratch.write("id,v\n1,A\n2,B\n5,E\n", to: "feed.csv")
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.ledger.ignored == 2 && summary.ledger.inserted == 1)
    #expect(summary.ledger.swept == 1 && edits(summary) == counts(kept: 2, unswept: 1))
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'edited'", "3|'edited'", "5|'E'"])
    // What the feed drops and brings again is new.
    _ = scratch.write("id,v\n1,A\n5,E\n", to: "feed.csv")
    #expect(edits(job.run()) == counts(kept: 1, unswept: 1))
    _ = scratch.write("id,v\n1,A\n2,B\n5,E\n", to: "feed.csv")
    #expect(job.run().ledger.inserted == 1)
    // Taken back, it is the feed's again; so is a row whose note is deleted.
    try plain.rows("UPDATE feed SET v = 'a' WHERE id = 1; UPDATE feed SET v = 'c' WHERE id = 3")
    _ = scratch.write("id,v\n1,A\n2,B\n5,e\n", to: "feed.csv")
    let last = job.run()
    #expect(last.ledger.updated == 2 && last.ledger.swept == 1 && edits(last) == counts())
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1")
    try plain.rows("DELETE FROM upsurge_rows WHERE key = '1'")
    _ = scratch.write("id,v\n1,AA\n2,B\n5,e\n", to: "feed.csv")
    #expect(job.run().ledger.updated == 1)
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'AA'", "2|'B'", "5|'e'"])
  }

  @Test("A delta passes over what was edited, tombstones included")
  func delta() throws {
    var job = job(.keep, sweep: .none)
    job.tables[0].kind = .delta
    job.tables[0].options.rules.tombstone = Tombstone(column: "op", value: "D")
    _ = scratch.write("id,v,op\n1,a,U\n2,b,U\n3,c,U\n4,d,U\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1; DELETE FROM feed WHERE id IN (2, 3)")
    _ = scratch.write("id,v,op\n1,,D\n2,B,U\n4,,D\n5,e,U\n", to: "feed.csv")
    let second = job.run()
    #expect(second.ledger.ignored == 2 && second.ledger.deleted == 1, "\(message(second))")
    #expect(edits(second) == counts(kept: 2))
    // Row 3 was not in that delta, and is still known as deleted here; the feed deletes row 2, and row 4 was its own work.
    _ = scratch.write("id,v,op\n3,C,U\n2,,D\n4,D,U\n", to: "feed.csv")
    let third = job.run()
    #expect(third.ledger.ignored == 2 && third.ledger.inserted == 1 && edits(third) == counts(kept: 1))
    _ = scratch.write("id,v,op\n2,BB,U\n3,CC,U\n", to: "feed.csv")
    #expect(job.run().ledger.inserted == 1)
    #expect(
      try plain.rows("SELECT id, v FROM feed ORDER BY id") == ["1|'edited'", "2|'BB'", "4|'D'", "5|'e'"])
  }

  @Test("What triggers make of mirrored columns is no edit", arguments: LocalEdits.allCases)
  func triggers(edits: LocalEdits) throws {
    let plain = Database(database)
    try plain.rows(
      """
      CREATE TABLE feed(id INTEGER PRIMARY KEY, v TEXT, n INT);
      CREATE TRIGGER upper AFTER INSERT ON feed BEGIN UPDATE feed SET v = upper(v) WHERE id = new.id; END;
      CREATE TRIGGER others AFTER INSERT ON feed BEGIN UPDATE feed SET n = (SELECT count(*) FROM feed); END;
      """)
    _ = scratch.write("id,v,n\n1,a,0\n2,b,0\n", to: "feed.csv")
    let job = job(edits)
    #expect(job.run().exitCode == 0)
    #expect(try plain.rows("SELECT * FROM feed") == ["1|'A'|2", "2|'B'|2"])
    #expect(job.run().tables[0].unchangedSince != nil)
    _ = scratch.write("id,v,n\n1,a,0\n2,b,0\n3,c,0\n", to: "feed.csv")
    let second = job.run()
    #expect(second.exitCode == 0 && second.ledger.ignored == 0, "\(message(second))")
    #expect(second.tables[0].loads[0].localEdits == counts())
    #expect(job.run().tables[0].unchangedSince != nil)
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1")
    _ = scratch.write("id,v,n\n1,a,0\n2,b,0\n", to: "feed.csv")
    #expect(
      job.run().tables[0].loads[0].localEdits
        == (edits == .repair ? counts(repaired: 1) : counts(kept: 1)))
  }

  @Test("A column that the feed gets later is no edit of all its rows")
  func newColumn() throws {
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "feed.csv")
    var job = job(.keep)
    job.tables[0].options.table.contract = .evolve
    #expect(job.run().exitCode == 0)
    try Database(database).rows("UPDATE feed SET v = 'edited' WHERE id = 2")
    _ = scratch.write("id,v,w\n1,a,1\n2,b,2\n", to: "feed.csv")
    let second = job.run()
    #expect(second.exitCode == 0 && edits(second) == counts(kept: 1), "\(message(second))")
    try Database(database).rows("UPDATE feed SET w = 9 WHERE id = 1")
    _ = scratch.write("id,v,w\n1,a,2\n2,b,2\n", to: "feed.csv")
    #expect(edits(job.run()) == counts(kept: 2))
    #expect(try Database(database).rows("SELECT * FROM feed") == ["1|'a'|9", "2|'edited'|NULL"])
  }

  @Test("More columns than a function of SQL takes, and every kind of value, are compared")
  func wide() throws {
    let names = (0..<150).map { "c\($0)" }
    _ = scratch.write(
      (["id"] + names).joined(separator: ",") + "\n1," + names.joined(separator: ",") + "\n", to: "feed.csv")
    let job = job(.repair)
    #expect(job.run().exitCode == 0)
    let plain = Database(database)
    for (name, value) in [("c0", "NULL"), ("c1", "x'6331'"), ("c75", "''"), ("c149", "1"), ("c148", "1.5")] {
      try plain.rows("UPDATE feed SET \(name) = \(value)")
      #expect(edits(job.run()) == counts(repaired: 1), "\(name) = \(value)")
      #expect(job.run().tables[0].unchangedSince != nil)
    }
  }

  @Test("Tables of a group are repaired and kept each by its own word")
  func group() throws {
    let plain = Database(database)
    try plain.rows(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY, v TEXT);
      CREATE TABLE feed(id INTEGER PRIMARY KEY, p INT REFERENCES parent, v TEXT)
      """)
    var job = job(.keep)
    var parent = job.tables[0]
    parent.name = "parent"
    parent.sources = [Source(scratch.file("parent.csv"))]
    parent.localEdits = .repair
    job.tables.append(parent)
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "parent.csv")
    _ = scratch.write("id,p,v\n1,1,a\n2,2,b\n3,2,c\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    try plain.rows(
      """
      UPDATE parent SET v = 'edited'; UPDATE feed SET v = 'edited' WHERE id = 1; DELETE FROM feed WHERE id = 2
      """)
    _ = scratch.write("id,p,v\n1,1,A\n2,2,B\n3,2,C\n", to: "feed.csv")
    let second = job.run()
    let counted = Dictionary(
      uniqueKeysWithValues: second.tables.map { ($0.name, $0.loads.first?.localEdits) })
    #expect(counted == ["parent": counts(repaired: 2), "feed": counts(kept: 2)], "\(message(second))")
    #expect(try plain.rows("SELECT v FROM parent") == ["'a'", "'b'"])
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'edited'", "3|'C'"])
  }

  @Test("A record that has waited for its parent since an earlier night is no edit")
  func waiting() throws {
    let plain = Database(database)
    try plain.rows(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY);
      CREATE TABLE feed(id INTEGER PRIMARY KEY, p INT REFERENCES parent, v TEXT)
      """)
    var job = job(.keep, sweep: .none)
    var parent = job.tables[0]
    parent.name = "parent"
    parent.sources = [Source(scratch.file("parent.csv"))]
    job.tables[0].kind = .delta
    job.tables.append(parent)
    _ = scratch.write("id\n1\n", to: "parent.csv")
    _ = scratch.write("id,p,v\n1,1,a\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,p,v\n1,2,b\n", to: "feed.csv")
    #expect(job.run().exitCode == 2)
    _ = scratch.write("id\n1\n2\n", to: "parent.csv")
    #expect(job.run().exitCode == 0)
    #expect(try plain.rows("SELECT * FROM feed") == ["1|2|'b'"])
    _ = scratch.write("id,p,v\n1,2,c\n", to: "feed.csv")
    #expect(job.run().ledger.updated == 1)
    try plain.rows("UPDATE feed SET v = 'edited'")
    _ = scratch.write("id,p,v\n1,2,d\n", to: "feed.csv")
    #expect(job.run().ledger.ignored == 1)
  }

  @Test("What another feed has stored in a row of both is no edit of either", arguments: LocalEdits.allCases)
  func shared(edits: LocalEdits) throws {
    func run(_ name: String) -> MirrorSummary {
      var job = job(edits)
      job.tables[0].ownedBy = name
      job.tables[0].sources = [Source(scratch.file("\(name).csv"))]
      return job.run()
    }
    _ = scratch.write("id,v\n1,crm\n2,crm\n", to: "crm.csv")
    _ = scratch.write("id,v\n2,erp\n3,erp\n", to: "erp.csv")
    #expect(run("crm").exitCode == 0 && run("erp").exitCode == 0)
    let plain = Database(database)
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 3; DELETE FROM feed WHERE id = 1")
    _ = scratch.write("id,v\n1,CRM\n2,CRM\n", to: "crm.csv")
    _ = scratch.write("id,v\n2,ERP\n3,ERP\n", to: "erp.csv")
    for _ in 0..<2 {
      // The other feed leaves alone what is known of a row that was deleted here.
      let (erp, crm) = (run("erp"), run("crm"))
      #expect(erp.exitCode == 0 && crm.exitCode == 0)
    }
    #expect(
      try plain.rows("SELECT id, v FROM feed ORDER BY id")
        == (edits == .keep ? ["2|'CRM'", "3|'edited'"] : ["1|'CRM'", "2|'CRM'", "3|'ERP'"]))
  }

  @Test("A folder's last file brings rows back as long as it is there")
  func folder() throws {
    var job = job(.repair)
    job.tables[0].sources = [Source(scratch.file("drop") + "/")]
    try FileManager.default.createDirectory(atPath: scratch.file("drop"), withIntermediateDirectories: true)
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "drop/1.csv")
    _ = scratch.write("id,v\n1,a\n2,c\n", to: "drop/2.csv")
    #expect(job.run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1")
    let second = job.run()
    #expect(edits(second) == counts(repaired: 1), "\(message(second))")
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'a'", "2|'c'"])
    #expect(job.run().tables[0].unchangedSince != nil)
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1")
    try FileManager.default.removeItem(atPath: scratch.file("drop/2.csv"))
    let said = RunNotes()
    let third = job.run(note: { said.add($0.text) })
    #expect(third.exitCode == 0 && third.tables[0].loads.isEmpty)
    #expect(
      said.all.contains(
        "rows of table feed were edited or deleted here, and stay so until the next file comes: the last one is no longer "
          + "in the folder"), "\(said.all)")
  }

  @Test("Taken back, a run leaves the marks as they were; without the word, edits are forgotten")
  func withoutIt() throws {
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "feed.csv")
    #expect(job(.keep).run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1; DELETE FROM feed WHERE id = 2")
    let notes = try plain.rows("SELECT * FROM upsurge_rows")
    _ = scratch.write("id,v\n1,A\n2,", to: "feed.csv")
    #expect(job(.keep).run().exitCode == 65)
    #expect(try plain.rows("SELECT * FROM upsurge_rows") == notes)
    _ = scratch.write("id,v\n1,A\n2,B\n", to: "feed.csv")
    var plainJob = job(nil)
    plainJob.tables[0].keepsRowState = true
    #expect(plainJob.run().ledger.updated == 1)
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'A'", "2|'B'"])
    #expect(
      try plain.rows("SELECT count(*) FROM upsurge_rows WHERE content IS NOT NULL OR edit IS NOT NULL") == [
        "0"
      ])
    // What has happened without it is no edit, either.
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 1")
    #expect(edits(job(.keep).run()) == counts())
  }

  @Test("A database of an earlier version gets the columns, and its rows are known from the next delivery on")
  func earlierVersion() throws {
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "feed.csv")
    var first = job(nil)
    first.tables[0].keepsRowState = true
    #expect(first.run().exitCode == 0)
    let plain = Database(database)
    for column in ["content", "content_columns", "edit"] {
      try plain.rows("ALTER TABLE upsurge_rows DROP COLUMN \(column)")
    }
    try plain.rows("UPDATE feed SET v = 'before' WHERE id = 1")
    let second = job(.keep).run()
    #expect(second.exitCode == 0 && second.ledger.updated == 1, "\(message(second))")
    try plain.rows("UPDATE feed SET v = 'edited' WHERE id = 2")
    _ = scratch.write("id,v\n1,A\n2,B\n", to: "feed.csv")
    #expect(edits(job(.keep).run()) == counts(kept: 1))
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'A'", "2|'edited'"])
    #expect(try FeedRemoval(database: database, table: "feed").perform().rowCount == 2)
    #expect(try plain.rows("SELECT name FROM sqlite_schema WHERE name = 'upsurge_rows'") == [])
  }

  @Test(
    "Killed at any moment, the rows and the count are those of a night that nobody disturbed",
    arguments: LocalEdits.allCases, ["table", "bounded"])
  func kill(edits: LocalEdits, atomic: String) throws {
    let path = scratch.write(
      """
      atomic: \(atomic)
      tables:
        feed: { source: feed.csv, key: id, sweep: hard, local-edits: \(edits.rawValue), commit-every: 1000 }
      """, to: "job.yaml")
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let plain = Database(database)
    var kills = 0
    for night in 0..<20 where night < 3 || kills == 0 {
      let words = "seed \(seed), night \(night)"
      _ = scratch.write(
        "id,v\n" + (0..<6_000).map { "\($0),\($0 % 3 == 0 ? night : 0)\n" }.joined(), to: "feed.csv")
      if night > 0 {
        try plain.rows(
          "UPDATE feed SET v = 99 WHERE id % 100 = \(night); DELETE FROM feed WHERE id % 100 = 50 + \(night)")
      }
      let length = try Command.length(of: ["mirror", scratch.file("timed.db"), path])
      for _ in 0..<2 where night > 0 {
        let child = try Command.start(["mirror", database, path])
        usleep(UInt32.random(in: 1_000...length, using: &random))
        child.send(signal: SIGKILL)
        if try child.finish().exitCode == 1_000 + SIGKILL { kills += 1 }
      }
      let last = try Command.run(["mirror", database, path, "--verify", "--summary", "-"])
      #expect(last.exitCode == 0, "\(words): \(last.talk)")
      // What a run has repaired that was killed behind its last commit, the next one need not.
      if edits == .keep {
        #expect(night == 0 || last.output.contains("\"kept\":\(120 * night)"), "\(words): \(last.output)")
      }
      let isEdited = "id % 100 BETWEEN 1 AND \(night)"
      #expect(
        try plain.rows("SELECT count(*) FROM feed") == [edits == .keep ? "\(6_000 - 60 * night)" : "6000"],
        "\(words)")
      #expect(
        try plain.rows(
          "SELECT count(*) FROM feed WHERE v IS NOT CASE WHEN \(edits == .keep ? isEdited : "0") THEN 99 ELSE iif(id % 3, 0, \(night)) END"
        )
          == ["0"], "\(words)")
      #expect(try plain.rows("SELECT count(*), sum(gone) FROM upsurge_rows") == ["6000|0"], "\(words)")
    }
    #expect(kills > 0)
  }
}
