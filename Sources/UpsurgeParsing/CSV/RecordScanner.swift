import CScan
import UpsurgeRecords

/// Finds the fields of one record after another in a batch's arena and makes their cells.
///
/// Stage one, a C kernel, lists the positions of all bytes that can mean something, one chunk at a time. Stage
/// two, here, walks from position to position: whether a byte means something depends on where it stands.
///
///     1,"a ""b""",\n     position:  1 2 5 6 8 9 10 11 12
///                        meaning:   , " "pair "pair " , end
///
/// Raw pointers and numbers only: the scanner is a local of `CSVParser.parse` and owns nothing. A record that is
/// not whole leaves no trace but cells after the last record, which the next one overwrites.
struct RecordScanner {
  /// How the scan of a record ended.
  enum Outcome: UInt8 {
    case record, incomplete, badQuote, unclosedQuote
  }

  /// How a field ended.
  enum FieldEnd: UInt8 {
    case delimiter, record, incomplete, badQuote, unclosedQuote
  }

  /// Whether the delimiter stands somewhere; `unknown` when the arena ends too soon to tell.
  enum Match: UInt8 {
    case yes, no, unknown
  }

  /// Which quotes inside a quoted field are data.
  enum Lenience: UInt8 {
    case none
    /// Quotes that neither a delimiter nor a line end follows.
    case lone
    /// The quotes of `lone`; and the second quote of a pair ends the field where it can.
    case pairs
    /// Quotes of fields that have several, and none that could end the field.
    case bare
  }

  /// The bytes that mean something in the dialect; 0x100 stands for a mark that it lacks.
  struct Marks {
    /// The delimiter's first byte.
    let delimiter: UInt8
    let delimiterByteCount: Int
    let delimiterBytes: UnsafePointer<UInt8>
    let quote: UInt16
    let escape: UInt16
    let escapeRule: FieldText.EscapeRule
    /// A blank, which belongs to no field between a delimiter and a quote; 0x100 where it is the delimiter, or nothing quotes.
    let padding: UInt16
    /// No field that starts with another byte than `firstSpecial &+ 0...specialSpan` is quoted or padded.
    let firstSpecial: UInt8
    let specialSpan: UInt8
  }

  /// The offsets of all marks in `start..<end` of the arena, one chunk of it.
  struct Index {
    let needles: upsurge_needles
    let simdLevel: Int32
    let positions: UnsafeMutablePointer<UInt32>
    var count = 0
    /// Which of `positions` is the next one.
    var next = 0
    var start: Int
    var end: Int
  }

  /// Where fields stand that no mark parts.
  struct Fixed {
    /// Empty where marks part them.
    let widths: UnsafeBufferPointer<FixedWidths.Field>
    let isRuled: Bool
  }

  /// What is known of the record that is being read.
  struct Record {
    var fieldCount = 0
    var noteCount = 0
    /// The first field that is not UTF-8, or -1.
    var invalidField = -1
    var firstSurplusOffset = 0
    var hasSurplusContent = false
    /// Whether a text stands between two fields that a ruler parts.
    var isCrossed = false
    /// Whether a line end stands inside the record.
    var isMultiline = false
    /// One past the record's last byte, without its line end.
    var end = 0
    /// Where the next record starts; while it is read, the next field.
    var nextStart = 0
  }

  // The input.
  let bytes: UnsafePointer<UInt8>
  var end: Int
  /// Whether `end` is the end of the source; no more when reading was cancelled.
  var isFinal: Bool
  /// What cancels the reading; the parser holds it.
  let cancellation: Unmanaged<ReadCancellation>?
  /// Where quotes inside a quoted field are data.
  var lenience = Lenience.none
  /// Whether all bytes of the arena are known to be UTF-8.
  let isValidUTF8: Bool
  /// Whether an unquoted field needs no more than to be cut out: UTF-8, one delimiter byte, no NULL spellings.
  let isSimple: Bool

  let marks: Marks
  let fixed: Fixed
  var index: Index

  // What to make.
  let plans: UnsafePointer<FieldPlan>
  /// Fields that make cells; 0 while a header is read.
  var expectedFieldCount: Int
  let nullSpellings: UnsafePointer<UInt8>
  let nullSpellingByteCount: Int
  /// Whether blanks around a text do not count where it may be a spelling of NULL.
  let trimsNulls: Bool
  /// Whether a quoted empty field is the empty text also in a column of numbers.
  let keepsQuotedEmpty: Bool
  /// Whether an unquoted empty field is the empty text where its column is not one of numbers.
  let keepsBareEmpty: Bool
  /// The cells of the record that is being read.
  var cells: UnsafeMutablePointer<Cell>
  let spill: UnsafeMutablePointer<UInt8>
  var spillByteCount: Int
  let notes: UnsafeMutablePointer<PendingNote>

  var record = Record()

  /// Reads the record that starts at `start`; the index must stand there (see `seek`).
  @inline(__always)
  mutating func scanRecord(at start: Int) -> Outcome {
    record.fieldCount = 0
    record.noteCount = 0
    record.invalidField = -1
    record.hasSurplusContent = false
    record.isMultiline = false
    if !fixed.widths.isEmpty { return scanFixedRecord(from: start) }
    var fieldStart = start
    while true {
      if isSimple { fieldStart = takeSimpleFields(from: fieldStart) }
      if fieldStart < end && UInt16(bytes[fieldStart]) == marks.padding {
        guard let start = quoteBehindPadding(fieldStart) else { return .incomplete }
        fieldStart = start
      }
      let fieldEnd: FieldEnd
      if fieldStart < end && UInt16(bytes[fieldStart]) == marks.quote
        && !(lenience == .bare && isBare(fieldStart))
      {
        fieldEnd = scanQuotedField(at: fieldStart)
      } else {
        fieldEnd = scanUnquotedField(at: fieldStart)
      }
      switch fieldEnd {
      case .delimiter: fieldStart = record.nextStart
      case .record: return .record
      case .incomplete: return .incomplete
      case .badQuote: return .badQuote
      case .unclosedQuote: return .unclosedQuote
      }
    }
  }

  /// Takes unquoted fields that end with a delimiter, as long as they come, with all that is needed in registers.
  /// - Returns: where the first field starts that is not one of these.
  @inline(__always)
  private mutating func takeSimpleFields(from start: Int) -> Int {
    let bytes = self.bytes
    let positions = self.index.positions
    let positionCount = self.index.count
    let delimiter = marks.delimiter
    let firstSpecial = marks.firstSpecial
    let specialSpan = marks.specialSpan
    let plans = self.plans
    let cells = self.cells
    let expectedFieldCount = self.expectedFieldCount
    var index = self.index.next
    var field = record.fieldCount
    var fieldStart = start
    while index < positionCount && field < expectedFieldCount {
      let at = Int(truncatingIfNeeded: positions[index])
      if bytes[at] != delimiter || bytes[fieldStart] &- firstSpecial <= specialSpan { break }
      let byteCount = at &- fieldStart
      let plan = plans[field]
      if plan.slot >= 0 {
        let cell = cells + Int(plan.slot)
        if byteCount == 0 {
          cell.pointee = .null
        } else if plan.isNumeric {
          takeNumber(bytes + fieldStart, byteCount: byteCount, of: field, plan, offset: fieldStart, isInSpill: false)
        } else {
          cell.setText(offset: fieldStart, byteCount: byteCount, isInSpill: false)
        }
      }
      index &+= 1
      field &+= 1
      fieldStart = at &+ 1
    }
    self.index.next = index
    record.fieldCount = field
    return fieldStart
  }

  /// Where the quote stands after the blanks at `start`; `start` where none does, and nil where more bytes are needed.
  @inline(never)
  private func quoteBehindPadding(_ start: Int) -> Int? {
    var at = start
    while at < end && UInt16(bytes[at]) == marks.padding { at += 1 }
    if at == end && !isFinal { return nil }
    return at < end && UInt16(bytes[at]) == marks.quote ? at : start
  }

  @inline(__always)
  private mutating func scanUnquotedField(at start: Int) -> FieldEnd {
    var hasEscapes = false
    while true {
      let at = nextPosition()
      if at == end {
        guard isFinal else { return .incomplete }
        record.end = end
        record.nextStart = end
        takeField(from: start, to: end, isQuoted: false, hasEscapes: hasEscapes)
        return .record
      }
      let byte = bytes[at]
      if byte == marks.delimiter {
        if marks.delimiterByteCount == 1 {
          record.nextStart = at + 1
        } else {
          let match = matchDelimiter(at: at)
          if match == .unknown { return .incomplete }
          if match == .no { continue }
          record.nextStart = at + marks.delimiterByteCount
          skipPositions(before: record.nextStart)
        }
        takeField(from: start, to: at, isQuoted: false, hasEscapes: hasEscapes)
        return .delimiter
      }
      if byte == 0x0A || byte == 0x0D {
        guard endRecord(at: at) else { return .incomplete }
        takeField(from: start, to: at, isQuoted: false, hasEscapes: hasEscapes)
        return .record
      }
      if UInt16(byte) == marks.escape {
        hasEscapes = true
        skipEscaped(at: at)
      }
    }
  }

  @inline(__always)
  private mutating func scanQuotedField(at start: Int) -> FieldEnd {
    _ = nextPosition()
    var hasEscapes = false
    while true {
      let at = nextPosition()
      if at == end { return isFinal ? .unclosedQuote : .incomplete }
      let byte = bytes[at]
      if UInt16(byte) == marks.quote {
        if at + 1 < end && UInt16(bytes[at + 1]) == marks.quote {
          hasEscapes = true
          _ = nextPosition()
          if lenience != .pairs || !mayClose(at + 1) { continue }
          return closeQuotedField(from: start, quoteAt: at + 1, hasEscapes: true)
        }
        if lenience != .none && !mayClose(at) {
          hasEscapes = true
          continue
        }
        return closeQuotedField(from: start, quoteAt: at, hasEscapes: hasEscapes)
      }
      if byte == 0x0A || byte == 0x0D { record.isMultiline = true }
      if UInt16(byte) == marks.escape {
        hasEscapes = true
        skipEscaped(at: at)
      }
    }
  }

  /// Decides what a quote that is not doubled means by what follows it.
  @inline(__always)
  private mutating func closeQuotedField(from start: Int, quoteAt at: Int, hasEscapes: Bool) -> FieldEnd {
    let after = at + 1
    if after == end {
      guard isFinal else { return .incomplete }
      record.end = end
      record.nextStart = end
      takeField(from: start, to: after, isQuoted: true, hasEscapes: hasEscapes)
      return .record
    }
    let byte = bytes[after]
    if byte == marks.delimiter {
      switch marks.delimiterByteCount == 1 ? .yes : matchDelimiter(at: after) {
      case .unknown: return .incomplete
      case .no: return .badQuote
      case .yes: break
      }
      record.nextStart = after + marks.delimiterByteCount
      skipPositions(before: record.nextStart)
      takeField(from: start, to: after, isQuoted: true, hasEscapes: hasEscapes)
      return .delimiter
    }
    if byte == 0x0A || byte == 0x0D {
      _ = nextPosition()
      guard endRecord(at: after) else { return .incomplete }
      takeField(from: start, to: after, isQuoted: true, hasEscapes: hasEscapes)
      return .record
    }
    return UInt16(byte) == marks.padding
      ? closePaddedField(from: start, quoteAt: at, hasEscapes: hasEscapes) : .badQuote
  }

  /// Decides what a quote means that stands before blanks, by what follows those.
  @inline(never)
  private mutating func closePaddedField(from start: Int, quoteAt at: Int, hasEscapes: Bool) -> FieldEnd {
    let after = at + 1
    var stop = after
    while stop < end && UInt16(bytes[stop]) == marks.padding { stop += 1 }
    let result: FieldEnd
    if stop == end {
      guard isFinal else { return .incomplete }
      (record.end, record.nextStart, result) = (end, end, .record)
    } else if bytes[stop] == marks.delimiter {
      switch marks.delimiterByteCount == 1 ? .yes : matchDelimiter(at: stop) {
      case .unknown: return .incomplete
      case .no: return .badQuote
      case .yes: break
      }
      record.nextStart = stop + marks.delimiterByteCount
      skipPositions(before: record.nextStart)
      result = .delimiter
    } else if bytes[stop] == 0x0A || bytes[stop] == 0x0D {
      _ = nextPosition()
      guard endRecord(at: stop) else { return .incomplete }
      result = .record
    } else {
      return .badQuote
    }
    takeField(from: start, to: after, isQuoted: true, hasEscapes: hasEscapes)
    return result
  }

  /// Notes where a record ends whose line end is at `at`.
  /// - Returns: false when a CR is the last byte so far, because an LF may belong to it.
  @inline(__always)
  mutating func endRecord(at: Int) -> Bool {
    record.end = at
    record.nextStart = at + 1
    if bytes[at] == 0x0D {
      if record.nextStart == end { return isFinal }
      if bytes[record.nextStart] == 0x0A {
        _ = nextPosition()
        record.nextStart += 1
      }
    }
    return true
  }

  /// Makes the byte after an escape character data.
  private mutating func skipEscaped(at: Int) {
    if at + 1 < end && (bytes[at + 1] == 0x0A || bytes[at + 1] == 0x0D) { record.isMultiline = true }
    skipPositions(before: at + 2)
  }

  private func matchDelimiter(at: Int) -> Match {
    for index in 1..<marks.delimiterByteCount {
      if at + index == end { return isFinal ? .no : .unknown }
      if bytes[at + index] != marks.delimiterBytes[index] { return .no }
    }
    return .yes
  }
}
