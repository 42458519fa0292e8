import Foundation
import Testing

/// The page on troubleshooting has a row for each code that a program or a person can meet.
@Suite struct TroubleshootingTests {
  @Test("Each code of errors, rejects, warnings and of --check is explained")
  func codes() throws {
    let file = SourceTree.root.appendingPathComponent(
      "Sources/UpsurgeCommand/UpsurgeCommand.docc/Troubleshooting.md")
    let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter {
      $0.hasPrefix("| `")
    }
    let explained = Set(
      rows.flatMap { $0.split(separator: "|")[0].matches(of: #/`([a-z0-9-]+)`/#).map { String($0.1) } })
    var codes: Set<String> = []
    for file in try SourceTree.files(under: "Sources", ending: "swift") {
      let text = try String(contentsOf: file, encoding: .utf8)
      codes.formUnion(text.matches(of: #/Code\(rawValue: "([a-z0-9-]+)"\)/#).map { String($0.1) })
      if file.lastPathComponent == "SchemaWarning.swift" {
        codes.formUnion(text.matches(of: #/case \w+ = "([a-z-]+)"/#).map { String($0.1) })
      }
    }
    #expect(codes.count > 50)
    #expect(explained == codes, "\(codes.symmetricDifference(explained).sorted())")
  }
}
