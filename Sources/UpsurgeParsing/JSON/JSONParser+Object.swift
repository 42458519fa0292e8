import CScan
import UpsurgeRecords

/// The memory that a record is read from and into.
struct JSONFrame {
  /// The arena; offsets of text cells count from here.
  let base: UnsafePointer<UInt8>
  /// The end of the record's line, or of what the arena holds of a document.
  let end: UnsafePointer<UInt8>
  /// The end of the bytes that may be read, at least `end`.
  let limit: UnsafePointer<UInt8>
  /// The record's cells.
  let row: UnsafeMutablePointer<Cell>
  let columnCount: Int
  let spill: UnsafeMutablePointer<UInt8>
  var spillByteCount: Int
  let spillCapacity: Int
  /// A number that no other reading of a record has; the same record may be read twice.
  let reading: UInt64
  /// Brackets of the document that are open around the record.
  let depth: Int
}

extension JSONParser {
  /// Reads the object whose brace is at `start` into the frame's row.
  ///
  /// Hot loop: each member goes through it, and what it keeps from one to the next stays in registers.
  /// - Returns: The byte after the object; nil when it cannot be read on, with `fault` set. Soft faults are set
  ///   as well, but the object is read to its end.
  mutating func readObject(
    _ start: UnsafePointer<UInt8>, _ frame: inout JSONFrame
  ) -> UnsafePointer<UInt8>? {
    let end = frame.end
    let limit = frame.limit
    let isFlattening = dialect.flattenSeparator != nil
    var entries = keys.entries
    var token = upsurge_json_token()
    var parent = 0
    var previous: Int32 = -1  // -1 before the first key of an object
    var p = start + 1
    var look = nextLook(behind: start, end)
    if !record.openKeys.isEmpty { record.openKeys.removeAll(keepingCapacity: true) }
    while true {
      p = upsurge_json_skip_space(p, end)
      if p >= look {
        if isCancelled(at: p) { return nil }
        look = nextLook(behind: p, end)
      }
      let isBehindValue = readUsualMembers(&p, &previous, parent: parent, isFlattening, until: look, &frame)
      if p >= end { return fail(UPSURGE_JSON_CUT, at: end) }
      if isBehindValue {
        // only the closing brace is left
      } else if p.pointee == UInt8(ascii: "\"") {
        // The key: first the one that stood here last time.
        let predicted = previous < 0 ? entries[parent].first_child : entries[Int(previous)].next
        var key = Int(predicted)
        if predicted >= 0,
          upsurge_json_key_is(
            p + 1, limit, entries[key].bytes, entries[key].byte_count, entries[key].head)
        {
          p += 1 + entries[key].byte_count
        } else {
          guard let found = readUnpredictedKey(&p, frame, parent: parent, previous: previous) else {
            return nil
          }
          entries = keys.entries
          key = Int(found)
        }
        previous = Int32(truncatingIfNeeded: key)
        p = upsurge_json_skip_space(p, end)
        if p >= end { return fail(UPSURGE_JSON_CUT, at: end) }
        if p.pointee != UInt8(ascii: ":") { return fail(UPSURGE_JSON_NO_COLON, at: p) }
        p = upsurge_json_skip_space(p + 1, end)
        record.isKeyRepeated = entries[key].last_reading == frame.reading
        if isFlattening && record.isKeyRepeated {
          let isObject = p < end && p.pointee == UInt8(ascii: "{") && !isEmptyObject(p, end)
          forgetSubtree(key, isObject: isObject, frame, at: p)
        }
        if isFlattening && entries[key].last_reading != frame.reading {
          entries[key].next_touched = entries[parent].first_touched
          entries[parent].first_touched = Int32(truncatingIfNeeded: key)
        }
        entries[key].last_reading = frame.reading
        // The value.
        let code = Int(upsurge_json_read_value(p, end, limit, &token))
        if code != UPSURGE_JSON_OK && !readNonFinite(p, end, code, &token) {
          return fail(isCutNonFinite(p, end) ? UPSURGE_JSON_CUT : code, at: token.next)
        }
        if Int(token.kind) >= UPSURGE_JSON_OBJECT
          && !(Int(token.kind) == UPSURGE_JSON_OBJECT && readBase64Wrapper(p, frame, &token))
        {
          if isFlattening && Int(token.kind) == UPSURGE_JSON_OBJECT && !isEmptyObject(p, end) {
            if frame.depth + record.openKeys.count + 2 > dialect.maximumDepth {
              return fail(UPSURGE_JSON_TOO_DEEP, at: p)
            }
            if entries[key].slot <= JSONKeyTable.loneSurrogate { noteBadKey(key, at: p) }
            entries[key].first_touched = -1
            record.openKeys.append(Int32(truncatingIfNeeded: key))
            parent = key
            previous = -1
            p += 1
            continue
          }
          guard skipNested(p, frame, depth: frame.depth + record.openKeys.count + 1, &token) else {
            return nil
          }
        }
        p = token.next
        let slot = entries[key].slot
        if slot >= 0 {
          store(token, slot: Int(slot), affinity: columns[Int(slot)].affinity, &frame)
        } else if slot != JSONKeyTable.skipped {
          storeUnresolved(token, key: key, &frame)
        }
      } else if p.pointee != UInt8(ascii: "}") || previous >= 0 {
        return fail(UPSURGE_JSON_NO_KEY, at: p)
      }
      // After a value, or at the brace of an empty object: what ends here?
      p = upsurge_json_skip_space(p, end)
      if p >= end { return fail(UPSURGE_JSON_CUT, at: end) }
      while p.pointee == UInt8(ascii: "}") {
        p += 1
        if record.openKeys.isEmpty { return p }
        previous = record.openKeys.removeLast()
        parent = Int(record.openKeys.last ?? 0)
        p = upsurge_json_skip_space(p, end)
        if p >= end { return fail(UPSURGE_JSON_CUT, at: end) }
      }
      if p.pointee != UInt8(ascii: ",") { return fail(UPSURGE_JSON_NO_COMMA_IN_OBJECT, at: p) }
      p += 1
    }
  }

  /// Lets the kernel read the members that hold no surprise.
  /// - Returns: Whether it stopped after a value, at the object's closing brace.
  @inline(__always)
  private mutating func readUsualMembers(
    _ p: inout UnsafePointer<UInt8>, _ previous: inout Int32, parent: Int, _ isFlattening: Bool,
    until pause: UnsafePointer<UInt8>, _ frame: inout JSONFrame
  ) -> Bool {
    if !usesKernelForMembers { return false }
    var members = upsurge_json_members(
      base: frame.base, end: frame.end, limit: frame.limit, pause: pause, keys: keys.entries, row: frame.row,
      spill: frame.spill, spill_byte_count: frame.spillByteCount, filled_count: record.filledCount,
      reading: frame.reading, previous: previous, is_behind_value: false)
    p = upsurge_json_read_members(&members, p, Int32(truncatingIfNeeded: parent), isFlattening)
    previous = members.previous
    record.filledCount = members.filled_count
    frame.spillByteCount = members.spill_byte_count
    return members.is_behind_value
  }

  /// Reads a key that is not the predicted one and predicts it for the next record.
  private mutating func readUnpredictedKey(
    _ p: inout UnsafePointer<UInt8>, _ frame: JSONFrame, parent: Int, previous: Int32
  ) -> Int32? {
    var token = upsurge_json_token()
    let code = Int(upsurge_json_read_string(p + 1, frame.end, frame.limit, &token))
    if code != UPSURGE_JSON_OK {
      _ = fail(code, at: token.next)
      return nil
    }
    p = token.next
    let bytes = UnsafeBufferPointer(start: token.start, count: token.next - token.start)
    guard let found = entry(of: bytes, in: Int32(truncatingIfNeeded: parent), at: token.start) else {
      return nil
    }
    if found == JSONKeyTable.scratch || previous == JSONKeyTable.scratch { return found }
    if previous < 0 {
      keys.entries[parent].first_child = found
    } else {
      keys.entries[Int(previous)].next = found
    }
    return found
  }

  private func isEmptyObject(_ brace: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
    let next: UnsafePointer<UInt8> = upsurge_json_skip_space(brace + 1, end)
    return next < end && next.pointee == UInt8(ascii: "}")
  }

  /// Checks a nested value and makes a token of its bytes as they stand.
  mutating func skipNested(
    _ start: UnsafePointer<UInt8>, _ frame: JSONFrame, depth: Int, _ token: inout upsurge_json_token
  ) -> Bool {
    var machine = upsurge_json_machine()
    upsurge_json_machine_start(&machine, Int32(truncatingIfNeeded: dialect.maximumDepth - depth))
    var at: UnsafePointer<UInt8>? = start
    var look = nextLook(behind: start, frame.end)
    var code = Int(upsurge_json_machine_run(&machine, &at, look, true))
    while code == UPSURGE_JSON_OK && look < frame.end {
      if isCancelled(at: look) { return false }
      look = nextLook(behind: look, frame.end)
      code = Int(upsurge_json_machine_run(&machine, &at, look, true))
    }
    token.start = start
    token.end = at
    token.next = at
    if code == UPSURGE_JSON_DONE { return true }
    if code == UPSURGE_JSON_OK && dialect.format == .ndjson && upsurge_json_machine_is_whole(&machine) {
      return true  // a number that ends with its line
    }
    _ = fail(code == UPSURGE_JSON_OK ? UPSURGE_JSON_CUT : code, at: at ?? start)
    return false
  }

  /// Where a record is to be looked at next whether reading was cancelled.
  @inline(__always)
  func nextLook(behind p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
    end - p <= ReadCancellation.lookByteCount ? end : p + ReadCancellation.lookByteCount
  }

  /// Whether reading was cancelled; `fault` says so then.
  @inline(never)
  mutating func isCancelled(at place: UnsafePointer<UInt8>) -> Bool {
    guard let cancellation, cancellation.isRequested else { return false }
    record.fault = JSONFault(kind: .cancelled, at: place)
    return true
  }

  /// Notes a fault of the kernels; nil, so that readers can return it.
  mutating func fail(_ code: Int, at place: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
    record.fault = JSONFault(kind: .kernel(code), at: place)
    return nil
  }

  /// Notes a fault after which the record can still be read to its end; the first one stays.
  mutating func noteSoft(_ kind: JSONFault.Kind, at place: UnsafePointer<UInt8>, column: String? = nil) {
    if record.fault == nil { record.fault = JSONFault(kind: kind, at: place, column: column) }
  }
}
