import Foundation
import Testing

/// The article on the architecture names files that exist, and all folders.
@Suite struct ArchitectureTests {
  private static func page() throws -> String {
    let file = SourceTree.root.appendingPathComponent("Sources/Upsurge/Upsurge.docc/Architecture.md")
    return try String(contentsOf: file, encoding: .utf8)
  }

  @Test("Each file that the article names is there")
  func files() throws {
    let sources = SourceTree.root.appendingPathComponent("Sources")
    let words = try Self.page().split { " `\n|;,()".contains($0) }.filter { $0.hasSuffix(".swift") && $0.contains("/") }
    #expect(words.count > 40)
    for word in words {
      #expect(FileManager.default.fileExists(atPath: sources.appendingPathComponent(String(word)).path), "\(word)")
    }
  }

  @Test(
    "The article has a row for each folder, in their order",
    arguments: ["UpsurgeSQLite", "UpsurgePlan", "UpsurgeState", "UpsurgeStorage", "Upsurge", "UpsurgePostgres", "UpsurgeModels"])
  func folders(module: String) throws {
    let order = try #require(FolderArrowsTests.order[module])
    let part = try Self.page().split(separator: "## The folders of \(module)\n").last.map(String.init) ?? ""
    let rows = part.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { String($0.dropFirst(2).prefix { $0 != " " }) }
    #expect(rows.dropFirst().prefix(order.count) == order[...])
  }
}
