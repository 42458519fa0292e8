import Foundation
import TestSupport
import Testing

/// Counts of what there should be less of. A count may fall, never rise; whoever makes it fall writes the new one here.
@Suite struct RatchetTests {
  /// Literals that name an option of the command, in each module that the command is built on.
  static let optionLiterals: [String: Int] = [
    "Upsurge": 0, "UpsurgeBench": 0, "UpsurgeBulk": 0, "UpsurgeInput": 3, "UpsurgeMirror": 0, "UpsurgeParsing": 0,
    "UpsurgePostgres": 0, "UpsurgeRecords": 0, "UpsurgeStorage": 0,
  ]

  /// What looks like an option in a module and is none of the command's: options of the programs that a benchmark runs,
  /// and variables in the style sheet of its page.
  static let others: [String: Set<String>] = [
    "UpsurgeBench": [
      "csv", "pk", "schema", "skip", "version",
      "floor", "ink", "line", "paper", "pattern", "peer", "soft", "upsurge",
    ]
  ]

  /// Sentences of more than 40 words, in each page.
  static let longSentences = [
    "README.md": 19, "JobFiles.md": 6, "ResumingLoads.md": 1, "UpsertingRecords.md": 1, "UpsurgeModels.md": 1,
  ]

  @Test("The engine's modules name no more options of the command than they did", arguments: optionLiterals.keys.sorted())
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

  @Test("No page has more long sentences than it had")
  func sentences() throws {
    var counts: [String: Int] = [:]
    var pages = try SourceTree.files(under: "Sources", ending: "md")
    pages += ["README.md", "CONTRIBUTING.md"].map { SourceTree.root.appendingPathComponent($0) }
    for page in pages {
      let count = try Self.sentences(of: String(contentsOf: page, encoding: .utf8)).count { $0.count > 40 }
      if count > 0 { counts[page.lastPathComponent] = count }
    }
    #expect(counts == Self.longSentences, "\(counts); lower counts are written down here")
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

  /// The words of each sentence of a page; code, tables and headings are left out.
  static func sentences(of page: String) -> [[Substring]] {
    var (sentences, words, isCode): ([[Substring]], [Substring], Bool) = ([], [], false)
    func isEnd(_ word: Substring) -> Bool {
      let bare = word.reversed().drop { "*_`)\"".contains($0) }
      return bare.first.map { ".!?:".contains($0) } ?? false
    }
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      let isFence = text.hasPrefix("```")
      if isFence { isCode.toggle() }
      let isProse = !isCode && !isFence && !line.hasPrefix("    ") && !text.hasPrefix("|") && !text.hasPrefix("#") && !text.isEmpty
      if !isProse || text.hasPrefix("- ") || text.hasPrefix("* ") {
        if !words.isEmpty { sentences.append(words) }
        words = []
        if !isProse { continue }
      }
      for word in text.split(separator: " ") {
        words.append(word)
        if isEnd(word) {
          sentences.append(words)
          words = []
        }
      }
    }
    if !words.isEmpty { sentences.append(words) }
    return sentences
  }

  @Test("What counts as an option and as a sentence")
  func rules() {
    #expect(Self.options(in: "give --key COLS, --key-where=a") == ["key", "key-where"])
    #expect(Self.options(in: "a -- b").isEmpty && Self.options(in: "---a").isEmpty)
    let page = "# A title\n\nOne sentence\nover two lines. Another one:\n\n    code here\n- an item\n| a | table |\n```\nx\n```\nLast `one.`\n"
    #expect(Self.sentences(of: page).map(\.count) == [5, 2, 3, 2])
  }
}
