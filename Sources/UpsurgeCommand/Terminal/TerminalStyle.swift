#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How text is shown on a terminal: its width, and whether it may have colours.
enum TerminalStyle {
  /// Whether what is written there may have colours: only on a terminal that knows them, and never with `NO_COLOR`
  /// (https://no-color.org).
  static func isColoured(_ descriptor: Int32) -> Bool {
    isColoured(isTerminal: isatty(descriptor) == 1, noColor: variable("NO_COLOR"), kind: variable("TERM"))
  }

  /// - Parameters:
  ///   - noColor: the variable `NO_COLOR`, which forbids colours where it is not empty.
  ///   - kind: the variable `TERM`; nothing is known of a terminal without it.
  static func isColoured(isTerminal: Bool, noColor: String?, kind: String?) -> Bool {
    isTerminal && (noColor ?? "").isEmpty && !["", "dumb"].contains(kind ?? "")
  }

  /// So many columns has help: those of `COLUMNS` or of the terminal, within bounds that can be read.
  static var width: Int {
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let columns = variable("COLUMNS").flatMap { Int($0) } ?? (isKnown ? Int(size.ws_col) : 80)
    return min(max(columns, 40), 120)
  }

  /// Colours the word before a colon that says what a line is: `upsurge:`, `warning:`, `note:`.
  static func painted(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      for (word, colour) in marks where line.hasPrefix(word) {
        return "\u{1B}[\(colour)m\(word)\u{1B}[0m\(line.dropFirst(word.count))"
      }
      return String(line)
    }.joined(separator: "\n")
  }

  private static let marks = [("upsurge:", "1;31"), ("warning:", "1;33"), ("note:", "1;36")]

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
