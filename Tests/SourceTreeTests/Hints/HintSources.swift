import Foundation
import TestSupport

/// Every hint that the sources can print, each in the form of its literal, with `…` for what is put in.
///
/// A hint is what is given as `hint:` (or under a name that ends so), assigned to such a name, or returned by a function
/// or property of such a name. A note that names an option is one, too.
enum HintSources {
  struct Hint: Hashable {
    var text: String
    var file: String
  }

  /// The modules that speak to who runs the command. Those for Swift code have no options to name.
  static let folders = [
    "Upsurge", "UpsurgeBench", "UpsurgeBulk", "UpsurgeCommand", "UpsurgeInput", "UpsurgeMirror", "UpsurgeMove",
    "UpsurgeParsing", "UpsurgePlan", "UpsurgePostgres", "UpsurgePostgresBench", "UpsurgeRecords", "UpsurgeSQLite",
    "UpsurgeState", "UpsurgeStorage",
  ]

  static func all() throws -> [Hint] {
    var hints: Set<Hint> = []
    for folder in folders {
      for file in try SourceTree.files(of: folder) {
        let name = String(file.path.dropFirst(SourceTree.root.path.count + "/Sources/".count))
        // It says what would be faster, which changes no row.
        if name.contains("TimeAdvice") { continue }
        for text in texts(of: SwiftLiterals(try SourceTree.bytes(file), namesTerms: true)) {
          hints.insert(Hint(text: text, file: name))
        }
      }
    }
    return hints.sorted { ($0.file, $0.text) < ($1.file, $1.text) }
  }

  /// The hints of one file.
  static func texts(of file: SwiftLiterals) -> [String] {
    var texts: [String] = []
    for range in HintPlaces(file.code).ranges {
      texts += file.texts(in: range).filter(isHint)
    }
    let known = Set(texts)
    texts += file.texts(in: file.code.indices).filter { !known.contains($0) && isAdvice($0) }
    return texts
  }

  /// Notes and reasons that offer an option behind what they say: `…; --x reads it so`, `… (--x does)`.
  private static func isAdvice(_ text: String) -> Bool {
    guard !text.contains("\n") else { return false }
    for mark in ["; --", ". --", "(--", ", --", ", or --", "; … reads"] {
      guard let range = text.range(of: mark) else { continue }
      let words = text[range.upperBound...].split { " ;:()".contains($0) }
      if words.prefix(6).contains(where: { advice.contains($0) }) { return true }
    }
    let words = text.split(separator: " ")
    return text.hasPrefix("--") && words.prefix(4).contains { ["reads", "lets", "stores", "changes", "updates"].contains($0) }
  }

  /// The verbs of an option that does what the user may want.
  private static let advice: Set<Substring> = [
    "reads", "stores", "keeps", "takes", "leaves", "adds", "gives", "makes", "fills", "names", "says", "shows", "sets",
    "allows", "bounds", "tells", "loads", "drops", "lets", "has", "does", "would", "holds",
  ]

  /// Separators and the words of comparisons are no hints.
  private static func isHint(_ text: String) -> Bool {
    text.contains(" ") && text.contains { $0.isLetter }
  }
}
