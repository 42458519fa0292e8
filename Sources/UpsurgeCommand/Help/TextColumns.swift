/// Text in lines of a width, as help shows it.
struct TextColumns {
  /// Columns of the screen.
  let width: Int
  /// Where the second of two columns begins.
  static let helpColumn = 26

  /// The words of a text in lines, each after so many spaces.
  func wrapped(_ text: String, indent: Int = 0) -> [String] {
    let space = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty && indent + line.count + 1 + word.count > width {
        lines.append(space + line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    if !line.isEmpty { lines.append(space + line) }
    return lines
  }

  /// A label, and what is said of it in the column beside; below it where the label is too long.
  func entry(_ label: String, _ text: String, column: Int = helpColumn) -> [String] {
    var lines = wrapped(text, indent: column)
    let start = "  " + label
    guard let first = lines.first, start.count + 2 <= column else { return [start] + lines }
    lines[0] = start + first.dropFirst(start.count)
    return lines
  }

  /// Paragraphs with empty lines between them; lines that begin with two spaces stay as they are.
  func paragraphs(_ text: String, indent: Int = 0) -> [String] {
    let space = String(repeating: " ", count: indent)
    return Paragraph.all(of: text).flatMap { paragraph -> [String] in
      let lines =
        switch paragraph {
        case .prose(let text): wrapped(text, indent: indent)
        case .code(let lines): lines.map { $0.isEmpty ? "" : "\(space)  \($0)" }
        }
      return lines + [""]
    }
  }
}

/// A part of what is said of a command.
enum Paragraph: Equatable {
  /// Words that run on from line to line.
  case prose(String)
  /// Lines that stay as they are, without their two spaces.
  case code([String])

  static func all(of text: String) -> [Paragraph] {
    var found: [Paragraph] = []
    for part in text.split(separator: "\n\n") {
      let lines = part.split(separator: "\n")
      guard lines.allSatisfy({ $0.hasPrefix("  ") }) else {
        found.append(.prose(lines.joined(separator: " ")))
        continue
      }
      let code = lines.map { String($0.dropFirst(2)) }
      // Blocks that stand together are one, with an empty line between them.
      if case .code(let earlier)? = found.last {
        found[found.count - 1] = .code(earlier + [""] + code)
      } else {
        found.append(.code(code))
      }
    }
    return found
  }
}
