import UpsurgeRecords

/// What stands for a file within another one: a member of an archive, or a sheet of a workbook.
protocol MemberContent: AnyObject {
  /// How the file was when it was opened.
  var stamp: ArchiveFile.Stamp { get }
  /// How many bytes of the file stand for it, decompressed, where that is known.
  var byteCount: UInt64? { get }
  /// How many of those were read.
  var readByteCount: UInt64 { get }
  /// Bytes that it gave: the same, where they are given as they stand in the file.
  var offset: UInt64 { get }
  /// Ends reading, when it is asked to.
  var cancellation: ReadCancellation? { get set }
  /// Whether it must be restarted to read on.
  var standsNowhere: Bool { get }
  /// Whether the file is another one than when it was opened.
  var hasChanged: Bool { get }

  /// As `ByteSource.read(into:)`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int
  /// Goes to its start.
  func restart() throws(UpsurgeError)
  /// What distinguishes it from others.
  func identity() throws(UpsurgeError) -> FileIdentity
}

extension MemberContent {
  var readByteCount: UInt64 { offset }

  /// Goes to a byte, by reading all before it.
  /// - Throws: `badInput` where it ends before.
  func seek(to byte: UInt64, name: String) throws(UpsurgeError) {
    if byte < offset || standsNowhere { try restart() }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { memory.deallocate() }
    while offset < byte {
      let wanted = Int(min(byte - offset, UInt64(memory.count)))
      if try read(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<wanted])) == 0 {
        throw .isAnotherFile(name, "has \(offset) bytes and no byte \(byte)")
      }
    }
  }
}

extension ArchiveFile {
  /// What distinguishes a part of it from others: the archive with its beginning and its end, where a zip archive has all checksums.
  /// - Parameter words: what else does.
  /// - Throws: `unreadableInput`.
  func identity(of words: String) throws(UpsurgeError) -> FileIdentity {
    let limit = FileIdentity.headByteCount
    var words = words
    for start in [0, stamp.byteCount - min(stamp.byteCount, UInt64(limit))] {
      let bytes = try bytes(limit, at: start)
      words += "\n\(bytes.withUnsafeBytes { ContentHash.hash($0) })"
    }
    return FileIdentity(
      byteCount: stamp.byteCount, modificationTime: stamp.modified,
      headHash: Array(words.utf8).withUnsafeBytes { ContentHash.hash($0) })
  }
}
