import CScan
import UpsurgeRecords

/// Turns CSV (RFC 4180 and what the world sends) into typed records.
///
/// A quote opens a quoted field only as a field's first byte; elsewhere it is data. A line ends with LF, CRLF or
/// CR, mixed at will; the last one needs no end. Blank lines and comments are skipped and counted. Fields without
/// escapes stay where they are in the arena; only what must be unescaped is copied, to the spill.
///
/// A record whose quotes make no sense costs one line: its first physical line is rejected, and parsing goes on
/// with the next, so that one stray quote never swallows the good records after it.
package struct CSVParser: RecordParser {
  package let columns: [ColumnTarget]
  package let dialect: CSVDialect
  /// The source as the user named it.
  let file: String
  /// The column of each expected field; nil: not wanted.
  let slotOfField: [Int?]
  let extraSlot: Int?
  /// The header, to know it again where files were joined; empty: not known, or of one field.
  let header: RepeatedHeader
  /// Slots that no field fills, with what they hold unless there are surplus fields.
  let fixedCells: [(slot: Int, cell: Cell)]
  let hasAbsentCells: Bool
  let scratch: CSVScratch
  /// The formats of columns; nil where values are what they say.
  let values: ValueReaders?
  /// How text in BLOB columns is decoded; nil: it stays text.
  let blobs: BlobDecoding?
  /// The columns whose text is decoded, once the rest of the record is known to be good.
  let blobSlots: [Int]
  let simdLevel: Int32
  /// Whether a record with all its fields began with `#`.
  var hasHashRecord = false
  package var cancellation: ReadCancellation?
  /// What the text was encoded in before it was made UTF-8; nil where it always was.
  package var encodingName: String?
  /// Whether the first letters beyond ASCII, in the sample of the source, are UTF-8.
  package var beginsAsUTF8 = false

  /// Physical line on which the next record starts, from 1.
  package internal(set) var nextLine: UInt64
  /// Records so far, rejected ones too.
  package internal(set) var recordCount: UInt64
  /// Physical lines that are still to be dropped: the preamble, the rest of a comment or of a huge record.
  var linesToSkip: Int
  var headersToSkip: Int
  /// A record that is too large for memory, whose line has not ended yet.
  var dropped: DroppedRecord?
  /// Looks for the end of a record that did not fit the arena.
  private var endSearch: RecordEndSearch?
  var isAtStreamStart: Bool
  var tally: CSVWarningTally

  /// - Parameters:
  ///   - slotOfField: for each field that a record should have, the index in `columns` of its column; nil: the
  ///     field is not wanted.
  ///   - header: the bytes of the header, without its line end, which is no record where it stands again.
  ///   - extraSlot: the column that takes surplus fields, under `ragged: .extra`.
  ///   - blobs: how text in BLOB columns is decoded.
  ///   - values: how values of columns are written.
  ///   - slotsFilledLater: what no field fills, and somebody else does.
  ///   - simdLevel: the C kernel to use (`UPSURGE_SIMD_...`); the processor's best one when nil.
  package init(
    dialect: CSVDialect, file: String, columns: [ColumnTarget], slotOfField: [Int?],
    header: [UInt8]? = nil, extraSlot: Int? = nil, simdLevel: Int32? = nil, blobs: BlobDecoding? = nil,
    values: ValueReaders? = nil, slotsFilledLater: Set<Int> = []
  ) {
    self.dialect = dialect
    self.file = file
    self.columns = columns
    self.slotOfField = slotOfField
    self.header = RepeatedHeader(header, dialect: dialect)
    self.extraSlot = extraSlot
    self.simdLevel = simdLevel ?? Int32(upsurge_simd_level())
    scratch = CSVScratch(dialect: dialect, columns: columns, slotOfField: slotOfField, values: values)
    self.values = values
    self.blobs = blobs
    blobSlots = blobs == nil ? [] : slotOfField.compactMap { $0 }.filter { columns[$0].isBlob }

    let filled = Set(slotOfField.compactMap { $0 })
    let empty = columns.indices.filter { !filled.contains($0) && !slotsFilledLater.contains($0) }
    fixedCells = empty.map { ($0, $0 == extraSlot ? .null : .absent) }
    hasAbsentCells = empty.contains { $0 != extraSlot }

    nextLine = 1
    recordCount = 0
    linesToSkip = dialect.skippedLineCount
    headersToSkip = dialect.headerLineCount
    isAtStreamStart = true
    tally = CSVWarningTally(columnCount: columns.count)
  }

  package mutating func parse(_ batch: inout Batch, isFinal: Bool) throws(UpsurgeError) {
    if batch.recordCount == 0 { batch.begin(columnCount: columns.count) }
    if hasAbsentCells { batch.hasAbsentCells = true }
    if endSearch != nil && isStillCut(batch, isFinal: isFinal) { return }
    let start = batch.parsedByteCount
    var scanner = makeScanner(of: batch, isFinal: isFinal)
    readRecords(into: &batch, with: &scanner)
    if !isFinal && batch.parsedByteCount == start { noteCut(batch) }
    if !tally.isEmpty { tally.move(to: &batch.warnings, naming: columns, file: file) }
  }

  /// Whether the next record was found to be cut before, and still is.
  private mutating func isStillCut(_ batch: borrowing Batch, isFinal: Bool) -> Bool {
    let sourceOffset = batch.origin.sourceOffset + UInt64(batch.parsedByteCount)
    guard !isFinal, var search = endSearch, search.sourceOffset == sourceOffset else {
      endSearch = nil
      return false
    }
    let rest = UnsafeBufferPointer(
      start: batch.arena + batch.parsedByteCount, count: batch.arenaByteCount - batch.parsedByteCount)
    let isWhole = search.goOn(rest)
    endSearch = isWhole ? nil : search
    return !isWhole
  }

  /// Notes that the next record is cut, where it may become much larger.
  private mutating func noteCut(_ batch: borrowing Batch) {
    // A comment is known as one by then.
    guard batch.isEmpty, batch.growth.wantedSpillByteCount == 0, linesToSkip == 0, !isAtStreamStart,
      batch.arenaByteCount - batch.parsedByteCount > dialect.commentPrefix?.count ?? 0
    else { return }
    endSearch = RecordEndSearch(
      sourceOffset: batch.origin.sourceOffset + UInt64(batch.parsedByteCount), dialect: dialect)
  }

  private func makeScanner(of batch: borrowing Batch, isFinal: Bool) -> RecordScanner {
    let start = batch.parsedByteCount
    let byteCount = batch.arenaByteCount - start
    let check = upsurge_validate_utf8(batch.arena + start, byteCount)
    // A sequence that the end has cut belongs to a record that is not whole yet.
    let isValid = check.valid_count == byteCount || (!isFinal && check.is_tail_incomplete != 0)

    let delimiter = scratch.delimiter[0]
    let quote = dialect.quote ?? delimiter
    let escape = dialect.distinctEscape ?? delimiter
    let padding = dialect.quote == nil || delimiter == FieldReader.blank ? nil : FieldReader.blank
    // Without a quote none is special: no field that a delimiter ends starts with a line end.
    let special = [dialect.quote ?? 0x0A, padding ?? dialect.quote ?? 0x0A]
    let firstSpecial = min(special[0], special[1])
    return RecordScanner(
      bytes: UnsafePointer(batch.arena), end: batch.arenaByteCount, isFinal: isFinal,
      cancellation: cancellation.map { Unmanaged.passUnretained($0) }, isValidUTF8: isValid,
      isSimple: isValid && dialect.bareEmpty == .null && dialect.delimiter.count == 1
        && scratch.nullSpellingByteCount == 0,
      marks: RecordScanner.Marks(
        delimiter: delimiter, delimiterByteCount: dialect.delimiter.count,
        delimiterBytes: UnsafePointer(scratch.delimiter),
        quote: dialect.quote.map(UInt16.init) ?? 0x100,
        escape: dialect.distinctEscape.map(UInt16.init) ?? 0x100, escapeRule: FieldText.EscapeRule(dialect),
        padding: padding.map(UInt16.init) ?? 0x100,
        firstSpecial: firstSpecial, specialSpan: max(special[0], special[1]) - firstSpecial),
      fixed: RecordScanner.Fixed(
        widths: UnsafeBufferPointer(scratch.widths), isRuled: dialect.widths?.ruler != nil),
      index: RecordScanner.Index(
        needles: upsurge_needles(byte: (delimiter, quote, escape, 0x0A, 0x0D)), simdLevel: simdLevel,
        positions: scratch.positions, start: start, end: start),
      plans: UnsafePointer(scratch.plans), expectedFieldCount: slotOfField.count,
      nullSpellings: UnsafePointer(scratch.nullSpellings),
      nullSpellingByteCount: scratch.nullSpellingByteCount, trimsNulls: values?.formats.trim == .blanks,
      keepsQuotedEmpty: dialect.quotedEmpty == .text, keepsBareEmpty: dialect.bareEmpty == .text,
      cells: batch.cells, spill: batch.spill, spillByteCount: batch.spillByteCount, notes: scratch.notes)
  }

  /// Reads records until something ends it.
  ///
  /// Hot loop: each record goes through it, and what it asks of the parser is asked once.
  private mutating func readRecords(into batch: inout Batch, with scanner: inout RecordScanner) {
    guard skipByteOrderMark(&batch, scanner), skipLines(&batch, scanner) else { return }
    scanner.seek(to: batch.parsedByteCount)

    let columnCount = columns.count
    let expectedFieldCount = slotOfField.count
    let recordLimit = min(
      batch.recordCapacity, columnCount == 0 ? .max : batch.cellCapacity / columnCount)
    let cells = batch.cells
    let records = batch.records
    let bytes = scanner.bytes
    let hasComments = dialect.commentPrefix != nil
    let commentStart = dialect.commentPrefix?.first.map(UInt16.init) ?? 0x100
    let (headerStart, headerQuote) = (header.start, header.quote)
    let rulerStart = dialect.widths?.rulerStart ?? 0x100
    let footerStarts = scratch.footerStarts
    let hasValues = scratch.valueCount > 0
    let isPlain = fixedCells.isEmpty && blobSlots.isEmpty && dialect.quotedEmpty != .null

    while batch.parsedByteCount < scanner.end && batch.recordCount < recordLimit && !batch.isClosed {
      let start = batch.parsedByteCount
      let first = bytes[start]
      if first == 0x0A || first == 0x0D || first == 0xEF || UInt16(first) == commentStart
        || hasComments && FieldReader.isPadding(first, dialect) || UInt16(first) == headerStart
        || headersToSkip > 0 || UInt16(first) == rulerStart
        || UInt16(first) == headerQuote
          && (start + 1 == scanner.end || UInt16(bytes[start + 1]) == headerStart)
      {
        switch skipNonRecord(&batch, &scanner) {
        case .skipped: continue
        case .incomplete: return
        case .none: break
        }
      }

      let number = batch.recordCount
      scanner.cells = cells + number * columnCount
      let spillMark = batch.spillByteCount
      let outcome = scanner.scanRecord(at: start)
      if outcome == .record && scanner.record.fieldCount == expectedFieldCount
        && scanner.record.noteCount == 0
        && scanner.record.invalidField < 0 && isPlain
        && !(footerStarts[Int(first)] && beginsFooter(scanner, at: start))
        && (commentStart > 0xFF
          || !scanner.holds(UInt8(commentStart), from: start, to: scanner.record.nextStart))
        && (!hasValues || readsPlainValues(&scanner, batch))
      {
        recordCount += 1
        records[number] = RecordPosition(
          arenaOffset: start, byteCount: scanner.record.end - start, line: nextLine, number: recordCount)
        nextLine +=
          scanner.record.isMultiline ? scanner.lineCount(from: start, to: scanner.record.nextStart) : 1
        batch.recordCount = number + 1
        batch.spillByteCount = scanner.spillByteCount
        batch.parsedByteCount = scanner.record.nextStart
        continue
      }
      switch settle(outcome, &batch, &scanner) {
      case .settled: break
      case .incomplete:
        batch.spillByteCount = spillMark
        return
      }
    }
  }

  /// The name of the column a field goes to, or nil for one that is not wanted.
  func columnName(ofField field: Int) -> String? {
    guard field < slotOfField.count, let slot = slotOfField[field] else { return nil }
    return columns[slot].name
  }
}
