import UpsurgeRecords

/// What happens to records that are not plain: padded, with surplus fields, with notes, or rejected.
extension CSVParser {
  enum Settlement {
    /// The record is stored or rejected, and the next one can be read.
    case settled
    /// More bytes, or another batch, are needed.
    case incomplete
  }

  /// Stores or rejects the record that the scanner has just read at `batch.parsedByteCount`.
  mutating func settle(
    _ outcome: RecordScanner.Outcome, _ batch: inout Batch, _ scanner: inout RecordScanner
  ) -> Settlement {
    if outcome == .incomplete { return .incomplete }
    let isCut = cutComment(outcome, batch, &scanner)
    switch isCut ? .record : outcome {
    case .incomplete: return .incomplete
    case .badQuote, .unclosedQuote:
      guard let line = scanner.firstLine(from: batch.parsedByteCount) else { return .incomplete }
      if dialect.quotes == .lenient {
        let start = batch.parsedByteCount
        if scanner.scanLeniently(.init(start: start, line, spillStart: batch.spillByteCount)) { break }
      }
      rejectLine(line, for: outcome, &batch, &scanner)
      return .settled
    case .record: break
    }
    if isEndMark(scanner, at: batch.parsedByteCount) {
      nextLine += 1
      batch.parsedByteCount = scanner.record.nextStart
      scanner.spillByteCount = batch.spillByteCount
      return .settled
    }
    var footer = FooterMatch.no
    if scanner.record.invalidField < 0,
      scanner.record.fieldCount < slotOfField.count || beginsFooter(scanner, at: batch.parsedByteCount)
    {
      footer = footerMatch(scanner, in: batch)
    }
    if footer == .unknown { return .incomplete }
    if let problem = footer == .footer ? footerProblem : problem(of: scanner, in: batch) {
      reject(problem, &batch, scanner)
      scanner.spillByteCount = batch.spillByteCount
      return .settled
    }

    let fieldCount = scanner.record.fieldCount
    for field in min(fieldCount, slotOfField.count)..<slotOfField.count {
      if let slot = slotOfField[field] { scanner.cells[slot] = .null }
    }
    for (slot, cell) in fixedCells { scanner.cells[slot] = cell }
    if dialect.quotedEmpty == .null { dropEmptyTexts(scanner) }
    if scratch.valueCount > 0, let settlement = settleValues(&batch, &scanner) { return settlement }
    if fieldCount > slotOfField.count, dialect.ragged == .extra, let extraSlot {
      switch storeSurplus(in: extraSlot, &batch, &scanner) {
      case .settled: break
      case .incomplete: return .incomplete
      }
    }
    if !blobSlots.isEmpty, let settlement = decodeBlobs(&batch, &scanner) { return settlement }
    if footer == .perhaps { tally.count(.footerLike, at: position(ofByte: batch.parsedByteCount, in: batch)) }
    if isCut { tally.count(.trailingComment, at: position(ofByte: batch.parsedByteCount, in: batch)) }
    accept(&batch, scanner)
    return .settled
  }

  /// Reads the record once more, without the comment after its last field.
  /// - Returns: whether there is one.
  private func cutComment(
    _ outcome: RecordScanner.Outcome, _ batch: borrowing Batch, _ scanner: inout RecordScanner
  ) -> Bool {
    guard let prefix = dialect.commentPrefix, !prefix.isEmpty else { return false }
    let start = batch.parsedByteCount
    // A record with all its fields may have line ends in them; of another one the first line is what is known.
    let isWhole = outcome == .record && scanner.record.fieldCount == slotOfField.count
    let whole = (end: scanner.record.end, next: scanner.record.nextStart)
    guard let line = isWhole ? whole : scanner.firstLine(from: start),
      scanner.holds(prefix[0], from: start, to: line.end)
    else { return false }
    let again = RecordScanner.Line(start: start, line, spillStart: batch.spillByteCount)
    if scanner.scan(again, withoutComment: prefix) { return true }
    // What was tried has left its cells.
    scanner.spillByteCount = batch.spillByteCount
    scanner.reindex(from: start)
    _ = scanner.scanRecord(at: start)
    return false
  }

  /// Makes NULL of every empty text, which only quoted fields can be.
  private func dropEmptyTexts(_ scanner: RecordScanner) {
    for slot in columns.indices where scanner.cells[slot].kind == .text && scanner.cells[slot].byteCount == 0
    {
      scanner.cells[slot] = .null
    }
  }

  private mutating func accept(_ batch: inout Batch, _ scanner: RecordScanner) {
    let start = batch.parsedByteCount
    recordCount += 1
    let position = recordPosition(in: batch)
    if scanner.record.fieldCount < slotOfField.count { tally.count(.padded, at: position) }
    if scanner.record.fieldCount > slotOfField.count && dialect.ragged == .pad {
      tally.count(.surplusEmpty, at: position)
    }
    for index in 0..<scanner.record.noteCount {
      let note = scanner.notes[index]
      if let slot = slotOfField[Int(note.field)] { tally.count(note.note, inSlot: slot, at: position) }
    }
    batch.records[batch.recordCount] = RecordPosition(
      arenaOffset: start, byteCount: scanner.record.end - start, line: nextLine, number: recordCount)
    batch.recordCount += 1
    batch.spillByteCount = scanner.spillByteCount
    nextLine += scanner.lineCount(from: start, to: scanner.record.nextStart)
    batch.parsedByteCount = scanner.record.nextStart
  }

  /// Puts the surplus fields as a JSON array of strings into the spill.
  private mutating func storeSurplus(
    in extraSlot: Int, _ batch: inout Batch, _ scanner: inout RecordScanner
  ) -> Settlement {
    let raw = UnsafeBufferPointer(
      start: scanner.bytes + scanner.record.firstSurplusOffset,
      count: scanner.record.end - scanner.record.firstSurplusOffset)
    let text = SurplusFields(raw, dialect: dialect)
    // JSON may be longer than what it was made from, and later records need their room as well.
    let needed = scanner.spillByteCount + text.byteCount
    if needed + (scanner.end - scanner.record.nextStart) > batch.spillCapacity {
      askForSpill(needed, &batch, scanner)
      return .incomplete
    }
    text.write(to: scanner.spill + scanner.spillByteCount)
    scanner.cells[extraSlot] = .text(
      offset: scanner.spillByteCount, byteCount: text.byteCount, isInSpill: true)
    scanner.spillByteCount += text.byteCount
    return .settled
  }

  /// Closes the batch before a record whose text does not fit the spill, or asks for room where it is the
  /// first: the caller gives it, because only it knows how much memory there is.
  func askForSpill(_ byteCount: Int, _ batch: inout Batch, _ scanner: RecordScanner) {
    if batch.recordCount > 0 {
      batch.isClosed = true
    } else {
      batch.growth.wantedSpillByteCount = byteCount + (scanner.end - scanner.record.nextStart)
      batch.growth.wantedRecordByteCount = byteCount
    }
  }

  /// The position of the record that was counted last and starts at `batch.parsedByteCount`.
  func recordPosition(in batch: borrowing Batch) -> Position {
    var position = position(ofByte: batch.parsedByteCount, in: batch)
    position.record = recordCount
    return position
  }
}
