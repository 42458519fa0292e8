import Foundation
import TestSupport
import Testing

/// Counts of what there should be less of. A count may fall, never rise; whoever makes it fall writes the new one here.
@Suite struct RatchetTests {
  /// Literals that name an option of the command, in each module that the command is built on.
  static let optionLiterals: [String: Int] = [
    "Upsurge": 0, "UpsurgeBench": 0, "UpsurgeBulk": 0, "UpsurgeInput": 3, "UpsurgeMirror": 0, "UpsurgeParsing": 0,
    "UpsurgePlan": 0, "UpsurgePostgres": 0, "UpsurgeRecords": 0, "UpsurgeSQLite": 0, "UpsurgeState": 0, "UpsurgeStorage": 0,
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

  /// Words that pages say otherwise; CONTRIBUTING.md has what to write instead.
  static let unwantedWords = [
    "behind", "in front of", "gone on with", "tells", "is none", "what hangs on", "as ever", "of one's own",
    "nobody disturbed",
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

  /// README, articles, and what is said beside them.
  static func pages() throws -> [URL] {
    try ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map { SourceTree.root.appendingPathComponent($0) }
      + SourceTree.files(under: "Sources", ending: "md")
  }

  @Test("Half the sentences of a page have at most 15 words, nine in ten fewer than 26, none more than 40")
  func sentences() throws {
    for page in try Self.pages() {
      let text = try String(contentsOf: page, encoding: .utf8)
      let sentences = Self.sentences(of: text)
      let counts = sentences.map(\.count).sorted()
      let name = page.lastPathComponent
      if counts.isEmpty { continue }
      #expect(counts[counts.count / 2] <= 15, "\(name)")
      #expect(counts.count { $0 >= 26 } * 10 <= counts.count, "\(name): \(Self.shown(sentences, from: 26))")
      // Nor is one longer with what follows its colon.
      let long = Self.sentences(of: text, ends: ".!?").filter { $0.count > 40 }
      #expect(long.isEmpty, "\(name): \(Self.shown(long, from: 41))")
    }
  }

  @Test("Pages do without the words that CONTRIBUTING.md lists")
  func words() throws {
    for page in try Self.pages() {
      let text = try Self.sentences(of: String(contentsOf: page, encoding: .utf8)).joined().joined(
        separator: " ")
      let said = " " + Self.withoutCode(text).lowercased() + " "
      for word in Self.unwantedWords {
        let isSaid = [" ", ".", ",", ":", ";", ")", "*"].contains { said.contains(" \(word)\($0)") }
        #expect(!isSaid, "\(page.lastPathComponent) says: \(word)")
      }
    }
  }

  private static func shown(_ sentences: [[Substring]], from limit: Int) -> String {
    sentences.filter { $0.count >= limit }.map { "\n\($0.count): " + $0.joined(separator: " ") }.joined()
  }

  /// A text without what stands between backticks.
  private static func withoutCode(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 0 }
      .map { String($0.element) }
      .joined(separator: "code")
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

  /// The words of each sentence of a page; code, tables, headings and HTML comments are left out.
  /// - Parameter ends: the signs that end a sentence.
  static func sentences(of page: String, ends: String = ".!?:") -> [[Substring]] {
    var (sentences, words, isCode, isComment): ([[Substring]], [Substring], Bool, Bool) = (
      [], [], false, false
    )
    func isEnd(_ word: Substring) -> Bool {
      let bare = word.reversed().drop { "*_`)\"".contains($0) }
      return bare.first.map(ends.contains) ?? false
    }
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      let isFence = text.hasPrefix("```")
      if isFence { isCode.toggle() }
      let wasComment = isComment || (!isCode && text.hasPrefix("<!--"))
      isComment = wasComment && !text.contains("-->")
      let isProse =
        !isCode && !isFence && !wasComment && !line.hasPrefix("    ") && !text.hasPrefix("|")
        && !text.hasPrefix("#") && !text.isEmpty
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
    #expect(Self.sentences(of: "<!-- not\nthis -->\nBut this.").map(\.count) == [2])
    let page =
      "# A title\n\nOne sentence\nover two lines. Another one:\n\n    code here\n- an item\n| a | table |\n```\nx\n```\nLast `one.`\n"
    #expect(Self.sentences(of: page).map(\.count) == [5, 2, 3, 2])
  }
}
