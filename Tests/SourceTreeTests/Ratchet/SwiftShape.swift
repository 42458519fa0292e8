/// The types and functions of a Swift file: what each type stores, and how long each function is.
///
/// It reads declarations only as far as that needs: where one begins, its brackets, and where the next one begins. It relies on
/// the formatter in two places. A declaration begins a line or stands behind a semicolon, and `<` without a space before it
/// opens generic arguments.
struct SwiftShape {
  struct TypeShape: Equatable {
    /// With the types around it: `Outer.Inner`.
    var name: String
    var storedCount: Int
  }

  struct FunctionShape: Equatable {
    /// With the types and functions around it; an accessor is called by its property: `Outer.size.get`.
    var name: String
    /// From the keyword to the closing brace.
    var lineCount: Int
    var isHotLoop = false
  }

  /// What stands in the doc comment of a function that is long because it is one hot loop, followed by the reason.
  static let hotLoopMark = "Hot loop:"

  private(set) var types: [TypeShape] = []
  private(set) var functions: [FunctionShape] = []
  /// Whether every bracket was closed; what was read is worth nothing otherwise.
  private(set) var isBalanced = true

  private let tokens: [SwiftToken]
  /// The numbers of the lines of doc comments, and whether each has the mark.
  private let docLines: [Int: Bool]
  private var at = 0

  init(_ source: [UInt8]) {
    tokens = SwiftToken.all(of: source)
    docLines = Self.docLines(of: source)
    while at < tokens.count {
      if word == "}" {
        isBalanced = false
        at += 1
      } else {
        _ = readDeclaration(in: "")
      }
    }
  }

  private static func docLines(of source: [UInt8]) -> [Int: Bool] {
    var found: [Int: Bool] = [:]
    for (index, line) in source.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let text = line.drop { $0 == UInt8(ascii: " ") }
      guard text.starts(with: "///".utf8) else { continue }
      found[index + 1] = String(decoding: text, as: UTF8.self).contains(hotLoopMark)
    }
    return found
  }

  // MARK: - Tokens

  private var word: String { word(0) }

  private func word(_ offset: Int) -> String {
    tokens.indices.contains(at + offset) ? tokens[at + offset].text : ""
  }

  private var isOpening: Bool { word == "(" || word == "[" || word == "{" }

  private var isClosing: Bool { word == ")" || word == "]" || word == "}" }

  /// Whether the declaration that is being read ends in front of this token.
  private var isAtEnd: Bool {
    at >= tokens.count || word == "}" || word == ";"
      || tokens[at].isFirstOfLine && Self.openers.contains(word)
  }

  private static func name(_ name: String, in owner: String) -> String {
    owner.isEmpty ? name : owner + "." + name
  }

  private mutating func skipBrackets() {
    var depth = 0
    while at < tokens.count {
      if isOpening { depth += 1 }
      if isClosing { depth -= 1 }
      at += 1
      if depth == 0 { return }
    }
    isBalanced = false
  }

  private mutating func skip(until isThere: (String) -> Bool) {
    while at < tokens.count, !isThere(word) {
      if isOpening { skipBrackets() } else { at += 1 }
    }
  }

  private static let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "extension"]
  private static let members: Set = ["let", "var", "func", "init", "deinit", "subscript"]
  private static let modifiers: Set = [
    "public", "private", "fileprivate", "internal", "package", "open", "static", "final", "lazy", "weak",
    "unowned", "mutating",
    "nonmutating", "override", "convenience", "required", "indirect", "nonisolated", "dynamic", "prefix",
    "postfix", "infix",
    "consuming", "borrowing",
  ]
  private static let openers = kinds.union(members).union(modifiers).union([
    "@", "case", "typealias", "associatedtype", "import", "operator", "precedencegroup", "macro", "#if",
    "#elseif", "#else", "#endif",
  ])
  private static let accessors: Set = [
    "get", "set", "willSet", "didSet", "_read", "_modify", "mutating", "nonmutating", "unsafeAddress",
    "unsafeMutableAddress",
  ]

  // MARK: - Declarations

  /// Reads one declaration of a type.
  /// - Returns: how many properties of each value it stores.
  private mutating func readDeclaration(in owner: String) -> Int {
    if word == ";" {
      at += 1
      return 0
    }
    let start = at
    let isOfType = readModifiers()
    switch word {
    case "let", "var":
      let count = readProperties(of: owner, from: start)
      return isOfType ? 0 : count
    case let word where Self.members.contains(word): readFunction(in: owner, from: start)
    case let word where Self.kinds.contains(word): readType(in: owner)
    default:
      at += 1
      while !isAtEnd {
        if isOpening { skipBrackets() } else { at += 1 }
      }
    }
    return 0
  }

  /// Reads attributes and modifiers.
  /// - Returns: whether the declaration is of the type, not of each value: `static` or `class`.
  private mutating func readModifiers() -> Bool {
    var isOfType = false
    while at < tokens.count {
      if word == "@" {
        at += 2
        while word == "." { at += 2 }
      } else if Self.modifiers.contains(word) || word == "class" && isMember(word(1)) {
        if word == "static" || word == "class" { isOfType = true }
        at += 1
      } else {
        break
      }
      if word == "(", !tokens[at].isSpaced { skipBrackets() }
    }
    return isOfType
  }

  private func isMember(_ word: String) -> Bool {
    Self.members.contains(word) || Self.modifiers.contains(word)
  }

  private mutating func readType(in owner: String) {
    let isCounted = word != "protocol" && word != "extension"
    at += 1
    var name = Self.name("", in: owner)
    while at < tokens.count, tokens[at].isName || word == ".", word != "where" {
      name += word
      at += 1
    }
    skip { $0 == "{" }
    at += 1
    var storedCount = 0
    while at < tokens.count, word != "}" { storedCount += readDeclaration(in: name) }
    if at >= tokens.count { isBalanced = false }
    at += 1
    if isCounted { types.append(TypeShape(name: name, storedCount: storedCount)) }
  }

  // MARK: - Properties

  /// Reads `let` or `var` with all that it declares: `let a, b: Int`, `var (a, b) = (1, 2)`.
  private mutating func readProperties(of owner: String, from start: Int) -> Int {
    let line = tokens[at].line
    var count = 0
    repeat {
      at += 1
      let name = word
      let names = readPattern()
      if readRest(of: Self.name(name, in: owner), line: line, from: start) { count += names }
    } while word == "," && at < tokens.count
    if word == ";" { at += 1 }
    return count
  }

  /// - Returns: how many names a pattern has.
  private mutating func readPattern() -> Int {
    let start = at
    guard word == "(" else {
      at += 1
      return 1
    }
    skipBrackets()
    return tokens[start..<at].count { $0.isName && $0.text != "_" }
  }

  /// Reads a property's type, value and accessors, up to a comma behind which there is another property.
  /// - Returns: whether it is stored.
  private mutating func readRest(of name: String, line: Int, from start: Int) -> Bool {
    var (isStored, hasValue, angleDepth) = (true, false, 0)
    while !isAtEnd, word != "," || angleDepth > 0 {
      if word == "{" {
        if !hasValue || word(1) == "willSet" || word(1) == "didSet" {
          isStored = readAccessors(of: name, line: line, from: start)
        } else {
          _ = readBody(of: name)
        }
        continue
      }
      if isOpening {
        skipBrackets()
        continue
      }
      if word == "=" { hasValue = true }
      if !tokens[at].isSpaced {
        if word == "<" { angleDepth += 1 }
        if word == ">" { angleDepth -= 1 }
      }
      at += 1
    }
    return isStored
  }

  /// - Returns: whether they are observers of a property that is stored.
  private mutating func readAccessors(of name: String, line: Int, from start: Int) -> Bool {
    let first = word(1)
    guard isAccessor(first, before: word(2)) else {
      add(name, line: line, from: start, to: readBody(of: name))
      return false
    }
    at += 1
    while at < tokens.count, word != "}" {
      let (kind, opening) = (word, at)
      at += 1
      skip { $0 == "{" || $0 == "}" || Self.accessors.contains($0) }
      if word == "{" {
        let full = name + "." + kind
        add(full, line: tokens[opening].line, from: opening, to: readBody(of: full))
      }
    }
    at += 1
    return first == "willSet" || first == "didSet"
  }

  /// Whether a word names an accessor; it may be a call in a getter that has no `get`.
  private func isAccessor(_ word: String, before next: String) -> Bool {
    if word == "@" { return true }
    guard Self.accessors.contains(word) else { return false }
    return ["{", "}", "async", "throws"].contains(next) || Self.accessors.contains(next)
      || next == "(" && word != "get"
  }

  // MARK: - Functions

  private mutating func readFunction(in owner: String, from start: Int) {
    let line = tokens[at].line
    let isSubscript = word == "subscript"
    if word == "func" { at += 1 }
    var name = Self.name(word, in: owner)
    at += 1
    // The rest of an operator; a `deinit` has its body at once.
    while at < tokens.count, !tokens[at].isName, word != "(", word != "<", word != "{" {
      // `init?` and `init!` are called by their word.
      if !tokens[at - 1].isName { name += word }
      at += 1
    }
    while !isAtEnd, word != "{" {
      if isOpening { skipBrackets() } else { at += 1 }
    }
    guard word == "{" else { return }
    if isSubscript {
      _ = readAccessors(of: name, line: line, from: start)
    } else {
      add(name, line: line, from: start, to: readBody(of: name))
    }
  }

  /// Reads what stands in braces, with the functions and types in it.
  /// - Returns: the line of the closing brace.
  private mutating func readBody(of owner: String) -> Int {
    var depth = 0
    while at < tokens.count {
      if word == "func", word(-1) != "." {
        readFunction(in: owner, from: at)
        continue
      }
      if isTypeOfBody {
        readType(in: owner)
        continue
      }
      if word == "{" { depth += 1 }
      if word == "}" { depth -= 1 }
      at += 1
      if depth == 0 { return tokens[at - 1].line }
    }
    isBalanced = false
    return tokens.last?.line ?? 0
  }

  private var isTypeOfBody: Bool {
    guard tokens[at].isName, Self.kinds.contains(word), word(-1) != "." else { return false }
    return at + 1 < tokens.count && tokens[at + 1].isName && ["{", ":", "<"].contains(word(2))
  }

  private mutating func add(_ name: String, line: Int, from start: Int, to end: Int) {
    var docLine = tokens[start].line - 1
    var isHotLoop = false
    while let isMarked = docLines[docLine] {
      if isMarked { isHotLoop = true }
      docLine -= 1
    }
    functions.append(FunctionShape(name: name, lineCount: end - line + 1, isHotLoop: isHotLoop))
  }
}
