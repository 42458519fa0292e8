import TestSupport
import Testing
import UpsurgeModels

/// What SQLite's upserts do in 31 cases, said with models.
@Suite("Upserts of models") struct UpsertCaseTests {
  let scratch = Scratch()

  private func open(_ behaviour: UpsertBehaviour) throws -> (UpsurgeModels.Database, TestSupport.Database) {
    let plain = TestSupport.Database(scratch.file("a.db"))
    try plain.rows(behaviour.setupSQL)
    return (try UpsurgeModels.Database(scratch.file("a.db")), plain)
  }

  private var options: BulkOptions {
    var options = BulkOptions()
    options.onError = .reject
    return options
  }

  private func expectRows(
    _ behaviour: UpsertBehaviour, _ wording: UpsertCase, _ plain: TestSupport.Database
  ) throws {
    let expected = wording.betterRows ?? behaviour.expectedRows.map { $0.map(\.asSQL).joined(separator: "|") }
    #expect(try plain.rows(behaviour.check) == expected, "\(behaviour.what)")
    #expect(try plain.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  @Test("There is a wording for every case") func complete() {
    #expect(UpsertBehaviour.all.count == 31)
    #expect(UpsertCase.all.count == 31)
    #expect(Set(UpsertCase.all.map(\.id)) == Set(UpsertBehaviour.all.keys))
  }

  @Test("Many a call", arguments: UpsertCase.all) func many(_ wording: UpsertCase) async throws {
    let behaviour = try #require(UpsertBehaviour.all[wording.id])
    let (database, plain) = try open(behaviour)
    switch wording.ending {
    case .stored:
      let ledger = try await wording.store(database, options)
      #expect(ledger.rejected == 0 && ledger.read > 0 && ledger.isBalanced)
    case .rejected:
      #expect(try await wording.store(database, options).rejected == 1)
      await #expect(throws: UpsurgeError.self) { try await wording.store(database, BulkOptions()) }
    case .refused:
      let error = await #expect(throws: UpsurgeError.self) { try await wording.store(database, options) }
      #expect(error?.code == .usage)
    }
    try expectRows(behaviour, wording, plain)
  }

  /// SQLite returns the rows that it wrote, be it the same again; ours come for every row, with the outcome.
  @Test("With what became of each", arguments: UpsertCase.all) func returning(_ wording: UpsertCase)
    async throws
  {
    let behaviour = try #require(UpsertBehaviour.all[wording.id])
    let (database, plain) = try open(behaviour)
    if case .refused = wording.ending {
      await #expect(throws: UpsurgeError.self) { try await wording.storeReturning(database, options) }
    } else {
      let rows = try await wording.storeReturning(database, options)
      var isRejected = false
      if case .rejected = wording.ending { isRejected = true }
      #expect(rows.contains { $0.outcome == .rejected } == isRejected)
      // g07 is an update that changes nothing, whose row SQLite returns; ours is ignored and returned.
      let written = rows.filter {
        [.inserted, .updated, .unchanged].contains($0.outcome)
          || (wording.id == "g07" && $0.outcome == .ignored)
      }
      if let expected = behaviour.expectedReturning {
        #expect(written.count == expected.count)
        var names = behaviour.returnedColumns.map { $0 == "rowid" ? "id" : $0 }
        if names == ["*"] {
          names = try plain.rows("SELECT name FROM pragma_table_info('\(behaviour.table)')")
            .map { String($0.dropFirst().dropLast()) }
        }
        for (row, expected) in zip(written, expected) {
          for (name, value) in zip(names, expected) {
            // A model may have fewer columns than its table.
            guard let found = row.values[name] else { continue }
            #expect("\(found.testText)" == value.asSQL, "\(name)")
          }
          #expect(names.contains { row.values[$0] != nil })
        }
      }
    }
    try expectRows(behaviour, wording, plain)
  }
}

extension SQLValue {
  /// As `TestSupport.Database.rows` shows it.
  fileprivate var testText: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .text(let text): "'\(text)'"
    default: "\(self)"
    }
  }
}
