/// The names in SQL as the server writes it: `lower("First Name") || 'x'` has the names lower and First Name.
struct SQLWords {
  private(set) var words: Set<String> = []

  init(_ sql: String) {
    var rest = Substring(sql)
    while let first = rest.first {
      if first == "\"" || first == "'" {
        let text = Self.quoted(&rest, first)
        if first == "\"" { words.insert(text) }
      } else if first.isLetter || first == "_" {
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
        rest = rest.dropFirst(word.count)
        // That is a function.
        if rest.first != "(" { words.insert(String(word)) }
      } else {
        rest = rest.dropFirst()
      }
    }
  }

  /// Takes what is in quotes off the front; a quote in it comes twice.
  private static func quoted(_ rest: inout Substring, _ quote: Character) -> String {
    var text = ""
    rest = rest.dropFirst()
    while let character = rest.first {
      rest = rest.dropFirst()
      if character != quote {
        text.append(character)
      } else if rest.first == quote {
        text.append(quote)
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    return text
  }

  /// Of some names, those that are in the text.
  func names(of list: [String]) -> [String] { list.filter(words.contains) }
}
