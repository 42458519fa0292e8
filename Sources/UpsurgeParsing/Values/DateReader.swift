import UpsurgeRecords

/// Reads dates by the steps of a ``DateFormat`` and writes them as ISO 8601. It owns nothing: its steps are those of
/// ``ValueReaders``.
struct DateReader {
  /// What is known of a date while its steps are taken.
  struct Found {
    var year = 0
    var month = 1
    var day = 1
    /// 0 without one.
    var dayOfYear = 0
    /// From Monday, 0; -1 without one.
    var weekday = -1
    var hour = 0
    var minute = 0
    var second = 0
    /// 0 in the morning, 12 in the afternoon.
    var half = 0
    var fractionStart = 0
    var fractionCount = 0
    var offsetMinutes = 0
  }

  let steps: UnsafePointer<DateStep>
  let stepCount: Int
  let parts: DateFormat.Parts

  /// The most bytes that come out: 35 of `2024-12-31T23:59:59.123456789+02:00`.
  var outputLimit: Int {
    (parts.contains(.date) ? 11 : 0) + (parts.contains(.time) ? 5 : 0) + (parts.contains(.seconds) ? 3 : 0)
      + (parts.contains(.fraction) ? 10 : 0) + (parts.contains(.zone) ? 6 : 0)
  }

  /// Reads a value and writes it to `output`, which has room for `outputLimit` bytes.
  /// - Returns: the bytes written, or 0 and what does not fit.
  func read(
    _ text: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>
  ) -> (byteCount: Int, fault: ValueFault) {
    var found = Found()
    var at = 0
    for index in 0..<stepCount {
      let fault = take(steps[index], text, count, &at, &found)
      if fault.isSet { return (0, fault) }
    }
    if at != count { return (0, .dateForm) }
    let fault = settle(&found)
    if fault.isSet { return (0, fault) }
    return (write(found, text, output), .none)
  }

  @inline(__always)
  private func take(
    _ step: DateStep, _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int, _ found: inout Found
  ) -> ValueFault {
    switch step.kind {
    case .mark:
      if at == count || text[at] != step.byte { return .dateForm }
      at += 1
      return .none
    case .blanks, .padding: return takeBlanks(step, text, count, &at)
    case .fraction:
      found.fractionStart = at
      _ = number(step, text, count, &at)
      found.fractionCount = at - found.fractionStart
      if !step.isOpen && at < count && text[at] &- UInt8(ascii: "0") <= 9 { return .dateFraction }
      return found.fractionCount == 0 ? .dateForm : .none
    case .monthName, .weekday, .half, .offset, .zoneName: return takeWord(step, text, count, &at, &found)
    case .year, .shortYear, .month, .day, .dayOfYear, .hour, .halfHour, .minute, .second: break
    }
    let value = number(step, text, count, &at)
    if value < 0 { return .dateForm }
    switch step.kind {
    case .year:
      found.year = value
      return value == 0 ? .dateYear : .none
    case .shortYear:
      // POSIX: 69 to 99 are of the last century.
      found.year = value < 69 ? 2000 + value : 1900 + value
    case .month:
      found.month = value
      return value == 0 || value > 12 ? .dateMonth : .none
    case .day: found.day = value
    case .dayOfYear:
      found.dayOfYear = value
      return value == 0 ? .dateYearDay : .none
    case .hour:
      found.hour = value
      return value > 23 ? .dateTime : .none
    case .halfHour:
      found.hour = value == 12 ? 0 : value
      return value == 0 || value > 12 ? .dateHalf : .none
    case .minute:
      found.minute = value
      return value > 59 ? .dateTime : .none
    default:
      found.second = value
      return value > 59 ? .dateTime : .none
    }
    return .none
  }

  /// The digits at `at` as a number; -1 where there are too few. More than `most` are left.
  @inline(__always)
  func number(_ step: DateStep, _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int) -> Int {
    let start = at
    let end = min(count, at + Int(step.most))
    var value = 0
    while at < end {
      let digit = text[at] &- UInt8(ascii: "0")
      if digit > 9 { break }
      value = value &* 10 &+ Int(digit)
      at += 1
    }
    return at - start < Int(step.least) ? -1 : value
  }

  /// Makes the parts one date, which must be in the calendar.
  @inline(__always)
  private func settle(_ found: inout Found) -> ValueFault {
    if parts.contains(.half) { found.hour += found.half }
    if !parts.contains(.date) { return .none }
    if parts.contains(.dayOfYear) {
      var rest = found.dayOfYear
      var month = 1
      while month <= 12 && rest > Self.dayCount(found.year, month) {
        rest -= Self.dayCount(found.year, month)
        month += 1
      }
      if month > 12 { return .dateYearDay }
      (found.month, found.day) = (month, rest)
    } else if found.day == 0 || found.day > 28 && found.day > Self.dayCount(found.year, found.month) {
      return .dateDay
    }
    if parts.contains(.weekday) && Self.weekday(found.year, found.month, found.day) != found.weekday {
      return .dateWeekday
    }
    return .none
  }

  static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  static func dayCount(_ year: Int, _ month: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// From Monday, 0, by Zeller's congruence.
  static func weekday(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (y, m) = month < 3 ? (year - 1, month + 12) : (year, month)
    return (day + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400 + 5) % 7
  }

  // MARK: - Writing

  @inline(__always)
  private func write(
    _ found: Found, _ text: UnsafePointer<UInt8>, _ output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    var at = 0
    if parts.contains(.date) {
      Self.write(found.year / 100, output, &at)
      Self.write(found.year % 100, output, &at)
      Self.write(found.month, after: UInt8(ascii: "-"), output, &at)
      Self.write(found.day, after: UInt8(ascii: "-"), output, &at)
    }
    if !parts.contains(.time) { return at }
    if parts.contains(.date) {
      output[at] = UInt8(ascii: "T")
      at += 1
    }
    Self.write(found.hour, output, &at)
    Self.write(found.minute, after: UInt8(ascii: ":"), output, &at)
    if parts.contains(.seconds) { Self.write(found.second, after: UInt8(ascii: ":"), output, &at) }
    if parts.contains(.fraction) {
      output[at] = UInt8(ascii: ".")
      (output + at + 1).update(from: text + found.fractionStart, count: found.fractionCount)
      at += 1 + found.fractionCount
    }
    if parts.contains(.zone) { writeZone(found.offsetMinutes, output, &at) }
    return at
  }

  private func writeZone(_ minutes: Int, _ output: UnsafeMutablePointer<UInt8>, _ at: inout Int) {
    if minutes == 0 {
      output[at] = UInt8(ascii: "Z")
      at += 1
      return
    }
    let sign = minutes < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+")
    Self.write(abs(minutes) / 60, after: sign, output, &at)
    Self.write(abs(minutes) % 60, after: UInt8(ascii: ":"), output, &at)
  }

  @inline(__always)
  private static func write(
    _ value: Int, after mark: UInt8, _ output: UnsafeMutablePointer<UInt8>, _ at: inout Int
  ) {
    output[at] = mark
    at += 1
    write(value, output, &at)
  }

  /// Two digits.
  @inline(__always)
  private static func write(_ value: Int, _ output: UnsafeMutablePointer<UInt8>, _ at: inout Int) {
    output[at] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10)
    output[at + 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10)
    at += 2
  }
}
