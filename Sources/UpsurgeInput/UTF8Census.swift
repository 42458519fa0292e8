/// How much of a text is UTF-8 (RFC 3629).
struct UTF8Census: Equatable {
  /// Well-formed sequences of two to four bytes.
  var sequenceCount = 0
  /// Bytes that belong to no well-formed sequence; an unfinished one at the end of a part does not count.
  var badByteCount = 0

  init(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
    var position = 0
    while position < bytes.count {
      if bytes[position] < 0x80 {
        position += asciiByteCount(bytes, from: position)
        continue
      }
      switch UTF8Census.sequence(bytes, at: position) {
      case .complete(let byteCount):
        sequenceCount += 1
        position += byteCount
      case .unfinished where !isWhole:
        return
      case .unfinished, .bad:
        badByteCount += 1
        position += 1
      }
    }
  }

  private enum Sequence {
    case complete(Int)
    case unfinished, bad
  }

  private static func sequence(_ bytes: UnsafeRawBufferPointer, at position: Int) -> Sequence {
    let lead = bytes[position]
    let byteCount: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: byteCount = 2
    case 0xE0...0xEF:
      byteCount = 3
      if lead == 0xE0 { second = 0xA0...0xBF }
      if lead == 0xED { second = 0x80...0x9F }
    case 0xF0...0xF4:
      byteCount = 4
      if lead == 0xF0 { second = 0x90...0xBF }
      if lead == 0xF4 { second = 0x80...0x8F }
    default: return .bad
    }
    for index in 1..<byteCount {
      if position + index == bytes.count { return .unfinished }
      let allowed = index == 1 ? second : 0x80...0xBF
      if !allowed.contains(bytes[position + index]) { return .bad }
    }
    return .complete(byteCount)
  }
}

/// Length of the run of ASCII bytes from a position on.
func asciiByteCount(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
  var position = start
  while position + 8 <= bytes.count {
    let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
    if word & 0x8080_8080_8080_8080 != 0 { break }
    position += 8
  }
  while position < bytes.count && bytes[position] < 0x80 { position += 1 }
  return position - start
}
