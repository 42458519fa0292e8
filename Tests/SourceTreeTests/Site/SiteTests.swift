import Foundation
import TestSupport
import Testing

/// The site of all articles, as `.ci/docs --site` builds it, looked at in a browser.
@Suite("The documentation's site", .enabled(if: Site.isPossible, Comment(rawValue: Site.skipNote)))
struct SiteTests {
  @Test("Each link of each page leads to a page, and to a heading that it has")
  func links() throws {
    let site = try Site.built.get()
    var count = 0
    for (file, page) in site.pages {
      for link in page.links where !link.contains(":") {
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(
          String.init)
        let target =
          parts[0].isEmpty
          ? file
          : URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent(parts[0])
            .standardizedFileURL.path
        #expect(FileManager.default.fileExists(atPath: target), "\(file): there is no \(link)")
        guard parts.count == 2 else { continue }
        #expect(
          site.pages[target]?.anchors.contains(parts[1]) == true, "\(file): there is no heading \(link)")
      }
    }
    #expect(count > 1_000)
  }

  @Test("Every article has a page, which the menu of its module lists")
  func whole() throws {
    let site = try Site.built.get()
    for article in try SourceTree.files(under: "Sources", ending: "md") {
      let module = article.deletingLastPathComponent().deletingPathExtension().lastPathComponent
      let name = article.deletingPathExtension().lastPathComponent
      let file = site.file(module, name == module ? "index" : name)
      let page = try #require(site.pages[file], "\(file)")
      #expect(page.anchors.contains("main-text"))
      let menu = try #require(site.pages[site.file(module, "index")]).links
      #expect(menu.contains(URL(fileURLWithPath: file).lastPathComponent), "\(file)")
    }
  }

  @Test(
    "The search finds words on the page that explains them",
    arguments: [
      ("max-delete", "Mirrors.html", "Mirrors.html#when-a-guard-refuses"),
      ("COPY", "ComingFrom.html", "ComingFrom.html#load-data-and-copy"),
      ("resume", "Resuming.html", ""),
      ("reject file", "BadRecords.html", ""),
      ("locks", "Operations.html", "Operations.html#locks"),
      ("twenty questions", "TwentyQuestions.html", ""),
      ("upsurge_chunks", "UpsurgeMirror/OwnTables.html", "UpsurgeMirror/OwnTables.html#upsurge_chunks"),
    ])
  func search(query: String, page: String, section: String) throws {
    let links = try Site.built.get().results(of: query)
    #expect(links.first == page, "\(query): \(links)")
    #expect(section.isEmpty || links.dropFirst().first == section, "\(query): \(links)")
  }

  @Test("On every page, results appear below the field while one types")
  func typing() throws {
    let scratch = Scratch()
    let page = try Site.built.get().file("UpsurgeMirror", "JobFiles")
    let outer = scratch.write(
      """
      <!DOCTYPE html><iframe src="file://\(page)"></iframe><p id="found"></p><script>
      const frame = document.querySelector('iframe');
      frame.onload = () => {
        const form = frame.contentDocument.querySelector('form'), panel = form.querySelector('.found');
        form.elements.q.value = 'max-delete';
        form.elements.q.dispatchEvent(new Event('input'));
        new MutationObserver(() => {
          document.getElementById('found').textContent = panel.querySelector('a')?.getAttribute('href');
        }).observe(panel, {childList: true});
      };
      </script>
      """, to: "outer.html")
    let document = try Browser.document(at: "file://" + outer, flags: ["--allow-file-access-from-files"])
    #expect(document.contains("<p id=\"found\">../Mirrors.html</p>"), "\(document)")
  }

  @Test("A word that no page has is said to be in none")
  func nothing() throws {
    let document = try Site.built.get().searched("zyzzyva")
    #expect(document.contains("No page has “zyzzyva”."))
  }

  @Test(
    "No page is wider than its window, and the paper is as light or dark as the reader likes",
    arguments: [false, true])
  func layout(isDark: Bool) throws {
    let files = try Site.built.get().pages.keys.sorted()
    let layouts = try Browser.layouts(of: files, widths: [400, 1_280], isDark: isDark)
    #expect(layouts.count == files.count * 2)
    for layout in layouts {
      #expect(layout.pageWidth <= layout.windowWidth, "\(layout)")
      #expect(layout.background == (isDark ? "rgb(20, 23, 29)" : "rgb(255, 255, 255)"), "\(layout)")
    }
  }
}

/// The site, built once, and removed when the tests end.
private struct Site: Sendable {
  struct Page: Sendable {
    /// Where its links and its files lead.
    var links: [String]
    var anchors: Set<String>
  }

  static let missing = [["chromium", "chromium-browser", "google-chrome"], ["python3"], ["docc"], ["swift"]]
    .filter { Browser.program($0) == nil }.map { $0[0] }
  static let isPossible = missing.isEmpty
  static let skipNote =
    "not on the PATH: \(missing.joined(separator: ", ")) (apt-get install chromium python3)"
  static let built = Result { try Site() }

  private static let folder =
    NSTemporaryDirectory() + "/upsurge-tests-site-\(ProcessInfo.processInfo.processIdentifier)"
  /// By their paths.
  private(set) var pages: [String: Page] = [:]

  private init() throws {
    atexit { try? FileManager.default.removeItem(atPath: Site.folder) }
    let outcome = try Command.run(
      [SourceTree.root.path + "/.ci/docs", "--site", Self.folder, "--articles"], script: "exec \"$@\"")
    guard outcome.exitCode == 0 else {
      throw Browser.Failure(description: ".ci/docs: \(outcome.output)\(outcome.talk)")
    }
    let found = FileManager.default.enumerator(atPath: Self.folder)
    while let name = found?.nextObject() as? String {
      guard name.hasSuffix(".html") else { continue }
      let file = URL(fileURLWithPath: Self.folder + "/" + name).standardizedFileURL.path
      let text = try String(contentsOfFile: file, encoding: .utf8)
      pages[file] = Page(
        links: text.matches(of: #/ (?:href|src)="([^"]*)"/#).map { String($0.1) },
        anchors: Set(text.matches(of: #/ id="([^"]*)"/#).map { String($0.1) }))
    }
  }

  /// The path of a page. The manual lies at the root.
  func file(_ module: String, _ name: String) -> String {
    let folder = module == "UpsurgeCommand" ? "" : module + "/"
    return URL(fileURLWithPath: "\(Self.folder)/\(folder)\(name).html").standardizedFileURL.path
  }

  /// The page of the search when it has searched.
  func searched(_ query: String) throws -> String {
    let words = try #require(query.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    return try Browser.document(at: "file://\(Self.folder)/search.html?q=\(words)")
  }

  /// Where the results lead, best first: to pages, each followed by its sections.
  func results(of query: String) throws -> [String] {
    let document = try searched(query)
    let results = try #require(document.components(separatedBy: "id=\"results\"").last)
    return results.matches(of: #/ href="([^"]*)"/#).map { String($0.1) }
  }
}
