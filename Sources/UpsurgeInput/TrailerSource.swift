import UpsurgeRecords

/// A text without its last line, which must be a trailer.
final class TrailerSource: ByteSource {
  /// A last line that may be longer is no trailer.
  static let lineByteLimit = 4 << 10

  private let pattern: TrailerPattern
  private let name: String
  private let window: InputWindow
  private var hasDelivered = false
  /// Bytes before the trailer that were not delivered; nil until the end is known.
  private var rest: Int?
  /// What the trailer says; nil until it was read.
  private(set) var trailer: TrailerPattern.Match?

  /// - Parameter offset: where in the text the source stands.
  init(_ source: any ByteSource, pattern: TrailerPattern, name: String, offset: UInt64) {
    self.pattern = pattern
    self.name = name
    window = InputWindow(source, byteCount: 256 << 10, offset: offset)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    while true {
      let clear = rest ?? window.count - Self.lineByteLimit
      if clear > 0 {
        let count = min(clear, buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: window.unread[..<count]))
        window.consume(count)
        hasDelivered = true
        rest = rest.map { $0 - count }
        return count
      }
      if rest != nil { return 0 }
      if try !window.fill() {
        let end = try pattern.end(
          of: window.unread, isWhole: !hasDelivered, name: name, offset: window.offset)
        (rest, trailer) = (end.bodyByteCount, end.trailer)
      }
    }
  }
}

extension TrailerPattern {
  /// Where a text ends, whose last line it is.
  /// - Parameters:
  ///   - text: its end.
  ///   - isWhole: whether a line begins where it begins; else its first line is not looked at.
  ///   - offset: of its first byte.
  /// - Throws: `badInput` where the last line is another one.
  func end(
    of text: UnsafeRawBufferPointer, isWhole: Bool, name: String, offset: UInt64
  ) throws(UpsurgeError) -> (bodyByteCount: Int, trailer: Match) {
    let isLineEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    let end = text.lastIndex { !isLineEnd($0) }.map { $0 + 1 } ?? 0
    let lineEnd = text[..<end].lastIndex(where: isLineEnd)
    let start = lineEnd.map { $0 + 1 } ?? 0
    let line = text[start..<end]
    if isWhole || lineEnd != nil, let match = match(line) { return (start, match) }
    throw UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) is not whole: its last line is no trailer \(self.text.escapedForTerminal)",
      position: Position(file: name, byte: offset + UInt64(start)),
      snippet: line.isEmpty ? nil : String(decoding: line.prefix(120), as: UTF8.self).escapedForTerminal,
      hint:
        "deliver it again; or correct \(.trailer), where * is any text and {count} the number of records"
    )
  }
}
