import CScan
import UpsurgeRecords

extension JSONParser {
  /// Fills the cell of a value.
  mutating func store(
    _ token: upsurge_json_token, slot: Int, affinity: Affinity, _ frame: inout JSONFrame
  ) {
    let cell = frame.row + slot
    if cell.pointee.kind.rawValue == Cell.Kind.absent.rawValue {
      filledCount += 1
    } else if !replaceDuplicate(slot, at: token.start) {
      return
    }
    let offset = token.start - frame.base
    let byteCount = token.end - token.start
    var note = ConversionNote.none
    switch Int(token.kind) {
    case UPSURGE_JSON_STRING:
      if decodesBlobs, columns[slot].isBlob, let blobs {
        storeBlob(token, blobs.encoding, cell, slot: slot, &frame)
      } else if token.has_escapes {
        note = storeEscaped(token, cell, affinity, &frame)
      } else if affinity.isNumeric {
        note = convertText(
          token.start, count: byteCount, offset: offset, isInSpill: false, affinity: affinity, into: cell)
      } else {
        cell.pointee = .text(offset: offset, byteCount: byteCount)
      }
    case UPSURGE_JSON_INTEGER
    where affinity.rawValue != Affinity.text.rawValue && affinity.rawValue != Affinity.real.rawValue:
      cell.pointee = .integer(token.integer)
    case UPSURGE_JSON_INTEGER, UPSURGE_JSON_NUMBER:
      note = convertNumber(token.start, count: byteCount, offset: offset, affinity: affinity, into: cell)
    case UPSURGE_JSON_NULL:
      cell.pointee = .null
    case UPSURGE_JSON_TRUE:
      cell.pointee = .integer(1)
    case UPSURGE_JSON_FALSE:
      cell.pointee = .integer(0)
    case Self.base64Kind:
      storeBlob(token, .base64, cell, slot: slot, &frame)
    default:
      cell.pointee = .text(offset: offset, byteCount: byteCount)
      if affinity.isNumeric { note = .textInNumberColumn }
    }
    if note != .none { take(note, slot: slot, at: token.start) }
  }

  /// Unescapes a string into the spill.
  private mutating func storeEscaped(
    _ token: upsurge_json_token, _ cell: UnsafeMutablePointer<Cell>, _ affinity: Affinity,
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
    return convertText(to, count: count, offset: offset, isInSpill: true, affinity: affinity, into: cell)
  }

  /// What a conversion's note means for the record.
  private mutating func take(_ note: ConversionNote, slot: Int, at place: UnsafePointer<UInt8>) {
    let column = columns[slot]
    switch note {
    case .none: break
    case .textInNumberColumn: warn(.textInNumberColumn, slot)
    case .spellingChanges:
      switch column.spellingPolicy {
      case .warn: warn(.spellingChanged, slot)
      case .reject: noteSoft(.wouldChange, at: place, column: column.name)
      }
    }
  }

  private mutating func warn(_ code: WarningLog.Code, _ slot: Int) {
    pendingWarnings.append(PendingWarning(code: code, column: columns[slot].name, slot: slot))
  }

  /// A second value for a cell.
  /// - Returns: Whether it takes the first one's place.
  private mutating func replaceDuplicate(_ slot: Int, at place: UnsafePointer<UInt8>) -> Bool {
    if dialect.duplicateKeys == .reject {
      noteSoft(isKeyRepeated ? .duplicateKey : .columnCollision, at: place, column: columns[slot].name)
      return false
    }
    forgetConversions(slot)
    mendValueFault(slot)
    warn(isKeyRepeated ? .duplicateKey : .columnCollision, slot)
    return true
  }

  /// What was noted of a value that is not stored after all; that values were lost stays noted.
  private mutating func forgetConversions(_ slot: Int) {
    pendingWarnings.removeAll {
      $0.slot == slot && $0.code != .duplicateKey && $0.code != .columnCollision
    }
  }

  /// The same key again, while flattening: what came of its first value in this record is taken back. Only the record
  /// itself decides, never what earlier records held, so that its outcome is the same wherever reading begins.
  /// - Parameter isObject: whether the new value is taken apart, too.
  mutating func forgetSubtree(
    _ key: Int, isObject: Bool, _ frame: JSONFrame, at place: UnsafePointer<UInt8>
  ) {
    guard clear(key, keepsPending: !isObject, frame) else { return }
    let name = keyName(key)
    let slot = slot(of: name)
    let column = slot >= 0 ? columns[slot].name : name
    if dialect.duplicateKeys == .reject { return noteSoft(.duplicateKey, at: place, column: column) }
    pendingWarnings.append(PendingWarning(code: .duplicateKey, column: column, slot: -1))
  }

  /// - Parameter keepsPending: whether a column that the value asked for is still asked for, as its first value did.
  /// - Returns: Whether there was anything.
  private mutating func clear(_ key: Int, keepsPending: Bool, _ frame: JSONFrame) -> Bool {
    var isTouched = false
    let slot = Int(keys.entries[key].slot)
    if slot >= 0 && slot < frame.columnCount && frame.row[slot].kind != .absent {
      frame.row[slot] = .absent
      filledCount -= 1
      forgetConversions(slot)
      if dialect.duplicateKeys == .lastWins { mendValueFault(slot) }
      isTouched = true
    }
    if pendingColumns.contains(where: { $0.key == key }) {
      isTouched = true
      if !keepsPending {
        pendingColumns.removeAll { $0.key == key }
        pendingNames.remove(keyName(key).nameKey)
      }
    }
    if keys.entries[key].first_child < 0 { return isTouched }
    for child in 1..<max(keys.count, 1)
    where Int(keys.entries[child].parent) == key && keys.entries[child].last_reading == frame.reading {
      keys.entries[child].last_reading = 0
      if clear(child, keepsPending: false, frame) { isTouched = true }
    }
    return isTouched
  }

  /// A fault of a value that is replaced is none.
  private mutating func mendValueFault(_ slot: Int) {
    if let found = fault, found.isOfValue, found.column == columns[slot].name { fault = nil }
  }
}
