import UpsurgeRecords

/// The rest of a source, read before anybody asks for it: most of it in a spool file, the end in memory.
final class ReadAhead {
  private let name: String
  private let file: SpoolFile
  /// The next byte in the file, and the end of those that are there.
  private var offset: UInt64
  private var end: UInt64
  private var tail: [UInt8] = []
  private var tailOffset = 0
  /// Why there is no more; nil where the source is whole.
  let failure: UpsurgeError?

  /// What is gathered in memory before it is written.
  private static let blockByteCount = 1 << 20

  /// Reads until the source ends or fails.
  /// - Parameters:
  ///   - memoryByteCount: so many bytes of the end may stay in memory.
  ///   - read: as `ByteSource.read(into:)`.
  /// - Throws: `interrupted`; `cannotCreate` where there is no room. Other errors are those of the source, and come when
  ///   it is read to that place.
  init(
    name: String, file: SpoolFile, memoryByteCount: Int,
    read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int
  ) throws(UpsurgeError) {
    self.name = name
    self.file = file
    offset = file.byteCount
    end = offset
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockByteCount, alignment: 16)
    defer { block.deallocate() }
    var (count, failure): (Int, UpsurgeError?) = (0, nil)
    while true {
      if count == block.count {
        try file.append(UnsafeRawBufferPointer(block), name: name)
        count = 0
      }
      do throws(UpsurgeError) {
        let more = try read(UnsafeMutableRawBufferPointer(rebasing: block[count...]))
        if more == 0 { break }
        count += more
      } catch {
        if error.code == .interrupted { throw error }
        failure = error
        break
      }
    }
    let rest = UnsafeRawBufferPointer(rebasing: block[..<count])
    if count > memoryByteCount { try file.append(rest, name: name) } else { tail = Array(rest) }
    end = file.byteCount
    self.failure = failure
  }

  /// Bytes that were written to the file.
  var fileByteCount: UInt64 { end - offset }

  /// As `ByteSource.read(into:)`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if offset < end {
      let wanted = Int(min(UInt64(buffer.count), end - offset))
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      let count = try file.read(into: part, at: offset, name: name)
      offset += UInt64(count)
      return count
    }
    let count = min(buffer.count, tail.count - tailOffset)
    if count > 0 {
      tail.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[tailOffset..<tailOffset + count]))
      }
      tailOffset += count
      return count
    }
    if !tail.isEmpty { (tail, tailOffset) = ([], 0) }
    if let failure { throw failure }
    return 0
  }
}
