import Foundation
import Testing

/// Links of pages lead to files that exist, and to headings that they have.
@Suite struct PageLinkTests {
  /// Pages that are generated; links to them count once they are there.
  static let generated: Set<String> = ["CommandLine.md", "JobFileKeys.md"]

  private static func pages() throws -> [URL] {
    try LanguageTests.pages() + [SourceTree.root.appendingPathComponent("datasets/MANIFEST.md")]
  }

  private static func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

  @Test("Each relative link and each anchor of a page exists")
  func links() throws {
    var count = 0
    for page in try Self.pages() {
      for link in Self.links(of: try Self.text(page)) where !link.contains(":") {
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
          String.init)
        let target =
          parts[0].isEmpty
          ? page : page.deletingLastPathComponent().appendingPathComponent(parts[0]).standardizedFileURL
        if !FileManager.default.fileExists(atPath: target.path) {
          #expect(
            Self.generated.contains(target.lastPathComponent),
            "\(page.lastPathComponent): there is no \(link)")
        } else if parts.count == 2 {
          #expect(
            Self.anchors(of: try Self.text(target)).contains(parts[1]),
            "\(page.lastPathComponent): there is no heading \(link)")
        }
      }
    }
    #expect(count > 100)
  }

  @Test("Each article of the manual is listed in the README or in its catalogue")
  func listed() throws {
    let folder = "Sources/UpsurgeCommand/UpsurgeCommand.docc"
    let index = try Self.text(SourceTree.root.appendingPathComponent(folder + "/UpsurgeCommand.md"))
    for page in try SourceTree.files(under: folder, ending: "md")
    where page.lastPathComponent != "UpsurgeCommand.md" {
      let name = page.deletingPathExtension().lastPathComponent
      #expect(index.contains("<doc:\(name)>") || index.contains("](\(name).md)"), "\(name)")
    }
  }

  /// The targets of a page's links, those in code left out.
  static func links(of page: String) -> [String] {
    var links: [String] = []
    var isCode = false
    for line in page.split(separator: "\n") {
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
      if isCode || line.hasPrefix("    ") { continue }
      let prose = line.replacing(#/`[^`]*`/#, with: "code")
      links += prose.matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.1) }
    }
    return links
  }

  /// The anchors of a page's headings, as GitHub makes them.
  static func anchors(of page: String) -> Set<String> {
    var anchors: Set<String> = []
    var isCode = false
    for line in page.split(separator: "\n") {
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, line.hasPrefix("#") else { continue }
      let title = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
      let kept = title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
      let name = kept.replacing(" ", with: "-")
      var number = 0
      while !anchors.insert(number == 0 ? name : "\(name)-\(number)").inserted { number += 1 }
    }
    return anchors
  }

  @Test("What counts as a link and as an anchor")
  func rules() {
    #expect(
      Self.links(of: "See [a](B.md#c), `[x](y)` and\n\n    [code](z)\n![p](q.svg)") == ["B.md#c", "q.svg"])
    #expect(Self.anchors(of: "# One, `two` & 3\n```\n# no\n```\n## A\n## A") == ["one-two--3", "a", "a-1"])
  }
}
