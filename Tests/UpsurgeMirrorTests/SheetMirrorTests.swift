import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// A workbook that is delivered night after night.
@Suite("Mirrors of a sheet", .enabled(if: Packing.isThere, "\(Packing.need)")) struct SheetMirrorTests {
  let scratch = Scratch()

  private func job(sheet: String?, _ path: String) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [Source(path)])
    table.options.rules.key = ["id"]
    table.options.input.sheet = sheet
    table.sweep = .hard
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func row(_ id: Int, _ name: String) -> String {
    "<row><c><v>\(id)</v></c><c t=\"str\"><v>\(name)</v></c></row>"
  }

  private func deliver(_ rows: String, as name: String = "Members") throws -> String {
    let header = "<row><c t=\"str\"><v>id</v></c><c t=\"str\"><v>name</v></c></row>"
    let other = SheetFiles.Sheet("Other", header + row(9, "no"))
    let book = try SheetFiles.xlsx([other, SheetFiles.Sheet(name, header + rows)])
    return scratch.write(book, to: "club.xlsx")
  }

  private func rows() throws -> [String] {
    try Database(scratch.file("a.db")).rows("SELECT * FROM t ORDER BY id")
  }

  @Test("Rows come, change and go with the sheet, and stay where it is missing")
  func nights() throws {
    let path = try deliver(row(1, "Ann") + row(2, "Ben"))
    let first = job(sheet: "Members", path).run()
    #expect(
      first.exitCode == 0 && first.tables[0].ledger.inserted == 2,
      "\(first.tables[0].failure?.description ?? "")")
    let again = job(sheet: "Members", path).run()
    #expect(
      again.exitCode == 0 && again.tables[0].ledger.inserted == 0 && again.tables[0].ledger.updated == 0)
    _ = try deliver(row(2, "Bea") + row(3, "Cyd"))
    let next = job(sheet: "Members", path).run()
    let ledger = next.tables[0].ledger
    #expect(next.exitCode == 0 && ledger.inserted == 1 && ledger.updated == 1 && ledger.swept == 1)
    #expect(try rows() == ["2|'Bea'", "3|'Cyd'"])
    _ = try deliver(row(2, "Bea"), as: "Guests")
    let missing = job(sheet: "Members", path).run()
    let words = missing.tables[0].failure?.description ?? ""
    #expect(missing.exitCode != 0 && words.contains("has no sheet Members"), "\(words)")
    #expect(try rows() == ["2|'Bea'", "3|'Cyd'"])
    // Another sheet has other records: who wants them says so.
    var other = job(sheet: "Other", path)
    let refused = other.run().tables[0].failure?.message ?? ""
    #expect(refused.contains("sheet Other (was Members)"), "\(refused)")
    #expect(try rows() == ["2|'Bea'", "3|'Cyd'"])
    other.acceptsChanges = true
    let accepted = other.run()
    #expect(
      accepted.exitCode == 0 && accepted.tables[0].ledger.swept == 2,
      "\(accepted.tables[0].failure?.description ?? "")")
    #expect(try rows() == ["9|'no'"])
  }
}
