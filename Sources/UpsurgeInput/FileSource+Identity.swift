import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileSource {
  /// What distinguishes this file from others, as it was when it was opened; nil for what cannot be read twice. Reads up to a
  /// MiB beside the stream, which stays where it is.
  /// - Throws: `unreadableInput`; `badInput` when the file has become shorter.
  package func identity() throws(UpsurgeError) -> FileIdentity? {
    if let content { return try content.identity() }
    guard isSeekable, let byteCount, let openedTime else { return nil }
    // Files of /proc say that they are empty; others may have grown since.
    let isMeasured = byteCount > 0
    let limit =
      isMeasured ? Int(min(byteCount, UInt64(FileIdentity.headByteCount))) : FileIdentity.headByteCount
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 16)
    defer { memory.deallocate() }
    var count = 0
    while count < limit {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
      let more = systemRead(descriptor, rest, at: firstOffset + off_t(count))
      if more == 0 { break }
      if more > 0 {
        count += more
      } else if errno != EINTR {
        throw .cannotRead(name, offset: UInt64(count), errno)
      }
    }
    if isMeasured && count < limit { throw .becameShorter(name, offset: UInt64(count), expected: byteCount) }
    return FileIdentity(
      byteCount: byteCount, modificationTime: openedTime,
      headHash: ContentHash.hash(UnsafeRawBufferPointer(rebasing: memory[..<count])))
  }

  /// Whether a regular file has another size or time than when it was opened.
  package var hasChanged: Bool {
    if let content { return content.hasChanged }
    guard let byteCount, let openedTime, let info = stat(descriptor: descriptor) else { return false }
    return info.modificationTime != openedTime || UInt64(max(info.st_size - firstOffset, 0)) != byteCount
  }
}

extension FileIdentity {
  /// How long a regular file is, or the archive that the path goes through; nil for anything else.
  package static func byteCount(ofPath path: String) -> UInt64? {
    guard let info = stat(path: ArchivePath(path)?.archive ?? path), info.isRegular else { return nil }
    return UInt64(max(info.st_size, 0))
  }

  /// Whether a source still is this file: the same size and the same beginning. An unchanged time of its last change saves
  /// reading it.
  /// - Throws: `unreadableInput`.
  package func isStill(_ source: Source) throws(UpsurgeError) -> Bool {
    guard let path = source.filePath else { return false }
    guard let info = stat(path: ArchivePath(path)?.archive ?? path) else { throw .cannotOpen(path, errno) }
    guard info.isRegular, UInt64(max(info.st_size, 0)) == byteCount else { return false }
    if info.modificationTime == modificationTime { return true }
    return try FileSource(source).identity()?.isSame(as: self) ?? false
  }
}
