/// Reads CSV one field at a time, by the same grammar as `RecordScanner` but without its speed: for samples and
/// for the few fields that are looked at twice. The bytes are all there is; nothing comes after them.
struct FieldReader {
  /// One field as it is written.
  struct Field {
    /// Where its text lies, without the quotes around it.
    var start: Int
    var stop: Int
    var isQuoted = false
    var hasEscapes = false
    var ending = Ending.delimiter
  }

  enum Ending {
    case delimiter, lineEnd, endOfInput
    /// Something else than a delimiter follows the closing quote.
    case badQuote
    /// The quote is open at the end of the input.
    case unclosedQuote
  }

  let bytes: UnsafeBufferPointer<UInt8>
  let delimiter: [UInt8]
  let quote: UInt8?
  let escape: UInt8?
  private let rule: FieldText.EscapeRule
  let widths: FixedWidths?
  /// The line whose fields are being read by widths.
  var fixedLine: FixedLinePlace?
  /// Where the next field starts.
  var offset = 0

  init(bytes: UnsafeBufferPointer<UInt8>, dialect: CSVDialect) {
    self.bytes = bytes
    delimiter = dialect.delimiter
    quote = dialect.quote
    escape = dialect.distinctEscape
    rule = FieldText.EscapeRule(dialect)
    widths = dialect.widths
  }

  /// Reads other bytes with the same marks.
  init(bytes: UnsafeBufferPointer<UInt8>, like other: FieldReader) {
    self.bytes = bytes
    delimiter = other.delimiter
    quote = other.quote
    escape = other.escape
    rule = other.rule
    widths = other.widths
  }

  var isAtEnd: Bool { offset >= bytes.count }

  /// Reads the field at `offset` and goes past what ends it.
  mutating func nextField() -> Field {
    if let widths { return fixedField(widths) }
    if let quote, offset < bytes.count, bytes[offset] == quote || bytes[offset] == Self.blank && isPadded(quote) {
      return quotedField(quote)
    }
    return unquotedField()
  }

  /// Reads the field at `offset`; a quoted one whose quotes make no sense is read as if its quote were data.
  mutating func nextFieldLeniently() -> Field {
    let start = offset
    let field = nextField()
    if field.ending != .badQuote && field.ending != .unclosedQuote { return field }
    offset = start
    return unquotedField()
  }

  /// Goes to a quote that stands after blanks.
  /// - Returns: whether there is one.
  private mutating func isPadded(_ quote: UInt8) -> Bool {
    if delimiter[0] == Self.blank { return false }
    var at = offset
    while at < bytes.count && bytes[at] == Self.blank { at += 1 }
    guard at < bytes.count, bytes[at] == quote else { return false }
    offset = at
    return true
  }

  /// Blanks between a quote and a delimiter belong to neither.
  static let blank = UInt8(ascii: " ")

  static func isBlank(_ byte: UInt8) -> Bool { byte == blank || byte == 0x09 }

  /// Whether a byte is a blank or a tab that does not delimit.
  static func isPadding(_ byte: UInt8, _ dialect: CSVDialect) -> Bool {
    isBlank(byte) && byte != dialect.delimiter[0]
  }

  private mutating func unquotedField() -> Field {
    var field = Field(start: offset, stop: offset)
    let delimiterStart = delimiter[0]
    while true {
      if offset < bytes.count {
        let byte = bytes[offset]
        if byte == escape && offset + 1 < bytes.count {
          field.hasEscapes = true
          offset += 2
          continue
        }
        if byte != delimiterStart && byte != 0x0A && byte != 0x0D {
          offset += 1
          continue
        }
      }
      field.stop = offset
      if let ending = takeEnding() {
        field.ending = ending
        return field
      }
      offset += 1
    }
  }

  private mutating func quotedField(_ quote: UInt8) -> Field {
    offset += 1
    var field = Field(start: offset, stop: offset, isQuoted: true)
    while offset < bytes.count {
      let byte = bytes[offset]
      let isDoubled = byte == quote && offset + 1 < bytes.count && bytes[offset + 1] == quote
      if isDoubled || byte == escape {
        field.hasEscapes = true
        offset += 2
      } else if byte == quote {
        field.stop = offset
        offset += 1
        if delimiter[0] != Self.blank {
          while offset < bytes.count && bytes[offset] == Self.blank { offset += 1 }
        }
        field.ending = takeEnding() ?? .badQuote
        return field
      } else {
        offset += 1
      }
    }
    offset = bytes.count
    field.stop = offset
    field.ending = .unclosedQuote
    return field
  }

  /// Steps over a delimiter, a line end or the end, if one stands here.
  mutating func takeEnding() -> Ending? {
    if offset >= bytes.count { return .endOfInput }
    let byte = bytes[offset]
    if byte == 0x0A || byte == 0x0D {
      skipLineEnd()
      return .lineEnd
    }
    guard byte == delimiter[0], offset + delimiter.count <= bytes.count else { return nil }
    for index in delimiter.indices where bytes[offset + index] != delimiter[index] { return nil }
    offset += delimiter.count
    return .delimiter
  }

  /// Goes to the start of the next physical line.
  mutating func skipLine() {
    while offset < bytes.count && bytes[offset] != 0x0A && bytes[offset] != 0x0D { offset += 1 }
    if offset < bytes.count { skipLineEnd() }
  }

  private mutating func skipLineEnd() {
    let isPair = bytes[offset] == 0x0D && offset + 1 < bytes.count && bytes[offset + 1] == 0x0A
    offset += isPair ? 2 : 1
  }

  /// What a field says.
  func text(of field: Field) -> [UInt8] {
    let raw = UnsafeBufferPointer(rebasing: bytes[field.start..<field.stop])
    guard field.hasEscapes, let start = raw.baseAddress else { return Array(raw) }
    let quote = field.isQuoted ? self.quote.map(UInt16.init) ?? 0x100 : 0x100
    return Array(unsafeUninitializedCapacity: raw.count) { output, count in
      guard let target = output.baseAddress else { return }
      count = FieldText.unescape(
        start, count: raw.count, quote: quote, escape: escape.map(UInt16.init) ?? 0x100, rule: rule,
        into: target)
    }
  }
}
