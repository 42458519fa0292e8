import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files that records name under `--blob file`: those in a folder and below it, which is that of `--blob-folder`,
/// else of the input file, else, where the input is a pipe, a URL or a command, the working folder.
///
/// What records name comes from elsewhere, so it leads nowhere else: neither by `..` nor by a symbolic link, as each
/// folder on the way is opened by itself, without following links. A path from the root is taken when it starts with
/// the folder's own.
package struct BlobFolder: BlobFiles {
  /// With a final slash; empty for the working folder.
  private let folder: String
  /// The folder's path from the root, with a final slash.
  private let wholeFolder: String

  /// - Parameters:
  ///   - sourceName: the input whose records name the files.
  ///   - given: the folder that the user named.
  package init(ofSource sourceName: String, given: String? = nil) {
    if let given {
      folder = given.utf8.last == UInt8(ascii: "/") || given.isEmpty ? given : given + "/"
    } else {
      let path = Source(sourceName).filePath ?? ""
      let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
      folder = cut.map { String(path[...$0]) } ?? ""
    }
    var whole = ""
    if let resolved = realpath(folder.isEmpty ? "." : folder, nil) {
      whole = String(cString: resolved)
      free(resolved)
    }
    wholeFolder = whole.utf8.last == UInt8(ascii: "/") ? whole : whole + "/"
  }

  package func read(
    _ path: String, byteLimit: Int, into room: (Int) -> UnsafeMutableRawBufferPointer?
  ) -> BlobFileOutcome {
    if path.isEmpty { return .refused("has no name") }
    if path.utf8.contains(0) { return .refused("has a NUL byte in its name") }
    guard let inner = partsInside(path) else {
      return .refused(
        "is outside of \(folder.isEmpty ? "the working folder" : folder) (\(.blobFolder) names another folder)"
      )
    }
    let descriptor = open(inner)
    if descriptor < 0 {
      let reason = errno == ELOOP || errno == ENOTDIR ? "a symbolic link, or no folder, is on the way" : nil
      return .refused("cannot be read: \(reason ?? String(cString: strerror(errno)))")
    }
    defer { systemClose(descriptor) }
    guard let info = stat(descriptor: descriptor), info.isRegular else { return .refused("is not a file") }
    let byteCount = Int(info.st_size)
    if byteCount > byteLimit {
      return .refused("has \(byteCount) bytes, more than the \(byteLimit) that \(.memory) leaves for it")
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

  /// The names on the way from the folder; nil where it leads out of it. Byte by byte: to Swift, a slash with a combining
  /// mark is another character.
  private func partsInside(_ path: String) -> [String]? {
    let slash = UInt8(ascii: "/")
    var rest = path.utf8[...]
    if rest.first == slash {
      guard
        let start = [folder, wholeFolder].first(where: {
          $0.utf8.first == slash && rest.starts(with: $0.utf8)
        })
      else { return nil }
      rest = rest.dropFirst(start.utf8.count)
    }
    var parts: [String] = []
    for part in rest.split(separator: slash) where !part.elementsEqual(".".utf8) {
      if !part.elementsEqual("..".utf8) {
        parts.append(String(Substring(part)))
      } else if parts.popLast() == nil {
        return nil
      }
    }
    return parts
  }

  /// Goes down folder by folder.
  /// - Returns: -1 with `errno` set.
  private func open(_ parts: [String]) -> Int32 {
    var current = systemOpen(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for (index, part) in parts.enumerated() where current >= 0 {
      // O_NONBLOCK: a pipe would make the open wait; it is refused later.
      let flags = index == parts.count - 1 ? O_NOCTTY | O_NONBLOCK : O_DIRECTORY
      let next = openat(current, part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags)
      let code = errno
      systemClose(current)
      errno = code
      current = next
    }
    return current
  }
}
