/// XXH64 of bytes: quick, and the same on every machine. It tells files apart that changed by accident; it is no
/// protection against somebody who wants two to look alike.
package enum ContentHash {
  package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    // FNV-1a until XXH64 is here.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}
