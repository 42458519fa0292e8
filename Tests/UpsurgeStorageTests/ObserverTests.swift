import CSQLite
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Runs that are watched, written down as SQL, or only tried: random tables, rules and records, judged by the plain run.
@Suite struct ObserverTests {
  /// Of the 300 that are run for every change, some; all of those that were asked for.
  private static let seeds =
    ModelTests.seeds.count == 300 ? ModelTests.seeds.prefix(150) : ModelTests.seeds[...]

  // MARK: - Watched

  @Test func aWatchedRunTellsAllOfIt() throws {
    for seed in Self.seeds {
      let example = ModelCase(seed: seed)
      let expected = try example.actual(Cut()).outcome
      var witnesses: [Witness] = []
      var connection: Connection?
      let actual = try example.actual(Cut(batchSize: 7, commitEvery: 20)) {
        let witness = Witness(rows: try Self.rows($0))
        if let last = witnesses.last { witness.ledger = last.ledger }
        witnesses.append(witness)
        connection = $0
        return witness
      }
      let difference = ModelCase.difference(actual.outcome, expected)
      let witness = try #require(witnesses.last)
      let faults = witnesses.flatMap(\.faults)
      #expect(difference == nil && faults == [], "seed \(seed)\n\(example)\n\(difference ?? "")\n\(faults)")
      #expect(witness.ledger == expected.ledger, "seed \(seed)")
      let left = witness.rows.filter { $0.value != 0 }
      #expect(try left == Self.rows(try #require(connection)), "seed \(seed)\n\(example)")
      if difference != nil || faults != [] { return }
    }
  }

  /// Keeps what it is told, and a copy of the table that nothing else changes.
  private final class Witness: RecordObserver {
    var rows: [[SQLValue]: Int]
    var ledger = Ledger()
    var faults: [String] = []
    private var lastNumber: UInt64 = 0

    init(rows: [[SQLValue]: Int]) { self.rows = rows }

    func observe(
      _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
    ) throws(UpsurgeError) {
      let isRight =
        switch outcome {
        case .inserted: before == nil && after != nil
        case .updated: before != nil && after != nil && before != after
        case .unchanged, .stale: before != nil && before == after
        case .ignored: before == after
        case .deleted: before != nil && after == nil
        case .rejected, .quarantined: before == nil && after == nil
        }
      if !isRight { faults.append("\(outcome) at \(position): \(before ?? []) \(after ?? [])") }
      // A next file begins with 1 again.
      let number = position.record ?? 0
      if number != lastNumber + 1 && number != 1 { faults.append("record \(number) after \(lastNumber)") }
      lastNumber = number
      ledger.count(outcome)
      if let before { rows[before, default: 0] -= 1 }
      if let after { rows[after, default: 0] += 1 }
    }
  }

  private static func rows(_ connection: Connection) throws -> [[SQLValue]: Int] {
    let statement = try connection.prepare("SELECT * FROM t")
    var rows: [[SQLValue]: Int] = [:]
    while try statement.step() {
      let row = (0..<sqlite3_column_count(statement.handle)).map { SQLValue(statement.handle, column: $0) }
      rows[row, default: 0] += 1
    }
    return rows
  }

  // MARK: - Written down

  @Test func theStatementsMakeTheSameTables() throws {
    for seed in Self.seeds {
      let example = ModelCase(seed: seed)
      let expected = try example.actual(Cut()).outcome
      let script = Script()
      _ = try example.actual(Cut(commitEvery: 25)) {
        try StatementEmitter(
          connection: $0, byteLimit: 5_000, sourceNames: ["in.csv"], sink: { script.bytes += $0 }, commit: {},
          rollBack: {})
      }
      let text = String(decoding: script.bytes, as: UTF8.self)
      let connection = try example.open()
      let context: Comment = "seed \(seed)\n\(example)\n\(text)"
      do throws(UpsurgeError) { try connection.execute(text) } catch { Issue.record("\(error) \(context)") }
      let tables = try example.table.dumps.map { try connection.rows($0) }
      #expect(tables == expected.tables, context)
      #expect(!text.contains("upsurge_note") && !text.contains("?"), context)
      #expect(text.split(separator: ";\n").allSatisfy { $0.utf8.count < 5_000 }, context)
      if tables != expected.tables { return }
    }
  }

  private final class Script { var bytes: [UInt8] = [] }

  // MARK: - Tried

  @Test func aDryRunSaysWhatTheRunWouldAndChangesNothing() throws {
    var settings = WriterSettings()
    settings.isDryRun = true
    for seed in Self.seeds {
      var example = ModelCase(seed: seed)
      // Of several runs, the second would build on the first.
      if !example.hasOneWriter { example.loads.removeSubrange(1...) }
      let expected = try example.actual(Cut()).outcome
      let connection = try example.open()
      let before = try example.table.dumps.map { try connection.rows($0) }
      let actual = try example.actual(Cut(batchSize: 13, commitEvery: 10), settings: settings).outcome
      var supposed = actual
      supposed.tables = expected.tables
      supposed.integrity = expected.integrity
      let difference = ModelCase.difference(supposed, expected)
      #expect(difference == nil, "seed \(seed)\n\(example)\n\(difference ?? "")")
      #expect(actual.tables == before, "seed \(seed)\n\(example)")
      if actual.tables != before || difference != nil { return }
    }
  }

  // MARK: - Refused

  @Test func aRefusalOfTheObserverIsAReject() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(a)")
    guard let schema = try TableSchema.read(connection, table: "t") else { return }
    var maker = BatchMaker(["a"])
    var settings = WriterSettings()
    settings.onError = .reject
    let kept = Kept()
    let writer = try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, columns: maker.columns), sourceNames: ["x"],
      settings: settings, observer: Refuser()
    ) { (reject) throws(UpsurgeError) in kept.rejects.append(reject) }
    var batch = maker.batch((0..<5).map { [.integer($0)] })
    try writer.write(&batch)
    try writer.finish()
    #expect(writer.ledger.text == "read 5 inserted 3 rejected 2")
    #expect(kept.rejects.map(\.line) == ["2 too-large -: odd", "4 too-large -: odd"])
    #expect(try connection.rows("SELECT a FROM t") == [[0], [2], [4]])
  }

  private final class Refuser: RecordObserver {
    func refusal(
      of record: Int, in batch: borrowing Batch, isTombstone: Bool
    ) throws(UpsurgeError) -> Reject? {
      guard record % 2 == 1 else { return nil }
      return Reject(
        .tooLarge, at: batch.position(of: record, file: "x"), reason: "odd", raw: batch.rawBytes(of: record))
    }

    func observe(
      _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
    ) throws(UpsurgeError) {}
  }
}

extension Ledger {
  fileprivate mutating func count(_ outcome: Outcome) {
    read += 1
    switch outcome {
    case .inserted: inserted += 1
    case .updated: updated += 1
    case .unchanged: unchanged += 1
    case .stale: stale += 1
    case .ignored: ignored += 1
    case .deleted: deleted += 1
    case .rejected: rejected += 1
    case .quarantined: quarantined += 1
    }
  }
}
