import Foundation
import Testing

/// The engine names no option of the command: it says a `Term`, and who shows it chooses the words.
@Suite struct OptionWordsTests {
  /// What looks like an option and is not one of the command's.
  struct Exception {
    /// Below `Sources`.
    var file: String
    /// What follows two dashes; empty where a literal ends with them.
    var words: Set<String>
    var reason: String

    init(_ file: String, _ words: Set<String>, _ reason: String) {
      self.file = file
      self.words = words
      self.reason = reason
    }
  }

  static let exceptions = [
    // Options of other programs.
    Exception("UpsurgeInput/Feeds/HTTPFetcher.swift", ["compressed"], "of curl, in a source that helps"),
    Exception(
      "UpsurgeInput/Codecs/ZstdSource.swift", ["long"], "of zstd, which makes a file that takes less memory"),
    Exception("UpsurgeBench/BenchPeer.swift", ["csv", "pk"], "of sqlite-utils, which a benchmark runs"),
    Exception("UpsurgeBench/BenchPeer.swift", ["schema", "skip"], "of .import in the shell of SQLite"),
    Exception("UpsurgeBench/BenchRun.swift", ["version"], "of the programs that a benchmark runs"),
    // Variables of style sheets.
    Exception(
      "UpsurgeRecords/HTMLPage.swift", ["bad", "good", "ink", "line", "paper", "soft", "track"],
      "a style sheet"),
    Exception(
      "UpsurgeMirror/Status/MirrorReport+HTML.swift",
      ["bad", "good", "inserted", "line", "rejected", "swept", "time", "updated"], "a style sheet"),
    Exception(
      "UpsurgeBench/BenchPage.swift", ["floor", "ink", "line", "pattern", "peer", "soft", "upsurge"],
      "a style sheet"),
    // The two dashes alone.
    Exception("UpsurgeRecords/Wording.swift", [""], "the one place where a term becomes an option"),
    Exception(
      "UpsurgeRecords/Wording+Stored.swift", [""], "a term of a later version, which this one does not know"),
    Exception("UpsurgeState/Runs/RunCommand.swift", [""], "ends the options of a command line"),
    Exception("UpsurgeSQLite/SQL/SQLScanner.swift", [""], "a comment of SQL"),
    Exception("Upsurge/Sources/ForeignText.swift", [""], "a comment of HTML"),
  ]

  /// Everything but the command and its program.
  static func modules() throws -> [String] {
    let sources = SourceTree.root.appendingPathComponent("Sources").path
    return try FileManager.default.contentsOfDirectory(atPath: sources)
      .filter { $0.hasPrefix("Upsurge") && $0 != "UpsurgeCommand" && $0 != "UpsurgeMain" }.sorted()
  }

  @Test("No module below the command names an option of it")
  func options() throws {
    var permitted: [String: Set<String>] = [:]
    for exception in Self.exceptions { permitted[exception.file, default: []].formUnion(exception.words) }
    let modules = try Self.modules()
    #expect(modules.count >= 15 && modules.contains("UpsurgeInput") && modules.contains("UpsurgePostgres"))
    let root = SourceTree.root.appendingPathComponent("Sources").path + "/"
    var met: [String: Set<String>] = [:]
    var found: [String] = []
    for file in try modules.flatMap(SourceTree.files) {
      let path = String(file.path.dropFirst(root.count))
      for literal in SwiftLiterals(try SourceTree.bytes(file)).literals {
        for word in Self.options(in: literal.text) {
          met[path, default: []].insert(word)
          if permitted[path]?.contains(word) != true { found.append("\(path): --\(word) in \(literal.text)") }
        }
      }
    }
    #expect(found.isEmpty, "say it with a Term:\n\(found.joined(separator: "\n"))")
    for (file, words) in permitted {
      let gone = words.subtracting(met[file] ?? [])
      #expect(gone.isEmpty, "in no literal of \(file) any more: \(gone.sorted())")
    }
  }

  /// The words that follow two dashes in a text, as in `--key`; "" where it ends with them, and "…" before an interpolation.
  static func options(in text: String) -> Set<String> {
    var names: Set<String> = []
    var rest = text[...]
    while let range = rest.firstRange(of: "--") {
      let isOpening = range.lowerBound == text.startIndex || text[text.index(before: range.lowerBound)] != "-"
      rest = rest[range.upperBound...]
      guard isOpening else { continue }
      if rest.isEmpty { names.insert("") }
      if rest.first == "…" { names.insert("…") }
      guard rest.first?.isLetter == true else { continue }
      names.insert(String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "-" }))
    }
    return names
  }

  @Test("What counts as an option")
  func rules() {
    #expect(Self.options(in: "give --key COLS, --key-where=a") == ["key", "key-where"])
    #expect(Self.options(in: "--") == [""] && Self.options(in: "give --… COLS") == ["…"])
    #expect(
      Self.options(in: "a -- b").isEmpty && Self.options(in: "---a").isEmpty
        && Self.options(in: "-->").isEmpty)
  }
}
