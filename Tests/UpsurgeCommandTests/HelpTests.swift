import Foundation
import TestSupport
import Testing

@testable import UpsurgeCommand

/// What people read of the options, whole: a change of the command's help or of the schema of job files is seen as such.
///
/// A change that is meant is recorded with `UPSURGE_RECORD=1 swift test --filter HelpTests`.
@Suite("The help of each command")
struct HelpTests {
  private static let folder =
    (#filePath.split(separator: "/").dropLast().map { "/" + $0 }).joined() + "/Fixtures/Help/"

  private func compare(_ text: String, with name: String) throws {
    if ProcessInfo.processInfo.environment["UPSURGE_RECORD"] != nil {
      try text.write(toFile: Self.folder + name, atomically: true, encoding: .utf8)
    }
    let kept = try String(decoding: readFile(Self.folder + name), as: UTF8.self)
    let (lines, keptLines) = (text.components(separatedBy: "\n"), kept.components(separatedBy: "\n"))
    for (index, line) in keptLines.enumerated() where index >= lines.count || lines[index] != line {
      Issue.record(
        "\(name), line \(index + 1): \(index < lines.count ? lines[index] : "missing"), was \(line)")
      break
    }
    #expect(text == kept)
  }

  /// What the command prints in 80 columns.
  private func help(_ words: [String]) throws -> String {
    let outcome = try Command.run(words, script: "COLUMNS=80 exec \"$0\" \"$@\"")
    #expect(outcome.exitCode == 0 && outcome.talk.isEmpty, "\(outcome.talk)")
    return outcome.output
  }

  @Test(
    "It is what was recorded",
    arguments: [
      [], ["load"], ["mirror"], ["mirror", "init"], ["inspect"], ["runs"], ["replay"], ["status"],
      ["migrate-keys"], ["bench"],
    ])
  func short(words: [String]) throws {
    let help = try help(words + ["--help"])
    try compare(help, with: (words.isEmpty ? "upsurge" : words.joined(separator: "-")) + ".txt")
    #expect(try self.help(words + ["-h"]) == help)
    #expect(try self.help(["help"] + words) == help)
    let lines = help.split(separator: "\n")
    #expect(lines.count <= 66, "one page of paper")
    #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("  upsurge ") }, "lines fit")
  }

  @Test("So is the help that shows every option", arguments: ["load", "mirror"])
  func all(command: String) throws { try compare(help([command, "--help-all"]), with: "\(command)-all.txt") }

  @Test("So is that of a topic")
  func topic() throws { try compare(help(["help", "mirror", "guards"]), with: "mirror-guards.txt") }

  @Test("Hidden options are shown by --help-hidden alone")
  func hidden() throws {
    try compare(help(["load", "--help-hidden"]), with: "load-hidden.txt")
    #expect(!(try help(["load", "--help-all"])).contains("--rows-per-statement"))
  }

  @Test("So is the schema of job files")
  func schema() throws { try compare(JobSchema.text, with: "job-schema.json") }

  @Test("Without words the command explains itself")
  func none() throws { #expect(try help([]) == help(["--help"])) }

  @Test("Help is asked for wherever its word stands, but not after --, and not as a value")
  func places() throws {
    let help = try help(["load", "--help"])
    #expect(try self.help(["load", "a.db", "t", "--key", "id", "--help", "--nonsense"]) == help)
    #expect(try self.help(["load", "-vh"]) == help)
    for words in [["load", "no.db/x", "t", "--", "--help"], ["load", "no.db/x", "t", "--null=-h"]] {
      #expect(try Command.run(words).output.isEmpty, "\(words)")
    }
  }

  @Test(
    "A command or topic that there is not says those that there are",
    arguments: [
      (["help", "lod"], "there is no command lod; did you mean load?\n  commands: load, mirror, mirror init"),
      (["help", "guards"], "guards is a topic of a command: upsurge help mirror guards"),
      (["help", "mirror", "gards"], "mirror has no topic gards; did you mean guards?\n  topics: job, feed, guards"),
      (["help", "runs", "x"], "runs has no topic x\n  topics: options, about, exit-codes"),
    ])
  func unknown(words: [String], message: String) throws {
    let outcome = try Command.run(words)
    #expect(outcome.exitCode == 64 && outcome.output.isEmpty)
    #expect(outcome.talk.hasPrefix("upsurge: \(message)"), "\(outcome.talk)")
    #expect(outcome.talk.contains("\n  see: upsurge ") && outcome.talk.hasSuffix("--help\n"), "\(outcome.talk)")
  }

  @Test("Every topic of every command shows something, and an option is a topic, too")
  func topics() throws {
    for guide in CommandGuide.commands {
      let topics = HelpText.topics(of: guide)
      #expect(Set(topics).count == topics.count, "\(guide.name): \(topics)")
      let help = HelpText(guide: guide, defaults: [:], columns: TextColumns(width: 80), isColoured: false)
      for word in topics { #expect((help.topic(word) ?? "").split(separator: "\n").count > 1, "\(guide.name) \(word)") }
      for option in guide.options { #expect(help.topic(option.option) != nil, "\(option.option)") }
      #expect(help.topic("nonsense") == nil)
      #expect(guide.shownOptions.count == (guide.essentials.isEmpty ? guide.options.count : guide.essentials.count))
      #expect(guide.essentials.count <= 12)
    }
  }

  @Test("Each subcommand has a guide, and its arguments")
  func guides() {
    let parsed = Root.configuration.subcommands.map { $0._commandName }.filter { $0 != "pages" }
    #expect(Set(parsed) == Set(CommandGuide.commands.map(\.parsedName)))
    #expect(parsed.count == CommandGuide.commands.count)
  }

  @Test("An unknown option is told the one that was meant")
  func suggestions() throws {
    let meant = [
      ("--fromat", "--format"), ("--help-al", "--help-all"), ("--kye", "--key"), ("--reject", "--rejects"), ("--on-eror=x", "--on-error"),
      ("--delim", "--delimiter"), ("--sep=;", "--delimiter"), ("--busytimeout", "--busy-timeout"), ("--limit", "--stop-after"),
      ("--primary-key", "--key"), ("--max-errors", "--max-rejects"),
    ]
    for (word, meant) in meant {
      let outcome = try Command.run(["load", "a.db", "t", word])
      #expect(outcome.exitCode == 64 && outcome.talk.contains("Did you mean '\(meant)'?"), "\(outcome.talk)")
    }
    for word in ["--having", "--xyzzy", "--truncate"] {
      let outcome = try Command.run(["load", "a.db", "t", word])
      #expect(outcome.exitCode == 64 && outcome.talk.contains("Unknown option '\(word)'\n"), "\(outcome.talk)")
    }
  }

  @Test("An unknown command is told the one that was meant, and all there are")
  func unknownCommand() throws {
    let outcome = try Command.run(["laod", "a.db", "t", "a.csv"])
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(
      outcome.talk.hasPrefix("upsurge: there is no command laod; did you mean load?\n  commands: load, mirror, mirror init"),
      "\(outcome.talk)")
    for (word, meant) in [("insert", "load"), ("import", "load"), ("tables", "inspect"), ("stat", "status")] {
      for words in [[word, "a.db"], ["help", word]] {
        let outcome = try Command.run(words)
        #expect(outcome.exitCode == 64 && outcome.talk.contains("; did you mean \(meant)?\n"), "\(outcome.talk)")
      }
    }
    let other = try Command.run(["xyzzy"])
    #expect(other.exitCode == 64 && other.talk.hasPrefix("upsurge: there is no command xyzzy\n"), "\(other.talk)")
  }

  @Test("Help on a full disk is an error")
  func fullDisk() throws {
    let outcome = try Command.run(["load", "--help"], script: "exec \"$0\" \"$@\" > /dev/full")
    #expect(outcome.exitCode == 73 && outcome.talk.contains("cannot write to standard output"), "\(outcome.talk)")
  }
}
