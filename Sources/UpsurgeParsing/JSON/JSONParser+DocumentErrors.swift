import CScan
import UpsurgeRecords

extension JSONParser {
  /// At the end of the source: is the document whole, and were the records met?
  mutating func finishDocument(_ batch: inout Batch) throws(UpsurgeError) {
    let end = UnsafePointer(batch.arena) + batch.parsedByteCount
    if !document.hasStarted {
      throw UpsurgeError(
        .badInput, "the input is empty", position: Position(file: file, line: 1, byte: 0),
        hint: "a JSON document without records is []")
    }
    if !upsurge_json_machine_is_whole(&document.machine) {
      throw documentError(
        "the document ends before it is complete (\(document.machine.depth) open brackets)", at: end, batch,
        hint: "the file may be cut; get it again")
    }
    try checkFound(at: end, batch)
    if dialect.needsLineEnd && document.isFollowing && !document.isAtLineEnd {
      throw documentError(
        "the input has several JSON values and does not end with a line end; it may be cut", at: end, batch,
        hint: "deliver it again, with a line end after the last value")
    }
    try addHeaderColumns(&batch)
  }

  /// - Throws: `badInput` where the document has ended and the path led to nothing.
  func checkFound(at place: UnsafePointer<UInt8>, _ batch: borrowing Batch) throws(UpsurgeError) {
    if document.isFound { return }
    let path = dialect.jsonPath.joined(separator: ".")
    throw documentError(
      "the document has nothing at the JSON path \(path.escapedForTerminal)", at: place, batch,
      hint: "\(.jsonPath) must name the keys that lead to the array of records")
  }

  /// The path leads to something that holds no records.
  func wrongPlace(_ place: UnsafePointer<UInt8>, depth: Int, _ batch: borrowing Batch) -> UpsurgeError {
    let found =
      switch place.pointee {
      case UInt8(ascii: "{"): "an object"
      case UInt8(ascii: "["): "an array"
      case UInt8(ascii: "\""): "a string"
      case UInt8(ascii: "t"), UInt8(ascii: "f"): "true or false"
      case UInt8(ascii: "n"): "null"
      case UInt8(ascii: "-"), 0x30...0x39: "a number"
      default: ""
      }
    if found.isEmpty {
      return syntaxError(JSONFault(kind: .kernel(UPSURGE_JSON_NO_VALUE), at: place), end: place + 1, batch)
    }
    let isTarget = depth == dialect.jsonPath.count
    let isMap = dialect.mapColumn != nil
    let name =
      depth == 0 ? "the document" : "the value at \(dialect.jsonPath[..<depth].joined(separator: "."))"
    return documentError(
      "\(name.escapedForTerminal) is \(found), not \(isTarget && !isMap ? "an array of records" : isTarget ? "an object of records" : "an object")",
      at: place,
      batch,
      hint: isMap && isTarget
        ? "\(.jsonMap) is for an object each of whose values is a record; leave it out for an array"
        : "\(.jsonPath) names the keys that lead to the array of records")
  }

  /// What is no JSON; the input cannot be read on after it.
  func syntaxError(
    _ fault: JSONFault, end: UnsafePointer<UInt8>, _ batch: borrowing Batch
  ) -> UpsurgeError {
    guard case .kernel(let code) = fault.kind else {
      return documentError(fault.reason(end: end, unit: "input", offset: 0), at: fault.at, batch)
    }
    return documentError(
      "the document is not JSON: \(JSONFault.sentence(code)), \(fault.found(end))", at: fault.at, batch)
  }

  /// An error at a byte of the arena.
  func documentError(
    _ message: Wording, at place: UnsafePointer<UInt8>, _ batch: borrowing Batch, hint: Wording? = nil
  ) -> UpsurgeError {
    let base = UnsafePointer(batch.arena)
    let rest = max(0, min(40, batch.arenaByteCount - (place - base)))
    let text = String(decoding: UnsafeBufferPointer(start: place, count: rest), as: UTF8.self)
    return UpsurgeError(
      .badInput, message,
      position: Position(
        file: file, record: document.recordDepth == nil ? nil : recordNumber + 1,
        line: line(of: place, batch),
        byte: batch.origin.sourceOffset + UInt64(place - base)),
      snippet: rest == 0 ? nil : text.escapedForTerminal, hint: hint)
  }
}
