import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder that is gone, with all its files, when the test is done.
final class TemporaryFolder {
  let path: String

  init() throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/upsurge-input-XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) }, "mkdtemp failed")
  }

  deinit { TemporaryFolder.remove(path) }

  /// Depth first.
  private static func remove(_ folder: String) {
    if let listing = opendir(folder) {
      while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name == "." || name == ".." { continue }
        let full = folder + "/" + name
        if unlink(full) != 0 { remove(full) }
      }
      closedir(listing)
    }
    rmdir(folder)
  }

  /// Writes a file and returns its path.
  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let full = path + "/" + name
    let file = try #require(fopen(full, "wb"), "cannot write \(full)")
    defer { fclose(file) }
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    return full
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  func makeFolder(_ name: String) -> String {
    mkdir(path + "/" + name, 0o755)
    return path + "/" + name
  }
}
