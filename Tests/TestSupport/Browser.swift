import Foundation

/// Chromium without a window: what a page shows to people, and how wide it is.
package enum Browser {
  /// nil where this machine has none.
  package static let path: String? = program(["chromium", "chromium-browser", "google-chrome"])

  /// Where the first of these programs is that the `PATH` has.
  package static func program(_ names: [String]) -> String? {
    for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
      for name in names where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
        return "\(folder)/\(name)"
      }
    }
    return nil
  }

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
    let found = try report([View].self, of: frames, isDark: isDark)
    return found.sorted { $0.windowWidth < $1.windowWidth }
  }

  /// How a page of some files lies in a window.
  package struct Layout: Decodable {
    package var file: String
    package var windowWidth: Int
    /// How wide the page is; more than the window's where a part of it stands outside.
    package var pageWidth: Int
    /// The colour of the paper.
    package var background: String
  }

  /// Shows files, by their paths, in frames of these widths.
  package static func layouts(of files: [String], widths: [Int], isDark: Bool) throws -> [Layout] {
    let frames = """
      <!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><pre id="found"></pre><script>
      async function measure() {
        const found = [];
        for (const file of \(files)) for (const width of \(widths)) {
          const frame = document.createElement('iframe');
          frame.style = `width: ${width}px; height: 900px; border: 0`;
          frame.src = 'file://' + file;
          document.body.appendChild(frame);
          await new Promise(done => frame.onload = done);
          const page = frame.contentDocument;
          found.push({file, windowWidth: frame.contentWindow.innerWidth, pageWidth: page.documentElement.scrollWidth,
            background: frame.contentWindow.getComputedStyle(page.body).backgroundColor});
          frame.remove();
        }
        document.getElementById('found').textContent = '<<' + btoa(JSON.stringify(found)) + '>>';
      }
      onload = measure;
      </script>
      """
    // Without the flag each file is a stranger to all others.
    return try report([Layout].self, of: frames, isDark: isDark, flags: ["--allow-file-access-from-files"])
  }

  /// The page at an address when its scripts have run, as HTML.
  package static func document(at address: String, isDark: Bool = false, flags: [String] = []) throws
    -> String
  {
    guard let path else { throw MissingFile(path: "chromium") }
    let scratch = Scratch()
    let outcome = try Command.run(
      [
        path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
        "--user-data-dir=\(scratch.file("profile"))",
        "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)",
        "--virtual-time-budget=60000", "--window-size=1400,900", "--dump-dom",
      ] + flags + [address], script: "exec \"$@\"")
    guard !outcome.output.isEmpty else {
      throw Failure(description: "chromium shows nothing: \(outcome.talk.suffix(2_000))")
    }
    return outcome.output
  }

  /// What a page of ours has found: JSON in Base64, between `<<` and `>>`.
  private static func report<Found: Decodable>(
    _ type: Found.Type, of html: String, isDark: Bool, flags: [String] = []
  ) throws -> Found {
    let scratch = Scratch()
    let address = "file://" + scratch.write(html, to: "frames.html")
    let document = try document(at: address, isDark: isDark, flags: flags)
    let parts = document.components(separatedBy: "&lt;&lt;")
    guard parts.count > 1, let text = parts[1].components(separatedBy: "&gt;&gt;").first,
      let data = Data(base64Encoded: text)
    else { throw Failure(description: "the page has found nothing: \(document.suffix(2_000))") }
    return try JSONDecoder().decode(Found.self, from: data)
  }

  package struct Failure: Error, CustomStringConvertible {
    package var description: String
    package init(description: String) { self.description = description }
  }
}
