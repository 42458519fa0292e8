import UpsurgeRecords

/// Finds out how a text is encoded from its first bytes.
///
/// A mark decides. Without one, text with a zero in every other byte is UTF-16; text that is UTF-8 is UTF-8;
/// the rest is Windows-1252, unless most of its characters beyond ASCII are sound UTF-8: such a text is UTF-8
/// with bad places, and the parser says where they are rather than turning every accent into two letters.
package enum EncodingDetector {
  /// What was found.
  package struct Finding: Equatable, Sendable {
    /// Neither `.auto` nor `.utf16`.
    package var encoding: TextEncoding
    /// Length of the mark before the text: 0, 2 or 3.
    package var markByteCount: Int
  }

  /// - Parameters:
  ///   - given: what the user asked for.
  ///   - sample: the first bytes, decompressed.
  ///   - isWhole: whether the sample is the whole text.
  ///   - allowsSingleByte: whether Windows-1252 may be found; false for JSON, which is UTF-8 by its definition.
  ///   - name: the source, for errors.
  /// - Throws: `badInput` for UTF-32, and for a mark that contradicts what was given.
  package static func detect(
    _ given: TextEncoding = .auto, sample: UnsafeRawBufferPointer, isWhole: Bool,
    allowsSingleByte: Bool = true, name: String
  ) throws(UpsurgeError) -> Finding {
    if let mark = ByteOrderMark(sample) {
      return try finding(given, mark: mark, name: name)
    }
    switch given {
    case .auto:
      if let order = byteOrder(of: sample, isWhole: isWhole) {
        return Finding(encoding: order, markByteCount: 0)
      }
      let isUTF8 = !allowsSingleByte || looksLikeUTF8(sample, isWhole: isWhole)
      return Finding(encoding: isUTF8 ? .utf8 : .windows1252, markByteCount: 0)
    case .utf16:
      return Finding(encoding: byteOrder(of: sample, isWhole: isWhole) ?? .utf16le, markByteCount: 0)
    default:
      return Finding(encoding: given, markByteCount: 0)
    }
  }

  private static func finding(
    _ given: TextEncoding, mark: ByteOrderMark, name: String
  ) throws(UpsurgeError) -> Finding {
    // In UTF-16LE the mark of UTF-32LE is a UTF-16 mark before a NUL.
    if given.isUTF16 && given != .utf16be && mark == .utf32le {
      return Finding(encoding: .utf16le, markByteCount: 2)
    }
    guard let marked = mark.encoding else {
      let which = mark == .utf32le ? "UTF-32LE" : "UTF-32BE"
      throw UpsurgeError(
        .badInput, "\(SourceName.shown(name)) is \(which), which is not read here",
        position: Position(file: name, byte: 0), hint: SourceName.piped("iconv -f UTF-32 -t UTF-8", name))
    }
    let agrees = given == .auto || given == marked || (given == .utf16 && marked.isUTF16)
    guard agrees else {
      throw UpsurgeError(
        .badInput,
        "\(SourceName.shown(name)) starts with the byte order mark of \(marked.rawValue), "
          + "but --encoding \(given.rawValue) was given",
        position: Position(file: name, byte: 0), hint: "--encoding \(marked.rawValue), or auto")
    }
    return Finding(encoding: marked, markByteCount: mark.byteCount)
  }

  /// UTF-16 without a mark: most characters of a table are ASCII, so one of the two bytes of a unit is often
  /// zero and the other hardly ever. NUL bytes in other text (padding, binary fields) keep to no side.
  private static func byteOrder(of sample: UnsafeRawBufferPointer, isWhole: Bool) -> TextEncoding? {
    let unitCount = sample.count / 2
    let isShort = unitCount < 64
    if unitCount < 2 || (isShort && isWhole && sample.count % 2 != 0) { return nil }
    var firstZeros = 0
    var secondZeros = 0
    for unit in 0..<unitCount {
      if sample[unit * 2] == 0 { firstZeros += 1 }
      if sample[unit * 2 + 1] == 0 { secondZeros += 1 }
    }
    let enough = isShort ? (unitCount * 3 + 3) / 4 : unitCount / 5
    let few = unitCount / 100
    if secondZeros >= enough && firstZeros <= few { return .utf16le }
    if firstZeros >= enough && secondZeros <= few { return .utf16be }
    return nil
  }

  private static func looksLikeUTF8(_ sample: UnsafeRawBufferPointer, isWhole: Bool) -> Bool {
    let census = UTF8Census(sample, isWhole: isWhole)
    return census.badByteCount == 0 || census.badByteCount < census.sequenceCount
  }
}
