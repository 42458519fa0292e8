import UpsurgeRecords

/// The unread bytes of a source, in one piece: what a decompressor or transcoder works on.
///
///     memory   | consumed | unread | free |
///              0          ^start   ^end   ^capacity
final class InputWindow {
  private let source: any ByteSource
  private let memory: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  /// Offset in the source of the first unread byte.
  private(set) var offset: UInt64
  /// Whether the source has no more bytes than the unread ones.
  private(set) var isAtEnd = false

  /// - Parameter offset: where in its own stream the source stands.
  init(_ source: any ByteSource, byteCount: Int, offset: UInt64 = 0) {
    self.source = source
    self.offset = offset
    // As files are read fastest on all processors.
    memory = .allocate(byteCount: byteCount, alignment: 4096)
  }

  deinit { memory.deallocate() }

  var count: Int { end - start }

  /// Valid until the next `fill`.
  var unread: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[start..<end]) }

  func consume(_ byteCount: Int) {
    precondition(byteCount <= count, "more bytes consumed than there are")
    start += byteCount
    offset += UInt64(byteCount)
  }

  /// Reads once, after the unread bytes.
  /// - Returns: false when the source is at its end.
  func fill() throws(UpsurgeError) -> Bool {
    if isAtEnd { return false }
    if start > 0 {
      memory.copyMemory(from: unread)
      end -= start
      start = 0
    }
    precondition(end < memory.count, "the window is full")
    let more = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
    end += more
    isAtEnd = more == 0
    return more > 0
  }

  /// Reads until there are `byteCount` unread bytes.
  /// - Returns: false when the source ends before.
  func ensure(_ byteCount: Int) throws(UpsurgeError) -> Bool {
    while count < byteCount {
      if !(try fill()) { return false }
    }
    return true
  }
}

/// Bytes that were looked at already, then the rest of the source they came from.
final class ReplaySource: ByteSource {
  private var bytes: [UInt8]
  private var position = 0
  private let rest: any ByteSource

  init(_ bytes: [UInt8], then rest: any ByteSource) {
    self.bytes = bytes
    self.rest = rest
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if position == bytes.count { return try rest.read(into: buffer) }
    let count = min(bytes.count - position, buffer.count)
    bytes.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
    }
    position += count
    if position == bytes.count {
      bytes = []
      position = 0
    }
    return count
  }
}

extension ByteSource {
  /// Reads until there are `limit` bytes or the stream ends.
  /// - Returns: the bytes, and whether the end was reached.
  func readPrefix(_ limit: Int) throws(UpsurgeError) -> (bytes: [UInt8], isWhole: Bool) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 16)
    defer { memory.deallocate() }
    var count = 0
    while count < limit {
      let more = try read(into: UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
      if more == 0 { return (Array(memory[..<count]), true) }
      count += more
    }
    return (Array(memory[..<count]), false)
  }
}
