import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder for one test that goes away with it; without Foundation, which takes long to build with a sanitizer.
final class RaceFolder: Sendable {
  let path: String

  init() {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/upsurge-races-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? base
  }

  deinit {
    guard let listing = opendir(path) else { return }
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      unlink(path + "/" + name)
    }
    closedir(listing)
    rmdir(path)
  }

  /// Writes a file and gives its path.
  func write(_ text: String, _ name: String) -> String {
    let full = path + "/" + name
    guard let file = fopen(full, "wb") else { return full }
    let bytes = Array(text.utf8)
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    return full
  }
}

/// A number that any thread may raise.
final class NoteCount: Sendable {
  private let number = Atomic<Int>(0)

  var count: Int { number.load(ordering: .relaxed) }

  func add() { number.add(1, ordering: .relaxed) }
}
