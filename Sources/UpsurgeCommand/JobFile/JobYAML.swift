import Upsurge
import Yams

// YAML text becomes a tree with places, whatever its bytes are.
//
// Yams compares the keys of each mapping as it composes it, and a key that is an alias of aliases would grow by powers
// of two under that. Aliases are therefore looked for first, in a copy in which each `*` is a letter that the text does
// not use: where a YAML reader meets an alias (`*base`), it meets a plain text there that begins with that letter,
// while `*` in quotes, comments and other texts changes nothing that matters. Only a text without an alias is composed
// as it is. libyaml itself stops at 1,000 levels.

/// Reads the YAML of a job file.
struct JobYAML {
  let file: String
  let text: String

  /// Deeper than any job.
  private static let depthLimit = 12

  init(_ text: String, file: String) {
    self.file = file
    // A byte order mark is none of the text.
    self.text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
  }

  /// - Returns: nil for a text with nothing in it but comments.
  /// - Throws: `usage` with a place.
  func compose() throws(UpsurgeError) -> JobNode? {
    if text.unicodeScalars.contains("*") {
      guard let letter = Self.unusedLetter(in: text) else {
        throw start.error(
          "", "the text uses every letter of Unicode's private area")
      }
      var copy = String.UnicodeScalarView()
      for scalar in text.unicodeScalars { copy.append(scalar == "*" ? letter : scalar) }
      if let node = try compose(String(copy)) { try refuseAliases(node, letter: letter, depth: 0) }
    }
    guard let node = try compose(text) else { return nil }
    return try convert(node, depth: 0)
  }

  private static func unusedLetter(in text: String) -> Unicode.Scalar? {
    let area: ClosedRange<UInt32> = 0xE000...0xF8FF
    let used = Set(text.unicodeScalars.lazy.map(\.value).filter(area.contains))
    return area.first { !used.contains($0) }.flatMap { Unicode.Scalar($0) }
  }

  private var start: JobPlace { JobPlace(file: file, line: 1, column: 1) }

  private func place(_ mark: Mark) -> JobPlace { JobPlace(file: file, line: mark.line, column: mark.column) }

  private func place(of node: Node) -> JobPlace { node.mark.map(place) ?? start }

  private func compose(_ text: String) throws(UpsurgeError) -> Node? {
    do {
      return try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
    } catch let error as YamlError {
      throw told(error, in: text)
    } catch {
      throw start.error("", "the YAML cannot be read: \(error)")
    }
  }

  private func refuseAliases(_ node: Node, letter: Unicode.Scalar, depth: Int) throws(UpsurgeError) {
    if depth > Self.depthLimit { throw tooDeep(node) }
    switch node {
    case .scalar(let scalar):
      guard scalar.style == .plain, scalar.string.unicodeScalars.first == letter else { return }
      throw place(of: node).error(
        "", "an alias (*NAME), which job files do not have",
        hint: "put what tables share under defaults; quote a text that begins with *, as in \"*.csv\"")
    case .sequence(let nodes):
      for node in nodes { try refuseAliases(node, letter: letter, depth: depth + 1) }
    case .mapping(let pairs):
      for (key, value) in pairs {
        try refuseAliases(key, letter: letter, depth: depth + 1)
        try refuseAliases(value, letter: letter, depth: depth + 1)
      }
    case .alias: break
    }
  }

  private func tooDeep(_ node: Node) -> UpsurgeError {
    place(of: node).error("", "nested deeper than \(Self.depthLimit) levels, which no job is")
  }

  private func convert(_ node: Node, depth: Int) throws(UpsurgeError) -> JobNode {
    if depth > Self.depthLimit { throw tooDeep(node) }
    var converted = JobNode(content: .nothing, place: place(of: node))
    switch node {
    case .scalar(let scalar):
      try checkTag(scalar.tag, of: node)
      converted.isPlain = scalar.style == .plain && scalar.tag.rawValue != Tag.Name.str.rawValue
      let isNothing = converted.isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
      converted.isNullWord = isNothing && scalar.string.lowercased() == "null"
      if !isNothing { converted.content = .text(try checked(scalar.string, at: converted.place)) }
    case .sequence(let nodes):
      try checkTag(nodes.tag, of: node)
      var list: [JobNode] = []
      for node in nodes { list.append(try convert(node, depth: depth + 1)) }
      converted.content = .list(list)
    case .mapping(let pairs):
      try checkTag(pairs.tag, of: node)
      converted.content = .mapping(try entries(pairs, depth: depth))
    case .alias: break
    }
    return converted
  }

  private func entries(_ pairs: Node.Mapping, depth: Int) throws(UpsurgeError) -> [JobNode.Entry] {
    var entries: [JobNode.Entry] = []
    var lines: [String: Int] = [:]
    for (key, value) in pairs {
      guard case .scalar(let scalar) = key else {
        throw place(of: key).error(
          "", "a key must be a text", hint: "quote a name that begins with [, {, ? or -")
      }
      let keyPlace = place(of: key)
      // `a` and `"a"` are two keys to Yams and one to everybody else.
      if let line = lines.updateValue(keyPlace.line, forKey: scalar.string) {
        throw twice(scalar.string, at: keyPlace, first: line)
      }
      var converted = try convert(value, depth: depth + 1)
      // An empty value has no place of its own.
      if case .nothing = converted.content { converted.place = keyPlace }
      entries.append(
        JobNode.Entry(key: try checked(scalar.string, at: keyPlace), keyPlace: keyPlace, value: converted))
    }
    return entries
  }

  private func checked(_ text: String, at place: JobPlace) throws(UpsurgeError) -> String {
    if text.utf8.contains(0) {
      throw place.error("", "a text with a NUL character, at which paths and SQL end", hint: "leave it out")
    }
    return text
  }

  /// A tag that nobody heeds would be passed over in silence.
  private func checkTag(_ tag: Tag, of node: Node) throws(UpsurgeError) {
    let name = tag.rawValue
    let known: [Tag.Name] = [.implicit, .str, .seq, .map, .int, .float, .bool, .null]
    if known.contains(where: { $0.rawValue == name }) { return }
    throw place(of: node).error("", "the tag \(name) means nothing in a job file", hint: "leave it out")
  }
}

extension JobYAML {
  private func twice(_ key: String, at place: JobPlace, first line: Int) -> UpsurgeError {
    place.error("", "the key \(key) is given twice", hint: "remove it here or in line \(line)")
  }

  /// What Yams complains of, with what to do.
  private func told(_ error: YamlError, in text: String) -> UpsurgeError {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      if problem.contains("another document") {
        return place(mark).error(
          "", "a second document (---); a job file has one", hint: "make it another file")
      }
      if problem.contains("nesting level") {
        return place(mark).error("", "nested deeper than \(Self.depthLimit) levels, which no job is")
      }
      var text = "this is no YAML: \(problem)"
      if let context { text += " (\(context.text), line \(context.mark.line))" }
      return place(mark).error("", text, hint: hint(problem, at: mark))
    case .reader(let problem, let offset, let value, _):
      let value = value >= 0 ? " (U+\(String(value, radix: 16, uppercase: true)))" : ""
      return place(ofCharacter: offset).error("", "this is no YAML: \(problem)\(value)")
    case .duplicatedKeysInMapping(let keys, let context):
      let key = keys.first ?? ""
      guard let second = Self.second(key, first: context.mark, in: text) else {
        return place(context.mark).error("", "the key \(key) is given twice", hint: "remove one of them")
      }
      return twice(key, at: place(second), first: context.mark.line)
    default:
      return start.error("", "the YAML cannot be read: \(error)")
    }
  }

  private func hint(_ problem: String, at mark: Mark) -> String? {
    if problem.contains("cannot start any token") {
      let letter = Self.index(of: mark, in: text).map { text.unicodeScalars[$0] }
      return letter == "\t"
        ? "indent with spaces, not tabs" : "quote a text that begins with a sign, as in \"%x\" or \"@x\""
    }
    if problem.contains("mapping values are not allowed") {
      return "quote a text that holds a colon and a space; keys of one mapping begin in the same column"
    }
    if problem.contains("did not find expected") || problem.contains("could not find expected") {
      return "look at the quotes and at the indentation of this line and the one before"
    }
    if problem.contains("escape character") { return "write the letter itself" }
    return nil
  }

  /// Yams tells the place of the first of two keys: with another letter in that one, the second is found.
  private static func second(_ key: String, first: Mark, in text: String) -> Mark? {
    guard var start = index(of: first, in: text), let letter = unusedLetter(in: text) else { return nil }
    let scalars = text.unicodeScalars
    if scalars[start] == "\"" || scalars[start] == "'" { start = scalars.index(after: start) }
    if start == scalars.endIndex { return nil }
    var copy = String.UnicodeScalarView(scalars[..<start])
    copy.append(letter)
    copy.append(contentsOf: scalars[scalars.index(after: start)...])
    do {
      guard let node = try Parser(yaml: String(copy), resolver: .basic, encoding: .utf8).singleRoot() else {
        return nil
      }
      return find(key, beside: first, in: node)
    } catch YamlError.duplicatedKeysInMapping(_, let context) {
      // A third one.
      return context.mark
    } catch {
      return nil
    }
  }

  private static func find(_ key: String, beside first: Mark, in node: Node) -> Mark? {
    switch node {
    case .sequence(let nodes):
      for node in nodes { if let mark = find(key, beside: first, in: node) { return mark } }
    case .mapping(let pairs):
      let isHere = pairs.contains { $0.key.mark?.line == first.line && $0.key.mark?.column == first.column }
      for (other, value) in pairs {
        if isHere {
          if other.scalar?.string == key { return other.mark }
        } else if let mark = find(key, beside: first, in: value) {
          return mark
        }
      }
    default: break
    }
    return nil
  }

  /// libyaml's lines end with LF, CR, CR LF, NEL, LS or PS.
  private static func index(of mark: Mark, in text: String) -> String.Index? {
    let scalars = text.unicodeScalars
    var (line, index) = (1, scalars.startIndex)
    while line < mark.line {
      guard index < scalars.endIndex else { return nil }
      let letter = scalars[index]
      index = scalars.index(after: index)
      if letter == "\r", index < scalars.endIndex, scalars[index] == "\n" {
        index = scalars.index(after: index)
      }
      if ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(letter) { line += 1 }
    }
    guard let found = scalars.index(index, offsetBy: mark.column - 1, limitedBy: scalars.endIndex),
      found < scalars.endIndex
    else { return nil }
    return found
  }

  private func place(ofCharacter offset: Int?) -> JobPlace {
    var place = start
    for letter in text.prefix(offset ?? 0) {
      place.column += 1
      if letter.isNewline { (place.line, place.column) = (place.line + 1, 1) }
    }
    return place
  }
}
