import Foundation
import Testing

/// What pages say, counted: a sentence may be no longer, and some words are not for them.
@Suite struct RatchetTests {
  /// Words that pages say otherwise; CONTRIBUTING.md has what to write instead.
  static let unwantedWords = [
    "behind", "in front of", "gone on with", "tells", "is none", "what hangs on", "as ever", "of one's own",
    "nobody disturbed",
  ]

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

  @Test("What counts as a sentence")
  func rules() {
    #expect(Self.sentences(of: "<!-- not\nthis -->\nBut this.").map(\.count) == [2])
    let page =
      "# A title\n\nOne sentence\nover two lines. Another one:\n\n    code here\n- an item\n| a | table |\n```\nx\n```\nLast `one.`\n"
    #expect(Self.sentences(of: page).map(\.count) == [5, 2, 3, 2])
  }
}
