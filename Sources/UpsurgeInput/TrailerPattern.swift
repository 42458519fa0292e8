import UpsurgeRecords

/// What the last line of a delivery looks like that says that nothing is missing, and is no record itself.
///
///     pattern   TRL|*|{count}
///     line      TRL|2026-11-22|0001200      1,200 records
///
/// `*` stands for any text, also none, and no more of it than needed; `{count}` for the digits of a number of records. The
/// rest stands for itself.
package struct TrailerPattern: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case byte(UInt8)
    case anything
    case count
  }

  /// As it was given.
  package let text: String
  private var parts: [Part] = []

  /// Whether it says how many records there are.
  package var hasCount: Bool { parts.contains(.count) }

  private static let countMark = "{count}"

  /// - Returns: nil for a text that could stand for every line, that has two counts, or a line end.
  package init?(_ text: String) {
    self.text = text
    var rest = text.utf8[...]
    while let byte = rest.first {
      if rest.starts(with: Self.countMark.utf8) {
        parts.append(.count)
        rest = rest.dropFirst(Self.countMark.utf8.count)
      } else {
        parts.append(byte == UInt8(ascii: "*") ? .anything : .byte(byte))
        rest = rest.dropFirst()
      }
    }
    let isAny = parts.allSatisfy { $0 == .anything }
    let hasLineEnd = text.utf8.contains { $0 == 0x0A || $0 == 0x0D }
    if isAny || hasLineEnd || parts.count(where: { $0 == .count }) > 1 { return nil }
  }

  /// A line without its end that fits.
  struct Match: Equatable {
    /// How many records it says that there are; nil where the pattern has no count.
    var count: UInt64?
  }

  /// - Returns: nil where the line does not fit.
  func match(_ line: some RandomAccessCollection<UInt8>) -> Match? {
    let line = Array(line)
    var match = Match()
    var (part, index) = (0, 0)
    // Where the last `*` stands, and the first byte that it has not yet taken.
    var star: (part: Int, index: Int)?
    while true {
      if part == parts.count {
        if index == line.count { return match }
      } else if parts[part] == .anything {
        star = (part, index)
        part += 1
        continue
      } else if let next = step(over: parts[part], line, at: index, &match) {
        part += 1
        index = next
        continue
      }
      // The `*` takes one byte more.
      guard let last = star, last.index < line.count else { return nil }
      star = (last.part, last.index + 1)
      (part, index) = (last.part + 1, last.index + 1)
    }
  }

  /// - Returns: the index after the part; nil where it does not stand there.
  private func step(over part: Part, _ line: [UInt8], at index: Int, _ match: inout Match) -> Int? {
    if case .byte(let byte) = part { return index < line.count && line[index] == byte ? index + 1 : nil }
    let digits = line[index...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let count = UInt64(String(decoding: digits, as: UTF8.self)) else { return nil }
    match.count = count
    return digits.endIndex
  }
}
