import Foundation

/// A folder for one test that goes away with it.
public final class Scratch {
  public let path: String

  public init() {
    path = NSTemporaryDirectory() + "/upsurge-tests-" + UUID().uuidString
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in the folder.
  public func file(_ name: String) -> String { path + "/" + name }

  /// Writes a file and gives its path.
  public func write(_ text: String, to name: String) -> String { write(Array(text.utf8), to: name) }

  public func write(_ bytes: [UInt8], to name: String) -> String {
    _ = FileManager.default.createFile(atPath: file(name), contents: Data(bytes))
    return file(name)
  }
}
