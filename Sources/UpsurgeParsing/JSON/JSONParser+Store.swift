import CScan
import UpsurgeRecords

extension JSONParser {
  /// Fills the cell of a value.
  mutating func store(
    _ token: upsurge_json_token, slot: Int, affinity: Affinity, _ frame: inout JSONFrame
  ) {
    let cell = frame.row + slot
    if cell.pointee.kind.rawValue == Cell.Kind.absent.rawValue {
      record.filledCount += 1
    } else if !replaceDuplicate(slot, at: token.start) {
      return
    }
    if !readers.isEmpty, storesRead(token, slot: slot, affinity: affinity, &frame) { return }
    let offset = token.start - frame.base
    let byteCount = token.end - token.start
    var note = ConversionNote.none
    switch Int(token.kind) {
    case UPSURGE_JSON_STRING:
      if decodesBlobs, columns[slot].isBlob, let blobs {
        storeBlob(token, blobs.encoding, cell, slot: slot, &frame)
      } else if token.has_escapes {
        note = storeEscaped(token, cell, slot, affinity, &frame)
      } else if affinity.isNumeric {
        note = convertText(
          token.start, count: byteCount, offset: offset, isInSpill: false, affinity: affinity, into: cell)
        if note == .none { note = keyNote(token.start, byteCount, slot, cell) }
        if keepsText(note, slot, token.start, byteCount, cell) {
          note = .none
          cell.setText(offset: offset, byteCount: byteCount, isInSpill: false)
        }
      } else {
        cell.setText(offset: offset, byteCount: byteCount, isInSpill: false)
      }
    case UPSURGE_JSON_INTEGER
    where affinity.rawValue != Affinity.text.rawValue && affinity.rawValue != Affinity.real.rawValue:
      cell.pointee = .integer(token.integer)
    case UPSURGE_JSON_INTEGER, UPSURGE_JSON_NUMBER:
      note = convertNumber(token.start, count: byteCount, offset: offset, affinity: affinity, into: cell)
      if keepsText(note, slot, token.start, byteCount, cell) {
        note = .none
        cell.setText(offset: offset, byteCount: byteCount, isInSpill: false)
      } else if affinity.rawValue == Affinity.text.rawValue,
        let infinity = infinity(token.start, count: byteCount),
        columns[slot].readsInfinity
      {
        cell.setNumber(.real, bits: infinity.bitPattern)
      }
    case UPSURGE_JSON_NULL:
      cell.pointee = .null
    case UPSURGE_JSON_TRUE:
      cell.pointee = .integer(1)
    case UPSURGE_JSON_FALSE:
      cell.pointee = .integer(0)
    case Self.base64Kind:
      storeBlob(token, .base64, cell, slot: slot, &frame)
    default:
      cell.setText(offset: offset, byteCount: byteCount, isInSpill: false)
      if affinity.isNumeric { note = .textInNumberColumn }
    }
    if note != .none { take(note, slot: slot, at: token.start) }
  }

  /// Unescapes a string into the spill.
  private mutating func storeEscaped(
    _ token: upsurge_json_token, _ cell: UnsafeMutablePointer<Cell>, _ slot: Int, _ affinity: Affinity,
    _ frame: inout JSONFrame
  ) -> ConversionNote {
    let to = frame.spill + frame.spillByteCount
    let count = upsurge_json_unescape(token.start, token.end, to)
    if count < 0 {
      noteSoft(.kernel(UPSURGE_JSON_LONE_SURROGATE), at: token.start)
      cell.pointee = .null
      return .none
    }
    let offset = frame.spillByteCount
    frame.spillByteCount += count
    let note = convertText(to, count: count, offset: offset, isInSpill: true, affinity: affinity, into: cell)
    if keepsText(note, slot, to, count, cell) {
      cell.setText(offset: offset, byteCount: count, isInSpill: true)
      return .none
    }
    return note == .none && affinity.isNumeric ? keyNote(to, count, slot, cell) : note
  }

  /// Whether a number beyond all doubles is to stay text.
  @inline(__always)
  func keepsText(
    _ note: ConversionNote, _ slot: Int, _ text: UnsafePointer<UInt8>, _ byteCount: Int,
    _ cell: UnsafeMutablePointer<Cell>
  ) -> Bool {
    note == .spellingChanges && columns[slot].keepsOutOfRange
      && isOutOfRange(text, count: byteCount, cell.pointee)
  }

  /// What a string says, which became a number: a number would be what it says, a string of a key is a spelling.
  func keyNote(
    _ text: UnsafePointer<UInt8>, _ byteCount: Int, _ slot: Int, _ cell: UnsafeMutablePointer<Cell>
  ) -> ConversionNote {
    let column = columns[slot]
    guard column.isKeyOfNumbers || column.reportsSpelling,
      changesKey(text, count: byteCount, isReal: column.affinity.isReal, cell: cell.pointee)
    else { return .none }
    return column.isKeyOfNumbers ? .spellingChanges : .writtenOtherwise
  }

  /// What a conversion's note means for the record.
  mutating func take(_ note: ConversionNote, slot: Int, at place: UnsafePointer<UInt8>) {
    let column = columns[slot]
    switch note {
    case .none: break
    case .writtenOtherwise: warn(.spellingChanged, .value, slot)
    case .textInNumberColumn: warn(.textInNumberColumn, .value, slot)
    case .spellingChanges:
      switch column.spellingPolicy {
      case .warn: warn(.spellingChanged, .value, slot)
      case .reject: noteSoft(.wouldChange, at: place, column: column.name)
      case .key, .newKey: noteSoft(.keyChanges(hint: column.spellingHint), at: place, column: column.name)
      }
    }
  }

  private mutating func warn(_ code: WarningLog.Code, _ kind: JSONPendingWarnings.Kind, _ slot: Int) {
    if record.pendingWarnings.noteAgain(kind, at: slot) { return }
    record.pendingWarnings.note(code, kind, at: slot, column: columns[slot].name)
  }

  /// A second value for a cell.
  /// - Returns: Whether it takes the first one's place.
  private mutating func replaceDuplicate(_ slot: Int, at place: UnsafePointer<UInt8>) -> Bool {
    if dialect.duplicateKeys == .reject {
      noteSoft(record.isKeyRepeated ? .duplicateKey : .columnCollision, at: place, column: columns[slot].name)
      return false
    }
    // Of the value that is not stored after all; that values were lost stays noted.
    record.pendingWarnings.forgetValue(slot)
    mendValueFault(slot)
    if record.isKeyRepeated {
      warn(.duplicateKey, .duplicateKey, slot)
    } else {
      warn(.columnCollision, .columnCollision, slot)
    }
    return true
  }

  /// Takes back what came of the first value of a key that comes again, while flattening. Only the record
  /// itself decides, never what earlier records held, so that its outcome is the same wherever reading begins.
  /// - Parameter isObject: whether the new value is taken apart, too.
  mutating func forgetSubtree(
    _ key: Int, isObject: Bool, _ frame: JSONFrame, at place: UnsafePointer<UInt8>
  ) {
    guard clear(key, keepsPending: !isObject, frame) else { return }
    if dialect.duplicateKeys == .reject {
      if record.fault == nil { noteSoft(.duplicateKey, at: place, column: columnName(ofKey: key)) }
      return
    }
    if record.pendingWarnings.noteAgain(.duplicateObject, at: key) { return }
    record.pendingWarnings.note(.duplicateKey, .duplicateObject, at: key, column: columnName(ofKey: key))
  }

  /// The name of a key's column as the table has it, or would have it.
  private func columnName(ofKey key: Int) -> String {
    let name = keyName(key)
    let slot = columnNames.slot(of: name)
    return slot >= 0 ? columns[slot].name : name
  }

  /// Each key is cleared at most as often as it was met, so that a record costs no more than its bytes.
  /// - Parameter keepsPending: whether a column that the value asked for is still asked for, as its first value did.
  /// - Returns: Whether there was anything.
  private mutating func clear(_ key: Int, keepsPending: Bool, _ frame: JSONFrame) -> Bool {
    var isTouched = false
    let slot = Int(keys.entries[key].slot)
    if slot >= 0 && slot < frame.columnCount && frame.row[slot].kind != .absent {
      frame.row[slot] = .absent
      record.filledCount -= 1
      record.pendingWarnings.forgetValue(slot)
      if dialect.duplicateKeys == .lastWins { mendValueFault(slot) }
      isTouched = true
    }
    if !record.newNames.isEmpty && record.newNames.isAsked(byKey: key) {
      isTouched = true
      if !keepsPending { record.newNames.takeBack(byKey: key) }
    }
    var child = Int(keys.entries[key].first_touched)
    keys.entries[key].first_touched = -1
    while child >= 0 && keys.entries[child].last_reading == frame.reading {
      keys.entries[child].last_reading = 0
      if clear(child, keepsPending: false, frame) { isTouched = true }
      child = Int(keys.entries[child].next_touched)
    }
    return isTouched
  }

  /// A fault of a value that is replaced does not count.
  private mutating func mendValueFault(_ slot: Int) {
    if let found = record.fault, found.isOfValue, found.column == columns[slot].name { record.fault = nil }
  }
}
