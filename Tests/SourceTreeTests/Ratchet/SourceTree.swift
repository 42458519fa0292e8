import Foundation

/// The files of the package, for tests that read its text.
enum SourceTree {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../..").standardizedFileURL

  static func files(of module: String) throws -> [URL] {
    try files(under: "Sources/\(module)", ending: "swift")
  }

  static func files(under folder: String, ending: String) throws -> [URL] {
    let found = FileManager.default.enumerator(
      at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
    var files: [URL] = []
    while let file = found?.nextObject() as? URL {
      if file.pathExtension == ending { files.append(file) }
    }
    return files.sorted { $0.path < $1.path }
  }

  static func bytes(_ file: URL) throws -> [UInt8] { Array(try Data(contentsOf: file)) }

  /// The modules that a file of Swift imports, and those whose macros it names.
  static func imports(of source: [UInt8]) -> Set<String> {
    let read = SwiftLiterals(source)
    var modules: Set<String> = []
    for line in String(decoding: read.code, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard let place = words.firstIndex(of: "import"), place <= 1, place + 1 < words.count else { continue }
      // `import struct Module.Name` names what it imports, too.
      let isOfOne = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"].contains(
        words[place + 1])
      guard place + (isOfOne ? 2 : 1) < words.count else { continue }
      modules.insert(String(words[place + (isOfOne ? 2 : 1)].prefix { $0 != "." && $0 != ";" }))
    }
    let macro = "#externalMacro(module: "
    for literal in read.literals
    where read.code[..<literal.range.lowerBound].suffix(macro.utf8.count).elementsEqual(macro.utf8) {
      modules.insert(literal.text)
    }
    return modules
  }
}
