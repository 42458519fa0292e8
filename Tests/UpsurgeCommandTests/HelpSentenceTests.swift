import Testing

@testable import UpsurgeCommand

/// Help is read by people in a hurry.
@Suite("Sentences of the help")
struct HelpSentenceTests {
  /// All that the catalogue says, each text with its place.
  private static var texts: [(place: String, text: String)] {
    var texts = OptionCatalogue.all.map { (place: "\($0.topic) \($0.option)", text: $0.help) }
    for guide in [CommandGuide.root] + CommandGuide.commands {
      texts.append((guide.command, guide.abstract))
      texts += guide.arguments.map { ("\(guide.command) \($0.name)", $0.help) }
      texts += guide.endings.map { ("\(guide.command) \($0.codes)", $0.meaning) }
      for section in guide.sections {
        for case .prose(let text) in Paragraph.all(of: section.text) { texts.append(("\(guide.command) \(section.word)", text)) }
      }
    }
    return texts
  }

  /// The words of each sentence. A colon ends one where a list or an explanation follows, as in the articles.
  static func sentences(of text: String) -> [[Substring]] {
    var sentences: [[Substring]] = [[]]
    for word in text.split(separator: " ") {
      sentences[sentences.count - 1].append(word)
      let bare = word.reversed().drop { "`)\"'".contains($0) }
      if let end = bare.first, ".!?:".contains(end) { sentences.append([]) }
    }
    return sentences.filter { !$0.isEmpty }
  }

  @Test("None is longer than 40 words, half of them have at most 15, and nine of ten fewer than 26")
  func lengths() {
    var lengths: [Int] = []
    for (place, text) in Self.texts {
      for sentence in Self.sentences(of: text) {
        #expect(sentence.count <= 40, "\(place): \(sentence.joined(separator: " "))")
        lengths.append(sentence.count)
      }
    }
    lengths.sort()
    #expect(lengths.count > 300)
    #expect(lengths[lengths.count / 2] <= 15, "the median is \(lengths[lengths.count / 2])")
    #expect(lengths[lengths.count * 9 / 10] < 26, "the ninth of ten is \(lengths[lengths.count * 9 / 10])")
  }

  @Test("No semicolon joins what could be two sentences")
  func semicolons() {
    let joined = Self.texts.filter { $0.text.contains("; ") }.map(\.place)
    #expect(joined.count <= 4, "\(joined)")
  }

  @Test("What stands for a value is in capitals, or a word that is typed as it is")
  func valueNames() {
    for option in OptionCatalogue.all where !option.isFlag {
      let name = option.valueName
      #expect(!name.isEmpty && name.utf8.count <= 24, "\(option.option)")
      let typed = Set(option.words.map { $0.prefix { $0 != ":" } } + ["table", "none", "auto", "diff"])
      let words = name.split { !($0.isLetter || $0.isNumber) }
      #expect(words.allSatisfy { $0 == $0.uppercased() || typed.contains($0) }, "\(option.option) \(name)")
    }
  }
}
