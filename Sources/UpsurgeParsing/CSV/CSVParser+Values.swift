import UpsurgeRecords

/// A field whose values are read by a format.
struct FieldValue {
  var slot: Int
  var field: Int
  /// Whether its column's texts become numbers.
  var isNumeric: Bool
  var reader: ValueReader
}

/// Values of columns with formats: read after the fields are found, and before anything else looks at them.
extension CSVParser {
  /// What became of a record's values.
  enum ValueOutcome: Equatable {
    case fit
    /// A number has a note, so that the record is no plain one.
    case noted
    /// The spill needs so many bytes.
    case noRoom(byteCount: Int)
    case fault(index: Int, ValueFault)
  }

  /// Reads the values of a plain record.
  /// - Returns: false where it is not plain after all; then its cells are as they were.
  @inline(__always)
  func readsPlainValues(_ scanner: inout RecordScanner, _ batch: borrowing Batch) -> Bool {
    let (noteCount, spillByteCount) = (scanner.record.noteCount, scanner.spillByteCount)
    let outcome = readValues(&scanner, batch)
    if outcome == .fit { return true }
    if outcome == .noted {
      for index in 0..<scratch.valueCount {
        scanner.cells[scratch.values[index].slot] = scratch.valueCells[index]
      }
      (scanner.record.noteCount, scanner.spillByteCount) = (noteCount, spillByteCount)
    }
    return false
  }

  /// Reads the record's values in place of its fields' texts. Where they do not fit, the cells are as they were.
  func readValues(_ scanner: inout RecordScanner, _ batch: borrowing Batch) -> ValueOutcome {
    // What comes after the record needs its own room.
    let limit = batch.spillCapacity - (scanner.end - scanner.record.nextStart)
    let (noteCount, spillStart) = (scanner.record.noteCount, scanner.spillByteCount)
    let values = scratch.values
    for index in 0..<scratch.valueCount {
      let cell = scanner.cells[values[index].slot]
      scratch.valueCells[index] = cell
      guard case .text = cell.kind else { continue }
      let byteCount = Int(cell.byteCount)
      let needed = scanner.spillByteCount + values[index].reader.outputLimit(byteCount)
      var outcome = ValueOutcome.fit
      if needed > limit {
        outcome = .noRoom(byteCount: needed)
      } else {
        let offset = Int(truncatingIfNeeded: cell.payload)
        let text = cell.isInSpill ? UnsafePointer(scanner.spill + offset) : scanner.bytes + offset
        let value = values[index].reader.read(
          text, count: byteCount, into: scanner.spill + scanner.spillByteCount)
        if value.fault.isSet {
          outcome = .fault(index: index, value.fault)
        } else {
          store(value, values[index], cell, &scanner)
        }
      }
      if outcome != .fit {
        for earlier in 0..<index { scanner.cells[values[earlier].slot] = scratch.valueCells[earlier] }
        (scanner.record.noteCount, scanner.spillByteCount) = (noteCount, spillStart)
        return outcome
      }
    }
    return scanner.record.noteCount == noteCount ? .fit : .noted
  }

  /// Makes the cell of what was read.
  @inline(__always)
  private func store(
    _ value: ValueReader.Value, _ field: FieldValue, _ old: Cell, _ scanner: inout RecordScanner
  ) {
    let cell = scanner.cells + field.slot
    var offset = Int(truncatingIfNeeded: old.payload) &+ value.start
    var isInSpill = old.isInSpill
    switch value.kind {
    case .fault: return
    case .null:
      cell.pointee = .null
      return
    case .blank:
      let isText = isEmptyText(isQuoted: isInSpill || isAfterQuote(offset, scanner), isNumeric: field.isNumeric)
      cell.pointee = isText ? .text(offset: offset, byteCount: 0, isInSpill: isInSpill) : .null
      if isText && field.isNumeric {
        scanner.keep(.textInNumberColumn, of: field.field, scanner.bytes, byteCount: 0)
      }
      return
    case .yes: return cell.setNumber(.integer, bits: 1)
    case .no: return cell.setNumber(.integer, bits: 0)
    case .written:
      offset = scanner.spillByteCount
      isInSpill = true
      scanner.spillByteCount += value.count
    case .kept: break
    }
    let text = isInSpill ? UnsafePointer(scanner.spill + offset) : scanner.bytes + offset
    if field.isNumeric, field.reader.form != .date {
      scanner.takeNumber(
        text, byteCount: value.count, of: field.field, scanner.plans[field.field], offset: offset,
        isInSpill: isInSpill)
    } else {
      cell.setText(offset: offset, byteCount: value.count, isInSpill: isInSpill)
      if field.isNumeric {
        scanner.keep(.textInNumberColumn, of: field.field, text, byteCount: value.count)
      }
    }
  }

  /// Whether a field in which nothing but blanks stands is the empty text, as the field without them would be.
  private func isEmptyText(isQuoted: Bool, isNumeric: Bool) -> Bool {
    if !isQuoted { return dialect.bareEmpty == .text && !isNumeric }
    switch dialect.quotedEmpty {
    case .text: return true
    case .null: return false
    case nil: return !isNumeric
    }
  }

  private func isAfterQuote(_ offset: Int, _ scanner: RecordScanner) -> Bool {
    offset > 0 && scanner.bytes[offset - 1] == dialect.quote
  }

  /// Reads the values of a record that is not plain.
  /// - Returns: nil where they fit; else what became of the record instead.
  mutating func settleValues(_ batch: inout Batch, _ scanner: inout RecordScanner) -> Settlement? {
    switch readValues(&scanner, batch) {
    case .fit: return nil
    case .noted:
      guard let problem = spellingProblem(of: scanner) else { return nil }
      reject(problem, &batch, scanner)
    case .noRoom(let byteCount):
      askForSpill(byteCount, &batch, scanner)
      enlargeSpill(&batch, scanner)
      return .incomplete
    case .fault(let index, let fault): reject(valueProblem(fault, index, scanner), &batch, scanner)
    }
    scanner.spillByteCount = batch.spillByteCount
    return .settled
  }

  private func valueProblem(_ fault: ValueFault, _ index: Int, _ scanner: RecordScanner) -> RecordProblem {
    let value = scratch.values[index]
    let cell = scanner.cells[value.slot]
    let text =
      (cell.isInSpill ? UnsafePointer(scanner.spill) : scanner.bytes) + Int(truncatingIfNeeded: cell.payload)
    let name = columns[value.slot].name
    guard let values else { preconditionFailure("a value was read without readers") }
    let problem = values.problem(
      fault, of: name, form: value.reader.form,
      value: UnsafeBufferPointer(start: text, count: Int(cell.byteCount)))
    return RecordProblem(code: problem.code, column: name, reason: problem.reason, hint: problem.hint)
  }

  /// Asks for room for the values of all records that the arena holds, by the length of the first. Dates may be longer than
  /// they are written, and records may hold little else.
  private func enlargeSpill(_ batch: inout Batch, _ scanner: RecordScanner) {
    guard batch.growth.wantedSpillByteCount > 0 else { return }
    let rest = scanner.end - scanner.record.nextStart
    let recordByteCount = max(scanner.record.nextStart - batch.parsedByteCount, 1)
    let valueByteCount = (0..<scratch.valueCount).reduce(0) { $0 + scratch.values[$1].reader.dateByteCount }
    let more = min(rest / recordByteCount * valueByteCount, 4 * batch.arenaCapacity)
    batch.growth.wantedSpillByteCount += more
  }
}
