import CSQLite
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

/// Runs that are watched, written down as SQL, or only tried: random tables and records, judged by the plain run.
@Suite struct ObserverTests {
  /// Keeps what it is told, and a copy of the table that is changed by nothing else.
  private final class Witness: RecordObserver {
    var outcomes: [Outcome] = []
    var numbers: [UInt64] = []
    var rows: [[SQLValue]: Int] = [:]
    var faults: [String] = []
    var commitCount = 0

    func observe(
      _ outcome: UpsurgeStorage.Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
    ) throws(UpsurgeError) {
      outcomes.append(outcome)
      numbers.append(position.record ?? 0)
      switch outcome {
      case .inserted:
        if before != nil || after == nil { fault(outcome, position) }
      case .updated:
        if before == nil || after == nil || before == after { fault(outcome, position) }
      case .unchanged, .stale, .ignored:
        if before != after { fault(outcome, position) }
      case .deleted:
        if before == nil || after != nil { fault(outcome, position) }
      case .rejected, .quarantined:
        if before != nil || after != nil { fault(outcome, position) }
      }
      if let before { rows[before, default: 0] -= 1 }
      if let after { rows[after, default: 0] += 1 }
    }

    func didCommit() { commitCount += 1 }

    private func fault(_ outcome: UpsurgeStorage.Outcome, _ position: Position) {
      faults.append("\(outcome) at \(position)")
    }

    typealias Outcome = UpsurgeStorage.Outcome
  }

  private static let seeds = RandomWriterTests.seeds.lowerBound..<RandomWriterTests.seeds.upperBound / 2

  private func values(_ connection: Connection) throws -> [[SQLValue]: Int] {
    let statement = try connection.prepare("SELECT * FROM t")
    var rows: [[SQLValue]: Int] = [:]
    while try statement.step() {
      rows[
        (0..<sqlite3_column_count(statement.handle)).map { SQLValue(statement.handle, column: $0) },
        default: 0] += 1
    }
    return rows
  }

  private func run(
    _ table: RandomTable, _ connection: Connection, _ rows: [[Value]],
    settings: WriterSettings = WriterSettings(),
    observer: (any RecordObserver)? = nil
  ) throws -> (ledger: String, rejects: [String]) {
    let (writer, rejects) = try load(
      connection, "t", table.columns, rows, key: table.key, mode: table.mode,
      cut: Cut(batchSize: 37, commitEvery: 50), settings: settings, rejecting: [3, 40], observer: observer)
    return (writer.ledger.text, rejects.map(\.line))
  }

  @Test func aWatchedRunIsThePlainRunAndTellsAllOfIt() throws {
    for seed in Self.seeds {
      var table = RandomTable(seed: seed)
      let loads = [table.rows(90), table.rows(120)]
      let plain = try TemporaryDatabase().open(table.sql)
      let watched = try TemporaryDatabase().open(table.sql)
      for rows in loads {
        let witness = Witness()
        witness.rows = try values(watched)
        let expected = try run(table, plain, rows)
        let seen = try run(table, watched, rows, observer: witness)
        let context: Comment = "seed \(seed)\n\(table.sql) \(table.key) \(table.mode)"
        #expect(seen == expected, context)
        #expect(try watched.rows(table.dump) == plain.rows(table.dump), context)
        #expect(witness.faults == [], context)
        #expect(witness.numbers == Array(1...UInt64(rows.count)), context)
        var ledger = Ledger()
        for outcome in witness.outcomes { ledger.count(outcome) }
        #expect(ledger.text == expected.ledger, context)
        #expect(try witness.rows.filter { $0.value != 0 } == values(watched), context)
        #expect(witness.commitCount >= 1)
      }
    }
  }

  @Test func theStatementsMakeTheSameTable() throws {
    for seed in Self.seeds {
      var table = RandomTable(seed: seed)
      let source = try TemporaryDatabase().open(table.sql)
      let target = try TemporaryDatabase().open(table.sql)
      for rows in [table.rows(90), table.rows(120)] {
        let script = Script()
        let limit = table.number(1_000...20_000)
        let emitter = try StatementEmitter(
          connection: source, byteLimit: limit, sourceNames: ["in.csv"],
          sink: { script.bytes += $0 }, commit: {}, rollBack: {})
        _ = try run(table, source, rows, observer: emitter)
        let text = String(decoding: script.bytes, as: UTF8.self)
        let context: Comment = "seed \(seed)\n\(table.sql) \(table.key) \(table.mode)\n\(text.prefix(2_000))"
        do throws(UpsurgeError) { try target.execute(text) } catch { Issue.record("\(error) \(context)") }
        let (made, expected) = (try target.rows(table.dump), try source.rows(table.dump))
        #expect(made == expected, context)
        if made != expected { return }
        #expect(text.split(separator: ";\n").allSatisfy { $0.utf8.count < limit }, context)
      }
    }
  }

  private final class Script { var bytes: [UInt8] = [] }

  @Test func aDryRunSaysWhatTheRunWouldAndChangesNothing() throws {
    for seed in Self.seeds {
      var table = RandomTable(seed: seed)
      let connection = try TemporaryDatabase().open(table.sql)
      var settings = WriterSettings()
      settings.isDryRun = true
      for rows in [table.rows(90), table.rows(120)] {
        let before = try connection.rows(table.dump)
        let tried = try run(table, connection, rows, settings: settings)
        #expect(try connection.rows(table.dump) == before && connection.isInAutocommit, "seed \(seed)")
        #expect(try run(table, connection, rows) == tried, "seed \(seed)\n\(table.sql)")
      }
    }
  }

  @Test func aRefusalOfTheObserverIsAReject() throws {
    final class Refuser: RecordObserver {
      func refusal(
        of record: Int, in batch: borrowing Batch, isTombstone: Bool
      ) throws(UpsurgeError) -> Reject? {
        guard record % 2 == 1 else { return nil }
        return Reject(
          .tooLarge, at: batch.position(of: record, file: "x"), reason: "odd", raw: batch.rawBytes(of: record)
        )
      }
      func observe(
        _ outcome: UpsurgeStorage.Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
      ) throws(UpsurgeError) {}
    }
    let connection = try TemporaryDatabase().open("CREATE TABLE t(a)")
    let (writer, rejects) = try load(
      connection, "t", ["a"], (0..<5).map { [.integer($0)] }, observer: Refuser())
    #expect(writer.ledger.text == "read 5 inserted 3 rejected 2")
    #expect(rejects.map(\.line) == ["2 too-large -: odd", "4 too-large -: odd"])
    #expect(try connection.rows("SELECT a FROM t") == [[0], [2], [4]])
  }
}

extension Ledger {
  fileprivate mutating func count(_ outcome: UpsurgeStorage.Outcome) {
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
