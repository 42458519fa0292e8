import Foundation

/// The files of the package, for tests that read its text.
enum SourceTree {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../..").standardizedFileURL

  static func files(of module: String) throws -> [URL] { try files(under: "Sources/\(module)", ending: "swift") }

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
}
