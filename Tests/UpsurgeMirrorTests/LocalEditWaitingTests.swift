import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Rows that somebody edits while records about them wait in the quarantine for their parents.
@Suite("Mirrors whose rows are edited while records wait") struct LocalEditWaitingTests {
  let scratch = Scratch()

  private var plain: Database { Database(scratch.file("a.db")) }

  /// `kids`, which refers to `parents`.
  private func job(
    _ edits: LocalEdits = .keep, kind: MirrorTable.Kind = .delta, owner: String? = nil
  ) -> MirrorJob {
    var kids = MirrorTable(name: "kids", sources: [scratch.file("kids.csv")])
    kids.options.rules.key = ["id"]
    kids.options.rejects.onError = .reject
    kids.options.rejects.target = .table
    kids.guards.leastRatio = 0
    kids.guards.maximumDeletes = .percent(100)
    var parents = kids
    parents.name = "parents"
    parents.sources = [Source(scratch.file("parents.csv"))]
    kids.kind = kind
    kids.sweep = kind == .delta ? .none : .hard
    kids.localEdits = edits
    kids.ownedBy = owner
    return MirrorJob(database: scratch.file("a.db"), tables: [kids, parents])
  }

  private func deliver(parents: [Int]) {
    _ = scratch.write("id\n" + parents.map { "\($0)\n" }.joined(), to: "parents.csv")
  }

  private func deliver(kids: [String]) {
    _ = scratch.write("id,p,v\n" + kids.map { $0 + "\n" }.joined(), to: "kids.csv")
  }

  private func make(_ kids: String = "id INTEGER PRIMARY KEY, p INT REFERENCES parents, v TEXT") throws {
    let end = kids.hasPrefix("id INT PRIMARY") ? " WITHOUT ROWID" : ""
    try plain.rows("CREATE TABLE parents(id INTEGER PRIMARY KEY); CREATE TABLE kids(\(kids))\(end)")
  }

  private func kids() throws -> [String] { try plain.rows("SELECT p, v FROM kids ORDER BY id") }

  private func waitingCount() throws -> [String] {
    let isThere = try plain.rows("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_quarantine'") != []
    return isThere ? try plain.rows("SELECT count(*) FROM upsurge_quarantine") : ["0"]
  }

  /// What became of `kids`.
  private func kidsTurn(_ summary: MirrorSummary) throws -> MirrorSummary.Table {
    try #require(summary.tables.first { $0.name == "kids" })
  }

  private func ledger(ignored: UInt64 = 0, updated: UInt64 = 0) -> Ledger {
    var ledger = Ledger()
    (ledger.read, ledger.ignored, ledger.updated) = (ignored + updated, ignored, updated)
    return ledger
  }

  // MARK: - The model

  /// The slow and obvious truth of a delta whose records wait for their parents.
  private struct Model {
    struct Kid: Equatable {
      var p: Int
      var v: Int
    }

    var parents: Set<Int> = [1]
    var rows: [Int: Kid] = [:]
    /// What the feed has stored, as far as that is noted.
    var known: [Int: Kid] = [:]
    /// In the order of arrival.
    var waiting: [(id: Int, kid: Kid)] = []

    func isEdited(_ id: Int) -> Bool { known[id].map { $0 != rows[id] } ?? false }

    /// - Parameter records: nil where nothing new is read.
    /// - Returns: the records that are ignored, those of earlier nights that are, and those of earlier nights that are stored.
    mutating func deliver(_ records: [(id: Int, kid: Kid)]?) -> [UInt64] {
      var counts: [UInt64] = [0, 0, 0]
      let edited = Set(known.keys.filter { isEdited($0) })
      var (older, new) = (waiting, [(id: Int, kid: Kid)]())
      for (id, kid) in records ?? [] {
        if edited.contains(id) {
          counts[0] += 1
          continue
        }
        older.removeAll { $0.id == id }
        new.removeAll { $0.id == id }
        if parents.contains(kid.p) {
          (rows[id], known[id]) = (kid, kid)
        } else {
          new.append((id, kid))
        }
      }
      waiting = []
      for (id, kid) in older {
        if edited.contains(id) {
          counts[1] += 1
        } else if parents.contains(kid.p) {
          counts[2] += 1
          rows[id] = kid
          if known[id] != nil { known[id] = kid }
        } else {
          waiting.append((id, kid))
        }
      }
      waiting += new
      return counts
    }
  }

  @Test(
    "Rows, what waits and what is ignored are those of a slow model, night by night",
    arguments: UInt64(0)..<9)
  func model(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try make()
    var model = Model()
    var total: [UInt64] = [0, 0, 0]
    deliver(parents: [1])
    for night in 0..<16 {
      let words = "seed \(seed), night \(night)"
      for _ in 0..<Int.random(in: 0...3, using: &random) { try edit(&model, &random) }
      var records: [(id: Int, kid: Model.Kid)]?
      if night == 0 || Int.random(in: 0..<3, using: &random) > 0 {
        // The last one makes the delivery another one than those before.
        let made = (0..<Int.random(in: 0...6, using: &random)).map { _ in
          (
            id: Int.random(in: 1...8, using: &random),
            kid: Model.Kid(p: Int.random(in: 1...5, using: &random), v: Int.random(in: 0...3, using: &random))
          )
        }
        records = made + [(id: 1_000 + night, kid: Model.Kid(p: 1, v: night))]
        deliver(kids: records?.map { "\($0.id),\($0.kid.p),\($0.kid.v)" } ?? [])
      }
      if Int.random(in: 0..<3, using: &random) == 0 {
        let parent = Int.random(in: 2...5, using: &random)
        model.parents.insert(parent)
        deliver(parents: [1, parent])
      }
      var job = job()
      job.atomicity = Bool.random(using: &random) ? .job : .table
      let summary = job.run()
      let expected = model.deliver(records)
      let turn = try kidsTurn(summary)
      let replayed = turn.replayed
      #expect(
        [turn.ledger.ignored, replayed.ignored, replayed.read - replayed.ignored] == expected,
        "\(words): \(summary.error?.description ?? "")")
      #expect(
        try plain.rows("SELECT id, p, v FROM kids ORDER BY id")
          == model.rows.sorted { $0.key < $1.key }.map { "\($0.key)|\($0.value.p)|'\($0.value.v)'" },
        "\(words)")
      #expect(try waitingCount() == ["\(model.waiting.count)"], "\(words)")
      total = zip(total, expected).map { $0 + $1 }
    }
    #expect(total[0] + total[1] > 0 && total[2] > 0, "seed \(seed): \(total)")
    #expect(try plain.rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(try plain.rows("PRAGMA foreign_key_check") == [])
  }

  /// Edits a row, deletes it, makes one, or a parent.
  private func edit(_ model: inout Model, _ random: inout SeededGenerator) throws {
    let id = Int.random(in: 1...8, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let parent = Int.random(in: 1...5, using: &random)
      model.parents.insert(parent)
      try plain.rows("INSERT OR IGNORE INTO parents VALUES (\(parent))")
    case 1:
      model.rows[id] = nil
      try plain.rows("DELETE FROM kids WHERE id = \(id)")
    case 2:
      // Taken back to what the feed has said.
      guard let kid = model.known[id] else { return }
      model.rows[id] = kid
      try plain.rows("REPLACE INTO kids VALUES (\(id), \(kid.p), '\(kid.v)')")
    default:
      let kid = Model.Kid(p: 1, v: Int.random(in: 0...9, using: &random))
      model.rows[id] = kid
      try plain.rows("REPLACE INTO kids VALUES (\(id), 1, '\(kid.v)')")
    }
  }

  // MARK: - Examples

  @Test("An older record that waits is not stored over an edit that the run passes its newer record over for")
  func delta() throws {
    try make()
    deliver(parents: [1])
    deliver(kids: ["1,1,one"])
    #expect(job().run().exitCode == 0)
    deliver(kids: ["1,2,two"])
    #expect(job().run().exitCode == 2)
    try plain.rows("INSERT INTO parents VALUES (2); UPDATE kids SET v = 'LOCAL'")
    deliver(kids: ["1,1,three"])
    var trial = job()
    trial.dryRun = .count
    #expect(try kidsTurn(trial.run()).replayed == ledger(ignored: 1))
    #expect(try waitingCount() == ["1"])
    let said = RunNotes()
    let summary = job().run(note: { said.add($0.text) })
    let turn = try kidsTurn(summary)
    #expect(try kids() == ["1|'LOCAL'"])
    #expect(summary.exitCode == 0 && turn.ledger.ignored == 1 && turn.localEdits.kept == 1)
    #expect(turn.replayed == ledger(ignored: 1))
    #expect(try waitingCount() == ["0"])
    #expect(
      said.all.contains {
        $0.hasSuffix(
          "table kids: 1 record of earlier runs waited for other rows, and is ignored now: its row was edited or deleted here, "
            + "and stays so (local-edits: keep)")
      }, "\(said.all)")
    #expect(!said.all.contains { $0.contains("stored now") })
    deliver(kids: ["1,2,four"])
    #expect(try kidsTurn(job().run()).ledger.ignored == 1)
    #expect(try kids() == ["1|'LOCAL'"])
  }

  @Test(
    "Neither is one whose delivery is not read again, as only the parent has come",
    arguments: [nil, "crm"], [true, false])
  func snapshot(owner: String?, isDeleted: Bool) throws {
    try make()
    let job = job(kind: .snapshot, owner: owner)
    deliver(parents: [1])
    deliver(kids: ["1,1,one", "2,1,other"])
    #expect(job.run().exitCode == 0)
    deliver(kids: ["1,2,ONE", "2,1,other"])
    #expect(job.run().exitCode == 2)
    try plain.rows(isDeleted ? "DELETE FROM kids WHERE id = 1" : "UPDATE kids SET v = 'LOCAL' WHERE id = 1")
    let expected = isDeleted ? ["1|'other'"] : ["1|'LOCAL'", "1|'other'"]
    deliver(parents: [1, 2])
    let third = job.run()
    #expect(try kidsTurn(third).unchangedSince != nil)
    #expect(try kidsTurn(third).replayed == ledger(ignored: 1))
    #expect(try kids() == expected)
    #expect(third.exitCode == 0)
    #expect(try waitingCount() == ["0"])
    // The evidence has not gone.
    deliver(kids: ["1,2,again", "2,1,other"])
    let fourth = try kidsTurn(job.run())
    #expect(fourth.ledger.ignored == 1 && fourth.localEdits.kept == 1)
    #expect(try kids() == expected)
  }

  @Test(
    "Each record is judged by its own row; what is stored is no edit, and what is edited then is one",
    arguments: [
      ("id INTEGER PRIMARY KEY, p INT REFERENCES parents, v TEXT", ["1", "2", "3"], ["1", "2", "3"]),
      ("id INT PRIMARY KEY, p INT REFERENCES parents, v TEXT", ["1", "2", "3"], ["1", "2", "3"]),
      (
        "p INT REFERENCES parents, v TEXT, id TEXT COLLATE NOCASE PRIMARY KEY", ["a", "b", "c"],
        ["A", "b", "C"]
      ),
    ])
  func each(columns: String, keys: [String], spelled: [String]) throws {
    try make(columns)
    deliver(parents: [1])
    deliver(kids: keys.map { "\($0),1,first" })
    #expect(job().run().exitCode == 0)
    deliver(kids: spelled.map { "\($0),2,second" })
    #expect(job().run().exitCode == 2)
    #expect(try waitingCount() == ["3"])
    try plain.rows(
      "UPDATE kids SET v = 'LOCAL' WHERE id = '\(keys[0])'; DELETE FROM kids WHERE id = '\(keys[1])'")
    deliver(parents: [1, 2])
    let third = try kidsTurn(job().run())
    #expect(third.replayed == ledger(ignored: 2, updated: 1))
    #expect(try kids() == ["1|'LOCAL'", "2|'second'"])
    #expect(try waitingCount() == ["0"])
    try plain.rows("UPDATE kids SET v = 'ALSO' WHERE id = '\(keys[2])'")
    deliver(kids: keys.map { "\($0),1,third" })
    let fourth = try kidsTurn(job().run())
    #expect(fourth.ledger.ignored == 3 && fourth.localEdits.kept == 3)
    #expect(try kids() == ["1|'LOCAL'", "2|'ALSO'"])
  }

  @Test("A record about an edited row is passed over although its parent has not come; the others wait on")
  func withoutParent() throws {
    try make()
    deliver(parents: [1])
    deliver(kids: ["1,1,one", "2,1,two"])
    #expect(job().run().exitCode == 0)
    deliver(kids: ["1,2,ONE", "2,2,TWO"])
    #expect(job().run().exitCode == 2)
    try plain.rows("UPDATE kids SET v = 'LOCAL' WHERE id = 1")
    deliver(parents: [1, 3])
    #expect(try kidsTurn(job().run()).replayed == ledger(ignored: 1))
    #expect(try kids() == ["1|'LOCAL'", "1|'two'"])
    #expect(try waitingCount() == ["1"])
    deliver(parents: [1, 2])
    #expect(try kidsTurn(job().run()).replayed == ledger(updated: 1))
    #expect(try kids() == ["1|'LOCAL'", "2|'TWO'"])
  }

  @Test(
    "Without an edit, or without the word, a record that waits is stored as ever", arguments: [true, false])
  func withoutEdit(isKept: Bool) throws {
    try make()
    var job = job()
    if !isKept { job.tables[0].localEdits = nil }
    deliver(parents: [1])
    deliver(kids: ["1,1,one"])
    #expect(job.run().exitCode == 0)
    deliver(kids: ["1,2,two"])
    #expect(job.run().exitCode == 2)
    if !isKept { try plain.rows("UPDATE kids SET v = 'LOCAL'") }
    deliver(parents: [1, 2])
    #expect(try kidsTurn(job.run()).replayed == ledger(updated: 1))
    #expect(try kids() == ["2|'two'"])
  }

  @Test("repair sees an edit of a row that a record has stored which had waited")
  func repair() throws {
    try make()
    let job = job(.repair, kind: .snapshot)
    deliver(parents: [1])
    deliver(kids: ["1,1,one"])
    #expect(job.run().exitCode == 0)
    deliver(kids: ["1,2,ONE"])
    #expect(job.run().exitCode == 2)
    deliver(parents: [1, 2])
    #expect(try kidsTurn(job.run()).replayed == ledger(updated: 1))
    #expect(try kidsTurn(job.run()).unchangedSince != nil)
    try plain.rows("UPDATE kids SET v = 'edited'")
    let last = try kidsTurn(job.run())
    #expect(last.localEdits.repaired == 1)
    #expect(try kids() == ["2|'ONE'"])
  }
}
