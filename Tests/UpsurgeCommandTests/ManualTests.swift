#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  @testable import UpsurgeCommand

  /// What the README and the manual show is what the command prints.
  ///
  /// After a change that is meant, `UPSURGE_RECORD=1 swift test --filter ManualTests` writes what is printed into the pages.
  @Suite("Examples of the manual")
  struct ManualTests {
    static let pages: [ManualPage] = {
      let folder = "Sources/UpsurgeCommand/UpsurgeCommand.docc/"
      let names =
        (try? FileManager.default.contentsOfDirectory(atPath: ManualPage.root.path + "/" + folder)) ?? []
      return [ManualPage(name: "README.md")]
        + names.filter { $0.hasSuffix(".md") }.sorted().map { ManualPage(name: folder + $0) }
    }()

    @Test("Each example prints what its page says", arguments: pages)
    func examples(page: ManualPage) throws {
      let (differences, text, passedOver) = try page.run()
      if ProcessInfo.processInfo.environment["UPSURGE_RECORD"] != nil, !differences.isEmpty {
        try text.write(
          to: ManualPage.root.appendingPathComponent(page.name), atomically: true, encoding: .utf8)
      }
      if !passedOver.isEmpty {
        print("\(page.name): not run without \(ManualPage.optionalPrograms): \(passedOver)")
      }
      for difference in differences { Issue.record("\(page.name), \(difference)") }
    }

    @Test("The README's tour and twenty jobs of the cookbook have examples")
    func counts() throws {
      func count(_ part: String, in page: String) throws -> Int {
        try String(contentsOf: ManualPage.root.appendingPathComponent(page), encoding: .utf8)
          .components(separatedBy: part).count - 1
      }
      let cookbook = try #require(Self.pages.first { $0.name.hasSuffix("Cookbook.md") })
      #expect(try count("\n## ", in: cookbook.name) == 20)
      #expect(try count("\n```console", in: cookbook.name) >= 20)
      #expect(try count("\n```console", in: "README.md") >= 4)
    }

    /// Options of other programs that pages name.
    static let otherOptions: Set<String> = [
      "batch-size", "csv", "ignore", "nl", "pk", "replace",  // sqlite-utils, sqlite3
      "static-swift-stdlib",
    ]

    @Test("Each option that a page names is one of the command's")
    func options() throws {
      let help = Root.configuration.subcommands.map { Root.helpMessage(for: $0, includeHidden: true) }
        .joined()
      let option = #/(?:^|[^-A-Za-z0-9])--([a-z][a-z-]+)/#
      let known = Set(help.matches(of: option).map { String($0.1) }).union(["help", "version"])
      let catalogues = ["UpsurgeMirror/UpsurgeMirror.docc", "Upsurge/Upsurge.docc"].flatMap { catalogue in
        let folder = "Sources/" + catalogue
        let names =
          (try? FileManager.default.contentsOfDirectory(atPath: ManualPage.root.path + "/" + folder)) ?? []
        return names.filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
      }
      var used: Set<String> = []
      for page in Self.pages.map(\.name).filter({ $0 != "README.md" }) + catalogues {
        let text = try String(contentsOf: ManualPage.root.appendingPathComponent(page), encoding: .utf8)
        let named = Set(text.matches(of: option).map { String($0.1) })
        used.formUnion(named)
        #expect(
          named.isSubset(of: known.union(Self.otherOptions)), "\(page): \(named.subtracting(known).sorted())")
      }
      #expect(used.count > 50)
    }

    @Test("Times, rates, sizes and digests are masked, and nothing else")
    func masks() {
      let line =
        "people in shop.db: 3 records read in 0.02 s (152 rows/s); 48.0 KiB at 2026-11-26T19:21:50Z, 37b9dee16e3dc212"
      #expect(
        ManualPage.masked(line) == "people in shop.db: 3 records read in N s (N rows/s); N MB at TIME, DIGEST"
      )
      #expect(ManualPage.isEqual(["read in 0.02 s"], ["read in 1.5 s"]))
      #expect(!ManualPage.isEqual(["inserted 3"], ["inserted 4"]))
      #expect(!ManualPage.isEqual(["a"], ["a", "b"]))
    }
  }
#endif
