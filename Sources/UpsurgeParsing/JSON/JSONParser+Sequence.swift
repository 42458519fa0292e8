import CScan
import UpsurgeRecords

/// Values that follow one another without the frame of NDJSON or of one document:
///
///     {"a":1}{"a":2}            on one line
///     {                         several documents, as jq prints them
///       "a": 1
///     }
///     [{"a":2}] [{"a":3}]       several arrays
///     ␞{"a":1}                  a JSON text sequence (RFC 7464), ␞ being 0x1E
///
/// A byte order mark, which joined files leave between values, is left out and counted.
extension JSONParser {
  /// What may precede a value.
  private enum Mark { case separator, byteOrderMark, cut, none }

  static let recordSeparator: UInt8 = 0x1E
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Whether a byte may begin what is left out between values.
  @inline(__always)
  func isMark(_ byte: UInt8) -> Bool {
    (byte == Self.recordSeparator || byte == Self.byteOrderMark[0]) && dialect.allowsSequence
  }

  private func mark(at place: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Mark {
    if place.pointee == Self.recordSeparator { return .separator }
    let bytes = UnsafeBufferPointer(start: place, count: min(end - place, Self.byteOrderMark.count))
    if !Self.byteOrderMark.starts(with: bytes) { return .none }
    return bytes.count == Self.byteOrderMark.count ? .byteOrderMark : .cut
  }

  // MARK: - Documents

  /// Steps over a mark between documents.
  /// - Parameter fault: what it is where it is not such a mark.
  /// - Returns: false when more bytes are needed.
  mutating func skipMark(
    _ place: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch, isFinal: Bool, fault: Int
  ) throws(UpsurgeError) -> Bool {
    switch mark(at: place, end) {
    case .separator: advance(to: place + 1, &batch)
    case .byteOrderMark:
      noteByteOrderMark(place, batch)
      advance(to: place + Self.byteOrderMark.count, &batch)
    case .cut where !isFinal: return false
    case .cut, .none: throw syntaxError(JSONFault(kind: .kernel(fault), at: place), end: end, batch)
    }
    return true
  }

  /// After a whole document: the next one begins, or there is a mark.
  /// - Returns: false when more bytes are needed.
  mutating func beginNextDocument(
    _ place: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch, isFinal: Bool
  ) throws(UpsurgeError) -> Bool {
    switch place.pointee {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      try checkFound(at: place, batch)
      document.beginNext(dialect: dialect)
      return true
    default:
      return try skipMark(place, end: end, &batch, isFinal: isFinal, fault: UPSURGE_JSON_TRAILING)
    }
  }

  /// Steps over the first array of a document where it repeats the header of the one before, which is no record.
  /// - Returns: nil when it does not.
  mutating func skipRepeatedHeader(
    _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch, isFinal: Bool
  ) -> Progress? {
    let names = header.names.map { Array($0.utf8) }
    var token = upsurge_json_token()
    var index = 0
    guard start.pointee == UInt8(ascii: "[") else { return nil }
    var p: UnsafePointer<UInt8> = upsurge_json_skip_space(start + 1, end)
    while p < end && p.pointee == UInt8(ascii: "\"") && index < names.count {
      let code = Int(upsurge_json_read_string(p + 1, end, end, &token))
      if code == UPSURGE_JSON_CUT { return waitsForMore(start, end: end, batch, isFinal: isFinal) }
      if code != UPSURGE_JSON_OK || unescaped(token) != names[index] { return nil }
      index += 1
      p = upsurge_json_skip_space(token.next, end)
      let isLast = index == names.count
      if p == end { break }
      if p.pointee != UInt8(ascii: isLast ? "]" : ",") { return nil }
      if isLast { break }
      p = upsurge_json_skip_space(p + 1, end)
    }
    if p == end { return waitsForMore(start, end: end, batch, isFinal: isFinal) }
    guard index == names.count, p.pointee == UInt8(ascii: "]") else { return nil }
    let position = place(of: start, batch)
    newWarnings.add(.repeatedHeader, at: position)
    document.isAtHeader = false
    upsurge_json_machine_value_read(&document.machine)
    advance(to: p + 1, &batch)
    return .goesOn
  }

  private mutating func waitsForMore(
    _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: borrowing Batch, isFinal: Bool
  ) -> Progress? {
    if isFinal { return nil }
    noteCut(start, end: end, batch)
    return .pauses
  }

  private func unescaped(_ token: upsurge_json_token) -> [UInt8] {
    let byteCount = token.end - token.start
    return [UInt8](unsafeUninitializedCapacity: max(byteCount, 1)) { buffer, count in
      guard let to = buffer.baseAddress else { return }
      count = max(0, upsurge_json_unescape(token.start, token.end, to))
    }
  }

  // MARK: - Lines

  /// The first byte that is no mark and no white space.
  mutating func skipMarks(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ batch: borrowing Batch
  ) -> UnsafePointer<UInt8> {
    var p = start
    while p < end && isMark(p.pointee) {
      switch mark(at: p, end) {
      case .separator: p += 1
      case .byteOrderMark:
        noteByteOrderMark(p, batch)
        p += Self.byteOrderMark.count
      case .cut, .none: return p
      }
      p = upsurge_json_skip_space(p, end)
    }
    return p
  }

  /// Whether what follows a value on its line is one more, which is noted, or nothing but separators.
  mutating func startsNextValue(_ rest: UnsafePointer<UInt8>, _ frame: JSONFrame) -> Bool {
    guard dialect.allowsSequence else { return false }
    let end = frame.end
    var p = rest
    while p < end && p.pointee == Self.recordSeparator { p = upsurge_json_skip_space(p + 1, end) }
    if p == end { return true }
    let isMarked = p > rest || mark(at: p, end) == .byteOrderMark
    guard isMarked || p.pointee == UInt8(ascii: "{") || p.pointee == UInt8(ascii: "[") else { return false }
    lineProgress.nextValue = p - frame.base
    return true
  }

  private mutating func noteByteOrderMark(_ place: UnsafePointer<UInt8>, _ batch: borrowing Batch) {
    let position = self.place(of: place, batch)
    newWarnings.add(.byteOrderMark, at: position)
  }

  /// The position of what is no record.
  private func place(of start: UnsafePointer<UInt8>, _ batch: borrowing Batch) -> Position {
    let record = position(of: start, batch)
    return Position(file: file, line: record.line, byte: record.byte)
  }
}
