import UpsurgeRecords

extension BinaryColumn {
  /// What a field may hold at most: less than a gigabyte, its length included.
  private static let byteLimit = 0x3FFF_FFF0

  /// Adds a cell: its length and its bytes. Where it returns a fault, the caller takes back what was added.
  ///
  /// Whatever is encoded is what the server makes of the same text, and whatever has a fault, but for `undecided`, it refuses.
  @inline(__always)
  func encode(_ cell: Cell, _ texts: CellTexts, into out: inout RowBuffer) -> EncodingFault? {
    out.reserve(24)
    switch cell.kind {
    case .null, .absent:
      out.put(Int32(-1))
      return nil
    case .integer:
      return encode(Int64(bitPattern: cell.payload), into: &out)
    case .real:
      return encode(Double(bitPattern: cell.payload), into: &out)
    case .text:
      return encode(texts.bytes(of: cell), into: &out)
    case .blob:
      return encodeBlob(texts.bytes(of: cell), into: &out)
    }
  }

  // MARK: - Numbers

  @inline(__always)
  private func encode(_ value: Int64, into out: inout RowBuffer) -> EncodingFault? {
    switch form {
    case .int8:
      out.put(Int32(8))
      out.put(value)
    case .int4:
      guard let narrow = Int32(exactly: value) else { return .outOfRange }
      out.put(Int32(4))
      out.put(narrow)
    case .int2:
      guard let narrow = Int16(exactly: value) else { return .outOfRange }
      out.put(Int32(2))
      out.put(narrow)
    case .float8:
      out.put(Int32(8))
      out.put(Double(value).bitPattern)
    case .float4:
      out.put(Int32(4))
      out.put(Float(value).bitPattern)
    case .bool:
      if value != 0 && value != 1 { return .syntax }
      out.put(Int32(1))
      out.put(UInt8(value))
    case .bytea: return .mismatch
    default: return encodeText(of: value.description, into: &out)
    }
    return nil
  }

  @inline(__always)
  private func encode(_ value: Double, into out: inout RowBuffer) -> EncodingFault? {
    switch form {
    case .float8:
      out.put(Int32(8))
      out.put(value.bitPattern)
    case .float4:
      let narrow = Float(value)
      if narrow.isInfinite && !value.isInfinite || narrow == 0 && value != 0 { return .outOfRange }
      out.put(Int32(4))
      out.put(narrow.bitPattern)
    case .int2, .int4, .int8:
      // A number with a fraction would be rounded, which nobody has asked for.
      guard value.rounded() == value else { return .syntax }
      // From 2^53 on it may stand for another number than was written.
      guard value.magnitude < 9_007_199_254_740_992, let whole = Int64(exactly: value) else { return .outOfRange }
      return encode(whole, into: &out)
    case .bool, .bytea, .uuid: return .mismatch
    default: return encodeText(of: value.description, into: &out)
    }
    return nil
  }

  @inline(never)
  private func encodeText(of number: String, into out: inout RowBuffer) -> EncodingFault? {
    var number = number
    return number.withUTF8 { encode($0, into: &out) }
  }

  // MARK: - Text

  @inline(__always)
  private func encode(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    switch form {
    case .text, .castText:
      if text.count > Self.byteLimit { return .tooLarge }
      if text.hasNul { return .nul }
      if limit >= 0, text.count > limit { return encodeCut(text, into: &out) }
      out.put(Int32(truncatingIfNeeded: text.count))
      out.append(text)
      return nil
    default: return encodeSpelled(text, into: &out)
    }
  }

  /// Text that is not taken as it stands.
  @inline(never)
  private func encodeSpelled(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    switch form {
    case .int2, .int4, .int8:
      let (value, fault) = SpelledNumber.integer(text)
      if let fault { return fault }
      return encode(value, into: &out)
    case .float4, .float8: return encodeFloat(text, into: &out)
    case .numeric: return NumericEncoding.encode(text, precision: limit, scale: scale, into: &out)
    case .bool:
      guard let value = SpelledBool.value(text) else { return .syntax }
      out.put(Int32(1))
      out.put(UInt8(value ? 1 : 0))
    case .uuid:
      guard let (high, low) = SpelledUUID.value(text) else { return .syntax }
      out.put(Int32(16))
      out.put(high)
      out.put(low)
    case .date, .time, .timestamp, .timestamptz: return encodeMoment(text, into: &out)
    case .bytea: return SpelledBytes.encode(text, into: &out)
    case .bpchar: return encodePadded(text, into: &out)
    case .json, .jsonb: return encodeJSON(text, into: &out)
    case .text, .castText: preconditionFailure("text stands as it is")
    }
    return nil
  }

  private func encodeFloat(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    if form == .float8 {
      let (value, fault) = SpelledNumber.double(text)
      if let fault { return fault }
      out.put(Int32(8))
      out.put(value.bitPattern)
    } else {
      let (value, fault) = SpelledNumber.float(text)
      if let fault { return fault }
      out.put(Int32(4))
      out.put(value.bitPattern)
    }
    return nil
  }

  private func encodeMoment(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    var reader = MomentReader(text)
    switch form {
    case .date:
      let (days, fault) = reader.date()
      if let fault { return fault }
      out.put(Int32(4))
      out.put(days)
    case .time:
      let (microseconds, fault) = reader.time(digits: limit)
      if let fault { return fault }
      out.put(Int32(8))
      out.put(microseconds)
    default:
      let (microseconds, fault) = reader.timestamp(hasZone: form == .timestamptz, digits: limit)
      if let fault { return fault }
      out.put(Int32(8))
      out.put(microseconds)
    }
    return nil
  }

  /// A text of more bytes than `varchar(n)` has letters: spaces at its end are cut, as the server does.
  private func encodeCut(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    let end = Self.end(of: text, letters: limit)
    if text[end...].contains(where: { $0 != UInt8(ascii: " ") }) { return .tooLong }
    out.put(Int32(truncatingIfNeeded: end))
    out.append(UnsafeBufferPointer(rebasing: text[..<end]))
    return nil
  }

  /// `char(n)` holds n letters always.
  private func encodePadded(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    if text.count > Self.byteLimit { return .tooLarge }
    if text.hasNul { return .nul }
    if limit < 0 {
      out.put(Int32(truncatingIfNeeded: text.count))
      out.append(text)
      return nil
    }
    let end = Self.end(of: text, letters: limit)
    if text[end...].contains(where: { $0 != UInt8(ascii: " ") }) { return .tooLong }
    let letters = text[..<end].count { $0 & 0xC0 != 0x80 }
    out.put(Int32(truncatingIfNeeded: end + limit - letters))
    out.append(UnsafeBufferPointer(rebasing: text[..<end]))
    out.append(repeating: UInt8(ascii: " "), count: limit - letters)
    return nil
  }

  /// Where the first letters of a UTF-8 text end.
  private static func end(of text: UnsafeBufferPointer<UInt8>, letters: Int) -> Int {
    var count = 0
    for index in text.indices where text[index] & 0xC0 != 0x80 {
      if count == letters { return index }
      count += 1
    }
    return text.count
  }

  /// The server reads the text itself; jsonb has a version before it.
  private func encodeJSON(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    if text.count > Self.byteLimit { return .tooLarge }
    if text.hasNul { return .nul }
    if form == .json {
      out.put(Int32(truncatingIfNeeded: text.count))
    } else {
      if Self.hasNulEscape(text) { return .nulEscape }
      out.put(Int32(truncatingIfNeeded: text.count + 1))
      out.put(UInt8(1))
    }
    out.append(text)
    return nil
  }

  /// Whether a string of the JSON says `\u0000`; `\\u0000` does not.
  private static func hasNulEscape(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.contains(UInt8(ascii: "\\")) else { return false }
    var index = 0
    while index + 5 < text.count {
      if text[index] != UInt8(ascii: "\\") {
        index += 1
        continue
      }
      if text[index + 1] == UInt8(ascii: "u"), text[(index + 2)...(index + 5)].allSatisfy({ $0 == UInt8(ascii: "0") }) {
        return true
      }
      index += 2
    }
    return false
  }

  // MARK: - Bytes

  @inline(never)
  private func encodeBlob(_ bytes: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    switch form {
    case .bytea:
      if bytes.count > Self.byteLimit { return .tooLarge }
      out.put(Int32(truncatingIfNeeded: bytes.count))
      out.append(bytes)
      return nil
    case .uuid where bytes.count == 16:
      out.put(Int32(16))
      out.append(bytes)
      return nil
    case .text, .bpchar, .castText, .json, .jsonb:
      if String(validating: bytes, as: UTF8.self) == nil { return .badText }
      return encode(bytes, into: &out)
    default: return .mismatch
    }
  }
}
