import Foundation
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeCommand

/// What commands declare is what the catalogue says.
@Suite("The catalogue of options")
struct OptionCatalogueTests {
  /// What the argument parser knows of an option.
  private struct Declared {
    var option: [String: Any]

    var name: String { (option["preferredName"] as? [String: Any])?["name"] as? String ?? "" }
    var isFlag: Bool { option["kind"] as? String == "flag" }
    var isRepeating: Bool { option["isRepeating"] as? Bool == true }
    var words: [String] { option["allValues"] as? [String] ?? [] }
    var title: String? { option["sectionTitle"] as? String }
  }

  private static let commands: [(name: String, dump: @Sendable () -> String)] = [
    ("load", { LoadCommand._dumpHelp() }), ("mirror", { MirrorCommand._dumpHelp() }),
    (MirrorInitCommand.name, { MirrorInitCommand._dumpHelp() }), ("inspect", { InspectCommand._dumpHelp() }),
    ("runs", { RunsCommand._dumpHelp() }), ("replay", { ReplayCommand._dumpHelp() }),
    ("status", { StatusCommand._dumpHelp() }), ("migrate-keys", { MigrateKeysCommand._dumpHelp() }),
    ("bench", { BenchCommand._dumpHelp() }),
  ]

  private static func options(in dump: String) throws -> [Declared] {
    let dump = try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any]
    let arguments = (dump?["command"] as? [String: Any])?["arguments"] as? [[String: Any]] ?? []
    return arguments.map(Declared.init).filter { !["", "help", "help-all", "version"].contains($0.name) }
  }

  @Test("Each command has the options of its topics, and no others", arguments: commands.indices)
  func declarations(index: Int) throws {
    let command = Self.commands[index]
    let declared = try Self.options(in: command.dump())
    let known = OptionCatalogue.options(of: command.name)
    #expect(Set(declared.map(\.name)) == Set(known.map(\.name)))
    #expect(declared.count == known.count)
    for option in declared {
      let specification = try #require(known.first { $0.name == option.name }, "\(option.name)")
      #expect(option.isFlag == specification.isFlag, "\(option.name)")
      #expect(option.isRepeating == specification.isRepeatable, "\(option.name)")
      #expect(option.words == specification.words, "\(option.name)")
      #expect(option.title == specification.topic.title, "\(option.name)")
    }
  }

  @Test("Every option is of a command, and those of one name are of different ones")
  func all() {
    for option in OptionCatalogue.all {
      let others = OptionCatalogue.all.filter { $0.term == option.term && $0.topic != option.topic }
      for other in others {
        #expect(other.topic.commands.isDisjoint(with: option.topic.commands), "\(option.name)")
      }
      #expect(!option.help.isEmpty || option.isHidden, "\(option.name)")
      // The form says it, and help shows it; a key of a job file is not given again.
      #expect(!option.help.contains("given again"), "\(option.name)")
    }
    #expect(Set(OptionCatalogue.all.map(\.term)) == Set(Term.allCases))
  }

  @Test("A number of --suspicious may be given again, as its help says")
  func suspicious() throws {
    let words = ["mirror", "a.db", "--table", "t", "--suspicious", "5", "--suspicious", "7", "--table", "u"]
    #expect(RepeatedOption.first(in: words) == nil)
    let command = try MirrorCommand.parse(Array(GatheredWords.gather(words).dropFirst()))
    #expect(command.options.guards.suspicious == [5, 7])
    #expect(command.tables == ["t", "u"])
    #expect(RepeatedOption.first(in: ["mirror", "a.db", "--sweep", "hard", "--sweep", "none"]) == "--sweep")
    #expect(RepeatedOption.first(in: ["bench", "--json", "a", "--json", "b"]) == "--json")
  }
}
