import UpsurgeRecords

/// What a CSV parser must know to go on in the middle of a source: how much of the preamble, the header, a comment or
/// a record that was given up is still to be dropped. Records leave no trace.
///
///     ""                                         before everything
///     {"at":"records"}                           after the header
///     {"lines":1,"headers":0}                    elsewhere
extension CSVParser {
  private static let behindHeader = #"{"at":"records"}"#

  package var state: ParserState? {
    if dropped != nil { return nil }
    return ParserState(line: nextLine, recordCount: recordCount, details: details)
  }

  private var details: String {
    if linesToSkip == 0 && headersToSkip == 0 && !isAtStreamStart { return Self.behindHeader }
    if isAtStreamStart { return "" }
    var text = JSONText()
    text.beginObject()
    text.key("lines")
    text.number(UInt64(linesToSkip))
    text.key("headers")
    text.number(UInt64(headersToSkip))
    text.endObject()
    return String(decoding: text.bytes, as: UTF8.self)
  }

  package mutating func resume(from state: ParserState) throws(UpsurgeError) {
    if state.details == Self.behindHeader {
      (linesToSkip, headersToSkip) = (0, 0)
      isAtStreamStart = false
    } else if !state.details.isEmpty {
      guard let details = try? JSONValue(state.details),
        let lines = details.count("lines", atMost: max(dialect.skippedLineCount, 1)),
        let headers = details.count("headers", atMost: dialect.headerLineCount)
      else { throw state.error(file: file) }
      (linesToSkip, headersToSkip) = (lines, headers)
      isAtStreamStart = false
    }
    nextLine = state.line
    recordCount = state.recordCount
  }
}

extension JSONValue {
  /// A member that is a whole number from 0 to a limit; nil for anything else.
  func count(_ name: String, atMost limit: Int) -> Int? {
    guard case .integer(let value) = self[name], (0...Int64(limit)).contains(value) else { return nil }
    return Int(value)
  }
}
