#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A line that is read once more: as far as a comment, or with quotes as data.
extension RecordScanner {
  /// What is read once more: from the first byte of a record to where the next one starts.
  struct Line {
    let start: Int
    /// One past its last byte without its line end.
    let end: Int
    let next: Int
    /// Where the spill of its fields begins.
    let spillStart: Int

    init(start: Int, _ line: (end: Int, next: Int), spillStart: Int) {
      (self.start, end, next, self.spillStart) = (start, line.end, line.next, spillStart)
    }
  }

  /// Reads the line again, with quotes inside of fields as data (`CSVDialect.Quotes.lenient`).
  ///
  ///     "the "Ritz""     the "Ritz"
  ///     "6"" pipe,x      (no quote closes the field)
  ///
  /// - Returns: whether that gives the fields that a record should have. Then the scanner stands after the line, as if
  ///   it had read a record.
  mutating func scanLeniently(_ line: Line) -> Bool {
    scan(line, to: line.end, .lone) || scan(line, to: line.end, .pairs) || scan(line, to: line.end, .bare)
  }

  /// Whether a field that begins with a quote has another one, but none that could end it: `"big" one`.
  func isBare(_ start: Int) -> Bool {
    var (at, quoteCount) = (start + 1, 1)
    while at < end
      && !(bytes[at] == marks.delimiter && at + marks.delimiterByteCount <= end && holdsDelimiter(at: at))
    {
      if UInt16(bytes[at]) == marks.quote {
        if mayClose(at) { return false }
        quoteCount += 1
      }
      at += 1
    }
    return quoteCount > 1
  }

  /// Reads the line again without the comment that stands after its last field: `1,Ann # a note`.
  /// - Returns: as ``scanLeniently(_:)``.
  mutating func scan(_ line: Line, withoutComment prefix: [UInt8]) -> Bool {
    var at = line.start
    while let found = first(prefix, from: at, to: line.end) {
      var stop = found
      while stop > line.start && isBlank(bytes[stop - 1]) { stop -= 1 }
      let beforeMark = stop - marks.delimiterByteCount
      if beforeMark > line.start && holdsDelimiter(at: beforeMark) {
        // `1,Ann,# a note` has its fields before the comment; `1,#fff` has not.
        if scan(line, to: beforeMark, .none) { return true }
      } else if stop > line.start,
        UInt16(bytes[stop - 1]) == marks.quote || stop < found && isApart(found + prefix.count, line)
      {
        // `12 Main St #4` is a field, and no comment.
        if scan(line, to: stop, .none) { return true }
      }
      at = found + 1
    }
    return false
  }

  /// Reads the line as far as `stop`.
  /// - Returns: whether it has the fields that a record should have; if not, what is known of the record is what was.
  private mutating func scan(_ line: Line, to stop: Int, _ lenience: Lenience) -> Bool {
    let before = self
    (end, isFinal, self.lenience, spillByteCount) = (stop, true, lenience, line.spillStart)
    reindex(from: line.start)
    let isWhole = scanRecord(at: line.start) == .record && record.fieldCount == expectedFieldCount
    if isWhole { (record.end, record.nextStart) = (line.end, line.next) } else { self = before }
    (end, isFinal, self.lenience) = (before.end, before.isFinal, .none)
    reindex(from: line.next)
    return isWhole
  }

  /// Whether a blank, or the end of the line, follows a comment's mark.
  private func isApart(_ at: Int, _ line: Line) -> Bool { at >= line.end || FieldReader.isBlank(bytes[at]) }

  private func first(_ prefix: [UInt8], from start: Int, to stop: Int) -> Int? {
    var at = start
    while at + prefix.count <= stop {
      guard let found = memchr(bytes + at, Int32(prefix[0]), stop - at) else { return nil }
      at = UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
      if at + prefix.count <= stop && memcmp(bytes + at, prefix, prefix.count) == 0 { return at }
      at += 1
    }
    return nil
  }

  private func isBlank(_ byte: UInt8) -> Bool { FieldReader.isBlank(byte) && byte != marks.delimiter }

  /// Whether the quote at `at` can end a field: blanks, and then a delimiter, a line end or the end, follow it.
  func mayClose(_ at: Int) -> Bool {
    var next = at + 1
    while next < end && UInt16(bytes[next]) == marks.padding { next += 1 }
    if next == end || bytes[next] == 0x0A || bytes[next] == 0x0D { return true }
    return next + marks.delimiterByteCount <= end && holdsDelimiter(at: next)
  }

  private func holdsDelimiter(at: Int) -> Bool {
    (0..<marks.delimiterByteCount).allSatisfy { bytes[at + $0] == marks.delimiterBytes[$0] }
  }

  /// Whether the byte stands between `start` and `stop`.
  func holds(_ byte: UInt8, from start: Int, to stop: Int) -> Bool {
    memchr(bytes + start, Int32(byte), max(stop - start, 0)) != nil
  }
}
