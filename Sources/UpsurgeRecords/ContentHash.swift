/// XXH64 of bytes (Yann Collet's xxHash, seed 0): quick, and the same on every machine. It shows that files differ that
/// changed by accident; it is no protection against somebody who wants two to look alike.
///
///     32 bytes at a time go into four lanes of 8; the lanes are merged; the rest follows by 8, 4 and 1 bytes
///
/// Reference: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
package enum ContentHash {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  /// The hash of all the bytes, which may lie at any address.
  package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var lanes = Lanes()
    let offset = lanes.add(bytes)
    let start = bytes.count >= 32 ? lanes.merged : prime5
    return finish(start, UnsafeRawBufferPointer(rebasing: bytes[offset...]), byteCount: UInt64(bytes.count))
  }

  /// Two hashes of the same bytes, for places where one of 64 bits is too small a proof that they are the same.
  package struct Pair: Sendable, Hashable {
    /// XXH64.
    package var first: UInt64
    /// XXH64's lanes, merged in another way.
    package var second: UInt64

    package init(first: UInt64, second: UInt64) { (self.first, self.second) = (first, second) }
  }

  /// The two hashes of all the bytes.
  package static func pair(_ bytes: UnsafeRawBufferPointer) -> Pair {
    var lanes = Lanes()
    let offset = lanes.add(bytes)
    let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
    return pair(lanes, rest, byteCount: UInt64(bytes.count))
  }

  private static func pair(_ lanes: Lanes, _ rest: UnsafeRawBufferPointer, byteCount: UInt64) -> Pair {
    let isLong = byteCount >= 32
    return Pair(
      first: finish(isLong ? lanes.merged : prime5, rest, byteCount: byteCount),
      second: finish(isLong ? lanes.mergedOtherwise : prime3, rest, byteCount: byteCount))
  }

  /// The hash of bytes that come in parts.
  package struct Stream: Sendable {
    private var lanes = Lanes()
    private var byteCount: UInt64 = 0
    /// Fewer than 32 bytes that wait for others.
    private var rest: [UInt8] = []

    package init() { rest.reserveCapacity(32) }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
      byteCount += UInt64(bytes.count)
      var bytes = bytes
      if !rest.isEmpty {
        let count = min(32 - rest.count, bytes.count)
        rest.append(contentsOf: bytes[..<count])
        bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
        if rest.count < 32 { return }
        _ = rest.withUnsafeBytes { lanes.add($0) }
        rest.removeAll(keepingCapacity: true)
      }
      let offset = lanes.add(bytes)
      rest.append(contentsOf: bytes[offset...])
    }

    /// Of all bytes so far.
    package var value: UInt64 {
      let start = byteCount >= 32 ? lanes.merged : prime5
      return rest.withUnsafeBytes { finish(start, $0, byteCount: byteCount) }
    }

    /// The two hashes of all bytes so far.
    package var pair: Pair {
      rest.withUnsafeBytes { ContentHash.pair(lanes, $0, byteCount: byteCount) }
    }
  }

  /// Takes the bytes by 32, as far as they go.
  private struct Lanes: Sendable {
    var (a, b, c, d) = (prime1 &+ prime2, prime2, UInt64(0), 0 &- prime1)

    /// - Returns: how many bytes were taken.
    mutating func add(_ bytes: UnsafeRawBufferPointer) -> Int {
      guard let start = bytes.baseAddress, bytes.count >= 32 else { return 0 }
      var (a, b, c, d) = (a, b, c, d)
      var at = 0
      while bytes.count - at >= 32 {
        a = round(a, word(start, at))
        b = round(b, word(start, at + 8))
        c = round(c, word(start, at + 16))
        d = round(d, word(start, at + 24))
        at += 32
      }
      (self.a, self.b, self.c, self.d) = (a, b, c, d)
      return at
    }

    var merged: UInt64 {
      var hash = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
      for lane in [a, b, c, d] { hash = (hash ^ round(0, lane)) &* prime1 &+ prime4 }
      return hash
    }

    var mergedOtherwise: UInt64 {
      var hash = rotate(d, 1) &+ rotate(a, 7) &+ rotate(b, 12) &+ rotate(c, 18)
      for lane in [c, a, d, b] { hash = (hash ^ round(prime3, lane)) &* prime2 &+ prime5 }
      return hash
    }
  }

  /// Adds the last bytes, fewer than 32.
  private static func finish(_ start: UInt64, _ bytes: UnsafeRawBufferPointer, byteCount: UInt64) -> UInt64 {
    var hash = start &+ byteCount
    var offset = 0
    while bytes.count - offset >= 8 {
      hash = rotate(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
      offset += 8
    }
    if bytes.count - offset >= 4 {
      let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      hash = rotate(hash ^ half &* prime1, 23) &* prime2 &+ prime3
      offset += 4
    }
    while offset < bytes.count {
      hash = rotate(hash ^ UInt64(bytes[offset]) &* prime5, 11) &* prime1
      offset += 1
    }
    hash = (hash ^ hash >> 33) &* prime2
    hash = (hash ^ hash >> 29) &* prime3
    return hash ^ hash >> 32
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotate(lane &+ input &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value &<< count | value &>> (64 &- count)
  }

  @inline(__always)
  private static func word(_ start: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
