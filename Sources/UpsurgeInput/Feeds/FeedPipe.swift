import CCurl
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The pipe between a sender and the source that reads it: what bounds the memory of both.
struct FeedPipe {
  let readEnd: Int32
  let writeEnd: Int32

  private static let byteCount: Int32 = 256 << 10

  /// - Throws: `unreadableInput`, where the system has no more descriptors.
  init(for name: String) throws(UpsurgeError) {
    var ends: [Int32] = [-1, -1]
    let code = upsurge_pipe(&ends, Self.byteCount)
    if code != 0 { throw .cannotOpen(name, code) }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }
}

/// The end of a pipe that a thread writes to; on a thread that blocks SIGPIPE.
struct FeedWriter {
  let descriptor: Int32

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    upsurge_set_nonblocking(descriptor)
  }

  /// Writes all of it, waiting while the pipe is full.
  /// - Parameter isCancelled: asked twenty times a second while it waits.
  /// - Returns: false when nobody reads any more.
  func write(_ bytes: UnsafeRawBufferPointer, isCancelled: () -> Bool) -> Bool {
    var rest = bytes
    while rest.count > 0 {
      let count = systemWrite(descriptor, rest)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        continue
      }
      if count < 0 && errno == EINTR { continue }
      guard count < 0, errno == EAGAIN else { return false }
      if isCancelled() { return false }
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&entry, 1, Int32(HTTPExchange.lookMilliseconds))
    }
    return true
  }
}
