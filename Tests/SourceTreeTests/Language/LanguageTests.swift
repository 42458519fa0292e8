import Foundation
import Testing

/// Plain English in all that people read: pages, help, messages, hints and doc comments.
@Suite("Language")
struct LanguageTests {
  /// A text of the sources, and the file and module that it stands in.
  private struct Piece {
    var module: String
    var place: String
    var text: String
  }

  /// README, articles, and what is said beside them.
  static func pages() throws -> [URL] {
    let names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Benchmarks/README.md"]
    return try names.map { SourceTree.root.appendingPathComponent($0) }
      + SourceTree.files(under: "Sources", ending: "md")
  }

  /// Each Swift file below Sources by its path there.
  private static let files: Result<[(path: String, bytes: [UInt8])], any Error> = Result {
    let root = SourceTree.root.appendingPathComponent("Sources").path + "/"
    return try SourceTree.files(under: "Sources", ending: "swift").map {
      (path: String($0.path.dropFirst(root.count)), bytes: try SourceTree.bytes($0))
    }
  }

  private static let comments: Result<[Piece], any Error> = files.map { files in
    files.flatMap { path, bytes in
      DocComment.all(of: bytes).map {
        Piece(module: module(of: path), place: "\(path):\($0.line)", text: $0.text)
      }
    }
  }

  /// All that is written between quotes: errors, notes, hints, the help, and what is not for people.
  private static let literals: Result<[Piece], any Error> = files.map { files in
    files.flatMap { path, bytes in
      let literals = SwiftLiterals(bytes)
      return literals.texts(in: literals.code.indices, withCalls: true).map {
        Piece(module: module(of: path), place: path, text: $0)
      }
    }
  }

  private static func module(of path: String) -> String { String(path.prefix { $0 != "/" }) }

  /// Whether a literal is for people: several words, of which the first is not one of SQL or HTML.
  private static func isSaid(_ text: String) -> Bool {
    let words = text.split { $0 == " " || $0 == "\n" }
    guard words.count > 2, let first = words.first?.first, first != "<", first != "(" else { return false }
    return words[0].count == 1 || !words[0].allSatisfy(\.isUppercase)
  }

  // MARK: - Sentences

  /// Half the sentences have at most 15 words, and nine in ten fewer than 26.
  private static func expectShort(_ sentences: [[Substring]], _ name: String) {
    let counts = sentences.map(\.count).sorted()
    if counts.isEmpty { return }
    #expect(counts[counts.count / 2] <= 15, "\(name)")
    let long = sentences.filter { $0.count >= 26 }
    let shown = long.map { "\n\($0.count): " + $0.joined(separator: " ") }.joined()
    #expect(long.count * 10 <= counts.count, "\(name): \(shown)")
  }

  private static func expectShort(_ pieces: [Piece]) {
    for (module, pieces) in Dictionary(grouping: pieces, by: \.module) {
      expectShort(pieces.flatMap { Prose.sentences(of: $0.text) }, module)
    }
    let long = pieces.flatMap { piece in Prose.tooLong(in: piece.text).map { piece.place + $0 } }
    #expect(long == [])
  }

  @Test("Half the sentences of a page have at most 15 words, nine in ten fewer than 26, none more than 40")
  func pageSentences() throws {
    for page in try Self.pages() {
      let text = try String(contentsOf: page, encoding: .utf8)
      Self.expectShort(Prose.sentences(of: text), page.path)
      #expect(Prose.tooLong(in: text) == [], "\(page.path)")
    }
  }

  @Test("So have the sentences of each module's doc comments")
  func commentSentences() throws {
    let comments = try Self.comments.get()
    #expect(comments.count > 7_000)
    Self.expectShort(comments)
  }

  /// The help's are counted by `HelpSentenceTests`, too, as they are printed.
  @Test("So have those of each module's messages, notes, hints and help")
  func literalSentences() throws {
    let said = try Self.literals.get().filter { Self.isSaid($0.text) }
    #expect(said.count > 2_500)
    Self.expectShort(said)
  }

  // MARK: - Words

  private static func expectPlain(_ pieces: [Piece]) {
    let unwanted = pieces.compactMap { piece -> String? in
      let words = Prose.unwanted(in: piece.text)
      return words.isEmpty ? nil : "\(piece.place) says \(words.joined(separator: ", ")): \(piece.text)"
    }
    #expect(unwanted == [])
  }

  @Test("Pages do without the words that CONTRIBUTING.md lists")
  func pageWords() throws {
    for page in try Self.pages() {
      let sentences = Prose.sentences(of: try String(contentsOf: page, encoding: .utf8))
      #expect(Prose.unwanted(in: sentences.joined().joined(separator: " ")) == [], "\(page.path)")
    }
  }

  @Test("So do doc comments")
  func commentWords() throws { Self.expectPlain(try Self.comments.get()) }

  @Test("So do messages, notes and hints")
  func literalWords() throws { Self.expectPlain(try Self.literals.get()) }

  @Test("So does the help as it is printed")
  func helpWords() throws {
    let help = try SourceTree.files(under: "Tests/UpsurgeCommandTests/Fixtures/Help", ending: "txt")
    #expect(help.count > 10)
    for page in help {
      #expect(
        Prose.unwanted(in: try String(contentsOf: page, encoding: .utf8)) == [], "\(page.lastPathComponent)")
    }
  }

  @Test("A doc comment stands alone: none refers to the one before it by \"The same\"")
  func alone() throws {
    #expect(try Self.comments.get().filter { $0.text.hasPrefix("The same") }.map(\.place) == [])
  }

  @Test("CONTRIBUTING.md lists each unwanted word, with what to write instead")
  func table() throws {
    let page = try String(
      contentsOf: SourceTree.root.appendingPathComponent("CONTRIBUTING.md"), encoding: .utf8)
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    let head = try #require(lines.firstIndex(of: "| not | but |"))
    let rows = lines[(head + 2)...].prefix { $0.hasPrefix("|") }
    let listed = rows.map { row in Prose.unwanted(in: String(row.split(separator: "|")[0])) }
    #expect(listed == Prose.unwantedWords.map { [$0] })
  }

  // MARK: - What counts

  @Test("What counts as a sentence")
  func sentences() {
    #expect(Prose.sentences(of: "<!-- not\nthis -->\nBut this.").map(\.count) == [2])
    let page =
      "# A title\n\nOne sentence\nover two lines. Another one:\n\n    code here\n- an item\n| a | table |\n```\nx\n```\nLast `one.`\n"
    #expect(Prose.sentences(of: page).map(\.count) == [5, 2, 3, 2])
    let long = Array(repeating: "word", count: 41).joined(separator: " ")
    #expect(Prose.tooLong(in: long + ".").count == 1)
    #expect(Prose.tooLong(in: "a: " + long.dropLast(5) + ".").count == 1, "a colon ends no sentence")
    #expect(Prose.tooLong(in: "a. " + long.dropLast(5) + ".").isEmpty)
  }

  @Test(
    "What counts as an unwanted word",
    arguments: [
      ("Behind it", ["behind"]), ("what is\nin front of (it)", ["in front of"]), ("it (tells)", ["tells"]),
      ("one of one's own, as ever", ["as ever", "of one's own"]), ("`behind` in code", []),
      ("isBehind, retells", []),
      ("where there is none.", ["is none"]), ("there is nonesuch", []), ("a `b` c `d` behind", ["behind"]),
    ])
  func words(text: String, unwanted: [String]) { #expect(Prose.unwanted(in: text) == unwanted) }

  @Test("What counts as a doc comment")
  func docComments() {
    let source = """
      // no doc comment
      /// One,
      /// of two lines.
      ///
      ///     code
      /// - Parameters:
      ///   - a: goes on
      ///     here.
      var a = 1  /// not alone on its line
        /// Two.
      //// a line
      """
    let comments = DocComment.all(of: Array(source.utf8))
    #expect(comments.map(\.line) == [2, 10])
    #expect(
      comments.map(\.text) == ["One,\nof two lines.\n\n    code\n- Parameters:\n- a: goes on\nhere.", "Two."])
  }

  @Test("What counts as said")
  func said() {
    let literals = SwiftLiterals(Array("f(\"one \\(a) two\" + \" three\", call: \"for a call\")".utf8))
    #expect(literals.texts(in: literals.code.indices, withCalls: true) == ["one … two three", "for a call"])
    #expect(Self.isSaid("the table … is locked") && Self.isSaid("A table is locked"))
    #expect(
      !Self.isSaid("SELECT a FROM t") && !Self.isSaid("\n  <p class=\"a\"> b </p>")
        && !Self.isSaid("two words"))
  }
}
