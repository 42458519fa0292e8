import CYAML
import Upsurge

// YAML text becomes a tree with places, whatever its bytes are.
//
// libyaml reads the text twice. First it only looks for what is no YAML: where a bracket is missing, the rest would seem to
// have other faults. Then the tree is built. Nothing is built for an alias, so that aliases of aliases cannot grow by powers
// of two; it is told when all else is read. Time grows with the length of a text: the depth is bounded here, libyaml looks
// no further ahead than 1,024 letters, and there are few of its `%TAG` lines, each of which it compares with all before.

/// Reads the YAML of a job file.
struct JobYAML: ~Copyable {
  private let file: String
  private let text: String
  private var events: YAMLEvents
  /// The first one.
  private var alias: JobPlace?

  /// Deeper than any job.
  private static let depthLimit = 12
  private static let tagLineLimit = 1_000

  /// - Returns: nil for a text with nothing in it but comments.
  /// - Throws: `usage` with a place, `unreadableInput` where libyaml is not installed.
  static func read(_ text: String, file: String) throws(UpsurgeError) -> JobNode? {
    var check = try JobYAML(text, file: file)
    try check.refuseTagLines()
    try check.refuseOtherSyntax()
    var yaml = try JobYAML(text, file: file)
    return try yaml.readAll()
  }

  private init(_ text: String, file: String) throws(UpsurgeError) {
    self.file = file
    // A byte order mark is no part of the text.
    self.text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    events = try YAMLEvents(self.text)
  }

  private mutating func readAll() throws(UpsurgeError) -> JobNode? {
    _ = try next()
    if try next().kind == .streamEnd { return nil }
    let root = try node(next(), depth: 0)
    _ = try next()
    let rest = try next()
    if rest.kind != .streamEnd {
      throw place(rest.mark).error(
        "", "a second document (---); a job file has one", hint: "make it another file")
    }
    if let alias { throw refused(alias: alias) }
    return root
  }

  private mutating func next() throws(UpsurgeError) -> YAMLEvent {
    do throws(YAMLFault) {
      return try events.next()
    } catch {
      throw told(error)
    }
  }

  private mutating func node(_ event: YAMLEvent, depth: Int) throws(UpsurgeError) -> JobNode {
    var node = JobNode(content: .nothing, place: place(event.mark))
    try checkDepth(depth, at: node.place)
    try checkTag(event.tag, at: node.place)
    switch event.kind {
    case .alias(let name): node.content = .text(note(alias: name, at: node.place))
    case .scalar(let text, let isPlain):
      node.isPlain = isPlain && event.tag != Self.tagPrefix + "str"
      let isNothing = node.isPlain && ["", "~", "null", "Null", "NULL"].contains(text)
      node.isNullWord = isNothing && text.lowercased() == "null"
      if !isNothing { node.content = .text(try checked(text, at: node.place)) }
    case .listStart: node.content = .list(try list(depth: depth + 1))
    case .mappingStart: node.content = .mapping(try entries(depth: depth + 1))
    default: preconditionFailure("libyaml has \(event.kind) where a value must be")
    }
    return node
  }

  private func checkDepth(_ depth: Int, at place: JobPlace) throws(UpsurgeError) {
    if depth <= Self.depthLimit { return }
    throw place.error("", "nested deeper than \(Self.depthLimit) levels, which no job is")
  }

  private mutating func list(depth: Int) throws(UpsurgeError) -> [JobNode] {
    var list: [JobNode] = []
    while true {
      let event = try next()
      if event.kind == .listEnd { return list }
      list.append(try node(event, depth: depth))
    }
  }

  private mutating func entries(depth: Int) throws(UpsurgeError) -> [JobNode.Entry] {
    var entries: [JobNode.Entry] = []
    var lines: [String: Int] = [:]
    while true {
      let event = try next()
      if event.kind == .mappingEnd { return entries }
      let keyPlace = place(event.mark)
      let key = try key(event, depth: depth)
      if let line = lines.updateValue(keyPlace.line, forKey: key) {
        throw keyPlace.error(
          "", "the key \(key) is given twice", hint: "remove it here or in line \(line)")
      }
      var value = try node(next(), depth: depth)
      // An empty value has no place of its own.
      if case .nothing = value.content { value.place = keyPlace }
      entries.append(JobNode.Entry(key: key, keyPlace: keyPlace, value: value))
    }
  }

  private mutating func key(_ event: YAMLEvent, depth: Int) throws(UpsurgeError) -> String {
    let place = place(event.mark)
    switch event.kind {
    case .scalar(let text, _): return try checked(text, at: place)
    case .alias(let name): return note(alias: name, at: place)
    default:
      // What is wrong within it is told first.
      _ = try node(event, depth: depth)
      throw place.error("", "a key must be a text", hint: "quote a name that begins with [, {, ? or -")
    }
  }

  /// - Returns: what stands there.
  private mutating func note(alias name: String, at place: JobPlace) -> String {
    if alias == nil { alias = place }
    return "*" + name
  }

  private func checked(_ text: String, at place: JobPlace) throws(UpsurgeError) -> String {
    if text.utf8.contains(0) {
      throw place.error("", "a text with a NUL character, at which paths and SQL end", hint: "leave it out")
    }
    return text
  }

  private static let tagPrefix = "tag:yaml.org,2002:"

  /// A tag that nobody heeds would be passed over in silence.
  private func checkTag(_ tag: String?, at place: JobPlace) throws(UpsurgeError) {
    guard let tag else { return }
    let known = ["str", "seq", "map", "int", "float", "bool", "null"]
    if known.contains(where: { tag == Self.tagPrefix + $0 }) { return }
    throw place.error("", "the tag \(tag) means nothing in a job file", hint: "leave it out")
  }

  /// Goes through the first document.
  private mutating func refuseOtherSyntax() throws(UpsurgeError) {
    var depth = 0
    while true {
      let event = try next()
      switch event.kind {
      case .listStart, .mappingStart:
        try checkDepth(depth, at: place(event.mark))
        depth += 1
      case .listEnd, .mappingEnd: depth -= 1
      case .documentEnd, .streamEnd: return
      default: break
      }
    }
  }

  private func refuseTagLines() throws(UpsurgeError) {
    let bytes = Array(text.utf8)
    var (count, rest) = (0, bytes[...])
    while let sign = rest.firstIndex(of: UInt8(ascii: "%")) {
      rest = rest[(sign + 1)...]
      guard rest.starts(with: "TAG".utf8) else { continue }
      count += 1
      if count > Self.tagLineLimit { throw place(ofByte: sign).error("", "more than 1,000 %TAG lines") }
    }
  }
}

extension JobYAML {
  private func place(_ mark: yaml_mark_t) -> JobPlace {
    JobPlace(file: file, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }

  private func place(ofByte offset: Int) -> JobPlace {
    var place = JobPlace(file: file, line: 1, column: 1)
    let end = text.utf8.index(text.startIndex, offsetBy: offset, limitedBy: text.endIndex) ?? text.endIndex
    for letter in text[..<end] {
      place.column += letter.unicodeScalars.count
      if letter.isNewline { (place.line, place.column) = (place.line + 1, 1) }
    }
    return place
  }

  private func refused(alias place: JobPlace) -> UpsurgeError {
    place.error(
      "", "an alias (*NAME), which job files do not have",
      hint: "put what tables share under defaults; quote a text that begins with *, as in \"*.csv\"")
  }

  /// What libyaml complains of, with what to do.
  private func told(_ fault: YAMLFault) -> UpsurgeError {
    if let (offset, value) = fault.character {
      let value = value >= 0 ? " (U+\(String(value, radix: 16, uppercase: true)))" : ""
      return place(ofByte: offset).error("", "this is no YAML: \(fault.problem)\(value)")
    }
    var text = "this is no YAML: \(fault.problem)"
    if let context = fault.context {
      // Of `*.csv`, which is no alias either.
      if context.text.contains("scanning an alias") { return refused(alias: place(context.mark)) }
      text += " (\(context.text), line \(context.mark.line + 1))"
    }
    return place(fault.mark).error("", text, hint: hint(fault))
  }

  private func hint(_ fault: YAMLFault) -> String? {
    let problem = fault.problem
    if problem.contains("cannot start any token") {
      return text.unicodeScalars.dropFirst(Int(fault.mark.index)).first == "\t"
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
}
