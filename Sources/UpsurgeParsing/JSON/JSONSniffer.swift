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
    switch readValue(start, end) {
    case .broken: return hasObjectLine(start, end) ? .ndjson : nil
    case .cut: return formatOfCutValue(start, end, isWhole: isWhole)
    case .whole(let next): return formatOfWholeValue(start, next, end)
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

  /// The first value does not end in the sample.
  private static func formatOfCutValue(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, isWhole: Bool
  ) -> JSONFormat? {
    let isObject = start.pointee == UInt8(ascii: "{")
    return isObject && upsurge_json_count_lines(start, end) == 0 ? .ndjson : .json
  }

  /// The first value ends at `next`.
  private static func formatOfWholeValue(
    _ start: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> JSONFormat? {
    let isObject = start.pointee == UInt8(ascii: "{")
    let isOnOneLine = upsurge_json_count_lines(start, next) == 0
    let following: UnsafePointer<UInt8> = upsurge_json_skip_space(next, end)
    if following == end { return isObject && isOnOneLine ? .ndjson : .json }
    if upsurge_json_count_lines(next, following) == 0 {
      // More on the same line: a CSV field that looks like JSON, unless another object follows.
      return isObject && following.pointee == UInt8(ascii: "{") ? .json : nil
    }
    if !isOnOneLine { return .json }
    return isObject || isBracket(following.pointee) ? .ndjson : nil
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
