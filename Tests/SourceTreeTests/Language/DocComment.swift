/// A doc comment of a Swift file: lines that begin with three slashes, one after the other.
struct DocComment {
  /// The first line, from 1.
  var line: Int
  var text: String

  static func all(of source: [UInt8]) -> [DocComment] {
    var (comments, lines, first): ([DocComment], [String], Int) = ([], [], 0)
    let all = source.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in all.enumerated() {
      let words = line.drop { $0 == 0x20 }
      if words.starts(with: "///".utf8), !words.starts(with: "////".utf8) {
        if lines.isEmpty { first = index + 1 }
        lines.append(String(decoding: words.dropFirst(3), as: UTF8.self))
      } else if !lines.isEmpty {
        comments.append(DocComment(line: first, text: joined(lines)))
        lines = []
      }
    }
    if !lines.isEmpty { comments.append(DocComment(line: first, text: joined(lines))) }
    return comments
  }

  /// Joins the lines. An item of a list goes on in lines that stand as far in as code; here they do not.
  private static func joined(_ lines: [String]) -> String {
    var isItem = false
    return lines.map { line in
      let line = line.hasPrefix(" ") ? line.dropFirst() : line[...]
      let words = line.drop { $0 == " " }
      if words.isEmpty || words.count == line.count { isItem = false }
      if words.hasPrefix("- ") { isItem = true }
      return String(isItem ? words : line)
    }.joined(separator: "\n")
  }
}
