import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// What other programs have written is read as they say it, value by value.
@Suite("Sheets of other programs", .enabled(if: Packing.isThere, "\(Packing.need)"))
struct SheetProgramTests {
  let scratch = Scratch()

  private static let columns = ["id", "word", "number", "day", "moment", "clock", "hours", "flag", "double"]
  private static let rowCount = 120

  /// Writes a workbook with values by chance, and what each is as lines of JSON.
  private static let writer = #"""
    import datetime as d, json, random, sys
    import openpyxl
    seed, count, path, names = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4].split(",")
    chance = random.Random(seed)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "It's 1"
    hidden = book.create_sheet("Hidden", 0)
    hidden.sheet_state = "hidden"
    hidden.append(["no"])
    book.active = 1
    sheet.append(names)
    letters = 'abcXYZ019 .,;"\'\\<>&äß漢😀\n'
    formats = ["yyyy-mm-dd", "dd/mm/yyyy", "[$-409]d-mmm-yy;@", "mm-dd-yy", 'd"th" mmmm yyyy', "m/d/yy"]
    second = lambda: d.timedelta(seconds=chance.randrange(86400))
    day = lambda: d.date(1901, 1, 1) + d.timedelta(days=chance.randrange(100_000))
    for number in range(1, count + 1):
        word = "v" + "".join(chance.choice(letters) for _ in range(chance.randrange(15))) + "."
        word = " " * chance.randrange(3) + word + " " * chance.randrange(2)
        small, large = float(f"{chance.randrange(1, 999)}e-9"), chance.randrange(-10**9, 10**12)
        amount = chance.choice([small, large, round(chance.uniform(-1e6, 1e6), 3)])
        moment = d.datetime.combine(day(), d.time()) + second()
        clock = (d.datetime.min + second()).time()
        hours = d.timedelta(hours=chance.randrange(24, 900)) + d.timedelta(seconds=chance.randrange(3600))
        flag = chance.random() < 0.5
        a_day = day()
        values = [number, word, amount, a_day, moment, clock, hours, flag, f"=A{number + 1}*2"]
        seconds = int(hours.total_seconds())
        words = [
            str(number), word, repr(amount), a_day.isoformat(), moment.isoformat() if moment.time() != d.time() else None,
            clock.isoformat(), f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}", "1" if flag else "0", str(number * 2)]
        for column in range(1, 8):
            if chance.random() < 0.15 or words[column] is None:
                values[column] = words[column] = None
        sheet.append(values)
        sheet.cell(number + 1, 4).number_format = chance.choice(formats)
        print(json.dumps(dict(zip(names, words))))
    book.save(path)
    """#

  /// A workbook of openpyxl, and the table of what it says.
  private func write(seed: UInt64) throws -> String {
    let path = scratch.file("book.xlsx")
    let arguments = ["\(seed)", "\(Self.rowCount)", path, Self.columns.joined(separator: ",")]
    let lines = try Packing.python(Self.writer, arguments, interpreter: SheetPrograms.python ?? "python3")
    let summary = load(scratch.write(lines, to: "expected.ndjson"), into: "expected")
    #expect(summary.ledger.inserted == UInt64(Self.rowCount), "\(summary.error.map(\.description) ?? "")")
    return path
  }

  /// All values as text, so that nothing makes them equal that they are not.
  @discardableResult
  private func load(_ path: String, into table: String) -> RunSummary {
    var options = LoadOptions()
    options.table.types = Dictionary(uniqueKeysWithValues: Self.columns.map { ($0, "TEXT") })
    return LoadJob(database: scratch.file("a.db"), table: table, sources: [Source(path)], options: options)
      .run()
  }

  /// Compares a workbook with what it was written from.
  private func compare(_ path: String, table: String, without columns: Set<String> = []) throws -> RunSummary
  {
    let summary = load(path, into: table)
    #expect(
      summary.error == nil && summary.ledger.inserted == UInt64(Self.rowCount),
      "\(summary.error.map(\.description) ?? "")")
    // A number may be written in several ways.
    let list = Self.columns.filter { !columns.contains($0) }.map {
      $0 == "number" ? "CAST(number AS REAL)" : $0
    }
    let query = "SELECT \(list.joined(separator: ", ")) FROM "
    let database = Database(scratch.file("a.db"))
    let others = try database.rows("\(query)\(table) EXCEPT \(query)expected ORDER BY 1")
    let missing = try database.rows("\(query)expected EXCEPT \(query)\(table) ORDER BY 1")
    let isEqual = others == missing
    #expect(isEqual, "not \(missing.prefix(3))\nbut \(others.prefix(3))")
    return summary
  }

  private func warnings(_ summary: RunSummary) -> [String] {
    summary.warnings.entries.map { "\($0.code.rawValue) \($0.count)" }
  }

  @Test(
    "Values that openpyxl writes", .enabled(if: SheetPrograms.python != nil, "\(SheetPrograms.needPython)"),
    arguments: SeededGenerator.some(of: UInt64(8)))
  func openpyxl(seed: UInt64) throws {
    let summary = try compare(try write(seed: seed), table: "t", without: ["double"])
    // It computes nothing.
    #expect(warnings(summary) == ["formula-without-value \(Self.rowCount)"])
    #expect(try Database(scratch.file("a.db")).rows("SELECT count(double) FROM t") == ["0"])
  }

  @Test(
    "Values that LibreOffice writes",
    .enabled(if: SheetPrograms.python != nil, "\(SheetPrograms.needPython)"),
    .enabled(if: SheetPrograms.hasOffice, "\(SheetPrograms.needOffice)"),
    arguments: ["xlsx", "ods"], SeededGenerator.some(of: UInt64(4)))
  func libreOffice(form: String, seed: UInt64) throws {
    let saved = try SheetPrograms.saved(try write(seed: seed), as: form, in: scratch.path)
    #expect(warnings(try compare(saved, table: "t")) == [])
  }
}
