import Foundation
import TestSupport
import Testing

/// `upsurge load DB FILE`: the table is missing, and the file stands in its place.
@Suite("A load without a table", .serialized)
struct MissingTableNameTests {
  let scratch = Scratch()
  private var path: String { scratch.file("d.db") }

  private static let text = "id,a\n1,x\n"

  /// Runs in the folder of the files.
  private func run(_ arguments: [String], input: String = "") throws -> Command.Outcome {
    try Command.run(
      arguments, input: Array(input.utf8), script: "cd '\(scratch.path)' && exec \"$0\" \"$@\"")
  }

  @Test("It is refused, and the command that it shows loads the file")
  func refused() throws {
    _ = scratch.write(Self.text, to: "in.csv")
    let outcome = try run(["load", "d.db", "in.csv"], input: "")
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(outcome.talk.contains("upsurge: in.csv is a file, and no table is named\n"), "\(outcome.talk)")
    #expect(outcome.talk.contains("  fix: upsurge load d.db in in.csv; "), "\(outcome.talk)")
    #expect(try run(["load", "d.db", "in", "in.csv"]).exitCode == 0)
    #expect(try Database(path).rows("SELECT * FROM \"in\"") == ["1|'x'"])
  }

  @Test(
    "The table is called as the file is, without folder and endings; what is no plain name is left to the user",
    arguments: [("sub/orders.csv.gz", "orders sub/orders.csv.gz"), ("2024.csv", "TABLE 2024.csv"), ("é.csv", "TABLE 'é.csv'")])
  func proposed(file: String, words: String) throws {
    try FileManager.default.createDirectory(atPath: scratch.file("sub"), withIntermediateDirectories: true)
    _ = scratch.write(Self.text, to: file)
    let outcome = try run(["load", "d.db", file])
    #expect(outcome.exitCode == 64 && outcome.talk.contains("  fix: upsurge load d.db \(words); "), "\(outcome.talk)")
  }

  @Test("The URL of a server is shown without its password")
  func server() throws {
    _ = scratch.write(Self.text, to: "in.csv")
    let outcome = try run(["load", "postgres://u:sesame@127.0.0.1:1/d", "in.csv"])
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(outcome.talk.contains("  fix: upsurge load postgres://u@127.0.0.1:1/d in in.csv; "), "\(outcome.talk)")
    #expect(!outcome.talk.contains("sesame"))
  }

  @Test("Standard input goes into a table of that name where it is said")
  func standardInput() throws {
    _ = scratch.write(Self.text, to: "in.csv")
    let outcome = try run(["load", "d.db", "in.csv", "-"], input: Self.text)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      outcome.talk.contains("warning: in.csv is taken for the table, and is a file;"), "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT * FROM \"in.csv\"") == ["1|'x'"])
  }

  @Test("A table that is called as a file without a suffix is a table, where something is piped in")
  func plainName() throws {
    _ = scratch.write(Self.text, to: "orders")
    let outcome = try run(["load", "d.db", "orders"], input: Self.text)
    #expect(outcome.exitCode == 0 && !outcome.talk.contains("is a file"), "\(outcome.talk)")
  }

  @Test("Two files without a table are noted, as the first one is taken for it")
  func twoFiles() throws {
    _ = scratch.write(Self.text, to: "in.csv")
    let outcome = try run(["load", "d.db", "in.csv", "in.csv"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      outcome.talk.contains("if the table is missing: upsurge load d.db in in.csv …"), "\(outcome.talk)")
  }

  /// What is said where standard input is read, and a file has the table's name.
  private static let taken =
    "orders is taken for the table, and records come from standard input; to load the file orders: upsurge load d.db orders orders\n"

  @Test("Where nothing came from standard input, the table's name is said to be that of a file, too")
  func emptyInput() throws {
    _ = scratch.write(Self.text, to: "orders")
    let outcome = try run(["load", "d.db", "orders"])
    #expect(outcome.exitCode != 0 && outcome.talk.contains(Self.taken), "\(outcome.talk)")
    #expect(try run(["load", "d.db", "orders", "orders"]).exitCode == 0)
  }

  @Test("So it is while nothing comes")
  func waiting() throws {
    _ = scratch.write(Self.text, to: "orders")
    #expect(mkfifo(scratch.file("pipe"), 0o600) == 0)
    let descriptor = open(scratch.file("pipe"), O_RDWR | O_CLOEXEC)
    let log = scratch.file("log")
    let child = try Command.start(
      ["load", "d.db", "orders"], inputPath: scratch.file("pipe"),
      script: "cd '\(scratch.path)' && exec \"$0\" \"$@\" 2> '\(log)'")
    func talk() -> String { (try? readFile(log)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
    for _ in 0..<3_000 where !talk().contains(Self.taken) { usleep(10_000) }
    #expect(talk().contains(Self.taken), "\(talk())")
    #expect(child.isRunning)
    child.send(signal: SIGTERM)
    #expect(try child.finish().exitCode == 128 + SIGTERM)
    close(descriptor)
    #expect(talk().components(separatedBy: Self.taken).count == 2, "\(talk())")
  }

  @Test("A file that is not there is said to be taken for the table")
  func missingFile() throws {
    let outcome = try run(["load", "d.db", "missing.csv.gz"])
    #expect(outcome.exitCode != 0)
    #expect(
      outcome.talk.hasPrefix("warning: missing.csv.gz is taken for the table; there is no such file\n"), "\(outcome.talk)")
  }

  @Test("At a terminal a load says what it waits for, and into which table")
  func terminal() throws {
    let session = try Command.runOnTerminal(["load", path, "orders"], seconds: 5)
    #expect(
      session.screen.contains(
        "waits for records of table orders from the terminal, which Ctrl-D ends; a SOURCE after the table is read instead"),
      "\(session.screen)")
  }
}
