import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Random tables and records: table, ledger and rejects are those of the oracle, however the run is cut.
@Suite struct RandomWriterTests {
  /// `UPSURGE_SEEDS` says how many seeds; 120 when it does not.
  static let seeds: Range<UInt64> =
    0..<(getenv("UPSURGE_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 120)

  @Test func equalsOneByOne() throws {
    var forms: [StatementForm: Int] = [:]
    for seed in Self.seeds {
      var table = RandomTable(seed: seed)
      let first = table.rows(table.number(1...150))
      let second = table.chance(2) ? first : table.rows(100)
      let bad = Set((0..<table.number(0...5)).map { _ in table.number(0...149) })
      let expected = try oracle(table, [first, second], rejecting: bad)
      let cuts = [
        Cut(),
        Cut(
          batchSize: table.number(1...9), rowsPerStatement: table.number(1...5),
          commitEvery: table.number(1...30)),
        Cut(batchSize: 50, rowsPerStatement: table.number(3...40), commitEvery: table.number(20...70)),
      ]
      for cut in cuts {
        let (outcome, form) = try writer(table, [first, second], cut: cut, rejecting: bad)
        forms[form, default: 0] += 1
        #expect(
          outcome.ledger.text == expected.ledger.text,
          "seed \(seed), \(cut), \(form)\n\(table.sql) \(table.key) \(table.mode)")
        #expect(
          rejects(outcome) == rejects(expected),
          "seed \(seed), \(cut), \(form)\n\(table.sql) \(table.key) \(table.mode)")
        #expect(
          outcome.table == expected.table,
          "seed \(seed), \(cut), \(form)\n\(table.sql) \(table.key) \(table.mode)")
        if outcome.table != expected.table || rejects(outcome) != rejects(expected) { return }
      }
    }
    #expect(forms.count == 3, "the tables reached only \(forms)")
  }

  /// Of a record with two faults, an upsert may name another one than an insert.
  private func rejects(_ outcome: Outcome) -> [String] {
    outcome.rejects.map { $0.replacing("type-mismatch", with: "not-null") }
  }

  private func oracle(_ table: RandomTable, _ loads: [[[Value]]], rejecting: Set<Int>) throws -> Outcome {
    let database = TemporaryDatabase()
    let connection = try database.open(table.sql)
    guard let schema = try TableSchema.read(connection, table: "t") else { return Outcome() }
    try connection.execute("BEGIN")
    var outcome = Outcome()
    for rows in loads {
      var oracle = OneByOne(connection, schema, table.columns, key: table.key, mode: table.mode)
      try oracle.feed(rows, rejecting: rejecting)
      outcome.ledger += oracle.ledger
      outcome.rejects += oracle.rejects
    }
    outcome.table = try dump(table, connection)
    return outcome
  }

  private func writer(
    _ table: RandomTable, _ loads: [[[Value]]], cut: Cut, rejecting: Set<Int>
  ) throws -> (Outcome, StatementForm) {
    let database = TemporaryDatabase()
    let connection = try database.open(table.sql)
    var outcome = Outcome()
    var form = StatementForm.singleRow
    for rows in loads {
      let (writer, rejects) = try load(
        connection, "t", table.columns, rows, key: table.key, mode: table.mode, cut: cut,
        rejecting: rejecting.filter { $0 < rows.count })
      form = writer.plan.form
      outcome.ledger += writer.ledger
      outcome.rejects += rejects.map { "\($0.position.record ?? 0) \($0.code.rawValue)" }
    }
    outcome.table = try dump(table, connection)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    return (outcome, form)
  }

  private func dump(_ table: RandomTable, _ connection: Connection) throws -> [[Value]] {
    var rows = try connection.rows(table.dump)
    if table.sql.contains("log(") { rows += try connection.rows("SELECT op, k FROM log ORDER BY rowid") }
    return rows
  }
}
