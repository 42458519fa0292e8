/// A sentence for a person in which options stand as terms, so that each of those who show it can name them as its
/// readers know them.
///
///     let remedy: Wording = "\(.key, "COLS") names the columns that say which row a record is about"
///     remedy.text            --key COLS names the columns …
///
/// Text that is put in stays as it is, whatever it holds.
package struct Wording: Sendable, Hashable {
  package enum Part: Sendable, Hashable {
    case text(String)
    /// An option, with what is given to it.
    case term(Term, value: String?)
    /// A line for a shell, which is the same for everybody.
    case command(String)
    /// What is said to whom runs the command or a job, and to whom calls the library.
    indirect case choice(Wording, call: Wording)
  }

  package private(set) var parts: [Part] = []

  package init() {}

  package init(_ text: String) { add(.text(text)) }

  /// - Parameter call: what is said instead to whom calls the library.
  package init(_ wording: Wording, call: Wording) { parts = [.choice(wording, call: call)] }

  /// As the command says it.
  package var text: String { text { term, value in Self.option(term, value) } }

  /// In the words of who shows it.
  /// - Parameters:
  ///   - isCall: whether that is a call of the library.
  ///   - name: says a term, and what is given to it.
  package func text(isCall: Bool = false, naming name: (Term, String?) -> String) -> String {
    parts.reduce(into: "") { text, part in
      switch part {
      case .text(let words), .command(let words): text += words
      case .term(let term, let value): text += name(term, value)
      case .choice(let words, let call): text += (isCall ? call : words).text(isCall: isCall, naming: name)
      }
    }
  }

  /// An option as it is typed.
  package static func option(_ term: Term, _ value: String? = nil) -> String {
    "--" + term.rawValue + (value.map { " " + $0 } ?? "")
  }

  /// The terms that it names.
  package var terms: Set<Term> {
    Set(
      parts.flatMap { part -> [Term] in
        switch part {
        case .term(let term, _): [term]
        case .choice(let wording, _): Array(wording.terms)
        case .text, .command: []
        }
      })
  }

  /// Whether it begins with a term, or has none before it.
  package func begins(with term: Term) -> Bool {
    for case .term(let first, _) in parts { return first == term }
    return false
  }

  /// What follows the first semicolon of its texts.
  package var afterSemicolon: Wording {
    for (index, part) in parts.enumerated() {
      guard case .text(let text) = part, let end = text.firstIndex(of: ";") else { continue }
      var rest = Wording(String(text[text.index(after: end)...].drop { $0 == " " }))
      for part in parts[(index + 1)...] { rest.add(part) }
      return rest
    }
    return Wording()
  }

  package var isEmpty: Bool { parts.isEmpty }

  /// The wording with every text, and what is given to terms, changed.
  package func map(_ change: (String) -> String) -> Wording {
    var result = Wording()
    for part in parts {
      switch part {
      case .text(let text): result.add(.text(change(text)))
      case .term(let term, let value): result.add(.term(term, value: value.map(change)))
      case .command(let text): result.add(.command(change(text)))
      case .choice(let wording, let call): result.add(.choice(wording.map(change), call: call.map(change)))
      }
    }
    return result
  }

  package var escapedForTerminal: Wording { map(\.escapedForTerminal) }

  private mutating func add(_ part: Part) {
    if case .text(let words) = part {
      if words.isEmpty { return }
      if case .text(let before) = parts.last {
        parts[parts.count - 1] = .text(before + words)
        return
      }
    }
    parts.append(part)
  }

  package static func += (left: inout Wording, right: Wording) { for part in right.parts { left.add(part) } }

  package static func + (left: Wording, right: Wording) -> Wording {
    var sum = left
    sum += right
    return sum
  }
}

extension Wording: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var wording = Wording()

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ literal: String) { wording.add(.text(literal)) }

    package mutating func appendInterpolation(_ term: Term) { wording.add(.term(term, value: nil)) }

    /// - Parameter value: what is given to the term, as the command takes it: `A,B`, `OLD=NEW`.
    package mutating func appendInterpolation(_ term: Term, _ value: some CustomStringConvertible) {
      wording.add(.term(term, value: value.description))
    }

    /// A term or a wording that a name stands for. The label keeps the literal a wording: without it the compiler makes a text.
    package mutating func appendInterpolation(saying other: Wording) { wording += other }

    package mutating func appendInterpolation(saying term: Term) { wording.add(.term(term, value: nil)) }

    @available(*, unavailable, message: "say it: \\(saying: wording)")
    package mutating func appendInterpolation(_ other: Wording) {}

    package mutating func appendInterpolation(command: Wording) { wording.add(.command(command.text)) }

    package mutating func appendInterpolation(_ value: some CustomStringConvertible) { wording.add(.text(value.description)) }

    @_disfavoredOverload
    package mutating func appendInterpolation<Value>(_ value: Value) { wording.add(.text("\(value)")) }
  }

  package init(stringLiteral value: String) { self.init(value) }

  package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.wording }
}

extension Wording {
  /// Several, with a text between them.
  package init(_ wordings: [Wording], separator: String) {
    self.init()
    for (index, wording) in wordings.enumerated() {
      if index > 0 { add(.text(separator)) }
      self += wording
    }
  }
}

extension Wording: CustomStringConvertible {
  package var description: String { text }
}
