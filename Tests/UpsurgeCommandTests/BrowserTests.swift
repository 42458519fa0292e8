import TestSupport
import Testing

/// The pages as people see them: at the width of a telephone and of a desk, light and dark.
@Suite("Pages in a browser", .enabled(if: Browser.path != nil, Comment(rawValue: Browser.skipNote)))
struct BrowserTests {
  let scratch = Scratch()

  /// Looks at the page in all four ways, and at what holds for each.
  private func views(of html: String) throws -> [Browser.View] {
    let light = try Browser.views(of: html, widths: [400, 1_280], isDark: false)
    let dark = try Browser.views(of: html, widths: [400, 1_280], isDark: true)
    #expect(light.map(\.windowWidth) == [400, 1_280] && dark.map(\.windowWidth) == [400, 1_280])
    for view in light + dark {
      #expect(view.pageWidth <= view.windowWidth, "\(view.windowWidth): \(view.pageWidth)")
      #expect(view.cutOff.isEmpty, "\(view.windowWidth): \(view.cutOff)")
      #expect(view.counts["script"] == 0 && view.counts["link"] == 0 && view.counts["img"] == 0)
    }
    #expect(Set(light.map(\.background)) == ["rgb(255, 255, 255)"])
    #expect(Set(dark.map(\.background)) == ["rgb(20, 23, 29)"])
    return light + dark
  }

  @Test("The page of a mirror shows its runs, guards, rejects and what waits")
  func status() throws {
    let path = scratch.file("shop.db")
    // Nothing that comes from the database may become a part of the page.
    let name =
      "<img src=x onerror=alert(1)> & \"a_very_long_name_of_a_table_that_has_no_place_to_break_anywhere\""
    func mirror(_ text: String) throws -> Command.Outcome {
      try Command.run([
        "mirror", path, "--table", name, "--source", scratch.write(text, to: "feed.csv"), "--key", "id",
        "--on-error", "reject", "--max-rejects", "100%", "--rejects", "table", "--type", "n:INTEGER",
        "--strict",
        "--sweep", "hard", "--max-delete", "50%",
      ])
    }
    let rows = (1...100).map { "\($0),\($0)\n" }
    #expect(try mirror("id,n\n" + rows.joined() + "101,<b>\n").exitCode == 2)
    #expect(try mirror("id,n\n1,7\n" + rows.dropFirst().dropLast(10).joined()).exitCode == 0)
    #expect(try mirror("id,n\n1,7\n").exitCode == 4)
    let page = scratch.file("status.html")
    let outcome = try Command.run(["status", path, "--max-age", "26h", "--html", page])
    #expect(outcome.exitCode == 1 && outcome.output.hasPrefix("FAIL"), "\(outcome.talk)")
    for view in try views(of: String(decoding: readFile(page), as: UTF8.self)) {
      #expect(
        view.text.contains("Mirrors of shop.db") && view.text.contains("1 table; not in step: \(name)."))
      #expect(view.text.contains("100 inserted, 1 rejected of 101"), "\(view.text)")
      #expect(view.text.contains("1 updated, 10 swept of 90"))
      #expect(view.text.contains("refused by a guard") && view.text.contains("--accept-delivery "))
      #expect(view.text.contains("The last run failed, exit code 4"))
      #expect(view.text.contains("of 26 h") && view.text.contains("1 record for type-mismatch"))
      #expect(view.counts["section"] == 1 && view.counts["b"] == 0)
      let longest = view.bars.filter { $0.name == "inserted" }.map(\.width).max() ?? 0
      let swept = view.bars.filter { $0.name == "swept" }.map(\.width)
      #expect(swept.count == 1 && abs(swept[0] / longest - 0.1) < 0.02, "\(view.bars)")
    }
  }

  @Test("A database that mirrors nothing has a page, too")
  func empty() throws {
    let (path, page) = (scratch.file("a.db"), scratch.file("a.html"))
    try Database(path).rows("CREATE TABLE t(a)")
    #expect(try Command.run(["status", path, "--html", page]).exitCode == 1)
    for view in try views(of: String(decoding: readFile(page), as: UTF8.self)) {
      #expect(view.text.contains("This database mirrors nothing yet."))
    }
  }

  @Test("The page of a benchmark has the fastest on top, in rows a second")
  func bench() throws {
    let page = scratch.file("bench.html")
    let outcome = try Command.run([
      "bench", "--rows", "3000", "--rounds", "2", "--scratch", scratch.path, "--html", page, "-q",
    ])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    for view in try views(of: String(decoding: readFile(page), as: UTF8.self)) {
      #expect(view.text.contains("Rows a second") && view.text.contains("upsurge load"))
      let widths = view.bars.map(\.width)
      #expect(widths.count >= 5 && widths == widths.sorted(by: >), "\(widths)")
      let rates = view.text.split(separator: "\n").compactMap { line -> Int? in
        guard let end = line.range(of: " rows/s")?.lowerBound else { return nil }
        return Int(line[..<end].filter { $0 != "," })
      }
      #expect(rates.count == widths.count && rates == rates.sorted(by: >), "\(rates)")
    }
  }
}
