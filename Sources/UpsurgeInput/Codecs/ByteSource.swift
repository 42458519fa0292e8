import UpsurgeRecords

/// A stream of bytes that is read once, from front to back, on one thread.
///
/// Sources are stacked: a file, a decompressor over it, a transcoder over that.
package protocol ByteSource: AnyObject {
  /// Writes at most `buffer.count` bytes to `buffer`; blocks until there is at least one or the stream ends.
  /// - Parameter buffer: not empty. One of 64 KiB or more is served best.
  /// - Returns: how many bytes were written; 0 only at the end of a stream that is whole.
  /// - Throws: `badInput` when the stream is cut or corrupt (with file and offset), `unreadableInput` when the
  ///   system refuses.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int
}
