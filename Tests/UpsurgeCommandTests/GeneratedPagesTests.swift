import Foundation
import TestSupport
import Testing

@testable import UpsurgeCommand

/// Pages that are made of the catalogue of options.
@Suite("Generated pages")
struct GeneratedPagesTests {
  private let scratch = Scratch()

  /// The sources of the package.
  private static let root = (#filePath.split(separator: "/").dropLast(3).map { "/" + $0 }).joined()

  private func text(_ name: String) throws -> String {
    try #require(PagesCommand.pages.first { $0.name == name }, "\(name)").text()
  }

  @Test(
    "Those of the manual are what the catalogue gives; .ci/generate writes them",
    arguments: ["CommandLine.md", "JobFileKeys.md"])
  func manual(name: String) throws {
    let path = "\(Self.root)/Sources/UpsurgeCommand/UpsurgeCommand.docc/\(name)"
    let text = try text(name)
    if ProcessInfo.processInfo.environment["UPSURGE_RECORD"] != nil {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(try text == String(decoding: readFile(path), as: UTF8.self), "\(name)")
  }

  @Test("They name every option and every key")
  func whole() throws {
    let (line, keys) = (try text("CommandLine.md"), try text("JobFileKeys.md"))
    for option in OptionCatalogue.all where !option.isHidden {
      #expect(line.contains(option.option), "\(option.option)")
      #expect(keys.contains("- `\(option.isKey ? option.path : option.name)`: ") || option.place.isNone, "\(option.path)")
    }
  }

  @Test("The hidden command prints each of them, and lists them")
  func command() throws {
    let names = try Command.run(["pages"]).output.split(separator: "\n").map(String.init)
    #expect(names == PagesCommand.pages.map(\.name) && names.contains("upsurge-mirror-init.1"))
    #expect(try Command.run(["pages", "CommandLine.md"]).output == text("CommandLine.md"))
    #expect(try Command.run(["pages", "none.md"]).exitCode == 64)
    #expect(!(try Command.run(["--help"]).output.contains("pages")))
  }

  @Test("The date of man pages is that of SOURCE_DATE_EPOCH")
  func date() throws {
    let page = try Command.run(["pages", "upsurge.1"], script: "SOURCE_DATE_EPOCH=86400 exec \"$0\" \"$@\"").output
    #expect(page.hasPrefix(".TH UPSURGE 1 1970-01-02 \"upsurge "), "\(page.prefix(60))")
  }

  @Test("man(1) has no warning about man pages", .enabled(if: Tool.exists("man"), Tool.skipNote("man")))
  func man() throws { try check("man --warnings -l %s > /dev/null") }

  @Test("groff(1) has none", .enabled(if: Tool.exists("groff"), Tool.skipNote("groff")))
  func groff() throws { try check("groff -man -ww -z %s") }

  @Test("mandoc(1) has none", .enabled(if: Tool.exists("mandoc"), Tool.skipNote("mandoc")))
  func mandoc() throws { try check("mandoc -T lint -W warning %s 1>&2") }

  /// Runs a checker, which must have nothing to say, on every man page.
  private func check(_ command: String) throws {
    for page in PagesCommand.pages where page.name.hasSuffix(".1") {
      let path = scratch.write(page.text(), to: page.name)
      let outcome = try Command.run([], script: command.replacing("%s", with: path))
      #expect(outcome.exitCode == 0 && outcome.talk.isEmpty, "\(page.name): \(outcome.talk)")
    }
  }
}

extension OptionSpecification.Place {
  fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}
