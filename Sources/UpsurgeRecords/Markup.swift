/// Writes HTML that is XML as well: every element is closed, every text is escaped.
package struct Markup {
  package private(set) var text = ""

  package init() {}

  /// An element; `body` writes what is in it.
  package mutating func element(
    _ name: String, _ attributes: [(String, String)] = [], _ body: (inout Markup) -> Void = { _ in }
  ) {
    text += "<\(name)"
    for (name, value) in attributes { text += " \(name)=\"\(Markup.escaped(value))\"" }
    var inner = Markup()
    body(&inner)
    // Elements that HTML never closes are closed at once.
    text += inner.text.isEmpty && Markup.isVoid(name) ? "/>" : ">\(inner.text)</\(name)>"
  }

  /// An element that holds a text.
  package mutating func element(_ name: String, _ attributes: [(String, String)] = [], text: String) {
    element(name, attributes) { $0.add(text) }
  }

  /// Text that is to be read, not understood.
  package mutating func add(_ plain: String) { text += Markup.escaped(plain) }

  /// A style sheet or a doctype, which is our own.
  package mutating func addLiteral(_ markup: String) { text += markup }

  private static func isVoid(_ name: String) -> Bool {
    ["meta", "rect", "line", "br", "circle"].contains(name)
  }

  /// The marks of markup as entities, and characters that XML cannot hold made visible.
  package static func escaped(_ plain: String) -> String {
    var text = ""
    for scalar in plain.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      default:
        let isSpace = scalar == "\n" || scalar == "\t"
        text += isSpace ? String(scalar) : xml(scalar)
      }
    }
    return text
  }

  private static func xml(_ scalar: Unicode.Scalar) -> String {
    let isForbidden = scalar.value == 0xFFFE || scalar.value == 0xFFFF
    return isForbidden ? "\u{FFFD}" : String(scalar).escapedForTerminal
  }
}
