/// A first line `sep=;`, with which spreadsheets are told the delimiter: no record, and no header.
struct SeparatorLine {
  let delimiter: UInt8
  /// Where the next line starts.
  let byteCount: Int
  /// Lines up to there: the line itself, and blank ones before it.
  let lineCount: Int

  /// - Parameter bytes: the start of the input, after a byte order mark.
  /// - Returns: nil where the first line is not such a line.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    let isLineEnd = { (byte: UInt8) in byte == 0x0A || byte == 0x0D }
    guard let start = bytes.prefix(64).firstIndex(where: { !isLineEnd($0) }),
      let end = bytes[start...].prefix(64).firstIndex(where: isLineEnd)
    else { return nil }
    var line = bytes[start..<end]
    let quotes: [UInt8] = [UInt8(ascii: "\""), UInt8(ascii: "'")]
    if let first = line.first, quotes.contains(first) {
      line = line.dropFirst()
      // `"sep=;"`, padded by a spreadsheet or not.
      guard let close = line.lastIndex(of: first), close > line.startIndex else { return nil }
      line = line[..<close]
    }
    let word = Array("sep=".utf8)
    guard line.count > word.count, line.prefix(word.count).map({ $0 | 0x20 }) == word.map({ $0 | 0x20 }) else {
      return nil
    }
    let rest = line.dropFirst(word.count)
    guard let mark = rest.first, !Self.isWordByte(mark) else { return nil }
    // After the mark are only the delimiters that a spreadsheet pads lines with.
    guard rest.dropFirst().allSatisfy({ $0 == mark || $0 == 0x20 || $0 == UInt8(ascii: ",") }) else { return nil }
    delimiter = mark
    var next = end + 1
    if bytes[end] == 0x0D && next < bytes.count && bytes[next] == 0x0A { next += 1 }
    byteCount = next
    lineCount = 1 + bytes[..<start].indices.count { bytes[$0] == 0x0D || $0 == 0 || bytes[$0 - 1] != 0x0D }
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
      true
    default: false
    }
  }
}
