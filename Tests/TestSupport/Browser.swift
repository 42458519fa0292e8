import Foundation

/// Chromium without a window: what a page shows to people, and how wide it is.
package enum Browser {
  /// nil where this machine has none.
  package static let path: String? = {
    for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
      for name in ["chromium", "chromium-browser", "google-chrome"]
      where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
        return "\(folder)/\(name)"
      }
    }
    return nil
  }()

  package static let skipNote = "there is no chromium on the PATH: apt-get install chromium"

  /// What a page looks like in a window of some width.
  package struct View: Decodable {
    package var windowWidth: Int
    /// How wide the page is; more than the window's where a part of it stands outside.
    package var pageWidth: Int
    /// All that can be read, as it is shown.
    package var text: String
    /// Elements by name, of those that are looked for.
    package var counts: [String: Int]
    /// Words that do not stand in the window as a whole.
    package var cutOff: [String]
    /// The colour of the paper: `rgb(20, 23, 29)`.
    package var background: String
    /// Lengths of the bars by class, from the top down.
    package var bars: [Bar]

    package struct Bar: Decodable {
      package var name: String
      package var width: Double
    }
  }

  /// Shows a page in frames of these widths.
  /// - Parameter isDark: whether the reader likes dark pages.
  package static func views(of html: String, widths: [Int], isDark: Bool) throws -> [View] {
    guard let path else { throw MissingFile(path: "chromium") }
    let scratch = Scratch()
    let page = Data(html.utf8).base64EncodedString()
    // A window is 500 pixels wide at least, a frame is as wide as one likes. The page itself runs nothing.
    let frames = """
      <!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><pre id="found"></pre><script>
      const html = new TextDecoder().decode(Uint8Array.from(atob("\(page)"), c => c.charCodeAt(0)));
      const widths = \(widths), found = [];
      function look(frame) {
        const page = frame.contentDocument, root = page.documentElement, width = frame.contentWindow.innerWidth;
        const cut = [];
        for (const element of page.body.querySelectorAll('*')) {
          if (element.closest('svg')) continue;
          const box = element.getBoundingClientRect();
          const isCut = box.right > width + 1 || box.left < -1 || element.scrollWidth > element.clientWidth + 1 &&
            getComputedStyle(element).display != 'inline';
          if (isCut && element.innerText) cut.push(element.tagName + ': ' + element.innerText.slice(0, 60));
        }
        const counts = {};
        for (const name of ['script', 'img', 'link', 'b', 'svg', 'rect', 'section'])
          counts[name] = page.getElementsByTagName(name).length;
        const bars = [...page.querySelectorAll('rect')].map(
          bar => ({name: bar.getAttribute('class'), width: bar.getBoundingClientRect().width}));
        return {windowWidth: width, pageWidth: root.scrollWidth, text: page.body.innerText, counts, cutOff: cut,
          background: frame.contentWindow.getComputedStyle(page.body).backgroundColor, bars};
      }
      for (const width of widths) {
        const frame = document.createElement('iframe');
        frame.style = `width: ${width}px; height: 900px; border: 0`;
        frame.onload = () => {
          found.push(look(frame));
          if (found.length == widths.length) {
            const bytes = new TextEncoder().encode(JSON.stringify(found));
            document.getElementById('found').textContent = '<<' + btoa(String.fromCharCode(...bytes)) + '>>';
          }
        };
        frame.srcdoc = html;
        document.body.appendChild(frame);
      }
      </script>
      """
    let outcome = try Command.run(
      [
        path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
        "--user-data-dir=\(scratch.file("profile"))",
        "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)",
        "--virtual-time-budget=10000", "--window-size=1400,900", "--dump-dom",
        "file://" + scratch.write(frames, to: "frames.html"),
      ], script: "exec \"$@\"")
    let parts = outcome.output.components(separatedBy: "&lt;&lt;")
    guard parts.count > 1, let text = parts[1].components(separatedBy: "&gt;&gt;").first,
      let data = Data(base64Encoded: text)
    else { throw Failure(description: "chromium shows nothing: \(outcome.talk.suffix(2_000))") }
    return try JSONDecoder().decode([View].self, from: data).sorted { $0.windowWidth < $1.windowWidth }
  }

  package struct Failure: Error, CustomStringConvertible { package var description: String }
}
