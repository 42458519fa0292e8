/// A stretch of whole records of a delivery, by which the same records are found in the next one.
///
/// One begins where a record begins and ends after a line end, so that its bytes are the same records wherever a record
/// may begin.
package struct SnapshotChunk: Sendable, Equatable {
  /// Orders the chunks of a delivery; there are gaps.
  package var place: Int64 = 0
  package var byteCount: Int
  /// XXH64 of its first `headByteCount` bytes.
  package var head: UInt64
  /// Of all its bytes; nil for one that is always read: it is too small or too large, or there is something to say of it.
  package var hash: ContentHash.Pair?
  package var lineCount: UInt64
  package var recordCount: UInt64

  package init(
    place: Int64 = 0, byteCount: Int, head: UInt64, hash: ContentHash.Pair?, lineCount: UInt64,
    recordCount: UInt64
  ) {
    (self.place, self.byteCount, self.head, self.hash) = (place, byteCount, head, hash)
    (self.lineCount, self.recordCount) = (lineCount, recordCount)
  }

  package static let headByteCount = 64

  /// How large chunks are; the result of a run does not depend on it.
  package struct Sizes: Sendable {
    /// Chunks end with the first record at which they have so many bytes.
    package var usual = 64 << 10
    /// Smaller ones are always read, so that they grow together with what comes beside them.
    package var least = 16 << 10
    /// Larger ones are always read, so that the search needs no more memory; at most 256 KiB.
    package var most = 256 << 10
    /// So many bytes are looked through for the first chunk.
    package var patience = 1 << 20

    package init() {}
  }
}
