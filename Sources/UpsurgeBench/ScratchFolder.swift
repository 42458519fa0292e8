import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A temporary folder of this process alone. It is removed with all that is in it.
package final class ScratchFolder {
  /// The folder's path.
  package let path: String
  private var isRemoved = false

  /// Makes a folder with a name of its own in `parent`; nil is `$TMPDIR`, or `/tmp`.
  /// - Throws: `cannotCreate`.
  package init(in parent: String?, name: String = "upsurge-bench") throws(UpsurgeError) {
    let given = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    let folder = given.isEmpty ? "/tmp" : given
    var template = Array("\(folder)/\(name)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw UpsurgeError(
        .cannotCreate,
        "cannot make a folder in \(folder.escapedForTerminal): \(String(cString: strerror(errno)))",
        hint: "\(.scratch, "DIR") names a folder that can be written", underlyingCode: errno)
    }
    let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // From the root, so that no program takes it for an option.
    let whole = realpath(made, nil)
    path = whole.map { String(cString: $0) } ?? made
    free(whole)
  }

  deinit { remove() }

  /// The path of a file in it.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a small file.
  /// - Returns: its path.
  func write(_ text: String, to name: String) throws(UpsurgeError) -> String {
    let target = file(name)
    let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw failure(name) }
    defer { close(descriptor) }
    try write(Array(text.utf8), to: descriptor, name)
    return target
  }

  /// Writes all of `bytes`.
  func write(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws(UpsurgeError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { throw failure(name) }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads all of a file.
  /// - Throws: `cannotCreate`, as the file is one of ours that has gone.
  package func bytes(of name: String) throws(UpsurgeError) -> [UInt8] {
    let source = open(file(name), O_RDONLY | O_CLOEXEC)
    if source < 0 { throw failure(name) }
    defer { close(source) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = buffer.withUnsafeMutableBytes { systemRead(source, $0) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw failure(name) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Copies a file of the folder, to the disk, so that nobody who is measured pays for writing it.
  func copy(_ name: String, to other: String) throws(UpsurgeError) {
    let source = open(file(name), O_RDONLY | O_CLOEXEC)
    if source < 0 { throw failure(name) }
    defer { close(source) }
    let target = open(file(other), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    if target < 0 { throw failure(other) }
    defer { close(target) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = buffer.withUnsafeMutableBytes { systemRead(source, $0) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw failure(name) }
      if count == 0 {
        fsync(target)
        return
      }
      try write(Array(buffer[..<count]), to: target, other)
    }
  }

  /// Removes the files of a database.
  func removeDatabase(_ name: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(file(name + suffix)) }
  }

  /// Removes the folder and all that is in it; links are removed, not followed.
  package func remove() {
    if isRemoved { return }
    isRemoved = true
    Self.remove(folder: path)
  }

  private static func remove(folder: String) {
    if let stream = opendir(folder) {
      var names: [String] = []
      while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { names.append(name) }
      }
      closedir(stream)
      for name in names {
        let path = "\(folder)/\(name)"
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
          remove(folder: path)
        } else {
          unlink(path)
        }
      }
    }
    rmdir(folder)
  }

  private func failure(_ name: String) -> UpsurgeError {
    let code = errno
    return UpsurgeError(
      .cannotCreate, "cannot write \(file(name).escapedForTerminal): \(String(cString: strerror(code)))",
      hint: "\(.scratch, "DIR") names a folder with more room", underlyingCode: code)
  }
}

/// write(2) and read(2), which methods of the same names hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, bytes.baseAddress, bytes.count)
}
