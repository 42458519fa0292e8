import CScan
import UpsurgeRecords

/// Where a parser is in a document; everything but the records themselves goes through the machine, which can be
/// cut at any byte.
struct JSONDocumentState: Sendable {
  var machine = upsurge_json_machine()
  /// Keys of the path that lead to the value in work.
  var matchedCount = 0
  /// Whether the array (or the one record) that holds the records was met.
  var isFound = false
  /// Open brackets around each record while the records are read, else nil.
  var recordDepth: Int32?
  /// Whether any byte but white space was read.
  var hasStarted = false
  /// Whether this is not the first document.
  var isFollowing = false
  /// Whether the next array may be the header once more, as each of several documents may have one.
  var isAtHeader = false
  /// Whether the last byte that was read is a line end.
  var isAtLineEnd = false

  init(dialect: JSONDialect) {
    upsurge_json_machine_start(&machine, Int32(truncatingIfNeeded: dialect.maximumDepth))
    machine.watch_depth = 0
  }

  /// Begins the document that follows this one.
  mutating func beginNext(dialect: JSONDialect) {
    let isAtLineEnd = isAtLineEnd
    self = JSONDocumentState(dialect: dialect)
    (hasStarted, isFollowing, self.isAtLineEnd) = (true, true, isAtLineEnd)
  }
}

extension JSONParser {
  /// Whether parsing goes on, or the batch is as full as it gets for now.
  enum Progress { case goesOn, pauses }

  /// Reads a document, record by record.
  mutating func parseDocument(_ batch: inout Batch, isFinal: Bool) throws(UpsurgeError) {
    let base = UnsafePointer(batch.arena)
    let end = base + batch.arenaByteCount
    while true {
      var at: UnsafePointer<UInt8>? = base + batch.parsedByteCount
      let found = Int(upsurge_json_machine_run(&document.machine, &at, end, false))
      let place = at ?? end
      advance(to: place, &batch)
      leaveRecords()
      switch found {
      case UPSURGE_JSON_OK:
        if isFinal { try finishDocument(&batch) }
        return
      case UPSURGE_JSON_AT_KEY:
        document.hasStarted = true
        if isInMap {
          if try readMember(place, end: end, &batch, isFinal: isFinal) == .pauses { return }
        } else if try readPathKey(place, end: end, &batch, isFinal: isFinal) == .pauses {
          return
        }
      case UPSURGE_JSON_AT_VALUE where document.machine.depth == 0 && isMark(place.pointee):
        if try !skipMark(place, end: end, &batch, isFinal: isFinal, fault: UPSURGE_JSON_NO_VALUE) { return }
      case UPSURGE_JSON_TRAILING where dialect.allowsSequence && document.machine.depth == 0:
        if try !beginNextDocument(place, end: end, &batch, isFinal: isFinal) { return }
      case UPSURGE_JSON_AT_VALUE:
        document.hasStarted = true
        if try readPlace(place, end: end, &batch, isFinal: isFinal) == .pauses { return }
      default:
        throw syntaxError(JSONFault(kind: .kernel(found), at: place), end: end, batch)
      }
    }
  }

  /// A record of a document is larger than memory allows.
  func documentTooLarge(_ batch: borrowing Batch, limit: Int) -> UpsurgeError {
    let start = UnsafePointer(batch.arena) + batch.parsedByteCount
    let isWhole = document.machine.depth == 0
    let mebibytes = (limit * 8 + (1 << 20) - 1) >> 20
    return UpsurgeError(
      .badInput, "a record of the document has more bytes than the \(limit) that memory allows [too-large]",
      position: position(of: start, batch),
      hint: isWhole
        ? "\(.jsonPath, "KEY") reads the array inside the document; \(.memory, "\(mebibytes)MiB") gives more room"
        : "\(.memory, "\(mebibytes)MiB") gives more room")
  }

  /// Moves on to a byte, counting lines.
  mutating func advance(to place: UnsafePointer<UInt8>, _ batch: inout Batch) {
    line = line(of: place, batch)
    if place > UnsafePointer(batch.arena) + batch.parsedByteCount {
      document.isAtLineEnd = place[-1] == 0x0A || place[-1] == 0x0D
    }
    batch.parsedByteCount = place - UnsafePointer(batch.arena)
  }

  /// The array of the records has ended when the machine is above it.
  private mutating func leaveRecords() {
    guard let depth = document.recordDepth, document.machine.depth < depth else { return }
    document.recordDepth = nil
    document.machine.watch_depth = document.machine.depth
  }

  /// Before a key of an object that the path leads through.
  private mutating func readPathKey(
    _ place: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch, isFinal: Bool
  ) throws(UpsurgeError) -> Progress {
    if endSearch != nil && isStillCut(place, end: end, batch, isFinal: isFinal) { return .pauses }
    var token = upsurge_json_token()
    let code = Int(upsurge_json_read_string(place + 1, end, end, &token))
    if code == UPSURGE_JSON_CUT && !isFinal {
      noteCut(place, end: end, batch)
      return .pauses
    }
    if code != UPSURGE_JSON_OK {
      throw syntaxError(JSONFault(kind: .kernel(code), at: token.next), end: end, batch)
    }
    let depth = Int(document.machine.depth)
    document.machine.watch_depth = document.machine.depth
    document.matchedCount = depth - 1
    if depth <= dialect.jsonPath.count && isKey(token, dialect.jsonPath[depth - 1]) {
      if document.isFound {
        throw documentError(
          "the key \"\(dialect.jsonPath[depth - 1].escapedForTerminal)\" of the JSON path stands twice in one object",
          at: place, batch)
      }
      document.matchedCount = depth
    }
    upsurge_json_machine_key_read(&document.machine)
    advance(to: token.next, &batch)
    return .goesOn
  }

  private func isKey(_ token: upsurge_json_token, _ name: String) -> Bool {
    let byteCount = token.end - token.start
    let unescaped = [UInt8](unsafeUninitializedCapacity: max(byteCount, 1)) { buffer, count in
      guard let to = buffer.baseAddress else { return }
      count = max(0, upsurge_json_unescape(token.start, token.end, to))
    }
    return unescaped.elementsEqual(name.utf8)
  }

  /// Before a value on the path, or before a record.
  private mutating func readPlace(
    _ place: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch, isFinal: Bool
  ) throws(UpsurgeError) -> Progress {
    let depth = Int(document.machine.depth)
    if document.recordDepth != nil { return try readElement(place, end: end, &batch, isFinal: isFinal) }
    if depth > document.matchedCount {  // a value beside the path
      upsurge_json_machine_pass(&document.machine)
      return .goesOn
    }
    let first = place.pointee
    let isTarget = depth == dialect.jsonPath.count
    let isMap = dialect.mapColumn != nil
    var isRecord = first == UInt8(ascii: "{") && !isMap
    if isTarget && depth == 0 && first == UInt8(ascii: "[") && !isMap {
      guard let isRow = isRow(place, end, isFinal: isFinal) else { return .pauses }
      isRecord = isRow
    }
    if isTarget && isRecord && depth == 0 {
      let progress = try readElement(place, end: end, &batch, isFinal: isFinal)
      if progress == .goesOn { document.isFound = true }
      return progress
    }
    if first != UInt8(ascii: isTarget && !isMap ? "[" : "{") { throw wrongPlace(place, depth: depth, batch) }
    upsurge_json_machine_pass(&document.machine)
    if isTarget {
      document.isFound = true
      document.recordDepth = Int32(depth + 1)
      document.isAtHeader = document.isFollowing && shape == .arrays
    }
    document.machine.watch_depth = Int32(depth + 1)
    return .goesOn
  }

  /// Before a record.
  mutating func readElement(
    _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch, isFinal: Bool
  ) throws(UpsurgeError) -> Progress {
    if !Self.hasRoom(batch) { return .pauses }
    if endSearch != nil && isStillCut(start, end: end, batch, isFinal: isFinal) { return .pauses }
    if document.isAtHeader, let progress = skipRepeatedHeader(start, end: end, &batch, isFinal: isFinal) {
      return progress
    }
    let next: UnsafePointer<UInt8>
    switch try readRecord(start, end: end, &batch) {
    case .needsNewBatch, .cancelled: return .pauses
    case .header(let p): next = p
    case .stored(let p):
      if let mapName = record.mapName { widenToMember(mapName, &batch) }
      next = p
    case .rejected(let p):
      reject(record.mapName?.start ?? start, p, &batch)
      next = p
    case .failed:
      guard let fault = record.fault else { return .pauses }
      if fault.kind == .kernel(UPSURGE_JSON_CUT) && !isFinal {
        noteCut(start, end: end, batch)
        return .pauses
      }
      guard fault.kind == .kernel(UPSURGE_JSON_NOT_UTF8) || fault.kind == .tooManyKeys else {
        throw syntaxError(fault, end: end, batch)
      }
      guard let p = try endOfRecord(start, end: end, batch) else {
        if isFinal { throw syntaxError(fault, end: end, batch) }
        noteCut(start, end: end, batch)
        return .pauses
      }
      reject(record.mapName?.start ?? start, p, &batch)
      next = p
    }
    document.isAtHeader = false
    upsurge_json_machine_value_read(&document.machine)
    advance(to: next, &batch)
    return .goesOn
  }

  /// The end of a record that was not read to its end; nil when the arena does not hold it.
  private func endOfRecord(
    _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: borrowing Batch
  ) throws(UpsurgeError) -> UnsafePointer<UInt8>? {
    var machine = upsurge_json_machine()
    upsurge_json_machine_start(&machine, Int32(truncatingIfNeeded: dialect.maximumDepth))
    machine.allows_any_bytes = true
    var at: UnsafePointer<UInt8>? = start
    let code = Int(upsurge_json_machine_run(&machine, &at, end, true))
    if code == UPSURGE_JSON_DONE { return at }
    if code == UPSURGE_JSON_OK { return nil }
    throw syntaxError(JSONFault(kind: .kernel(code), at: at ?? start), end: end, batch)
  }
}
