import TestSupport
import Testing

/// Options that say how values are written, as the command takes them.
@Suite("Options of values")
struct ValueOptionTests {
  let scratch = Scratch()

  @Test(
    "A column that one option names twice is refused: one of the values would be lost",
    arguments: [
      ["--date", "d=%d/%m/%Y", "--date", "d=%m/%d/%Y"], ["--add", "x=1", "--add", "x=2"],
      ["--bool", "v", "--bool", "v=ja/nein"],
      ["--type", "v:TEXT", "--type", "v:REAL"], ["--rename", "v=a", "--rename", "v=b"],
      ["--default", "v=1", "--default", "v=2"],
      ["--decimal", "v=point", "--decimal", "v=comma"], ["--thousands", "v=point", "--thousands", "v=comma"],
    ])
  func twice(options: [String]) throws {
    let path = scratch.write("id,v,d\n1,a,31/12/2024\n", to: "in.csv")
    let outcome = try Command.run(["load", scratch.file("d.db"), "t", path] + options)
    let column = options[1].prefix { $0 != "=" && $0 != ":" }
    #expect(
      outcome.exitCode == 64 && outcome.talk.contains("\(options[0]) names \(column) twice"),
      "\(outcome.talk)")
  }

  @Test("Several texts of one column may be NULL")
  func nulls() throws {
    let path = scratch.write("id,v\n1,a\n2,b\n3,c\n", to: "in.csv")
    let outcome = try Command.run(["load", scratch.file("d.db"), "t", path, "--null", "v=a", "--null", "v=b"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(scratch.file("d.db")).rows("SELECT * FROM t") == ["1|NULL", "2|NULL", "3|'c'"])
  }

  @Test(
    "Marks of numbers are for all columns, or for one",
    arguments: [
      (["--decimal", "comma", "--thousands", ".", "--decimal", "b=point"], "1234.5|1.234"),
      (["--decimal", "comma", "--thousands", "a=point", "--decimal", "b=point"], "1234.5|1.234"),
      (["--decimal", "a=comma", "--thousands", "a=point"], "1234.5|1.234"),
      (
        ["--decimal", "comma", "--thousands", "point", "--decimal", "b=comma", "--thousands", "b=point"],
        "1234.5|1234"
      ),
    ])
  func marks(options: [String], row: String) throws {
    let path = scratch.write("a;b\n1.234,5;1.234\n", to: "in.csv")
    let outcome = try Command.run(["load", scratch.file("d.db"), "t", path, "--header-lines", "1"] + options)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(scratch.file("d.db")).rows("SELECT * FROM t") == [row])
  }

  @Test(
    "Marks that are none, or given twice, are refused",
    arguments: [
      ["--decimal", "dot"], ["--decimal", "v=dot"], ["--decimal", "comma", "--decimal", "point"],
      ["--thousands", "v=,,"], ["--date", "v=%F", "--decimal", "v=comma"],
    ])
  func refused(options: [String]) throws {
    let path = scratch.write("id,v\n1,2\n", to: "in.csv")
    let outcome = try Command.run(["load", scratch.file("d.db"), "t", path] + options)
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
  }
}
