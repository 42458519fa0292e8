import CScan
import UpsurgeRecords

/// `NaN`, `Infinity` and `-Infinity` as values, as Python and JavaScript libraries write them.
extension JSONParser {
  private static let nonFiniteWords = ["NaN", "Infinity", "-Infinity"]

  /// When one of the words stands where no JSON value does, makes it a NULL, and the record a reject unless the dialect
  /// takes it for NULL.
  /// - Parameter code: the fault of the value; one that only the end of the bytes has cut is left to be read again.
  /// - Returns: false when the value is not one of the words, or not all of it is there.
  mutating func readNonFinite(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ code: Int, _ token: inout upsurge_json_token
  ) -> Bool {
    guard let wanted = dialect.nonFinite, code == UPSURGE_JSON_NO_VALUE || code == UPSURGE_JSON_BAD_NUMBER
    else {
      return false
    }
    let rest = UnsafeBufferPointer(start: start, count: end - start)
    guard let word = Self.nonFiniteWords.first(where: { rest.starts(with: $0.utf8) }) else { return false }
    token.kind = numericCast(UPSURGE_JSON_NULL)
    token.start = start
    token.end = start + word.utf8.count
    token.next = token.end
    token.has_escapes = false
    if wanted == .reject { noteSoft(.nonFinite(word), at: start) }
    return true
  }

  /// Whether the bytes end inside one of the words, so that more of them may make it one.
  func isCutNonFinite(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
    let rest = UnsafeBufferPointer(start: start, count: end - start)
    return dialect.nonFinite != nil && Self.nonFiniteWords.contains { $0.utf8.starts(with: rest) }
  }
}
