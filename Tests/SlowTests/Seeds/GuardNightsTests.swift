import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Nights of deliveries that are accepted, refused, repeated, renamed, cut off and let through, beside people who edit the
/// table, against a model that knows of each row whether an accepted delivery has left it.
@Suite("Guards, night after night, against a model") struct GuardNightsTests {
  /// Kinds of feeds, each seed another one.
  struct Kind {
    var atomicity = MirrorJob.Atomicity.table
    var sweep = RowSweep.hard
    var creation: String?
    var hasScope = false
    var owner: String?
    var keepsState = false
    var isFolder = false
    var isChunked = false

    init(_ random: inout SeededGenerator) {
      atomicity = MirrorJob.Atomicity.allCases.randomElement(using: &random)!
      let creations: [String?] = [
        nil, "(id INTEGER PRIMARY KEY, v TEXT, part INTEGER, gone)",
        "(id TEXT PRIMARY KEY, v TEXT, part INTEGER, gone)",
        "(id TEXT PRIMARY KEY, v TEXT, part INTEGER, gone) WITHOUT ROWID",
        "(number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, v TEXT, part INTEGER, gone)",
        "(id INTEGER NOT NULL UNIQUE, v TEXT, part INTEGER, gone)",
      ]
      creation = creations.randomElement(using: &random)!
      sweep = [.hard, .hard, .soft(column: "gone"), .none].randomElement(using: &random)!
      hasScope = creation != nil && sweep != .none && Int.random(in: 0..<4, using: &random) == 0
      if sweep != .none, Int.random(in: 0..<5, using: &random) == 0 { owner = "crm" }
      keepsState = owner == nil && Int.random(in: 0..<5, using: &random) == 0
      isFolder = Int.random(in: 0..<4, using: &random) == 0
      isChunked = Int.random(in: 0..<3, using: &random) == 0
    }
  }

  /// A row as the model knows it.
  struct Row: Equatable {
    var value: String
    /// Whether the sweep has marked it as gone.
    var isGone = false
    /// Whether an accepted delivery has left it, or somebody else has brought it.
    var counts = true
    /// Whether the feed has brought it, or an accepted delivery has had it.
    var isOwn = true
  }

  struct Delivery: Equatable {
    var ids: [Int]
    var value: String

    var text: String { "id,v,part\n" + ids.map { "\($0),\(value)\($0),1\n" }.joined() }
  }

  /// The slow oracle: rows and refusals, as the manual has them.
  struct Model {
    var rows: [Int: Row] = [:]
    var lastCount: Int?
    /// What was refused, and by which guards.
    var refused: [String: String] = [:]

    /// Why a delivery is refused; nil where it is accepted.
    func verdict(_ delivery: Delivery, _ guards: MirrorGuards, _ kind: Kind, words: String) -> String? {
      let count = delivery.ids.count
      if refused[delivery.text] == words { return "again" }
      if count == 0 {
        if !guards.allowsEmpty { return "empty" }
      } else if count < Int(guards.leastRows) {
        return "min-rows"
      } else if let lastCount, Double(count) < guards.leastRatio * Double(lastCount) {
        return "min-ratio"
      } else if guards.suspiciousCounts.contains(UInt64(count)) {
        return "suspicious"
      }
      if kind.sweep == .none { return nil }
      let ids = Set(delivery.ids)
      let counted = rows.filter {
        !$0.value.isGone && $0.value.counts && ($0.value.isOwn || kind.owner == nil)
      }
      let unseen = counted.keys.filter { !ids.contains($0) }.count
      if unseen == 0 { return nil }
      switch guards.maximumDeletes {
      case .count(let most): return unseen <= Int(most) ? nil : "max-delete"
      case .percent(let share):
        return Double(unseen) * 100 <= share * Double(counted.count) ? nil : "max-delete"
      }
    }

    mutating func store(_ delivery: Delivery, isAccepted: Bool, _ kind: Kind) {
      for id in delivery.ids {
        let value = "\(delivery.value)\(id)"
        if let row = rows[id] {
          var row = row
          // A record takes the mark of its row away at once.
          if row.isGone { (row.isGone, row.counts) = (false, isAccepted) }
          row.value = value
          if isAccepted { row.isOwn = true }
          rows[id] = row
        } else {
          rows[id] = Row(value: value, counts: isAccepted)
        }
      }
      guard isAccepted else { return }
      let ids = Set(delivery.ids)
      lastCount = ids.count
      refused = [:]
      if kind.sweep != .none {
        for id in Array(rows.keys) where !ids.contains(id) && (kind.owner == nil || rows[id]!.isOwn) {
          if kind.sweep == .hard { rows[id] = nil } else { rows[id]!.isGone = true }
        }
      }
      for id in rows.keys { rows[id]!.counts = true }
    }
  }

  @Test("The table holds what the model says, whatever comes, and however often", arguments: Self.seeds)
  func nights(seed: UInt64) throws {
    let scratch = Scratch()
    var random = SeededGenerator(seed: seed)
    let kind = Kind(&random)
    var job = try job(kind, scratch)
    var model = Model()
    var (deliveries, digests): ([Delivery], [String: String]) = ([], [:])
    var hasOutside = kind.hasScope
    var folderNumber = 0
    for night in 0..<Int.random(in: 6...14, using: &random) {
      let words = "seed \(seed), night \(night), \(kind)"
      edit(&model, kind, night, job.database, &hasOutside, &random)
      setGuards(&job, &random)
      let delivery = pick(&deliveries, model, night, &random)
      let name = kind.isFolder ? "drop/\(1_000 + folderNumber).csv" : "feed.csv"
      folderNumber += 1
      let path = scratch.write(delivery.text, to: name)
      job.acceptedDelivery = nil
      var accepts = false
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        // The right one, where it was refused.
        job.acceptedDelivery = digests[delivery.text]
        accepts = model.refused[delivery.text] != nil
      case 1:
        job.acceptedDelivery = digests.filter { $0.key != delivery.text }.values.randomElement(using: &random)
      default: break
      }
      let guards = job.tables[0].guards
      let guardWords =
        "\(guards.maximumDeletes) \(guards.leastRows) \(guards.leastRatio) \(guards.allowsEmpty) \(guards.suspiciousCounts)"
      let expected = accepts ? nil : model.verdict(delivery, guards, kind, words: guardWords)
      if kind.atomicity == .bounded, Int.random(in: 0..<5, using: &random) == 0 {
        try cutOff(delivery, job, path, &model, kind, words)
        if kind.isFolder { unlink(path) }
        continue
      }
      let summary = job.run()
      let failure = summary.tables[0].failure
      if summary.tables[0].loads.isEmpty {
        // The same delivery as the last accepted one, which is still there.
        #expect(
          summary.exitCode == 0 && summary.tables[0].unchangedSince != nil,
          "\(words) \(failure?.description ?? "")")
      } else {
        #expect(
          summary.exitCode == (expected == nil ? 0 : 4),
          "\(words): \(expected ?? "accepted"), \(failure?.description ?? "")")
        model.store(delivery, isAccepted: expected == nil, kind)
        if expected == nil {
          digests = [:]
          let left = try Database(job.database).rows(
            "SELECT name FROM sqlite_schema WHERE name IN ('upsurge_refusals', 'upsurge_unaccepted')")
          #expect(left.isEmpty, "\(words)")
        } else {
          model.refused[delivery.text] = guardWords
          let digest = try #require(summary.tables[0].loads.last?.acceptance.refusedDigest, "\(words)")
          #expect(failure?.hint?.contains("--accept-delivery \(digest)") == true, "\(words)")
          if let last = digests[delivery.text] { #expect(last == digest, "\(words)") }
          digests[delivery.text] = digest
        }
      }
      let ledger = summary.ledger
      let sum =
        ledger.inserted + ledger.updated + ledger.unchanged + ledger.stale + ledger.ignored + ledger.deleted
        + ledger.rejected + ledger.quarantined
      #expect(ledger.read == sum, "\(words)")
      try expect(model, kind, job.database, words)
      if kind.isFolder { unlink(path) }
    }
    #expect(try Database(job.database).rows("PRAGMA integrity_check") == ["'ok'"])
  }

  /// Some in each run, the first ones from `UPSURGE_SEED`; all 5,000 with `UPSURGE_SEEDS=all`.
  static let seeds: [UInt64] = {
    if ProcessInfo.processInfo.environment["UPSURGE_SEEDS"] == "all" { return Array(0..<5_000) }
    let first = SeededGenerator.givenSeed.map { $0 % 4_900 } ?? UInt64.random(in: 0..<4_900)
    return Array(first..<first + 100)
  }()

  private func job(_ kind: Kind, _ scratch: Scratch) throws -> MirrorJob {
    let database = Database(scratch.file("a.db"))
    try database.rows("PRAGMA journal_mode=WAL")
    if let creation = kind.creation { try database.rows("CREATE TABLE feed \(creation)") }
    try FileManager.default.createDirectory(atPath: scratch.file("drop"), withIntermediateDirectories: true)
    var table = MirrorTable(name: "feed", sources: [scratch.file(kind.isFolder ? "drop" : "feed.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.options.transaction.commitEvery = .records(3)
    if kind.isChunked {
      (table.options.tuning.chunkSizes.usual, table.options.tuning.chunkSizes.least) = (40, 10)
    }
    table.sweep = kind.sweep
    if kind.hasScope { table.scope = "part = 1" }
    table.ownedBy = kind.owner
    table.keepsRowState = kind.keepsState
    var job = MirrorJob(database: scratch.file("a.db"), tables: [table])
    job.atomicity = kind.atomicity
    return job
  }

  private func setGuards(_ job: inout MirrorJob, _ random: inout SeededGenerator) {
    // Mostly those of the night before.
    if Int.random(in: 0..<3, using: &random) > 0, job.tables[0].guards.leastRatio < 0.45 { return }
    var guards = MirrorGuards()
    guards.maximumDeletes =
      Bool.random(using: &random)
      ? .percent([0, 10, 25, 50].randomElement(using: &random)!)
      : .count([0, 1, 3].randomElement(using: &random)!)
    guards.leastRatio = [0, 0.3, 0.4].randomElement(using: &random)!
    guards.leastRows = [1, 1, 3].randomElement(using: &random)!
    guards.allowsEmpty = Int.random(in: 0..<4, using: &random) == 0
    guards.suspiciousCounts = Int.random(in: 0..<4, using: &random) == 0 ? [5] : []
    job.tables[0].guards = guards
  }

  /// A delivery: a new one, one that is near to the table, or one that was there before.
  private func pick(
    _ deliveries: inout [Delivery], _ model: Model, _ night: Int, _ random: inout SeededGenerator
  ) -> Delivery {
    if !deliveries.isEmpty, Int.random(in: 0..<2, using: &random) == 0 {
      return Bool.random(using: &random) ? deliveries.last! : deliveries.randomElement(using: &random)!
    }
    var ids: Set<Int> = []
    if Bool.random(using: &random) {
      ids = Set(model.rows.filter { !$0.value.isGone && $0.value.counts }.keys)
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        if let id = ids.sorted().randomElement(using: &random) { ids.remove(id) }
      }
    }
    for _ in 0..<Int.random(in: 0...12, using: &random) { ids.insert(Int.random(in: 0..<40, using: &random)) }
    let delivery = Delivery(ids: ids.sorted(), value: ["a", "b", "c"].randomElement(using: &random)!)
    deliveries.append(delivery)
    return delivery
  }

  /// What somebody else does to the table between two nights.
  private func edit(
    _ model: inout Model, _ kind: Kind, _ night: Int, _ database: String, _ hasOutside: inout Bool,
    _ random: inout SeededGenerator
  ) {
    guard night > 0, !model.rows.isEmpty, Int.random(in: 0..<4, using: &random) == 0 else { return }
    let connection = Database(database)
    if Bool.random(using: &random) {
      let id = 100 + night
      if (try? connection.rows("INSERT INTO feed (id, v, part) VALUES (\(id), 'own', 1)")) == nil { return }
      model.rows[id] = Row(value: "own", isOwn: false)
    } else if let id = model.rows.keys.sorted().randomElement(using: &random) {
      _ = try? connection.rows("DELETE FROM feed WHERE id = \(id)")
      model.rows[id] = nil
    }
    if hasOutside {
      _ = try? connection.rows("INSERT INTO feed (id, v, part) VALUES (9999, 'outside', 2)")
      hasOutside = false
    }
  }

  /// A delivery that ends in the middle, with what is committed of it.
  private func cutOff(
    _ delivery: Delivery, _ job: MirrorJob, _ path: String, _ model: inout Model, _ kind: Kind,
    _ words: String
  ) throws {
    try (delivery.text + "77,one,too,many\n").write(toFile: path, atomically: true, encoding: .utf8)
    var job = job
    job.tables[0].options.rejects.onError = .stop
    job.acceptedDelivery = nil
    let summary = job.run()
    #expect(summary.exitCode != 0 && summary.ledger.swept == 0, "\(words)")
    let found = try rows(job.database)
    var left = delivery
    left.ids = delivery.ids.filter { found[$0] == Row(value: "\(delivery.value)\($0)") }
    model.store(left, isAccepted: false, kind)
    try expect(model, kind, job.database, "\(words), cut off")
  }

  private func rows(_ database: String) throws -> [Int: Row] {
    let connection = Database(database)
    if try connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'feed'").isEmpty { return [:] }
    let hasMark = try !connection.rows("SELECT 1 FROM pragma_table_info('feed') WHERE name = 'gone'").isEmpty
    let found = try connection.rows(
      "SELECT CAST(id AS INTEGER), v, \(hasMark ? "gone IS NOT NULL" : "0") FROM feed WHERE part = 1")
    var rows: [Int: Row] = [:]
    for row in found {
      let parts = row.split(separator: "|")
      rows[Int(parts[0])!] = Row(
        value: parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "'")), isGone: parts[2] == "1")
    }
    return rows
  }

  private func expect(_ model: Model, _ kind: Kind, _ database: String, _ words: String) throws {
    let found = try rows(database).mapValues { "\($0.value) \($0.isGone)" }
    let expected = model.rows.mapValues { "\($0.value) \($0.isGone)" }
    #expect(found == expected, "\(words)")
    if kind.hasScope, try !Database(database).rows("SELECT 1 FROM feed WHERE id = 9999").isEmpty {
      #expect(try Database(database).rows("SELECT v FROM feed WHERE id = 9999") == ["'outside'"], "\(words)")
    }
  }
}
