import Foundation
import TestSupport
import Testing

/// Counts of what there should be less of. A count may fall, never rise; whoever makes it fall writes the new one here.
@Suite struct RatchetTests {
  /// Literals that name an option of the command, in each module that the command is built on.
  static let optionLiterals: [String: Int] = [
    "Upsurge": 0, "UpsurgeBench": 0, "UpsurgeBulk": 0, "UpsurgeInput": 3, "UpsurgeMirror": 0,
    "UpsurgeParsing": 0,
    "UpsurgePlan": 0, "UpsurgePostgres": 0, "UpsurgeRecords": 0, "UpsurgeSQLite": 0, "UpsurgeState": 0,
    "UpsurgeStorage": 0,
  ]

  /// What looks like an option in a module and is none of the command's: options of the programs that a benchmark runs,
  /// and variables in the style sheets of pages.
  static let others: [String: Set<String>] = [
    "UpsurgeBench": [
      "csv", "pk", "schema", "skip", "version",
      "floor", "ink", "line", "pattern", "peer", "soft", "upsurge",
    ],
    "UpsurgeMirror": ["bad", "good", "inserted", "line", "rejected", "swept", "time", "updated"],
    "UpsurgeRecords": ["bad", "good", "ink", "line", "paper", "soft", "track"],
  ]

  @Test(
    "The engine's modules name no more options of the command than they did",
    arguments: optionLiterals.keys.sorted())
  func options(module: String) throws {
    let others = Self.others[module] ?? []
    var count = 0
    var met: Set<String> = []
    for file in try SourceTree.files(of: module) {
      for literal in SwiftLiterals(try SourceTree.bytes(file)).literals {
        let names = Self.options(in: literal.text)
        met.formUnion(names.intersection(others))
        if !names.isSubset(of: others) { count += 1 }
      }
    }
    #expect(count == Self.optionLiterals[module], "\(module): \(count); a lower count is written down here")
    #expect(met == others, "in no literal any more: \(others.subtracting(met).sorted())")
  }

  /// The words that follow two dashes in a text, as in `--key`.
  static func options(in text: String) -> Set<String> {
    var names: Set<String> = []
    var rest = text[...]
    while let range = rest.firstRange(of: "--") {
      let isOpening = range.lowerBound == text.startIndex || text[text.index(before: range.lowerBound)] != "-"
      rest = rest[range.upperBound...]
      guard isOpening, rest.first?.isLowercase == true else { continue }
      names.insert(String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "-" }))
    }
    return names
  }

  @Test("What counts as an option")
  func rules() {
    #expect(Self.options(in: "give --key COLS, --key-where=a") == ["key", "key-where"])
    #expect(Self.options(in: "a -- b").isEmpty && Self.options(in: "---a").isEmpty)
  }
}
