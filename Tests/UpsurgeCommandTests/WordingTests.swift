import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// What the command line takes and refuses, and the words of the end of a run.
@Suite("Wording")
struct WordingTests {
  let scratch = Scratch()

  private func load(_ arguments: [String], _ text: String = "id,sp,v,w\n1,a,x,y\n") throws -> Command.Outcome
  {
    try Command.run(["load", scratch.file("a.db"), "t", "-"] + arguments, input: Array(text.utf8))
  }

  // MARK: - Options given twice

  @Test(
    "An option that is given twice is refused",
    arguments: [
      (["--key", "sp", "--key", "id"], "--key is given twice; a compound key is --key A,B"),
      (["--key=sp", "--key", "id"], "--key is given twice; a compound key is --key A,B"),
      (["--mode", "upsert", "-v", "--mode=insert"], "--mode is given twice"),
      (["--columns", "id", "--columns=sp"], "--columns is given twice; several names are --columns A,B"),
      (["--dry-run", "--dry-run=diff"], "--dry-run is given twice"),
      (["--set", "v=max", "--summary=x", "--summary=y"], "--summary is given twice"),
    ])
  func twice(options: [String], message: String) throws {
    let outcome = try load(options)
    #expect(outcome.exitCode == 64)
    #expect(outcome.talk == "upsurge: \(message)\n  see: upsurge load --help\n")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
  }

  @Test(
    "What may be given again is, and words behind -- are no options",
    arguments: [
      ["-v", "-v", "--verbose", "--verbose"],
      ["--key", "id", "--set", "v=max", "--set=w=keep", "--merge", "coalesce", "--merge", "newer:v"],
      ["--null", "NA", "--null=-", "--type", "v:TEXT", "--type", "w:TEXT", "--strict", "--strict"],
      ["--not-null", "v", "--not-null", "w", "--default", "v=1", "--default", "w=2"],
      ["--index", "v", "--index", "w", "--rename", "v=a", "--rename", "w=b", "--index=sp"],
      ["--key", "id", "--set", "v=--key", "--update-if=1 OR '--key' <> '--key'"],
    ])
  func again(options: [String]) throws {
    let outcome = try load(options.map { $0.replacing("index=v", with: "index=a") })
    #expect(!outcome.talk.contains("given twice"), "\(outcome.talk)")
    let behind = try Command.run([
      "load", scratch.file("b.db"), "--key", "id", "--", "t", "--key=x", "--key=x",
    ])
    #expect(behind.exitCode == 66, "\(behind.talk)")
  }

  /// Every option of the help: one that takes a value is refused the second time or known to be repeatable, and one
  /// that takes none is not refused.
  @Test("Every option knows whether it may be given twice", arguments: ["load", "inspect", "replay"])
  func everyOption(command: String) throws {
    let repeatable = [
      "--add", "--bool", "--date", "--default", "--index", "--let", "--merge", "--not-null", "--null", "--rename",
      "--set", "--type", "--widths",
    ]
    let help = try Command.run([command, "--help-all"]).output
    let lines = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
    var met: Set<String> = []
    for line in lines {
      // What stands before the column of the help: "-q, --quiet", "--key COLS", "--flatten [SEP]", "--dry-run[=diff]".
      let label = line.dropFirst(2).components(separatedBy: "  ")[0]
      // A line of a text may begin with an option, too.
      guard let dashes = label.range(of: "--"), label.split(separator: " ").count <= 4 else { continue }
      let option = String(label[dashes.lowerBound...].prefix { $0 != " " && $0 != "[" })
      if option.hasPrefix("--help") { continue }
      met.insert(option)
      // Once for all columns, and once for each: the values say whether it is one too many.
      if label.contains("[COL=]") { continue }
      let takesValue = !label.hasSuffix(option)
      let given = takesValue ? option + "=x" : option
      let outcome = try Command.run([command, scratch.file("none"), "t", scratch.file("none"), given, given])
      let isRefused = outcome.talk.contains("\(option) is given twice")
      #expect(isRefused == (takesValue && !repeatable.contains(option)), "\(line)")
    }
    let known = OptionCatalogue.options(of: command).filter { !$0.isHidden }.map(\.option)
    #expect(met.isSuperset(of: known), "\(Set(known).subtracting(met))")
  }

  // MARK: - Names

  @Test(
    "Blanks around names do not belong to them, quoted ones do",
    arguments: [
      ("id, sp", ["id", "sp"]), (" id ,\tsp ", ["id", "sp"]), ("\" id\", sp", [" id", "sp"]),
      ("id, \"sp \" ", ["id", "sp "]), ("id,a b", ["id", "a b"]), ("id, \"a\"\"b\"", ["id", "a\"b"]),
    ])
  func blanks(list: String, names: [String]) throws {
    let record = try JSONSerialization.data(
      withJSONObject: Dictionary(names.map { ($0, 1) }) { first, _ in first })
    let outcome = try load(["--key", list], String(decoding: record, as: UTF8.self))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let columns = try Database(scratch.file("a.db")).rows(
      "SELECT name FROM pragma_table_info('t') WHERE pk ORDER BY pk")
    #expect(columns == names.map { "'\($0)'" })
    #expect(try load(["--key", "id, "]).exitCode == 64)
  }

  // MARK: - Errors

  @Test("Usage errors point to the help of their command")
  func usage() throws {
    let option = try load(["--max-rejects", "x"])
    #expect(option.exitCode == 64)
    #expect(
      option.talk
        == "upsurge: --max-rejects x: give a number, or a share such as 2%\n  see: upsurge load --help\n")
    let inspected = try Command.run(["inspect", "x.csv", "--summary", "y"])
    #expect(inspected.exitCode == 64 && inspected.talk.hasSuffix("  see: upsurge inspect --help\n"))
  }

  @Test("A refusal shows no ledger of zeros, but says when something was rolled back")
  func refusal() throws {
    let outcome = try load(["--key", "nope"])
    #expect(outcome.exitCode == 64 && outcome.talk.contains("--key names the column"), "\(outcome.talk)")
    #expect(
      !outcome.talk.contains("read") && !outcome.talk.contains("nothing of this run"), "\(outcome.talk)")
    let first = scratch.write("id,v\n1,x\n", to: "1.csv")
    let second = scratch.write("id,w\n2,y\n", to: "2.csv")
    try Database(scratch.file("b.db")).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, v, w)")
    let late = try Command.run(["load", scratch.file("b.db"), "t", first, second, "--columns", "id,v"])
    #expect(late.exitCode == 64, "\(late.talk)")
    #expect(late.talk.hasSuffix("  stopped: nothing of this run is in the database\n"), "\(late.talk)")
    #expect(!late.talk.contains("inserted 0"), "\(late.talk)")
  }

  @Test("Who gives the file first is told that the database comes first")
  func noDatabase() throws {
    let text = "id,v\n" + (1...200).map { "\($0),a value that is long enough\n" }.joined()
    let (one, two) = (scratch.write(text, to: "u1.csv"), scratch.write(text, to: "u2.csv"))
    let outcome = try Command.run(["load", one, "t", two])
    #expect(outcome.exitCode == 1)
    #expect(
      outcome.talk.contains(
        "u1.csv is not an SQLite database [SQLite code 26]\n"
          + "  fix: the database comes first: upsurge load DB TABLE FILE\n"), "\(outcome.talk)")
    #expect(try readFile(one) == Array(text.utf8))
  }

  @Test("The help says what --init takes, and that replay takes a file of rejects")
  func help() throws {
    #expect(try Command.run(["help", "load", "table"]).output.contains("--init FILE"))
    let replay = try Command.run(["replay", "--help"]).output
    #expect(replay.contains("DATABASE [FILE]") && replay.contains("upsurge replay shop.db bad.ndjson"))
  }

  // MARK: - The ledger

  @Test("One is not many")
  func one() throws {
    let outcome = try load(["--columns", "id"])
    #expect(outcome.talk.contains("t in \(scratch.file("a.db")): 1 record read in"), "\(outcome.talk)")
    #expect(outcome.talk.contains("note: 3 fields left out: sp, v, w\n"), "\(outcome.talk)")
    let two = try load(["--columns", "id,sp,v", "--alter"], "id,sp,v,w\n1,a,x,y\n2,a,x,y\n")
    #expect(two.talk.contains("2 records read in"), "\(two.talk)")
    #expect(two.talk.contains("note: 1 field left out: w\n"), "\(two.talk)")
    #expect(two.talk.contains("note: 1 column added in column sp, first at"), "\(two.talk)")
    let many = try load(["--columns", "a", "--alter"], "a,b,c,d,e,f,g\n1,2,3,4,5,6,7\n")
    #expect(many.talk.contains("note: 6 fields left out: b, c, d, e, f, ...\n"), "\(many.talk)")
  }

  // MARK: - --explain

  @Test("--explain says what becomes of indexes once, and writes the summary")
  func explain() throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE INDEX t_v ON t(v)")
    let path = scratch.file("summary")
    let outcome = try load([
      "--explain", "--indexes", "defer", "--key", "id", "--columns", "id,v", "--summary", path,
    ])
    #expect(outcome.exitCode == 0)
    #expect(outcome.output.contains("t_v built after the rows: as asked for"), "\(outcome.output)")
    #expect(!outcome.talk.contains("t_v"), "\(outcome.talk)")
    let summary = try JSONSerialization.jsonObject(with: Data(try readFile(path))) as? [String: Any]
    #expect(summary?["explanation"] as? String == outcome.output)
    let both = try load(["--explain", "--summary", "-"])
    #expect(both.exitCode == 64 && both.talk.contains("--explain and --summary would both"), "\(both.talk)")
  }
}
