import Foundation
import TestSupport
import Testing
import Upsurge

/// What SQLite's upserts do in 31 cases, said in the words of Upsurge.
@Suite("Upsert behaviours")
struct UpsertBehaviourTests {
  @Test("There is a wording for every case") func complete() {
    #expect(UpsertBehaviour.all.count == 31)
    #expect(Set(UpsertWording.all.map(\.id)) == Set(UpsertBehaviour.all.keys))
    #expect(UpsertWording.all.count == 31)
  }

  @Test("Through the library", arguments: UpsertWording.all)
  func library(_ wording: UpsertWording) throws {
    let behaviour = try #require(UpsertBehaviour.all[wording.id])
    let scratch = Scratch()
    try Database(scratch.file("a.db")).rows(behaviour.setupSQL)
    var options = LoadOptions()
    options.rules = wording.rules
    options.rejects.onError = .reject
    let job = LoadJob(
      database: scratch.file("a.db"), table: wording.table,
      sources: [scratch.write(wording.ndjson, to: "in.ndjson")], options: options)
    let summary = job.run()
    #expect(summary.ledger.isBalanced)
    switch wording.ending {
    case .stored:
      #expect(summary.error == nil && summary.exitCode == 0, "\(summary.error?.description ?? "")")
      #expect(summary.ledger.read == UInt64(wording.recordCount) && summary.ledger.rejected == 0)
    case .rejected(let code):
      #expect(summary.error == nil, "\(summary.error?.description ?? "")")
      #expect(summary.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" } == ["\(code.rawValue) 1"])
    case .refused:
      #expect(summary.error?.code == .usage)
    }
    try expectRows(behaviour, wording, scratch)
  }

  /// SQLite returns the rows that it wrote, be it the same again; ours come for every record, with the outcome.
  @Test("RETURNING in bulk", arguments: UpsertWording.all)
  func returning(_ wording: UpsertWording) throws {
    let behaviour = try #require(UpsertBehaviour.all[wording.id])
    guard let expected = behaviour.expectedReturning else { return }
    let scratch = Scratch()
    let database = Database(scratch.file("a.db"))
    try database.rows(behaviour.setupSQL)
    var columns = behaviour.returnedColumns
    if columns == ["*"] {
      columns = try database.rows("SELECT name FROM pragma_table_info('\(wording.table)')")
        .map { String($0.dropFirst().dropLast()) }
    }
    let upsert = try BulkUpsert(
      database: scratch.file("a.db"), table: wording.table, columns: wording.columns, rules: wording.rules,
      returning: columns)
    for record in wording.values { try upsert.append(record.map(\.asValue)) }
    let rows = try upsert.takeReturned()
    _ = try upsert.finish()
    #expect(rows.map(\.record) == Array(1...UInt64(wording.recordCount)))
    // g07 is an update that changes nothing, whose row SQLite returns; ours is ignored and returned.
    let written = rows.filter {
      [.inserted, .updated, .unchanged].contains($0.outcome) || (wording.id == "g07" && $0.outcome == .ignored)
    }
    #expect(written.map(\.values) == expected.map { $0.map(\.asValue) })
    try expectRows(behaviour, wording, scratch)
  }

  @Test("Through the command, from NDJSON and from CSV", arguments: UpsertWording.all, ["ndjson", "csv"])
  func command(_ wording: UpsertWording, format: String) throws {
    let behaviour = try #require(UpsertBehaviour.all[wording.id])
    let scratch = Scratch()
    try Database(scratch.file("a.db")).rows(behaviour.setupSQL)
    let text = format == "csv" ? wording.csv : wording.ndjson
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), wording.table, "-", "--format", format, "--on-error", "reject"]
        + ["--summary", "-"] + wording.arguments, input: Array(text.utf8))
    switch wording.ending {
    case .stored: #expect(outcome.exitCode == 0, "\(outcome.talk)")
    case .rejected(let code):
      #expect(outcome.exitCode == 2, "\(outcome.talk)")
      let summary = try #require(
        JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.talk)")
      #expect(summary["rejects_by_reason"] as? [String: Int] == [code.rawValue: 1])
    case .refused: #expect(outcome.exitCode == 64, "\(outcome.talk)")
    }
    try expectRows(behaviour, wording, scratch)
  }

  /// p03 the other way round: `--key` alone finds the only partial index that fits.
  @Test("A partial index is found by its columns") func partialIndexFound() throws {
    let behaviour = try #require(UpsertBehaviour.all["p03"])
    let scratch = Scratch()
    try Database(scratch.file("a.db")).rows(behaviour.setupSQL)
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "acct", "-", "--key", "email"],
      input: Array("email,active,n\na@x,1,9\n".utf8))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(scratch.file("a.db")).rows(behaviour.check) == ["1|'a@x'|1|9", "2|'a@x'|0|2"])
  }

  private func expectRows(
    _ behaviour: UpsertBehaviour, _ wording: UpsertWording, _ scratch: Scratch
  ) throws {
    let database = Database(scratch.file("a.db"))
    let expected =
      wording.betterRows ?? behaviour.expectedRows.map { $0.map(\.asSQL).joined(separator: "|") }
    #expect(try database.rows(behaviour.check) == expected, "\(behaviour.what)")
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
  }
}
