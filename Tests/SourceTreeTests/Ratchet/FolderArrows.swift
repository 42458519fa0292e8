import Foundation

/// Which folder of a module needs which other one: by the types and functions that it names, and by what an extension brings
/// to a type of another folder or module.
struct FolderArrows {
  /// A file that needs something of a folder above its own.
  struct Arrow: Hashable, CustomStringConvertible {
    var file: String
    var name: String
    var home: String
    var description: String { "\(file) needs \(name) of \(home)" }
  }

  private struct File {
    var path: String
    var folder: String
    var lines: [Line]
    var words: Set<Substring>
  }

  private struct Line {
    var indent: Int
    var words: [Substring]
    /// Whether it has a colon, as an extension has that makes its type conform to a protocol.
    var statesConformance: Bool

    init(_ text: Substring) {
      indent = text.utf8.prefix { $0 == UInt8(ascii: " ") }.count
      statesConformance = text.contains(":")
      words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    }

    /// What is declared by one of these words.
    func name(after kinds: Set<Substring>) -> Substring? {
      guard let place = words.firstIndex(where: kinds.contains), place + 1 < words.count else { return nil }
      return words[place + 1]
    }
  }

  private let files: [File]
  /// The folder of each type, and of what extensions outside of their type's folder declare.
  private var homes: [Substring: String] = [:]

  init(of module: String) throws {
    let root = SourceTree.root.appendingPathComponent("Sources/\(module)").path + "/"
    files = try SourceTree.files(of: module).map { file in
      let path = String(file.path.dropFirst(root.count))
      let lines = Self.code(try SourceTree.bytes(file)).split(separator: "\n").map(Line.init)
      return File(path: path, folder: Self.folder(of: path), lines: lines, words: Set(lines.flatMap(\.words)))
    }
    findTypes()
    findExtensions()
  }

  /// All folders that hold a file; `.` is the module's own.
  var folders: Set<String> { Set(files.map(\.folder)) }

  /// What goes against an order, the lowest folder first.
  func arrows(against order: [String]) -> [Arrow] {
    let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    return files.flatMap { file in
      file.words.compactMap { word in
        guard let home = homes[word], let upper = places[home], let own = places[file.folder], upper > own else { return nil }
        return Arrow(file: file.path, name: String(word), home: home)
      }
    }
    .sorted { ($0.file, $0.name) < ($1.file, $1.name) }
  }

  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/")
    return parts.count > 1 ? String(parts[0]) : "."
  }

  /// The code without comments and texts, but with what texts interpolate.
  private static func code(_ source: [UInt8]) -> String {
    let literals = SwiftLiterals(source)
    var code = literals.code
    for literal in literals.literals {
      var depth = 0
      for at in literal.range where at > 0 {
        if depth == 0 {
          if source[at] == UInt8(ascii: "("), source[at - 1] == UInt8(ascii: "\\") { depth = 1 }
          continue
        }
        if source[at] == UInt8(ascii: "(") { depth += 1 }
        if source[at] == UInt8(ascii: ")") { depth -= 1 }
        if depth > 0 { code[at] = source[at] }
      }
    }
    return String(decoding: code, as: UTF8.self)
  }

  private static let typeWords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
  private static let memberWords: Set<Substring> = ["func", "var", "let", "case"]

  private mutating func findTypes() {
    for file in files {
      var isExtension = false
      for line in file.lines where !line.words.contains("private") && !line.words.contains("fileprivate") {
        if line.indent == 0 {
          isExtension = line.words.contains("extension")
          if let name = line.name(after: Self.typeWords) { homes[name] = file.folder }
          if let name = line.name(after: ["func"]), Self.isTelling(name) { homes[name] = file.folder }
        }
        // A type within an extension is needed by the name of its own.
        if line.indent == 2, isExtension, let name = line.name(after: Self.typeWords), Self.isTelling(name), homes[name] == nil {
          homes[name] = file.folder
        }
      }
    }
  }

  /// Members that an extension outside of its type's folder declares, where nothing else of the module has their name.
  private mutating func findExtensions() {
    var declared: [Substring: Int] = [:]
    var brought: [Substring: String] = [:]
    for file in files {
      var home: String?
      var own: Set<Substring> = []
      for line in file.lines {
        if line.indent == 0 {
          // Of a type of another module, everything is brought by the file itself, but for what a protocol asks for.
          home = line.name(after: ["extension"]).flatMap { homes[$0] ?? (line.statesConformance ? nil : "") }
        }
        guard let name = line.name(after: Self.memberWords) else { continue }
        own.insert(name)
        if line.indent == 2, !line.words.contains("private"), let home, home != file.folder { brought[name] = file.folder }
      }
      for name in own { declared[name, default: 0] += 1 }
    }
    for (name, folder) in brought where declared[name] == 1 && Self.isTelling(name) { homes[name] = folder }
  }

  /// Whether it is of several words; a short name may be one of another module.
  private static func isTelling(_ name: Substring) -> Bool { name.dropFirst().contains(where: \.isUppercase) }
}
