/// A time zone that stands after the time of a date format as a mark, so that it would be read over: the `Z` of `%H:%M:%SZ`.
struct LiteralZone: Equatable {
  /// As the format has it.
  let text: String
  /// What reads it: `%z`, or `%Z` for a name.
  let letters: String

  private static let names = ["Z", "UTC", "GMT"]

  /// - Returns: nil where no mark after a part of the time is a zone.
  init?(in steps: [DateStep]) {
    var run: [UInt8] = []
    var isAfterTime = false
    for step in steps + [DateStep(kind: .padding)] {
      switch step.kind {
      case .mark: run.append(step.byte)
      case .blanks: run.append(UInt8(ascii: " "))
      default:
        if isAfterTime, let zone = Self.find(String(decoding: run, as: UTF8.self)) {
          (text, letters) = zone
          return
        }
        run = []
        isAfterTime = [.hour, .halfHour, .minute, .second, .fraction, .half].contains(step.kind)
      }
    }
    return nil
  }

  /// The format with letters in the place of the zone.
  func mended(_ format: String) -> String {
    guard let range = format.ranges(of: text).last else { return format }
    return format[..<range.lowerBound] + letters + format[range.upperBound...]
  }

  private static func find(_ run: String) -> (text: String, letters: String)? {
    let end = run.lastIndex { !" )]".contains($0) }.map(run.index(after:)) ?? run.startIndex
    let run = run[..<end]
    if let sign = run.lastIndex(where: { $0 == "+" || $0 == "-" }), isOffset(run[sign...].dropFirst()) {
      return (String(run[sign...]), "%z")
    }
    let word = run.reversed().prefix { $0.isASCII && $0.isLetter }.reversed()
    let name = String(word)
    guard names.contains(name.uppercased()) else { return nil }
    return (name, name.count == 1 ? "%z" : "%Z")
  }

  /// `02`, `0200` or `02:00`.
  private static func isOffset(_ digits: Substring) -> Bool {
    let parts = digits.split(separator: ":", omittingEmptySubsequences: false)
    let isOfDigits = parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } }
    return isOfDigits
      && (parts.map(\.count) == [2] || parts.map(\.count) == [4] || parts.map(\.count) == [2, 2])
  }
}
