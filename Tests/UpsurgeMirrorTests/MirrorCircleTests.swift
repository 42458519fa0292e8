import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Three tables that refer to each other in a circle, night after night, with records in no order and without parents;
/// the oracle says which of them can be stored.
@Suite("Mirrors of tables that refer to each other") struct MirrorCircleTests {
  let scratch = Scratch()

  static let names = ["a", "b", "c"]
  /// Each refers to the next one.
  private func parent(_ table: Int) -> Int { (table + 1) % 3 }

  struct Row: Equatable {
    var reference: Int?
    var version: Int
  }

  /// What the tables and the quarantine are to hold.
  struct Model {
    var rows: [[Int: Row]] = [[:], [:], [:]]
    var waiting: [[Int: Row]] = [[:], [:], [:]]
    var ledgers: [Ledger] = [Ledger(), Ledger(), Ledger()]
    var isRefused = false
  }

  enum Schema: String, CaseIterable {
    case plain = ""
    case deferred = "DEFERRABLE INITIALLY DEFERRED"
    case withoutRowid = "WITHOUT ROWID"
    case cascading = "ON UPDATE CASCADE"
  }

  private func create(_ schema: Schema, in path: String) throws {
    let database = Database(path)
    let key = schema == .withoutRowid ? "TEXT" : "INTEGER"
    for (index, name) in Self.names.enumerated() {
      let clause = schema == .withoutRowid ? "" : schema.rawValue
      try database.rows(
        """
        CREATE TABLE \(name)(id \(key) PRIMARY KEY, ref \(key) REFERENCES \(Self.names[parent(index)])(id) \(clause), v)
        \(schema == .withoutRowid ? "WITHOUT ROWID" : "")
        """)
    }
  }

  private func job(sweep: RowSweep, atomic: MirrorJob.Atomicity) -> MirrorJob {
    var tables: [MirrorTable] = []
    for name in Self.names {
      var table = MirrorTable(name: name, sources: [scratch.file("\(name).ndjson")])
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.sweep = sweep
      table.guards.maximumDeletes = .percent(100)
      table.guards.leastRatio = 0
      tables.append(table)
    }
    var job = MirrorJob(database: scratch.file("a.db"), tables: tables)
    job.atomicity = atomic
    return job
  }

  /// The largest set of records of which each finds its parent, among rows that are there and records of the set.
  private func apply(_ delivered: [[Int: Row]], sweeps: Bool, to model: inout Model) {
    var open: [[Int: Row]] = [[:], [:], [:]]
    for table in 0..<3 {
      open[table] = sweeps ? [:] : model.waiting[table]
      open[table].merge(delivered[table]) { _, new in new }
    }
    var left: [Set<Int>] = [[], [], []]
    var isSettled = false
    while !isSettled {
      isSettled = true
      for table in 0..<3 {
        for (id, row) in open[table] where !left[table].contains(id) {
          guard let reference = row.reference else { continue }
          let of = parent(table)
          let isThere =
            model.rows[of][reference] != nil || open[of][reference] != nil && !left[of].contains(reference)
          if !isThere {
            left[table].insert(id)
            isSettled = false
          }
        }
      }
    }
    for table in 0..<3 {
      var ledger = Ledger()
      for (id, row) in open[table] {
        let isDelivered = delivered[table][id] != nil
        if isDelivered { ledger.read += 1 }
        if left[table].contains(id) {
          if isDelivered { ledger.quarantined += 1 }
          continue
        }
        if isDelivered {
          switch model.rows[table][id] {
          case nil: ledger.inserted += 1
          case row?: ledger.unchanged += 1
          case _?: ledger.updated += 1
          }
        }
      }
      model.ledgers[table] = ledger
    }
    for table in 0..<3 {
      for (id, row) in open[table] {
        if left[table].contains(id) {
          model.waiting[table][id] = row
        } else {
          model.rows[table][id] = row
          model.waiting[table][id] = nil
        }
      }
    }
    if sweeps { sweep(delivered, &model) }
  }

  private func sweep(_ delivered: [[Int: Row]], _ model: inout Model) {
    var swept = model.rows
    for table in 0..<3 { swept[table] = model.rows[table].filter { delivered[table][$0.key] != nil } }
    let isWhole = (0..<3).allSatisfy { table in
      swept[table].values.allSatisfy { row in
        row.reference.map { swept[parent(table)][$0] != nil } ?? true
      }
    }
    model.isRefused = !isWhole
    for table in 0..<3 {
      let count = model.rows[table].count - swept[table].count
      if isWhole {
        model.ledgers[table].swept = UInt64(count)
        model.rows[table] = swept[table]
      }
      if isWhole || count == 0 {
        model.waiting[table] = model.waiting[table].filter { delivered[table][$0.key] != nil }
      }
    }
  }

  @Test(
    "What finds a parent is stored, whatever the order; the rest waits for it",
    arguments: Schema.allCases, [MirrorJob.Atomicity.table, .job])
  func nights(schema: Schema, atomic: MirrorJob.Atomicity) throws {
    for sweeps in [false, true] {
      let seed = UInt64.random(in: 0 ... .max)
      try nights(schema, atomic, sweeps: sweeps, seed: seed)
      for suffix in ["", "-wal", "-shm"] { unlink(scratch.file("a.db") + suffix) }
    }
  }

  private func nights(
    _ schema: Schema, _ atomic: MirrorJob.Atomicity, sweeps: Bool, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let job = job(sweep: sweeps ? .hard : .none, atomic: atomic)
    try create(schema, in: job.database)
    let quoted = schema == .withoutRowid
    var model = Model()
    for night in 0..<14 {
      var delivered: [[Int: Row]] = [[:], [:], [:]]
      // Few ids make circles, many make orphans.
      let range = 0..<(night % 3 == 0 ? 6 : 24)
      for table in 0..<3 {
        for id in range where Int.random(in: 0..<3, using: &random) > 0 {
          let reference =
            Int.random(in: 0..<5, using: &random) == 0 ? nil : range.randomElement(using: &random)
          delivered[table][id] = Row(reference: reference, version: Int.random(in: 0..<2, using: &random))
        }
        // No delivery is the one before, and none is empty.
        delivered[table][900] = Row(reference: nil, version: night)
        let lines = delivered[table].sorted { $0.key < $1.key }.shuffled(using: &random).map { id, row in
          let reference = row.reference.map { quoted ? "\"\($0)\"" : "\($0)" } ?? "null"
          return "{\"id\":\(quoted ? "\"\(id)\"" : "\(id)"),\"ref\":\(reference),\"v\":\(row.version)}\n"
        }
        _ = scratch.write(lines.joined(), to: "\(Self.names[table]).ndjson")
      }
      model.isRefused = false
      apply(delivered, sweeps: sweeps, to: &model)
      let summary = job.run()
      let words = "\(schema), \(atomic), sweeps \(sweeps), seed \(seed), night \(night)"
      #expect(summary.error == nil, "\(words)")
      let database = Database(job.database)
      #expect(try database.rows("PRAGMA foreign_key_check") == [], "\(words)")
      for table in 0..<3 {
        let name = Self.names[table]
        let rows = try database.rows("SELECT CAST(id AS INT), CAST(ref AS INT), v FROM \(name) ORDER BY 1")
        let expected = model.rows[table].sorted { $0.key < $1.key }.map {
          "\($0.key)|\($0.value.reference.map(String.init) ?? "NULL")|\($0.value.version)"
        }
        #expect(rows == expected, "\(words), \(name)")
        let ledger = summary.tables.first { $0.name == name }?.ledger
        #expect(
          ledger == model.ledgers[table], "\(words), \(name): \(summary.tables.map { $0.failure?.message })")
        #expect(ledger?.isBalanced == true)
        let kept = try waiting(name, in: database)
        #expect(kept == model.waiting[table].keys.sorted(), "\(words), \(name)")
      }
      let isOver = summary.tables.contains { $0.ledger.quarantined > 0 }
      let code: Int32 = model.isRefused && sweeps ? 4 : isOver ? 2 : 0
      #expect(summary.exitCode == code || code == 4 && summary.exitCode == 2, "\(words): \(summary.exitCode)")
    }
  }

  /// The ids of records that wait for their parents, each once.
  private func waiting(_ table: String, in database: Database) throws -> [Int] {
    if try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_quarantine'").isEmpty {
      return []
    }
    return try database.rows(
      """
      SELECT CAST(json_extract(record, '$.id') AS INT) FROM upsurge_quarantine
      WHERE "table" = '\(table)' AND reason LIKE 'FOREIGN KEY (ref) REFERENCES _ (id): there is no such row%' ORDER BY 1
      """
    ).compactMap { Int($0) }
  }
}
