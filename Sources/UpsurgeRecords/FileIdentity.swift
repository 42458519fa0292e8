/// What shows whether a file is the one that an earlier run has read: its size and a hash of its beginning. The time
/// of its last change only saves the hashing.
package struct FileIdentity: Sendable, Equatable {
  package var byteCount: UInt64
  /// Nanoseconds since 1970.
  package var modificationTime: Int64
  /// Of the first MiB as it lies in the file.
  package var headHash: UInt64

  /// So many bytes from the start are hashed.
  package static let headByteCount = 1 << 20

  package init(byteCount: UInt64, modificationTime: Int64, headHash: UInt64) {
    self.byteCount = byteCount
    self.modificationTime = modificationTime
    self.headHash = headHash
  }

  /// Whether it is the same content, as far as can be told; when it was written does not matter.
  package func isSame(as other: FileIdentity) -> Bool {
    byteCount == other.byteCount && headHash == other.headHash
  }
}
