/// The header of a file, to know it again where files were joined.
///
///     id,tree    "id","tree"    "id",tree    id , tree      the same header, written otherwise
struct RepeatedHeader {
  /// The bytes of the header, without the line end.
  let bytes: [UInt8]
  /// What the fields of the header say, without blanks at their ends; nil where that depends on how they are written.
  private let names: [[UInt8]]?
  /// The byte that begins the header, where no quote does; 0x100: none.
  let start: UInt16
  /// The quote that begins the header where it is written in quotes; 0x100: none is looked for.
  let quote: UInt16

  init(_ header: [UInt8]?, dialect: CSVDialect) {
    bytes = header ?? []
    let found = header.flatMap { Self.names($0, dialect) }
    names = found
    start = (found?[0].first ?? bytes.first).map(UInt16.init) ?? 0x100
    quote = found == nil ? 0x100 : dialect.quote.map(UInt16.init) ?? 0x100
  }

  private static func names(_ header: [UInt8], _ dialect: CSVDialect) -> [[UInt8]]? {
    header.withUnsafeBufferPointer { bytes in
      var reader = FieldReader(bytes: bytes, dialect: dialect)
      var names: [[UInt8]] = []
      var ending = FieldReader.Ending.delimiter
      while ending == .delimiter {
        let field = reader.nextField()
        guard !field.hasEscapes, field.ending == .delimiter || field.ending == .endOfInput else { return nil }
        names.append(Array(trimmed(bytes[field.start..<field.stop])))
        ending = field.ending
      }
      guard let start = names[0].first, [start, dialect.quote].contains(bytes[0]) else { return nil }
      return names
    }
  }

  /// Whether the header stands at the start of some bytes.
  /// - Parameter isFinal: whether nothing comes after them.
  /// - Returns: how many bytes it takes, the line end left out; `incomplete` where more must be read to know.
  func find(in text: UnsafeBufferPointer<UInt8>, isFinal: Bool, _ dialect: CSVDialect) -> Finding {
    guard let names else { return findBytes(in: text, isFinal: isFinal) }
    var reader = FieldReader(bytes: text, dialect: dialect)
    for (index, name) in names.enumerated() {
      let field = reader.nextField()
      let isLast = index + 1 == names.count
      let said = Self.trimmed(text[field.start..<field.stop])
      switch field.ending {
      case .badQuote: return .no
      case .endOfInput, .unclosedQuote:
        if isFinal { return isLast && field.ending == .endOfInput && said.elementsEqual(name) ? .yes(text.count) : .no }
        return name.starts(with: said) ? .incomplete : .no
      case .delimiter, .lineEnd:
        guard said.elementsEqual(name), (field.ending == .lineEnd) == isLast else { return .no }
      }
    }
    var end = reader.offset
    while end > 0, text[end - 1] == 0x0A || text[end - 1] == 0x0D { end -= 1 }
    return .yes(end)
  }

  private func findBytes(in text: UnsafeBufferPointer<UInt8>, isFinal: Bool) -> Finding {
    guard !bytes.isEmpty, text.prefix(bytes.count).elementsEqual(bytes.prefix(text.count)) else { return .no }
    if text.count <= bytes.count { return isFinal ? text.count == bytes.count ? .yes(text.count) : .no : .incomplete }
    return text[bytes.count] == 0x0A || text[bytes.count] == 0x0D ? .yes(bytes.count) : .no
  }

  private static func trimmed(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>> {
    var text = text.drop(while: FieldReader.isBlank)
    while let last = text.last, FieldReader.isBlank(last) { text.removeLast() }
    return text
  }

  enum Finding: Equatable {
    case no, incomplete
    case yes(Int)
  }
}
