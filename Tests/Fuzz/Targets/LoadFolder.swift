#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where loads read and write: a folder in memory where there is one; gone when the process ends.
final class LoadFolder: Sendable {
  static let shared = LoadFolder()

  let source: String
  let database: String
  let rejects: String

  private init() {
    let base =
      access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/upsurge-fuzz-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { fatalError("cannot make a folder in \(base)") }
    let path = String(cString: made)
    source = path + "/input"
    database = path + "/a.db"
    rejects = path + "/rejects"
    atexit { LoadFolder.shared.remove() }
  }

  func write(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    guard descriptor >= 0, systemWrite(descriptor, bytes, bytes.count) == bytes.count else {
      fatalError("cannot write \(path)")
    }
  }

  func removeDatabase() {
    for suffix in ["", "-wal", "-shm", "-journal", "-upsurge"] { unlink(database + suffix) }
  }

  private func remove() {
    removeDatabase()
    unlink(source)
    unlink(rejects)
    rmdir(String(source.dropLast("/input".count)))
  }
}

/// write(2), which the method of that name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
