import Foundation
import TestSupport
import Testing
import Upsurge
import UpsurgeBench

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Medians and spreads, and the report as text, JSON and a page.
@Suite("Bench report")
struct BenchReportTests {
  let scratch = Scratch()

  @Test(
    "Median, spread and noise",
    arguments: [
      ([], nil, nil, false), ([2], 2, nil, false), ([3, 1, 2], 2, 1, true),
      ([1, 1.1], 1.05, 0.1 / 1.05, false),
      ([1, 1.02, 1.1, 1.04, 1.03], 1.03, 0.1 / 1.03, false), ([1, 1, 1, 1.2], 1, 0.2, true),
    ] as [([Double], Double?, Double?, Bool)])
  func figures(runs: [Double], median: Double?, spread: Double?, isNoisy: Bool) {
    var entry = BenchReport.Entry(name: "a", detail: "", kind: .pattern)
    entry.runs = runs
    #expect(entry.median == median)
    #expect(entry.isNoisy == isNoisy)
    #expect((entry.spread ?? -1) - (spread ?? -1) < 1e-9 && (spread ?? -1) - (entry.spread ?? -1) < 1e-9)
    entry.absence = .init(isFailure: true, reason: "it failed")
    #expect(entry.median == nil && entry.spread == nil && !entry.isNoisy)
  }

  /// A real report with made-up figures.
  private func report(named name: String = "a.csv") throws -> BenchReport {
    var job = BenchJob()
    job.file = scratch.write("id,b\n" + (1...20).map { "\($0),x\n" }.joined(), to: name)
    job.options.rules.key = ["id"]
    job.roundCount = 1
    job.scratch = scratch.path
    job.peers = [.duckdb]
    job.peerPath = scratch.file("nothing")
    job.command = ["upsurge", "bench", "--file", name]
    var report = try job.run(control: RunControl())
    for index in report.entries.indices where report.entries[index].absence == nil {
      report.entries[index].runs = [0.5, 0.25 * Double(index + 1), 0.5]
    }
    return report
  }

  @Test("The table names all, with ratios to the engine, and says what is noisy or missing")
  func text() throws {
    let text = try report().text
    let lines = text.split(separator: "\n")
    let own = try #require(lines.first { $0.hasPrefix("upsurge load") })
    #expect(own.contains("1.00 x") && own.contains("0.500") && own.hasSuffix("noisy"))
    #expect(lines.contains { $0.hasPrefix("floor: INSERT, one row a statement") && $0.contains(" 50 %") })
    #expect(text.contains("not measured: duckdb: not installed: there is no program duckdb on the PATH"))
    #expect(text.contains("page size: 16384 bytes; page cache: 16.0 MiB; transactions: 100,000 rows"))
    #expect(text.contains("SQLite 3."))
  }

  @Test("JSON holds every run, and no figure for what was not measured")
  func json() throws {
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(try report().json)) as? [String: Any])
    let results = try #require(json["results"] as? [[String: Any]])
    #expect(results.count == 7)
    for result in results {
      let isAbsent = result["not_measured"] != nil
      #expect((result["runs"] as? [Double])?.count == (isAbsent ? 0 : 3))
      #expect((result["median"] == nil) == isAbsent && (result["ratio"] == nil) == isAbsent)
    }
    #expect((json["machine"] as? [String: Any])?["cores"] as? Int ?? 0 > 0)
    #expect(json["rows"] as? Int == 20)
  }

  @Test("The page is well-formed, needs nothing from outside, and runs nothing")
  func html() throws {
    let name = "<script>alert(1)<!-- & \"quoted\" 'é' ]]>.csv"
    let html = try report(named: name).html
    let parser = XMLParser(data: Data(html.utf8))
    let reader = PageReader()
    parser.delegate = reader
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    #expect(reader.text.contains(name), "the name is text")
    #expect(
      reader.elements["script"] == nil && reader.elements["link"] == nil && reader.elements["img"] == nil)
    #expect(reader.elements["rect"] == 6, "a bar for each that was measured")
    #expect(reader.attributes.allSatisfy { !$0.key.hasPrefix("on") && $0.key != "href" && $0.key != "src" })
    #expect(html.contains("default-src 'none'") || html.contains("default-src &#39;none&#39;"))
    #expect(!html.contains("url(") && !html.contains("@import"))
    #expect(html.contains("prefers-color-scheme: dark"))
  }

  @Test("Control characters of a name cannot spoil the page or the terminal")
  func control() throws {
    let report = try report(named: "a\u{1B}[2Jb\u{7}.csv")
    #expect(XMLParser(data: Data(report.html.utf8)).parse())
    #expect(!report.text.contains("\u{1B}") && !report.html.contains("\u{1B}"))
  }
}

/// What a page is made of.
private final class PageReader: NSObject, XMLParserDelegate {
  var elements: [String: Int] = [:]
  var attributes: [(key: String, value: String)] = []
  var text = ""

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    elements[name, default: 0] += 1
    self.attributes += attributes.map { ($0.key, $0.value) }
  }

  func parser(_ parser: XMLParser, foundCharacters characters: String) { text += characters }
}
