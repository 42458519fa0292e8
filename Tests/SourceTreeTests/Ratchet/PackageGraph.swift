/// The targets of a manifest and what each depends on, read from its text.
struct PackageGraph {
  /// The targets that each target names; products of other packages are left out.
  private(set) var dependencies: [String: [String]] = [:]
  /// The products of other packages that each target names.
  private(set) var products: [String: [String]] = [:]
  /// The folder of each target, below the package's.
  private(set) var folders: [String: String] = [:]

  /// - Parameter manifest: the text of a `Package.swift`.
  init(_ manifest: [UInt8]) {
    let read = SwiftLiterals(manifest)
    var at = 0
    while at < read.code.count {
      guard let kind = Self.kinds.first(where: { read.code[at...].starts(with: $0) }) else {
        at += 1
        continue
      }
      // Behind the bracket that closes, as a dependency may be spelled like a target.
      let opening = at + kind.count
      at = Self.end(of: opening, in: read.code)
      let names = Self.names(in: opening..<at, of: read)
      guard let name = names.first else { continue }
      dependencies[name] = Array(names.dropFirst())
      products[name] = Self.texts(after: ".product(name: ", in: opening..<at, of: read)
      let home = kind == Array(".testTarget(".utf8) ? "Tests/" : "Sources/"
      folders[name] = Self.texts(after: "path: ", in: opening..<at, of: read).last ?? home + name
    }
  }

  private static let kinds = [".target(", ".macro(", ".systemLibrary(", ".executableTarget(", ".testTarget("]
    .map { Array($0.utf8) }

  /// Everything that a target is built from, without itself.
  func allDependencies(of target: String) -> Set<String> {
    var (found, waiting): (Set<String>, [String]) = ([], [target])
    while let next = waiting.popLast() {
      for name in dependencies[next] ?? [] where found.insert(name).inserted { waiting.append(name) }
    }
    return found
  }

  /// The name of a target, and behind it the targets that its `dependencies:` names.
  private static func names(in range: Range<Int>, of manifest: SwiftLiterals) -> [String] {
    let list = list("dependencies:", in: range, of: manifest.code)
    var names: [String] = []
    for literal in manifest.literals where range.contains(literal.range.lowerBound) {
      let at = literal.range.lowerBound
      // The first text is the name. A product of another package stands in brackets of its own.
      let isNamed =
        list.contains(at)
        && (depth(list.lowerBound..<at, in: manifest.code) == 0 || isTarget(at, in: manifest.code))
      if names.isEmpty || isNamed { names.append(literal.text) }
    }
    return names
  }

  /// The texts before which `words` stand.
  private static func texts(after words: String, in range: Range<Int>, of manifest: SwiftLiterals) -> [String]
  {
    manifest.literals.filter {
      let at = $0.range.lowerBound
      return range.contains(at) && manifest.code[..<at].suffix(words.utf8.count).elementsEqual(words.utf8)
    }.map(\.text)
  }

  /// Whether a text is the name in `.target(name: "…", condition: …)`, or in `.byName`.
  private static func isTarget(_ at: Int, in code: [UInt8]) -> Bool {
    [".target(name: ", ".byName(name: "].contains { code[..<at].suffix($0.utf8.count).elementsEqual($0.utf8) }
  }

  /// The inside of the brackets behind a label; empty where it is not there.
  private static func list(_ label: String, in range: Range<Int>, of code: [UInt8]) -> Range<Int> {
    let words = Array(label.utf8)
    guard let at = range.first(where: { code[$0..<range.upperBound].starts(with: words) }),
      let opening = code[at..<range.upperBound].firstIndex(of: UInt8(ascii: "["))
    else { return range.lowerBound..<range.lowerBound }
    return opening + 1..<end(of: opening + 1, in: code)
  }

  /// Where the bracket ends that was opened before `start`.
  private static func end(of start: Int, in code: [UInt8]) -> Int {
    var (at, level) = (start, 0)
    while at < code.count {
      level += step(code[at])
      if level < 0 { return at }
      at += 1
    }
    return at
  }

  /// How many brackets are open at the end of a range.
  private static func depth(_ range: Range<Int>, in code: [UInt8]) -> Int {
    code[range].reduce(0) { $0 + step($1) }
  }

  private static func step(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: "["): 1
    case UInt8(ascii: ")"), UInt8(ascii: "]"): -1
    default: 0
    }
  }
}
