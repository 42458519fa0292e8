import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A digest of rows that does not depend on their order: the sum of two hashes of each row's line, and how many rows there are.
///
/// Lines come in pieces whose borders may lie anywhere. Memory is bounded, however long a line is.
package struct RowDigest: Sendable, Equatable {
  package private(set) var rowCount: UInt64 = 0
  package private(set) var byteCount: UInt64 = 0
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  /// The beginning of a line whose end has not come.
  private var open: ContentHash.Stream?

  init() {}

  mutating func add(_ piece: [UInt8]) {
    byteCount += UInt64(piece.count)
    piece.withUnsafeBytes { bytes in
      var start = 0
      while start < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        guard let end = Self.lineEnd(rest) else {
          var stream = open ?? ContentHash.Stream()
          stream.add(rest)
          open = stream
          return
        }
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        if var stream = open {
          stream.add(line)
          add(stream.pair)
          open = nil
        } else {
          add(ContentHash.pair(line))
        }
        start += end + 1
      }
    }
  }

  private mutating func add(_ pair: ContentHash.Pair) {
    rowCount += 1
    first &+= pair.first
    second &+= pair.second
  }

  private static func lineEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else { return nil }
    return UnsafeRawPointer(found) - start
  }

  /// 32 letters.
  package var text: String { Self.hex(first) + Self.hex(second) }

  private static func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  package static func == (left: RowDigest, right: RowDigest) -> Bool {
    (left.rowCount, left.first, left.second) == (right.rowCount, right.first, right.second)
  }
}
