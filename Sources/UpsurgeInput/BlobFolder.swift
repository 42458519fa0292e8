import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files that records name under `--blob file`; relative paths start at the folder of the input file, or at the
/// working folder where the input is a pipe.
package struct BlobFolder: BlobFiles {
  /// With a final slash; empty for the working folder.
  private let folder: String

  /// - Parameter sourceName: the input whose records name the files.
  package init(ofSource sourceName: String) {
    let isFile = !SourceName.isStandardInput(sourceName)
    folder = isFile ? sourceName.lastIndex(of: "/").map { String(sourceName[...$0]) } ?? "" : ""
  }

  package func read(
    _ path: String, byteLimit: Int, into room: (Int) -> UnsafeMutableRawBufferPointer?
  ) -> BlobFileOutcome {
    if path.isEmpty { return .refused("has no name") }
    if path.utf8.contains(0) { return .refused("has a NUL byte in its name") }
    let whole = path.hasPrefix("/") ? path : folder + path
    // O_NONBLOCK: a pipe would make the open wait; it is refused below.
    let descriptor = systemOpen(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    if descriptor < 0 { return .refused("cannot be read: \(String(cString: strerror(errno)))") }
    defer { systemClose(descriptor) }
    guard let info = stat(descriptor: descriptor), info.isRegular else { return .refused("is not a file") }
    let byteCount = Int(info.st_size)
    if byteCount > byteLimit {
      return .refused("has \(byteCount) bytes, more than the \(byteLimit) that --memory leaves for it")
    }
    guard let buffer = room(byteCount) else { return .noRoom(byteCount) }
    var filled = 0
    while filled < byteCount {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = systemRead(descriptor, rest)
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return .refused("cannot be read: \(String(cString: strerror(errno)))") }
      if count == 0 { return .refused("was cut while it was read") }
      filled += count
    }
    return .bytes(filled)
  }
}
