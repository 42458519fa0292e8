import Foundation
import Testing

/// Every Swift block of the README and of the articles stands in an example that is compiled and run.
@Suite("Documentation") struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A fenced block.
  struct Block: CustomTestStringConvertible, Sendable {
    var file: String
    var line: Int
    var text: String

    var testDescription: String { "\(file):\(line)" }
  }

  private static let blocks: [Block] = {
    let sources = root.appendingPathComponent("Sources")
    let articles = (FileManager.default.enumerator(atPath: sources.path)?.allObjects as? [String] ?? [])
      .filter { $0.hasSuffix(".md") && $0.contains(".docc/") }.map { "Sources/" + $0 }
    return (["README.md"] + articles.sorted()).flatMap(blocks)
  }()

  /// The blocks of a file whose fence says `swift`.
  private static func blocks(of file: String) -> [Block] {
    let text = (try? String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)) ?? ""
    var blocks: [Block] = []
    var open: Block?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("```") {
        if let block = open { blocks.append(block) }
        open = open == nil && line == "```swift" ? Block(file: file, line: index + 2, text: "") : nil
      } else if open != nil {
        open?.text += line + "\n"
      }
    }
    return blocks
  }

  /// Lines without their indentation.
  private static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  /// The files of the examples.
  private static let examples: [[String]] = {
    let folder = root.appendingPathComponent("Sources/UpsurgeExamples")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { try? String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
      .map(lines)
  }()

  /// Whether lines stand in a file one behind the other.
  private static func contains(_ file: [String], _ part: [String]) -> Bool {
    file.indices.contains { file[$0...].starts(with: part) }
  }

  @Test("There are blocks, and examples") func some() {
    #expect(Self.blocks.count > 15)
    #expect(Self.blocks.contains { $0.file == "README.md" })
    #expect(Self.examples.count > 5)
  }

  /// Paragraph by paragraph, as an example has set-up between them; a manifest is compiled by `Tests/ScratchPackage/run`.
  @Test("Every Swift block is compiled", arguments: blocks) func compiled(_ block: Block) {
    if block.text.contains("swift-tools-version") { return }
    for paragraph in block.text.components(separatedBy: "\n\n") {
      let part = Self.lines(paragraph.trimmingCharacters(in: .newlines))
      let isCompiled = Self.examples.contains { Self.contains($0, part) }
      #expect(isCompiled, "no file of Sources/UpsurgeExamples has:\n\(paragraph)")
    }
  }
}
