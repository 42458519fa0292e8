import CScan
import UpsurgeRecords

/// Values of columns with formats: strings, and the numbers of dates and truths.
extension JSONParser {
  /// The reader of a slot; nil where its values are what they say.
  @inline(__always)
  func reader(of slot: Int) -> ValueReader? { slot < readers.count ? readers[slot] : nil }

  /// Fills the cell of a value whose column has a format that says something of it.
  /// - Returns: Whether it has.
  @inline(never)
  mutating func storesRead(
    _ token: upsurge_json_token, slot: Int, affinity: Affinity, _ frame: inout JSONFrame
  ) -> Bool {
    guard let reader = reader(of: slot), !isDecoded(slot),
      let note = storeRead(token, reader, slot: slot, affinity: affinity, &frame)
    else { return false }
    if note != .none { take(note, slot: slot, at: token.start) }
    return true
  }

  /// Reads a value by the format of its column.
  /// - Returns: nil for values that formats say nothing of, such as numbers of a column of numbers; else the cell is filled.
  private mutating func storeRead(
    _ token: upsurge_json_token, _ reader: ValueReader, slot: Int, affinity: Affinity,
    _ frame: inout JSONFrame
  ) -> ConversionNote? {
    let cell = frame.row + slot
    cell.pointee = .null
    var text: UnsafePointer<UInt8> = token.start
    var count = token.end - token.start
    var isInSpill = false
    switch Int(token.kind) {
    case UPSURGE_JSON_STRING:
      if token.has_escapes {
        let to = frame.spill + frame.spillByteCount
        count = upsurge_json_unescape(token.start, token.end, to)
        if count < 0 {
          noteSoft(.kernel(UPSURGE_JSON_LONE_SURROGATE), at: token.start)
          return ConversionNote.none
        }
        (text, isInSpill) = (UnsafePointer(to), true)
        frame.spillByteCount += count
      }
    case UPSURGE_JSON_INTEGER, UPSURGE_JSON_NUMBER:
      if reader.form != .date && reader.form != .truth { return nil }
    case UPSURGE_JSON_NULL: return nil
    case UPSURGE_JSON_TRUE, UPSURGE_JSON_FALSE:
      if reader.form != .date { return nil }
      return unfit(.kind, reader, slot, UnsafeBufferPointer(start: text, count: 0), token)
    default:
      if reader.form != .date && reader.form != .truth { return nil }
      return unfit(.kind, reader, slot, UnsafeBufferPointer(start: text, count: 0), token)
    }
    // What follows in the arena needs its own room in the spill, at most as much as its text.
    let needed = reader.outputLimit(count)
    if needed > frame.spillCapacity - frame.spillByteCount - (frame.limit - token.end) {
      record.missingSpillByteCount += needed
      return ConversionNote.none
    }
    let output = frame.spill + frame.spillByteCount
    let value = reader.read(text, count: count, into: output)
    let base = isInSpill ? UnsafePointer(frame.spill) : frame.base
    switch value.kind {
    case .fault:
      return unfit(value.fault, reader, slot, UnsafeBufferPointer(start: text, count: count), token)
    case .null: break
    case .yes: cell.pointee = .integer(1)
    case .no: cell.pointee = .integer(0)
    case .blank: cell.setText(offset: text - base, byteCount: 0, isInSpill: isInSpill)
    case .written:
      let offset = frame.spillByteCount
      frame.spillByteCount += value.count
      return storeText(output, value.count, offset: offset, isInSpill: true, reader, slot, affinity, cell)
    case .kept:
      text += value.start
      return storeText(
        text, value.count, offset: text - base, isInSpill: isInSpill, reader, slot, affinity, cell)
    }
    return ConversionNote.none
  }

  /// Makes the cell of a text that was read.
  private func storeText(
    _ text: UnsafePointer<UInt8>, _ count: Int, offset: Int, isInSpill: Bool, _ reader: ValueReader,
    _ slot: Int,
    _ affinity: Affinity, _ cell: UnsafeMutablePointer<Cell>
  ) -> ConversionNote {
    guard affinity.isNumeric, reader.form != .date else {
      cell.setText(offset: offset, byteCount: count, isInSpill: isInSpill)
      return affinity.isNumeric ? .textInNumberColumn : .none
    }
    let note = convertText(
      text, count: count, offset: offset, isInSpill: isInSpill, affinity: affinity, into: cell)
    if keepsText(note, slot, text, count, cell) {
      cell.setText(offset: offset, byteCount: count, isInSpill: isInSpill)
      return .none
    }
    return note == .none ? keyNote(text, count, slot, cell) : note
  }

  private mutating func unfit(
    _ fault: ValueFault, _ reader: ValueReader, _ slot: Int, _ value: UnsafeBufferPointer<UInt8>,
    _ token: upsurge_json_token
  ) -> ConversionNote {
    guard let values else { return .none }
    let problem = values.problem(fault, of: columns[slot].name, form: reader.form, value: value)
    noteSoft(.unfit(problem), at: token.start, column: columns[slot].name)
    return .none
  }
}
