/// What is searched for.
public struct SearchPattern: Sendable, Hashable, ExpressibleByStringLiteral {
  /// As FTS5 reads it (https://www.sqlite.org/fts5.html#full_text_query_syntax).
  public let text: String

  /// A pattern in FTS5's own syntax; what people type goes through `allWords` and its like, which are always well formed.
  public init(_ text: String) { self.text = text }
  public init(stringLiteral text: String) { self.text = text }

  /// Rows that have every word of a text.
  public static func allWords(_ text: String) -> SearchPattern { joined(text, " ") }
  /// Rows that have a word of a text.
  public static func anyWord(_ text: String) -> SearchPattern { joined(text, " OR ") }
  /// Rows that have a text's words one after the other.
  public static func phrase(_ text: String) -> SearchPattern { SearchPattern(quoted(text)) }
  /// Rows that have every word of a text, the last of which may go on: what is being typed.
  public static func prefix(_ text: String) -> SearchPattern {
    let pattern = joined(text, " ")
    return text.contains { !$0.isWhitespace } ? SearchPattern(pattern.text + "*") : pattern
  }

  private static func joined(_ text: String, _ separator: String) -> SearchPattern {
    let words = text.split(whereSeparator: \.isWhitespace).map { quoted(String($0)) }
    // An empty text would be a fault of syntax; this matches nothing.
    return SearchPattern(words.isEmpty ? "\"\"" : words.joined(separator: separator))
  }

  private static func quoted(_ text: String) -> String {
    // By scalars: a quote with a mark after it is one character.
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars where scalar != "\0" {
      quoted.append(scalar)
      if scalar == "\"" { quoted.append(scalar) }
    }
    quoted.append("\"")
    return String(quoted)
  }
}
