/// A page that needs nothing else: no script, no file from outside. It follows the reader's light or dark scheme, and its
/// texts wrap, so that nothing is cut off on a telephone.
package enum HTMLPage {
  /// The whole page.
  /// - Parameters:
  ///   - style: rules of this page, after those of all.
  ///   - body: writes what is seen.
  package static func text(title: String, style: String, _ body: (inout Markup) -> Void) -> String {
    var page = Markup()
    page.addLiteral("<!DOCTYPE html>\n")
    page.element("html", [("lang", "en")]) { page in
      page.element("head") { head in
        head.element("meta", [("charset", "utf-8")])
        head.element("meta", [("name", "viewport"), ("content", "width=device-width, initial-scale=1")])
        head.element(
          "meta",
          [
            ("http-equiv", "Content-Security-Policy"),
            ("content", "default-src 'none'; style-src 'unsafe-inline'"),
          ])
        head.element("title", text: title)
        head.element("style") { $0.addLiteral(Self.style + "\n" + style) }
      }
      page.element("body", [], body)
    }
    return page.text + "\n"
  }

  private static let style = """
    :root { color-scheme: light dark; --ink: #1d2330; --paper: #ffffff; --line: #d5d9e2; --soft: #5b6475;
      --track: #eef0f4; --good: #1b7f5c; --bad: #b3261e; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --paper: #14171d; --line: #333a48; --soft: #98a2b5;
      --track: #20252f; --good: #3fb98c; --bad: #ff8a80; } }
    * { box-sizing: border-box; }
    body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
      margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
    h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.15rem; margin-top: 2rem; }
    svg.bar { display: block; width: 100%; background: var(--track); }
    table { border-collapse: collapse; font-size: 0.9rem; }
    th, td { text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid var(--line);
      vertical-align: top; }
    .number { white-space: nowrap; font-variant-numeric: tabular-nums; }
    .small { color: var(--soft); font-size: 0.85rem; }
    pre { padding: 0.8rem; border: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; }
    """
}

/// A horizontal bar, without any text: the labels stand beside it, where they have room.
package struct HTMLBar {
  /// From 0 to 1 of the width.
  package var parts: [(name: String, length: Double)]
  /// A line over it, from and to, as parts of the width.
  package var spread: (from: Double, to: Double)?
  package var height: Int
  /// What it shows, for who cannot see it.
  package var label: String

  package init(
    _ parts: [(name: String, length: Double)], spread: (from: Double, to: Double)? = nil, height: Int = 14,
    label: String
  ) {
    (self.parts, self.spread, self.height, self.label) = (parts, spread, height, label)
  }

  private static let width = 1_000.0
  /// What is not nothing is seen.
  private static let leastLength = 0.004

  /// Writes it, as wide as there is room.
  package func write(to markup: inout Markup) {
    markup.element(
      "svg",
      [
        ("xmlns", "http://www.w3.org/2000/svg"), ("class", "bar"), ("viewBox", "0 0 1000 \(height)"),
        ("height", "\(height)"), ("preserveAspectRatio", "none"), ("role", "img"), ("aria-label", label),
      ]
    ) { chart in
      var x = 0.0
      for (name, length) in parts where length > 0 {
        let width = min(max(length, Self.leastLength) * Self.width, Self.width - x)
        chart.element(
          "rect",
          [
            ("class", name), ("x", Self.text(x)), ("y", "0"), ("width", Self.text(width)),
            ("height", "\(height)"),
          ])
        x += width
      }
      if let spread {
        chart.element(
          "line",
          [
            ("class", "spread"), ("x1", Self.text(spread.from * Self.width)),
            ("x2", Self.text(spread.to * Self.width)), ("y1", "\(height / 2)"), ("y2", "\(height / 2)"),
          ])
      }
    }
  }

  /// With a digit after the point.
  private static func text(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
