import CScan
import UpsurgeRecords

extension JSONParser {
  /// Names the columns before the first array is read as a record.
  /// - Returns: false when the first array is a header; else, with `fault` set, when it cannot be read.
  mutating func hasGivenNames(
    _ start: UnsafePointer<UInt8>, _ frame: inout JSONFrame
  ) throws(UpsurgeError) -> Bool {
    switch dialect.arrayNames {
    case .firstArray, .given(_, replacesHeader: true): return false
    case .given(let names, replacesHeader: false): take(header: names)
    case .numbered:
      guard let count = elementCount(start, frame) else { return true }
      take(header: HeaderNames(count: max(count, 1)).names)
    }
    return true
  }

  /// The names that array records have from now on.
  private mutating func take(header names: [String]) {
    shape = .arrays
    header.names = names
    header.slots = names.map { columnNames.slot(of: $0) }
    for (index, slot) in header.slots.enumerated() where slot == Int(JSONKeyTable.skipped) {
      leftOut.note(names[index])
    }
  }

  /// Values of an array; nil, with `fault` set, when it cannot be read.
  private mutating func elementCount(_ start: UnsafePointer<UInt8>, _ frame: JSONFrame) -> Int? {
    let end = frame.end
    var token = upsurge_json_token()
    var count = 0
    var p: UnsafePointer<UInt8> = upsurge_json_skip_space(start + 1, end)
    while p < end && (p.pointee != UInt8(ascii: "]") || count > 0) {
      let code = Int(upsurge_json_read_value(p, end, frame.limit, &token))
      if code != UPSURGE_JSON_OK && !readNonFinite(p, end, code, &token) {
        _ = fail(isCutNonFinite(p, end) ? UPSURGE_JSON_CUT : code, at: token.next)
        return nil
      }
      if Int(token.kind) >= UPSURGE_JSON_OBJECT {
        guard skipNested(p, frame, depth: frame.depth + 1, &token) else { return nil }
      }
      count += 1
      p = upsurge_json_skip_space(token.next, end)
      if p < end && p.pointee == UInt8(ascii: "]") { break }
      if p < end && p.pointee != UInt8(ascii: ",") {
        _ = fail(UPSURGE_JSON_NO_COMMA_IN_ARRAY, at: p)
        return nil
      }
      p = upsurge_json_skip_space(p + 1, end)
    }
    if p >= end {
      _ = fail(UPSURGE_JSON_CUT, at: end)
      return nil
    }
    // A value that makes the record a reject is found again.
    record.fault = nil
    return count
  }

  /// Whether the array at `place`, outside of all others, is a record; nil when more bytes are needed to tell.
  func isRow(_ place: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, isFinal: Bool) -> Bool? {
    if dialect.arrayNames == .firstArray { return false }
    let first: UnsafePointer<UInt8> = upsurge_json_skip_space(place + 1, end)
    if first == end { return isFinal ? false : nil }
    return !"[{]".utf8.contains(first.pointee)
  }

  /// Reads the first array, which names the columns of the ones that follow.
  /// - Throws: `badInput` when it holds anything but different names.
  mutating func readHeader(
    _ start: UnsafePointer<UInt8>, _ frame: inout JSONFrame, at position: Position
  ) throws(UpsurgeError) -> UnsafePointer<UInt8>? {
    var nested = upsurge_json_token()
    guard skipNested(start, frame, depth: frame.depth, &nested), let next = nested.next,
      endsLine(next, frame)
    else {
      guard let fault = record.fault, fault.kind != .cancelled, dialect.format == .ndjson else { return nil }
      let reason = fault.reason(end: frame.end, unit: "record", offset: fault.at - start)
      throw headerError("the array of column names cannot be read: \(reason)", position)
    }
    if case .given(let names, _) = dialect.arrayNames {
      take(header: names)
      countLeftOutKeys(at: position)
      return next
    }
    var names: [String] = []
    var seen: Set<String> = []
    var token = upsurge_json_token()
    var p: UnsafePointer<UInt8> = upsurge_json_skip_space(start + 1, frame.end)
    while p < next && p.pointee != UInt8(ascii: "]") {
      guard p.pointee == UInt8(ascii: "\""),
        Int(upsurge_json_read_string(p + 1, frame.end, frame.limit, &token)) == UPSURGE_JSON_OK,
        let name = unescaped(token, frame), !name.utf8.contains(0)
      else {
        throw headerError("the first array must hold the names of the columns and nothing else", position)
      }
      if !name.isEmpty, !seen.insert(name.nameKey).inserted {
        throw headerError("the first array has the column \"\(name.escapedForTerminal)\" twice", position)
      }
      names.append(name)
      if names.count > HeaderNames.fieldLimit {
        throw headerError(
          "the first array names more than \(HeaderNames.fieldLimit) columns, and SQLite takes at most "
            + "\(columnNames.limit) in a table", position)
      }
      p = upsurge_json_skip_space(token.next, frame.end)
      if p < next && p.pointee == UInt8(ascii: ",") { p = upsurge_json_skip_space(p + 1, frame.end) }
    }
    if names.isEmpty { throw headerError("the first array names no column", position) }
    let unique = HeaderNames(unnamedIn: names)
    for renaming in unique.renamings { newWarnings.add(.headerRenamed, column: renaming.new, at: position) }
    take(header: unique.names)
    countLeftOutKeys(at: position)
    return next
  }

  /// Reads an array of as many values as the header has names.
  mutating func readArray(
    _ start: UnsafePointer<UInt8>, _ frame: inout JSONFrame
  ) -> UnsafePointer<UInt8>? {
    let end = frame.end
    var token = upsurge_json_token()
    var index = 0
    var look = nextLook(behind: start, end)
    var p: UnsafePointer<UInt8> = upsurge_json_skip_space(start + 1, end)
    if p < end && p.pointee == UInt8(ascii: "]") {
      noteSoft(.ragged(found: 0, expected: header.names.count), at: start)
      return p + 1
    }
    while true {
      if p >= look {
        if isCancelled(at: p) { return nil }
        look = nextLook(behind: p, end)
      }
      let code = Int(upsurge_json_read_value(p, end, frame.limit, &token))
      if code != UPSURGE_JSON_OK && !readNonFinite(p, end, code, &token) {
        return fail(isCutNonFinite(p, end) ? UPSURGE_JSON_CUT : code, at: token.next)
      }
      if Int(token.kind) >= UPSURGE_JSON_OBJECT
        && !(Int(token.kind) == UPSURGE_JSON_OBJECT && readBase64Wrapper(p, frame, &token))
      {
        guard skipNested(p, frame, depth: frame.depth + 1, &token) else { return nil }
      }
      if index < header.slots.count { storeElement(token, index, &frame) }
      index += 1
      p = upsurge_json_skip_space(token.next, end)
      if p >= end { return fail(UPSURGE_JSON_CUT, at: end) }
      if p.pointee == UInt8(ascii: "]") { break }
      if p.pointee != UInt8(ascii: ",") { return fail(UPSURGE_JSON_NO_COMMA_IN_ARRAY, at: p) }
      p = upsurge_json_skip_space(p + 1, end)
    }
    if index != header.slots.count {
      // A row of another length says nothing certain about its columns: this is the fault to report.
      record.fault = JSONFault(kind: .ragged(found: index, expected: header.slots.count), at: start)
    }
    return p + 1
  }

  private mutating func storeElement(_ token: upsurge_json_token, _ index: Int, _ frame: inout JSONFrame) {
    var slot = header.slots[index]
    if slot == Int(JSONKeyTable.skipped) { return }
    if slot < 0 {
      slot = columnNames.slot(of: header.names[index])
      header.slots[index] = slot
    }
    if slot >= 0 && slot < frame.columnCount {
      store(token, slot: slot, affinity: columns[slot].affinity, &frame)
    } else {
      wait(token, name: header.names[index], key: index, frame)
    }
  }

  /// At the end of the source: a header without records makes columns as well.
  mutating func addHeaderColumns(_ batch: inout Batch) throws(UpsurgeError) {
    if shape != .arrays || recordNumber > 0 || batch.recordCount > 0 { return }
    for (index, name) in header.names.enumerated() { record.newNames.add(name, key: index, affinity: .none) }
    try addPendingColumns(at: Position(file: file, line: line))
    begin(&batch)
  }

  /// A string as text; nil when a surrogate stands alone.
  func unescaped(_ token: upsurge_json_token, _ frame: JSONFrame) -> String? {
    let to = frame.spill + frame.spillByteCount
    let count = upsurge_json_unescape(token.start, token.end, to)
    if count < 0 { return nil }
    return String(decoding: UnsafeBufferPointer(start: to, count: count), as: UTF8.self)
  }

  private func headerError(_ message: String, _ position: Position) -> UpsurgeError {
    UpsurgeError(
      .badInput, message, position: position,
      hint: "records are objects, or arrays after an array of column names")
  }
}
