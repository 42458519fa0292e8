import CScan
import UpsurgeRecords

/// Distinguishes JSON from other text, and a document from a value a line.
package enum JSONSniffer {
  /// - Parameters:
  ///   - sample: The first bytes of the input.
  ///   - isWhole: Whether they are all of it.
  ///   - hasArrayNames: Whether options name the columns of arrays, so that the first one may be a record.
  /// - Returns: nil when the sample is no JSON.
  package static func sniff(
    _ sample: UnsafeBufferPointer<UInt8>, isWhole: Bool, hasArrayNames: Bool = false
  ) -> JSONFormat? {
    guard let base = sample.baseAddress else { return nil }
    let sniffer = Sample(
      end: base + sample.count, isWhole: isWhole, hasArrayNames: hasArrayNames)
    return format(skipMarks(base, sniffer.end), sniffer)
  }

  private struct Sample {
    let end: UnsafePointer<UInt8>
    let isWhole: Bool
    let hasArrayNames: Bool
  }

  /// Values that are looked at, and the bytes after which no more are.
  private static let valueLimit = 64
  private static let byteLimit = 256 << 10

  private static func format(_ start: UnsafePointer<UInt8>, _ sample: Sample) -> JSONFormat? {
    guard start < sample.end, isBracket(start.pointee) else { return nil }
    if start.pointee == UInt8(ascii: "{") { return formatOfObject(start, sample) }
    return formatOfArray(start, sample)
  }

  /// The first byte that is no white space, no record separator and no byte order mark.
  private static func skipMarks(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> UnsafePointer<UInt8> {
    var p: UnsafePointer<UInt8> = upsurge_json_skip_space(start, end)
    while p < end {
      let mark = JSONParser.byteOrderMark
      if p.pointee == JSONParser.recordSeparator {
        p += 1
      } else if UnsafeBufferPointer(start: p, count: end - p).starts(with: mark) {
        p += mark.count
      } else {
        break
      }
      p = upsurge_json_skip_space(p, end)
    }
    return p
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
  private static func formatOfObject(_ start: UnsafePointer<UInt8>, _ sample: Sample) -> JSONFormat? {
    let end = sample.end
    switch readValue(start, end) {
    case .whole(let next):
      return upsurge_json_count_lines(start, next) == 0 ? formatOfSequence(start, next, sample) : .json
    case .cut: return upsurge_json_count_lines(start, end) == 0 ? .ndjson : .json
    case .broken:
      if !isSurelyJSON(start, end) { return hasObjectLine(start, end) ? .ndjson : nil }
      return hasRecordLines(start, end) ? .ndjson : .json
    }
  }

  /// The text begins with an object on one line: are there others that go over several, or that share a line so long
  /// that its end is not in sight?
  private static func formatOfSequence(
    _ start: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>, _ sample: Sample
  ) -> JSONFormat {
    let end = sample.end
    var p = skipMarks(next, end)
    var valueCount = 1
    while p < end, isBracket(p.pointee), valueCount < valueLimit, p - start < byteLimit {
      switch readValue(p, end) {
      case .broken: return .ndjson
      case .cut: return !sample.isWhole && spansLines(p, end) ? .json : lineFormat(start, sample)
      case .whole(let next):
        if upsurge_json_count_lines(p, next) > 0 { return .json }
        p = skipMarks(next, end)
        valueCount += 1
      }
    }
    return valueCount > 1 ? lineFormat(start, sample) : .ndjson
  }

  /// Values on a line that does not end within the sample are read one by one, not as a line.
  private static func lineFormat(_ start: UnsafePointer<UInt8>, _ sample: Sample) -> JSONFormat {
    sample.isWhole || upsurge_json_count_lines(start, sample.end) > 0 ? .ndjson : .json
  }

  /// Whether a value that is cut has begun a second line.
  private static func spansLines(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
    let bytes = UnsafeBufferPointer(start: start, count: end - start)
    guard let lineEnd = bytes.firstIndex(of: 0x0A) else { return false }
    return !bytes[lineEnd...].allSatisfy(isSpace)
  }

  /// The text begins with a square bracket.
  private static func formatOfArray(_ start: UnsafePointer<UInt8>, _ sample: Sample) -> JSONFormat? {
    let end = sample.end
    // More after an array of numbers may still be a CSV field that looks like JSON.
    let otherwise: JSONFormat? = isSurelyJSON(start, end) ? .json : nil
    switch readValue(start, end) {
    case .cut: return .json
    case .broken: return otherwise
    case .whole(let next):
      let following = skipMarks(next, end)
      if following == end, sample.hasArrayNames, elements(of: start, next) == .values,
        upsurge_json_count_lines(start, next) == 0
      {
        return .ndjson
      }
      if following == end || upsurge_json_count_lines(start, next) > 0 { return .json }
      if !isBracket(following.pointee) { return otherwise }
      if otherwise == nil && upsurge_json_count_lines(next, following) == 0 {
        guard case .whole = readValue(following, end) else { return nil }
      }
      switch elements(of: start, next) {
      case .none:
        return format(following, sample) == .ndjson && following.pointee == UInt8(ascii: "[")
          ? .ndjson : .json
      case .nested: return .json
      case .values: return .ndjson
      }
    }
  }

  /// Whether the first array record is a header, although names are given: it is those names, or it holds nothing but
  /// texts while another one does not.
  package static func beginsWithHeader(
    _ sample: UnsafeBufferPointer<UInt8>, isDocument: Bool, names: [String]
  ) -> Bool {
    guard let base = sample.baseAddress else { return false }
    let end = base + sample.count
    var p = skipMarks(base, end)
    if isDocument, p < end { p = upsurge_json_skip_space(p + 1, end) }
    guard p < end, p.pointee == UInt8(ascii: "["), case .whole(let next) = readValue(p, end) else {
      return false
    }
    let text = String(decoding: UnsafeBufferPointer(start: p, count: next - p), as: UTF8.self)
    guard let first = (try? JSONValue(text))?.texts, Set(first.map(\.nameKey)).count == first.count else {
      return false
    }
    if first == names { return true }
    p = next
    for _ in 0..<valueLimit {
      p = skipMarks(p, end)
      if p < end, p.pointee == UInt8(ascii: ",") { p = skipMarks(p + 1, end) }
      guard p < end, p.pointee == UInt8(ascii: "["), case .whole(let next) = readValue(p, end) else {
        return false
      }
      let text = String(decoding: UnsafeBufferPointer(start: p, count: next - p), as: UTF8.self)
      if case .array(let values)? = try? JSONValue(text),
        values.contains(where: { $0 != .null && $0.text == nil })
      {
        return true
      }
      p = next
    }
    return false
  }

  /// What an array holds.
  private enum Elements {
    case none
    /// Nothing but arrays and objects.
    case nested
    /// Other values, too, as a row does.
    case values
  }

  private static func elements(of start: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>) -> Elements {
    var depth = 0
    var isInString = false
    var elements = Elements.none
    var p = start + 1
    while p < next - 1 {
      let byte = p.pointee
      if !isInString && depth == 0 && !isSpace(byte) && byte != UInt8(ascii: ",") && !isBracket(byte) {
        return .values
      }
      if byte == UInt8(ascii: "\"") { isInString.toggle() }
      if isInString {
        if byte == UInt8(ascii: "\\") { p += 1 }
      } else if isBracket(byte) {
        depth += 1
        elements = .nested
      } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
        depth -= 1
      }
      p += 1
    }
    return elements
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
