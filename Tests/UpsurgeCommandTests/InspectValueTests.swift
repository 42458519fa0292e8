import Foundation
import TestSupport
import Testing

/// What `inspect` says of values is true: the command that it proposes loads them so.
@Suite("Proposals of inspect")
struct InspectValueTests {
  let scratch = Scratch()

  private func inspect(_ text: String, _ name: String = "in.csv", _ options: [String] = []) throws -> String {
    _ = scratch.write(text, to: name)
    let outcome = try Command.run(["inspect", scratch.file(name)] + options)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    return outcome.output
  }

  /// Runs the command that is proposed, as a shell does.
  private func follow(_ output: String) throws -> [String] {
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("to load it: ") }, "\(output)")
    let command = line.dropFirst("to load it: upsurge".count).replacing(
      " DB ", with: " '\(scratch.file("d.db"))' ")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "'\(Command.path)'\(command) --quiet"]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(line)")
    return try Database(scratch.file("d.db")).rows("SELECT * FROM records")
  }

  @Test(
    "One reading: the column is said with the option that reads it",
    arguments: [
      ("id;day\n1;31/12/2024\n2;1/2/2025\n", "1|'2024-12-31'|2|'2025-02-01'"),
      ("id;day\n1;12/31/2024\n2;1/2/2025\n", "1|'2024-12-31'|2|'2025-01-02'"),
      ("id;a day\n1;31.12.24 7:05\n2;01.02.25 17:05\n", "1|'2024-12-31T07:05'|2|'2025-02-01T17:05'"),
      ("id;day\n1;2024/02/01\n2;\n", "1|'2024-02-01'|2|NULL"),
      ("id;day\n1;1 Feb 2024\n2;02 mar 2025\n", "1|'2024-02-01'|2|'2025-03-02'"),
      ("id;price\n1;1.234,56\n2;2,5\n", "1|1234.56|2|2.5"), ("id;price\n1;0,5\n2;12\n", "1|0.5|2|12.0"),
      ("id;price\n1;1,234.5\n2;2.5\n", "1|1234.5|2|2.5"),
      ("id;n\n1;1'000\n2;12'345'678\n", "1|1000|2|12345678"),
      ("id;n\n1;1 000\n2;12 345\n", "1|1000|2|12345"),
      ("id;a;b\n1;1,5;2.5\n2;2,5;3.5\n", "1|1.5|2.5|2|2.5|3.5"),
      ("id;lat;price\n1;48.137;1.234,50\n2;52.520;2,50\n", "1|48.137|1234.5|2|52.52|2.5"),
      ("id;a;b\n1;1.234,5;1,234.5\n2;2,5;2.5\n", "1|1234.5|1234.5|2|2.5|2.5"),
    ])
  func readings(text: String, rows: String) throws {
    #expect(try follow(inspect(text)).joined(separator: "|") == rows)
  }

  @Test(
    "Several readings: that is said, and nothing is proposed",
    arguments: [
      ("id;day\n1;1/2/2024\n2;3/4/2024\n", "day and month cannot be told apart"),
      ("id;day\n1;01.02.03\n", "day and month cannot be told apart"),
      ("id;n\n1;1,234\n2;5,678\n", "may part thousands or stand before a fraction"),
      ("id;a;n\n1;1'234.5;1,234\n2;2.5;5,678\n", "--decimal n=comma, or --thousands n=comma, reads them"),
    ])
  func doubts(text: String, words: String) throws {
    let output = try inspect(text)
    #expect(output.contains(words), "\(output)")
    #expect(!output.contains("to load it:") || output.contains("a=apostrophe"), "\(output)")
  }

  @Test(
    "Texts, and what SQL reads as it stands, are no finding",
    arguments: [
      "id;a\n1;x\n2;31/12/2024\n", "id;a\n1;2024-12-31\n2;2025-01-01\n", "id;a\n1;2.5\n2;3\n",
      "id;a\n1;030 123 456\n2;040 654 321\n", "id;a\n1;\n",
      "id;a\n1;31/02/2024\n2;31/02/2025\n", "id;a\n1;1.2.3\n2;1.2.4\n",
    ])
  func nothing(text: String) throws {
    let output = try inspect(text)
    #expect(!output.contains("reads them") && !output.contains("to load it:"), "\(output)")
  }

  @Test("What an option reads already is not proposed again, and strings of JSON are dates but no numbers")
  func given() throws {
    let text = "id;day;price\n1;31/12/2024;1,5\n"
    let output = try inspect(text, "in.csv", ["--date", "day=%d/%m/%Y", "--decimal", "comma"])
    #expect(!output.contains("reads them"), "\(output)")
    let json = try inspect(#"{"day":"31/12/2024","price":"1,5"}"# + "\n", "in.ndjson")
    #expect(json.contains("--date day=%d/%m/%Y reads them") && !json.contains("--decimal"), "\(json)")
  }

  @Test("A check finds the records that a load of a new table rejects, also by the types that are given")
  func check() throws {
    let path = scratch.write("id;p\n1;2,50\n2;1.200,00\n3;+1,5\n", to: "in.csv")
    let options = ["--decimal", "comma", "--type", "p:REAL"]
    let checked = try Command.run(["inspect", path, "--check"] + options)
    #expect(checked.exitCode == 65 && checked.output.contains("3 records, 1 with errors"), "\(checked.output)")
    let loaded = try Command.run(["load", scratch.file("d.db"), "t", path, "--on-error", "reject", "--rejects", "table"] + options)
    #expect(loaded.exitCode == 2)
    #expect(try Database(scratch.file("d.db")).rows("SELECT line, code FROM upsurge_rejects") == ["3|'bad-number'"])
    #expect(try Database(scratch.file("d.db")).rows("SELECT * FROM t") == ["1|2.5", "3|1.5"])
  }
}
