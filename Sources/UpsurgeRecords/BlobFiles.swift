/// Reads the files that a `file` encoding names; the parser itself does no input.
package protocol BlobFiles: Sendable {
  /// Reads a whole file.
  /// - Parameter room: is asked for as many bytes as the file has; nil: there is no room for them yet.
  func read(
    _ path: String, byteLimit: Int, into room: (Int) -> UnsafeMutableRawBufferPointer?
  ) -> BlobFileOutcome
}

/// What came of reading a file.
package enum BlobFileOutcome: Sendable, Equatable {
  case bytes(Int)
  /// The file has so many bytes, and there was no room for them.
  case noRoom(Int)
  /// Why not, as the end of a sentence.
  case refused(Wording)
}
