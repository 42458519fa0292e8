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
    let words = try Self.page().split { " `\n|;,()".contains($0) }.filter {
      $0.hasSuffix(".swift") && $0.contains("/")
    }
    #expect(words.count > 40)
    for word in words {
      #expect(
        FileManager.default.fileExists(atPath: sources.appendingPathComponent(String(word)).path), "\(word)")
    }
  }

  @Test(
    "The article has a row for each folder, in their order",
    arguments: [
      "UpsurgeSQLite", "UpsurgePlan", "UpsurgeState", "UpsurgeStorage", "Upsurge", "UpsurgePostgres", "UpsurgeMove",
      "UpsurgeModels",
    ])
  func folders(module: String) throws {
    let order = try #require(FolderArrowsTests.order[module])
    let part = try Self.page().split(separator: "## The folders of \(module)\n").last.map(String.init) ?? ""
    let rows = part.split(separator: "\n").filter { $0.hasPrefix("| ") }.map {
      String($0.dropFirst(2).prefix { $0 != " " })
    }
    #expect(rows.dropFirst().prefix(order.count) == order[...])
  }

  /// A call that the article lists on the way of a record.
  private struct Call {
    var type: String
    var function: String
    var file: String
    /// Whether it is a step of its own, and not one that returns before the next step begins.
    var isStep: Bool
  }

  /// The calls of one of the lists: ` 1. `Type.function` …  Folder/File.swift`.
  private static func calls(under title: String) throws -> [Call] {
    let part =
      try page().split(separator: "### \(title)").dropFirst().first?.split(separator: "\n#").first ?? ""
    return part.split(separator: "\n").compactMap { line in
      let text = line.drop { $0 == " " }
      let file = line.split(separator: " ").last.map(String.init) ?? ""
      guard text.first?.isNumber == true || text.hasPrefix("- "), file.hasSuffix(".swift") else { return nil }
      let name =
        line.split(separator: "`").dropFirst().first?.prefix { $0 != "(" }.split(separator: ".") ?? []
      guard name.count == 2 else { return nil }
      return Call(
        type: String(name[0]), function: String(name[1]), file: file, isStep: text.first?.isNumber == true)
    }
  }

  private static func lists() throws -> (writing: [Call], opening: [Call], reading: [Call]) {
    (
      try calls(under: "The writing thread"), try calls(under: "The opening of the source"),
      try calls(under: "The reading thread")
    )
  }

  @Test("Each call on the way of a record is declared in the file that is named")
  func way() throws {
    let lists = try Self.lists()
    #expect(lists.writing.count > 20 && lists.opening.count > 4 && lists.reading.count > 8)
    for call in lists.writing + lists.opening + lists.reading {
      let file = SourceTree.root.appendingPathComponent("Sources/\(call.file)")
      let words = String(decoding: SwiftLiterals(try SourceTree.bytes(file)).code, as: UTF8.self)
        .split { !($0.isLetter || $0.isNumber || $0 == "_") }
      let isDeclared =
        call.function == "init"
        ? words.contains("init")
        : zip(words, words.dropFirst()).contains { $0 == "func" && $1 == call.function }
      #expect(
        isDeclared && words.contains { $0 == call.type }, "\(call.type).\(call.function) in \(call.file)")
    }
  }

  @Test("The article counts the calls on the way of a record, and their files, as it lists them")
  func counts() throws {
    let lists = try Self.lists()
    func words(_ calls: [Call]) -> String { "\(calls.count) calls in \(Set(calls.map(\.file)).count) files" }
    let steps = (lists.writing + lists.reading).filter(\.isStep)
    let text = try Self.page().split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    #expect(text.contains("a record's way: \(words(steps)),"))
    #expect(text.contains("before there is a record: \(words(lists.opening.filter(\.isStep)))."))
    #expect(text.contains("all three lists have \(words(lists.writing + lists.opening + lists.reading))."))
    #expect(steps.count <= Self.callLimit && Set(steps.map(\.file)).count <= Self.fileLimit)
  }

  /// How long the way of a record may be; it may become shorter.
  private static let callLimit = 25
  private static let fileLimit = 13
}
