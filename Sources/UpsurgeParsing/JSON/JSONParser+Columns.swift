import CScan
import UpsurgeRecords

extension JSONParser {
  /// The most columns that SQLite can be built for.
  package static let mostColumns = 32_767

  /// The entry of a key; where the table of keys is full, only keys that are needed get one.
  /// - Returns: nil when the record cannot be read on, with `fault` set.
  mutating func entry(
    of bytes: UnsafeBufferPointer<UInt8>, in parent: Int32, at place: UnsafePointer<UInt8>
  ) -> Int32? {
    if let known = keys.known(bytes, in: parent) { return known }
    if !keys.isFull { return keys.make(bytes, in: parent) }
    if dialect.flattenSeparator != nil {
      // Whether a key is needed is known only at the ends of the paths that begin with it.
      record.fault = JSONFault(kind: .tooManyKeys, at: place)
      return nil
    }
    guard let start = bytes.baseAddress else { return JSONKeyTable.scratch }
    switch JSONKeyTable.initialSlot(start, count: bytes.count - 1).slot {
    case JSONKeyTable.loneSurrogate: noteSoft(.kernel(UPSURGE_JSON_LONE_SURROGATE), at: place)
    case JSONKeyTable.unnameable: noteSoft(.unnameableKey, at: place)
    default:
      let slot = columnNames.slot(of: JSONKeyTable.name(bytes))
      if slot == Int(JSONKeyTable.skipped) {
        leftOut.noteUnnamed()
      } else if slot < 0 && !hasRoomForColumn {
        noteNoRoom(at: place)
      } else {
        return keys.make(bytes, in: parent)
      }
    }
    return JSONKeyTable.scratch
  }

  private var hasRoomForColumn: Bool { columns.count + record.newNames.count < columnNames.limit }

  private mutating func noteNoRoom(at place: UnsafePointer<UInt8>) {
    // A table that takes no columns at all is the better reason.
    if case .refuse = columnNames.policy.unknown { return }
    noteSoft(.tooManyColumns(limit: columnNames.limit), at: place)
  }

  /// A value whose key has no column yet: finds the column by name, or lets it wait for the record's end.
  mutating func storeUnresolved(_ token: upsurge_json_token, key: Int, _ frame: inout JSONFrame) {
    if keys.entries[key].slot <= JSONKeyTable.loneSurrogate { return noteBadKey(key, at: token.start) }
    if let place = record.newNames.place(ofKey: key) { return wait(token, place: place, key: key, frame) }
    let byteCount = Int(keys.entries[key].path_byte_count)
    if byteCount > columnNames.longestByteCount {
      return storeUnknown(token, key: key, byteCount: byteCount, frame)
    }
    let name = keyName(key)
    let slot = columnNames.slot(of: name)
    keys.entries[key].slot = Int32(truncatingIfNeeded: slot)
    if slot >= 0 && slot < frame.columnCount {
      keys.entries[key].affinity = isDecoded(slot) ? Self.decodedAffinity : columns[slot].affinity.rawValue
      // Once, also where a run is resumed after the record that was first.
      if name.isEmpty, leftOut.counted.insert(name).inserted {
        record.pendingWarnings.note(.emptyKey, .emptyKey, at: slot, column: columns[slot].name)
      }
      store(token, slot: slot, affinity: columns[slot].affinity, &frame)
    } else if slot == Int(JSONKeyTable.skipped) {
      leftOut.note(name)
    } else {
      keys.entries[key].slot = JSONKeyTable.unresolved
      wait(token, name: name, key: key, frame)
    }
  }

  /// A value whose key is longer than the name of any column. While objects are flattened many keys may begin with the
  /// same long ones, so the name is put together only where it is needed.
  private mutating func storeUnknown(
    _ token: upsurge_json_token, key: Int, byteCount: Int, _ frame: JSONFrame
  ) {
    if columnNames.leavesOutUnknown {
      keys.entries[key].slot = JSONKeyTable.skipped
      if byteCount <= Self.shownPathByteLimit || keys.entries[key].parent == 0 {
        leftOut.note(keyName(key))
      } else {
        leftOut.noteUnnamed()
      }
    } else if byteCount > Self.nameByteLimit {
      noteSoft(.nameTooLong(byteCount: byteCount), at: token.start)
    } else if let fault = record.fault, !fault.isOfValue, byteCount > Self.shownPathByteLimit {
      // The record is a reject, and makes no columns.
      return
    } else {
      wait(token, name: keyName(key), key: key, frame)
    }
  }

  /// Whether a value has no half of a surrogate pair.
  func isText(_ token: upsurge_json_token, _ frame: JSONFrame) -> Bool {
    if Int(token.kind) != UPSURGE_JSON_STRING || !token.has_escapes { return true }
    return upsurge_json_unescape(token.start, token.end, frame.spill + frame.spillByteCount) >= 0
  }

  /// A value without a column waits for the record's end; what would make the record a reject is noted now, so
  /// that a reject makes no columns.
  mutating func wait(_ token: upsurge_json_token, name: String, key: Int, _ frame: JSONFrame) {
    if let place = record.newNames.place(of: name, for: key) {
      return wait(token, place: place, key: key, frame)
    }
    if columnNames.byteCount + record.newNames.byteCount + name.utf8.count > Self.nameByteLimit {
      return noteSoft(.nameTooLong(byteCount: name.utf8.count), at: token.start)
    }
    if !hasRoomForColumn { return noteNoRoom(at: token.start) }
    if !isText(token, frame) { return noteSoft(.kernel(UPSURGE_JSON_LONE_SURROGATE), at: token.start) }
    record.newNames.add(name, key: key, affinity: affinity(for: token))
  }

  /// Lets a value wait whose name the record has asked for before.
  mutating func wait(_ token: upsurge_json_token, place: Int, key: Int, _ frame: JSONFrame) {
    let isAsked = record.newNames[place].isAsked
    if !isAsked && !hasRoomForColumn { return noteNoRoom(at: token.start) }
    if isAsked && dialect.duplicateKeys == .reject {
      let kind: JSONFault.Kind = record.isKeyRepeated ? .duplicateKey : .columnCollision
      noteSoft(kind, at: token.start, column: record.newNames[place].text)
    } else if !isText(token, frame) {
      noteSoft(.kernel(UPSURGE_JSON_LONE_SURROGATE), at: token.start)
    } else if !isAsked {
      record.newNames.askAgain(place, key: key, affinity: affinity(for: token))
    }
  }

  /// A key that cannot name a column.
  mutating func noteBadKey(_ key: Int, at place: UnsafePointer<UInt8>) {
    let isNoText = keys.entries[key].slot == JSONKeyTable.loneSurrogate
    noteSoft(isNoText ? .kernel(UPSURGE_JSON_LONE_SURROGATE) : .unnameableKey, at: place)
  }

  /// The key's name; under `--flatten` with the names of the objects around it.
  func keyName(_ key: Int) -> String {
    keys.path(of: Int32(truncatingIfNeeded: key)).joined(separator: dialect.flattenSeparator ?? "")
  }

  /// The affinity of a column that begins with this value.
  func affinity(for token: upsurge_json_token) -> Affinity {
    switch Int(token.kind) {
    case UPSURGE_JSON_NULL, Self.base64Kind: return .none
    case UPSURGE_JSON_INTEGER, UPSURGE_JSON_TRUE, UPSURGE_JSON_FALSE: return .integer
    case UPSURGE_JSON_NUMBER:
      var bits: UInt64 = 0
      switch Int(upsurge_number_scan_json(token.start, token.end - token.start, &bits)) {
      case UPSURGE_NUMBER_INTEGER: return .integer
      case UPSURGE_NUMBER_REAL: return .real
      default: return infinity(token.start, count: token.end - token.start) == nil ? .text : .real
      }
    default: return .text
    }
  }

  /// Makes the columns that a good record asked for.
  /// - Throws: `guardRefused` when the policy says that the columns are frozen, `usage` for the column of a sweep.
  mutating func addPendingColumns(at position: Position) throws(UpsurgeError) {
    for new in record.newNames.asked {
      let name = new.text
      if columnNames.slot(of: name) != Int(JSONKeyTable.unresolved) { continue }
      let column = columnNames.column(of: name)
      if let mark = columnNames.policy.mark, column.nameKey == mark.nameKey {
        throw markRefusal(of: name, at: position)
      }
      var target: ColumnTarget
      switch columnNames.policy.unknown {
      case .add(let spelling):
        target = ColumnTarget(name: column, affinity: new.affinity, spellingPolicy: spelling)
      case .addUntyped: target = ColumnTarget(name: column, affinity: .none, spellingPolicy: .warn)
      case .skip, .refuse: throw refusal(of: name, at: position)
      }
      if values?.reader(of: target)?.form == .truth, target.affinity == .text { target.affinity = .integer }
      if columns.count >= columnNames.limit {
        throw UpsurgeError(
          .badInput,
          "the array of column names needs more columns than the \(columnNames.limit) that SQLite takes in a table",
          position: position, column: column, hint: JSONFault.columnsHint)
      }
      columnNames.add(column, for: name, slot: columns.count)
      columns.append(target)
      if let values { readers.append(values.reader(of: target)) }
      unannounced.append(target)
    }
    record.newNames.removeAll()
  }

  private func refusal(of name: String, at position: Position) -> UpsurgeError {
    var table = ""
    if case .refuse(let name) = columnNames.policy.unknown { table = name }
    return UpsurgeError(
      .guardRefused,
      "the input has a key \"\(name.escapedForTerminal)\" for which table \(table) has no column",
      position: position, hint: "\(.alter) adds the column; \(.columns, "A,B") leaves it out")
  }

  private func markRefusal(of name: String, at position: Position) -> UpsurgeError {
    UpsurgeError(
      .usage,
      "sweep: soft: the input has a key \"\(name.escapedForTerminal)\" for the column that marks rows as gone, and only the "
        + "sweep may set it", position: position,
      hint: "name another one, or leave it out of the feed: columns: [...]")
  }

  /// Counts the keys that were left out of the record in work, which has been read.
  mutating func countLeftOutKeys(at position: Position) { leftOut.count(in: &newWarnings, at: position) }

  /// Bytes of the names of all columns.
  static let nameByteLimit = 1 << 20
  /// Longer paths of keys are not put together to be shown.
  private static let shownPathByteLimit = 4 << 10
}
