import CScan
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension RecordScanner {
  /// Makes the cell of the field that was just found: `start..<stop` are its bytes as they are written, quotes
  /// and all.
  @inline(__always)
  mutating func takeField(from start: Int, to stop: Int, isQuoted: Bool, hasEscapes: Bool) {
    let field = record.fieldCount
    record.fieldCount = field &+ 1
    if field >= expectedFieldCount || !isValidUTF8 || hasEscapes || nullSpellingByteCount > 0
      || keepsBareEmpty
    {
      return takeRareField(field, from: start, to: stop, isQuoted: isQuoted, hasEscapes: hasEscapes)
    }
    let plan = plans[field]
    if plan.slot < 0 { return }
    let offset = isQuoted ? start &+ 1 : start
    let byteCount = isQuoted ? stop &- start &- 2 : stop &- start
    if !isQuoted && byteCount == 0 {
      cells[Int(plan.slot)] = .null
      return
    }
    take(bytes + offset, byteCount: byteCount, of: field, plan, offset: offset, isInSpill: false)
  }

  /// Makes the cell of a field that has escapes, may be a spelling of NULL, or goes to no column; also where the text may
  /// not be UTF-8.
  @inline(never)
  private mutating func takeRareField(
    _ field: Int, from start: Int, to stop: Int, isQuoted: Bool, hasEscapes: Bool
  ) {
    if field >= expectedFieldCount {
      return noteSurplus(field, from: start, byteCount: stop - start, isQuoted: isQuoted)
    }
    if !isValidUTF8 { checkText(field, from: start, to: stop) }
    let plan = plans[field]
    if plan.slot < 0 { return }
    var offset = isQuoted ? start + 1 : start
    var byteCount = isQuoted ? stop - start - 2 : stop - start
    if !isQuoted {
      let isEmpty = byteCount == 0 && !(keepsBareEmpty && !plan.isNumeric)
      if isEmpty || (nullSpellingByteCount > 0 && isNullSpelling(from: start, byteCount: byteCount)) {
        cells[Int(plan.slot)] = .null
        return
      }
    }
    if hasEscapes {
      let unescapedByteCount = FieldText.unescape(
        bytes + offset, count: byteCount, quote: isQuoted ? marks.quote : 0x100, escape: marks.escape,
        rule: marks.escapeRule, into: spill + spillByteCount)
      offset = spillByteCount
      byteCount = unescapedByteCount
      spillByteCount += unescapedByteCount
    }
    let text = hasEscapes ? UnsafePointer(spill + offset) : bytes + offset
    take(text, byteCount: byteCount, of: field, plan, offset: offset, isInSpill: hasEscapes)
  }

  /// Makes the cell of what a field says.
  @inline(__always)
  private mutating func take(
    _ text: UnsafePointer<UInt8>, byteCount: Int, of field: Int, _ plan: FieldPlan, offset: Int,
    isInSpill: Bool
  ) {
    if plan.isNumeric {
      takeNumber(text, byteCount: byteCount, of: field, plan, offset: offset, isInSpill: isInSpill)
    } else {
      (cells + Int(plan.slot)).setText(offset: offset, byteCount: byteCount, isInSpill: isInSpill)
    }
  }

  /// Makes the cell of what a field says in a column of numbers.
  @inline(__always)
  mutating func takeNumber(
    _ text: UnsafePointer<UInt8>, byteCount: Int, of field: Int, _ plan: FieldPlan, offset: Int,
    isInSpill: Bool
  ) {
    let cell = cells + Int(plan.slot)
    let note = convertNumeric(
      text, count: byteCount, offset: offset, isInSpill: isInSpill, isReal: plan.isReal, into: cell)
    if !note.isSet {
      if !cell.pointee.isReal || !plan.isKey && !plan.reportsSpelling { return }
      if !plan.isKey && !NumberSpelling.mayBeLonger(text, count: byteCount) { return }
    }
    if plan.keepsOutOfRange, note == .spellingChanges, isOutOfRange(text, count: byteCount, cell.pointee) {
      cell.setText(offset: offset, byteCount: byteCount, isInSpill: isInSpill)
      return
    }
    keep(note, of: field, text, byteCount: byteCount)
  }

  /// Notes what became of the text of a column of numbers, and looks how the number is written.
  @inline(never)
  mutating func keep(
    _ note: ConversionNote, of field: Int, _ text: UnsafePointer<UInt8>, byteCount: Int
  ) {
    let plan = plans[field]
    var note = note
    // A text without bytes was quoted, and says nothing of a number.
    if byteCount == 0 && !keepsQuotedEmpty {
      cells[Int(plan.slot)] = .null
      return
    }
    if note == .none {
      let cell = cells[Int(plan.slot)]
      guard changesKey(text, count: byteCount, isReal: plan.isReal, cell: cell) else { return }
      note = plan.isKey ? .spellingChanges : .writtenOtherwise
    }
    notes[record.noteCount] = PendingNote(field: Int32(truncatingIfNeeded: field), note: note)
    record.noteCount += 1
  }

  @inline(never)
  private mutating func noteSurplus(_ field: Int, from start: Int, byteCount: Int, isQuoted: Bool) {
    if field == expectedFieldCount { record.firstSurplusOffset = start }
    if byteCount > (isQuoted ? 2 : 0) { record.hasSurplusContent = true }
    if !isValidUTF8 { checkText(field, from: start, to: start + byteCount) }
  }

  @inline(never)
  private mutating func checkText(_ field: Int, from start: Int, to stop: Int) {
    if record.invalidField >= 0 { return }
    if upsurge_validate_utf8(bytes + start, stop - start).valid_count < stop - start {
      record.invalidField = field
    }
  }

  @inline(never)
  private func isNullSpelling(from start: Int, byteCount: Int) -> Bool {
    var (start, byteCount) = (start, byteCount)
    while trimsNulls && byteCount > 0 && FieldBlank.isBlank(bytes[start]) {
      (start, byteCount) = (start + 1, byteCount - 1)
    }
    while trimsNulls && byteCount > 0 && FieldBlank.isBlank(bytes[start + byteCount - 1]) { byteCount -= 1 }
    var at = 0
    while at < nullSpellingByteCount {
      let spellingByteCount = Int(
        UnsafeRawPointer(nullSpellings + at).loadUnaligned(as: UInt32.self))
      at += 4
      if spellingByteCount == byteCount && memcmp(nullSpellings + at, bytes + start, byteCount) == 0 {
        return true
      }
      at += spellingByteCount
    }
    return false
  }
}

/// What a field says, from how it is written.
enum FieldText {
  /// What escape characters do, and before what.
  struct EscapeRule {
    var escaping = CSVDialect.Escaping.any
    /// 0x100 without one.
    var quote: UInt16 = 0x100
    var delimiter: UInt8 = 0

    init(_ dialect: CSVDialect) {
      escaping = dialect.escaping
      quote = dialect.quote.map(UInt16.init) ?? 0x100
      delimiter = dialect.delimiter.first ?? 0
    }
  }

  /// Copies `count` bytes between (not including) a field's quotes, without the escape characters and without
  /// one of each two quotes; never makes them more.
  /// - Parameters: `quote` and `escape` are 0x100 for none.
  /// - Returns: how many bytes were written.
  static func unescape(
    _ text: UnsafePointer<UInt8>, count: Int, quote: UInt16, escape: UInt16, rule: EscapeRule,
    into output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    var written = 0
    var at = 0
    while at < count {
      var byte = text[at]
      let isEscape = UInt16(byte) == escape
      // An escape character with nothing after it is data, and so is a quote that is not doubled.
      if at + 1 < count && (isEscape || UInt16(byte) == quote && text[at + 1] == byte) {
        at += 1
        let next = text[at]
        if isEscape && rule.escaping == .marks && !isMark(next, rule) {
          output[written] = byte
          written += 1
        }
        byte = isEscape && rule.escaping == .letters ? meaning(ofLetter: next) : next
      }
      output[written] = byte
      written += 1
      at += 1
    }
    return written
  }

  private static func isMark(_ byte: UInt8, _ rule: EscapeRule) -> Bool {
    UInt16(byte) == rule.quote || byte == rule.delimiter || byte == 0x0A || byte == 0x0D
  }

  private static func meaning(ofLetter byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "0"): 0
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "v"): 0x0B
    case UInt8(ascii: "Z"): 0x1A
    default: byte
    }
  }
}
