/// Text of the catalogue as Markdown.
enum MarkdownText {
  /// An item of a list: what is explained, and what is said of it, in lines that can be read.
  static func item(_ label: String, _ text: String) -> [String] {
    let lines = TextColumns(width: width).wrapped("`\(label)`: \(escaped(text))", indent: 2)
    return lines.enumerated().map { $0 == 0 ? "- " + $1.dropFirst(2) : "  " + plain($1.dropFirst(2)) }
  }

  static func body(_ text: String) -> [String] {
    Paragraph.all(of: text).flatMap { paragraph -> [String] in
      switch paragraph {
      case .prose(let text): prose(text) + [""]
      case .code(let lines): ["```"] + lines + ["```", ""]
      }
    }
  }

  static func prose(_ text: String) -> [String] {
    TextColumns(width: width).wrapped(escaped(text)).map { plain($0[...]) }
  }

  /// A line that begins no list and no heading, whatever its first word is.
  private static func plain(_ line: Substring) -> String {
    ["- ", "+ ", "# "].contains { line.hasPrefix($0) } ? "\\" + line : String(line)
  }

  /// Outside of backticks, characters that would mean something stand for themselves.
  static func escaped(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      index % 2 == 1 ? String(part) : part.map { "*<>[]\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }.joined(separator: "`")
  }

  private static let width = 120
}
