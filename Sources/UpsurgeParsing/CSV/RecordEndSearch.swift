/// Looks for the end of a record that did not fit the arena. The arena grows in steps; so the record is scanned when it may
/// be whole, and each byte is looked at once until then.
///
/// The grammar is that of `RecordScanner`, without fields. In doubt (delimiters of several bytes) it says that the record
/// may be whole: who scans it then finds out.
struct RecordEndSearch {
  private enum State {
    case fieldStart, unquoted, quoted
    /// After a quote in a quoted field: doubled, or the field's end.
    case quote
    /// After blanks that follow a quote in a quoted field.
    case padding
    case escapedInUnquoted, escapedInQuoted
    /// The quotes make no sense: the physical line ends the reject.
    case badLine
  }

  /// The offset of the record's first byte.
  let sourceOffset: UInt64
  private let delimiter: UInt8
  private let isExact: Bool
  private let quote: UInt16
  private let escape: UInt16
  private let padding: UInt16
  private var byteCount = 0
  private var state = State.fieldStart

  init(sourceOffset: UInt64, dialect: CSVDialect) {
    self.sourceOffset = sourceOffset
    delimiter = dialect.delimiter[0]
    isExact = dialect.delimiter.count == 1
    quote = dialect.quote.map(UInt16.init) ?? 0x100
    escape = dialect.distinctEscape.map(UInt16.init) ?? 0x100
    padding = dialect.quote == nil || delimiter == FieldReader.blank ? 0x100 : UInt16(FieldReader.blank)
  }

  /// Looks at the bytes that have come since the last search.
  /// - Parameter bytes: from the record's first byte on.
  /// - Returns: whether the record may be whole.
  mutating func goOn(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    if !isExact { return true }
    var state = state
    defer { self.state = state }
    for index in byteCount..<max(bytes.count, byteCount) {
      let byte = bytes[index]
      switch state {
      case .quoted:
        if UInt16(byte) == quote {
          state = .quote
        } else if UInt16(byte) == escape {
          state = .escapedInQuoted
        }
      case .fieldStart where UInt16(byte) == quote: state = .quoted
      case .fieldStart where UInt16(byte) == padding: break
      case .fieldStart, .unquoted:
        if byte == delimiter {
          state = .fieldStart
        } else if byte == 0x0A || byte == 0x0D {
          return true
        } else {
          state = UInt16(byte) == escape ? .escapedInUnquoted : .unquoted
        }
      case .quote, .padding:
        if UInt16(byte) == quote && state == .quote {
          state = .quoted
        } else if UInt16(byte) == padding {
          state = .padding
        } else if byte == delimiter {
          state = .fieldStart
        } else if byte == 0x0A || byte == 0x0D {
          return true
        } else {
          state = .badLine
        }
      case .escapedInUnquoted: state = .unquoted
      case .escapedInQuoted: state = .quoted
      case .badLine: if byte == 0x0A || byte == 0x0D { return true }
      }
    }
    byteCount = bytes.count
    return false
  }
}
