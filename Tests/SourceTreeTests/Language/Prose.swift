/// What counts as a sentence, and which words are said otherwise.
enum Prose {
  /// CONTRIBUTING.md has what to write instead.
  static let unwantedWords = [
    "behind", "in front of", "gone on with", "tells", "is none", "what hangs on", "as ever", "of one's own",
    "nobody disturbed",
  ]

  /// The unwanted words of a text, outside of its code.
  static func unwanted(in text: String) -> [String] {
    let words = withoutCode(text).lowercased().split { !($0.isLetter || $0 == "'") }
    let said = " " + words.joined(separator: " ") + " "
    return unwantedWords.filter { said.contains(" \($0) ") }
  }

  /// A text without what stands between backticks.
  private static func withoutCode(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 0 }
      .map { String($0.element) }
      .joined(separator: "code")
  }

  /// The words of each sentence of a page or comment; code, tables, headings and HTML comments are left out.
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

  /// Sentences of more than 40 words. None is shorter because of a colon in it.
  static func tooLong(in text: String) -> [String] {
    sentences(of: text, ends: ".!?").filter { $0.count > 40 }.map {
      "\n\($0.count): " + $0.joined(separator: " ")
    }
  }
}
