import TestSupport
import Testing

@testable import UpsurgeCommand

/// What help shows as an example works when it is typed.
@Suite("Examples of the help")
struct HelpExampleTests {
  private let scratch = Scratch()

  /// Runs lines of a shell in the folder of the test, in which `upsurge` is the command.
  private func run(_ lines: [String]) throws -> Command.Outcome {
    let folder = scratch.file("")
    return try Command.run(
      [], script: "cd '\(folder)' && upsurge() { \"$UPSURGE\" \"$@\"; } && UPSURGE=\"$0\" && \(lines.joined(separator: "\n"))")
  }

  /// Files and tables that the examples name.
  private func prepare() throws {
    _ = scratch.write("id,customer,total\n1,Ann,9.5\n2,Bob,12\n", to: "orders.csv")
    _ = scratch.write("id,city\n1,Moss\n2,Oslo,surplus\n3,Bergen\n", to: "dirty.csv")
    _ = scratch.write("id,name\n1,Ann\n2,Bob\n", to: "feed.csv")
    _ = scratch.write("id,name\n1,Ann\n2,Bob\n", to: "people.csv")
    try Database(scratch.file("app.db")).rows(
      "CREATE TABLE lists(id INTEGER PRIMARY KEY, title TEXT);"
        + "CREATE TABLE reminders(id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists, text TEXT);"
        + "INSERT INTO lists VALUES (1, 'home'); INSERT INTO reminders VALUES (1, 1, 'milk')")
  }

  /// What an example ends with that is no success.
  private static let exits: [String: Int32] = [
    "upsurge load shop.db people dirty.csv --on-error reject --rejects bad.ndjson": 2,
    "upsurge replay shop.db bad.ndjson": 2,
  ]

  @Test("Those of all commands but bench run one after another, as they stand there")
  func examples() throws {
    try prepare()
    let guides: [CommandGuide] = [.load, .inspect, .mirrorInit, .mirror, .runs, .status, .replay, .migrateKeys]
    for guide in guides {
      #expect((1...3).contains(guide.examples.count), "\(guide.command)")
      for example in guide.examples where !example.hasPrefix("sqlite3 ") || Tool.exists("sqlite3") {
        let outcome = try run([example])
        #expect(outcome.exitCode == Self.exits[example] ?? 0, "\(example): \(outcome.talk)")
      }
    }
  }

  @Test("Those of upsurge itself run")
  func root() throws {
    try prepare()
    _ = scratch.write("tables:\n  people:\n    source: people.csv\n    key: [id]\n", to: "job.yaml")
    for example in CommandGuide.root.examples {
      let outcome = try run([example])
      #expect(outcome.exitCode == 0, "\(example): \(outcome.talk)")
    }
  }

  @Test("Every example of every command has options that there are")
  func options() throws {
    for guide in CommandGuide.commands {
      let lines = guide.sections.flatMap { Paragraph.all(of: $0.text) }.flatMap { paragraph -> [String] in
        if case .code(let lines) = paragraph { lines } else { [] }
      }
      for line in guide.examples + lines where line.contains("upsurge ") {
        let words = line.split(separator: " ").map(String.init)
        let place = try #require(words.firstIndex(of: "upsurge")) + 1
        let names = [words[place...].prefix(2).joined(separator: " "), words[place]]
        let owner = try #require(names.lazy.compactMap(CommandGuide.of).first, "\(line)")
        let known = Set(owner.options.map(\.option))
        for word in words[place...].prefix(while: { $0 != "|" }) where word.hasPrefix("--") {
          #expect(known.contains(String(word.prefix { $0 != "=" })), "\(line): \(word)")
        }
      }
    }
  }
}
