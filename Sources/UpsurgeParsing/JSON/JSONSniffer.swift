import CScan
import UpsurgeRecords

/// Tells JSON from other text, and a document from a value a line.
package enum JSONSniffer {
  /// - Parameters:
  ///   - sample: The first bytes of the input.
  ///   - isWhole: Whether they are all of it.
  /// - Returns: nil when the sample is no JSON.
  package static func sniff(_ sample: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> JSONFormat? {
    guard let base = sample.baseAddress else { return nil }
    let end = base + sample.count
    let start: UnsafePointer<UInt8> = upsurge_json_skip_space(base, end)
    guard start < end, isBracket(start.pointee) else { return nil }
    if start.pointee == UInt8(ascii: "{") { return formatOfObject(start, end) }
    return formatOfArray(start, end)
  }

  /// Whether what follows the first bracket is the start of JSON that no CSV header would be mistaken for. Then
  /// the text is JSON however broken it is further on: read as CSV, its faults would be stored as data.
  private static func isSurelyJSON(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
    let second: UnsafePointer<UInt8> = upsurge_json_skip_space(start + 1, end)
    guard second < end else { return true }
    switch second.pointee {
    case UInt8(ascii: "\""): return true
    case UInt8(ascii: "}"): return start.pointee == UInt8(ascii: "{")
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]"): return start.pointee == UInt8(ascii: "[")
    default: return false
    }
  }

  private enum Value {
    case whole(UnsafePointer<UInt8>)
    case cut
    case broken
  }

  private static func readValue(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Value {
    var machine = upsurge_json_machine()
    upsurge_json_machine_start(&machine, Int32(JSONDialect.depthLimit))
    machine.allows_any_bytes = true  // the reader will say where the text is not UTF-8
    var at: UnsafePointer<UInt8>? = start
    let code = Int(upsurge_json_machine_run(&machine, &at, end, true))
    if code == UPSURGE_JSON_DONE, let at { return .whole(at) }
    return code == UPSURGE_JSON_OK ? .cut : .broken
  }

  private static func isBracket(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
  }

  /// The text begins with a brace.
  private static func formatOfObject(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> JSONFormat? {
    switch readValue(start, end) {
    case .whole(let next): return upsurge_json_count_lines(start, next) == 0 ? .ndjson : .json
    case .cut: return upsurge_json_count_lines(start, end) == 0 ? .ndjson : .json
    case .broken:
      if !isSurelyJSON(start, end) { return hasObjectLine(start, end) ? .ndjson : nil }
      return hasRecordLines(start, end) ? .ndjson : .json
    }
  }

  /// The text begins with a square bracket.
  private static func formatOfArray(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> JSONFormat? {
    // More behind an array of numbers may still be a CSV field that looks like JSON.
    let otherwise: JSONFormat? = isSurelyJSON(start, end) ? .json : nil
    switch readValue(start, end) {
    case .cut: return .json
    case .broken: return otherwise
    case .whole(let next):
      let following: UnsafePointer<UInt8> = upsurge_json_skip_space(next, end)
      if following == end || upsurge_json_count_lines(start, next) > 0 { return .json }
      if upsurge_json_count_lines(next, following) == 0 || !isBracket(following.pointee) { return otherwise }
      return hasNestedValue(start, next) ? .json : .ndjson
    }
  }

  /// Whether an array holds arrays or objects.
  private static func hasNestedValue(_ start: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>) -> Bool {
    var isInString = false
    var p = start + 1
    while p < next {
      let byte = p.pointee
      if byte == UInt8(ascii: "\"") { isInString.toggle() }
      if isInString && byte == UInt8(ascii: "\\") { p += 1 }
      if !isInString && isBracket(byte) { return true }
      p += 1
    }
    return false
  }

  /// Whether a broken object looks like a line of NDJSON, not like one that goes over several lines.
  private static func hasRecordLines(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
    let bytes = UnsafeBufferPointer(start: start, count: end - start)
    guard let lineEnd = bytes.firstIndex(of: 0x0A) else { return true }
    let line = bytes[..<lineEnd]
    guard let last = line.lastIndex(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }), last > 0 else {
      return false  // a brace alone
    }
    if line[last] == UInt8(ascii: "}") || bytes[lineEnd...].allSatisfy(isSpace) { return true }
    return zip(bytes[lineEnd...], bytes[lineEnd...].dropFirst()).contains {
      $0 == 0x0A && $1 == UInt8(ascii: "{")
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// Whether one of the first lines is an object, though the first one is broken.
  private static func hasObjectLine(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
    guard start.pointee == UInt8(ascii: "{") else { return false }
    let bytes = UnsafeBufferPointer(start: start, count: end - start)
    for line in bytes.split(separator: 0x0A, maxSplits: 10).prefix(10).dropFirst() {
      let text = UnsafeBufferPointer(rebasing: line)
      guard let first = text.baseAddress, first.pointee == UInt8(ascii: "{") else { continue }
      if case .whole(let next) = readValue(first, first + text.count) {
        let rest: UnsafePointer<UInt8> = upsurge_json_skip_space(next, first + text.count)
        if rest == first + text.count { return true }
      }
    }
    return false
  }
}
