/// How the dates and times of a column are written, as letters of `strptime` say it; compiled once for a column.
///
///     %d/%m/%Y            31/12/2024             2024-12-31
///     %d.%m.%y %H:%M      3.1.24 7:05            2024-01-03T07:05
///     %b %e %Y %I:%M %p   Dec  3 2024 7:05 PM    2024-12-03T19:05
///
/// A format says all of a date, all of a time, or both. Day, month and times may lack their leading zero, except where another
/// number follows or stands before them without a mark between: `1152024` could be two dates.
package struct DateFormat: Sendable, Equatable {
  /// What a format says, and so what is written of it.
  package struct Parts: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    static let date = Parts(rawValue: 1)
    static let time = Parts(rawValue: 2)
    static let seconds = Parts(rawValue: 4)
    static let fraction = Parts(rawValue: 8)
    static let zone = Parts(rawValue: 16)
    static let dayOfYear = Parts(rawValue: 32)
    static let weekday = Parts(rawValue: 64)
    static let half = Parts(rawValue: 128)
  }

  package let text: String
  package let parts: Parts
  let steps: [DateStep]

  /// - Throws: `usage` for letters that are not known, and for formats that say no whole date or time.
  package init(_ text: String) throws(UpsurgeError) {
    self.text = text
    var compiler = DateFormatCompiler(text)
    try compiler.read(text)
    try compiler.check()
    compiler.fixWidths()
    steps = compiler.steps
    parts = compiler.parts
  }

  /// The type of PostgreSQL that holds what comes out.
  package var serverType: String {
    if !parts.contains(.date) { return "time" }
    if !parts.contains(.time) { return "date" }
    return parts.contains(.zone) ? "timestamp with time zone" : "timestamp"
  }
}

/// One step through a value: a mark that must stand there, or a part of the date that is read.
struct DateStep: Sendable, Equatable {
  enum Kind: UInt8, Sendable {
    case mark, blanks, padding
    case year, shortYear, month, day, dayOfYear, hour, halfHour, minute, second, fraction
    case monthName, weekday, half, offset, zoneName
  }

  var kind: Kind
  /// The byte of a mark.
  var byte: UInt8 = 0
  /// Digits of a number.
  var least: UInt8 = 0
  var most: UInt8 = 0

  /// Whether it reads digits that may go on.
  var isNumber: Bool { (Kind.year.rawValue...Kind.fraction.rawValue).contains(kind.rawValue) }
}

/// Makes the steps of a format from its letters.
struct DateFormatCompiler {
  let text: String
  var steps: [DateStep] = []
  var parts: DateFormat.Parts = []
  private var kinds: Set<DateStep.Kind> = []

  init(_ text: String) { self.text = text }

  /// Adds the steps of letters.
  mutating func read(_ letters: String) throws(UpsurgeError) {
    var rest = letters.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: " ") || byte == 0x09 {
        if steps.last?.kind != .blanks { steps.append(DateStep(kind: .blanks)) }
        continue
      }
      guard byte == UInt8(ascii: "%") else {
        steps.append(DateStep(kind: .mark, byte: byte))
        continue
      }
      if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
      guard let letter = rest.popFirst() else { throw fault("ends with a % that no letter follows") }
      try add(letter)
    }
  }

  private mutating func add(_ letter: UInt8) throws(UpsurgeError) {
    switch letter {
    case UInt8(ascii: "Y"): try add(.year, 4, 4)
    case UInt8(ascii: "y"): try add(.shortYear, 2, 2)
    case UInt8(ascii: "m"): try add(.month, 1, 2)
    case UInt8(ascii: "b"), UInt8(ascii: "B"), UInt8(ascii: "h"): try add(.monthName)
    case UInt8(ascii: "d"): try add(.day, 1, 2)
    case UInt8(ascii: "e"):
      steps.append(DateStep(kind: .padding))
      try add(.day, 1, 2)
    case UInt8(ascii: "j"): try add(.dayOfYear, 1, 3)
    case UInt8(ascii: "a"), UInt8(ascii: "A"): try add(.weekday)
    case UInt8(ascii: "H"): try add(.hour, 1, 2)
    case UInt8(ascii: "I"): try add(.halfHour, 1, 2)
    case UInt8(ascii: "p"): try add(.half)
    case UInt8(ascii: "M"): try add(.minute, 1, 2)
    case UInt8(ascii: "S"): try add(.second, 1, 2)
    case UInt8(ascii: "f"): try add(.fraction, 1, 9)
    case UInt8(ascii: "z"): try add(.offset)
    case UInt8(ascii: "Z"): try add(.zoneName)
    case UInt8(ascii: "F"): try read("%Y-%m-%d")
    case UInt8(ascii: "T"): try read("%H:%M:%S")
    case UInt8(ascii: "R"): try read("%H:%M")
    case UInt8(ascii: "%"): steps.append(DateStep(kind: .mark, byte: letter))
    default:
      let shown = Unicode.Scalar(letter).escaped(asASCII: true)
      throw fault("has %\(letter < 0x80 ? shown : "?"), which is not known")
    }
  }

  private mutating func add(_ kind: DateStep.Kind, _ least: UInt8 = 0, _ most: UInt8 = 0) throws(UpsurgeError)
  {
    if !kinds.insert(kind).inserted { throw fault("says a part of the date twice") }
    steps.append(DateStep(kind: kind, least: least, most: most))
  }

  /// Finds what the format says in all.
  /// - Throws: `usage` where that is neither a date nor a time, or says something twice.
  mutating func check() throws(UpsurgeError) {
    let years = kinds.intersection([.year, .shortYear])
    let months = kinds.intersection([.month, .monthName])
    let hasDay = kinds.contains(.day)
    let hasDayOfYear = kinds.contains(.dayOfYear)
    let zones = kinds.intersection([.offset, .zoneName])
    if [years, months, zones].contains(where: { $0.count > 1 }) || hasDayOfYear && (hasDay || !months.isEmpty)
    {
      throw fault("says a part of the date twice")
    }
    if !years.isEmpty || !months.isEmpty || hasDay || hasDayOfYear || kinds.contains(.weekday) {
      guard !years.isEmpty, hasDayOfYear || hasDay && !months.isEmpty else {
        throw fault("lacks a part of the date: year (%Y), month (%m) and day (%d) are needed")
      }
      parts.insert(.date)
    }
    let hours = kinds.intersection([.hour, .halfHour])
    if hours.count > 1 { throw fault("says the hour twice") }
    if kinds.contains(.halfHour) != kinds.contains(.half) {
      throw fault("has one of %I and %p without the other")
    }
    if !hours.isEmpty || kinds.contains(.minute) || kinds.contains(.second) || kinds.contains(.fraction) {
      guard !hours.isEmpty, kinds.contains(.minute), kinds.contains(.second) || !kinds.contains(.fraction)
      else {
        throw fault(
          "lacks a part of the time: hour (%H) and minute (%M) are needed, and seconds (%S) before %f")
      }
      parts.insert(.time)
    }
    if parts.isEmpty { throw fault("says no date and no time") }
    if !zones.isEmpty {
      guard parts.isSuperset(of: [.date, .time]) else {
        throw fault("has a time zone, which needs a date and a time")
      }
      parts.insert(.zone)
    }
    if kinds.contains(.second) { parts.insert(.seconds) }
    if kinds.contains(.fraction) { parts.insert(.fraction) }
    if hasDayOfYear { parts.insert(.dayOfYear) }
    if kinds.contains(.weekday) { parts.insert(.weekday) }
    if kinds.contains(.half) { parts.insert(.half) }
  }

  /// Numbers side by side have all their digits, as nothing else says where one of them ends.
  mutating func fixWidths() {
    for index in steps.indices where steps[index].isNumber && steps[index].kind != .fraction {
      let isBesideNumber =
        index > 0 && steps[index - 1].isNumber || index + 1 < steps.count && steps[index + 1].isNumber
      if isBesideNumber { steps[index].least = steps[index].most }
    }
  }

  private func fault(_ what: String) -> UpsurgeError {
    UpsurgeError(
      .usage, "the date format \(text.escapedForTerminal) \(what)",
      hint: "give one such as '%d/%m/%Y' or '%Y-%m-%d %H:%M:%S'")
  }
}
/// English names of months and days, whole or their first three letters, in any case.
enum DateName {
  static let months: [StaticString] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november",
    "december",
  ]
  static let weekdays: [StaticString] = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// The number of the name at `at`, from 0, and goes past it; nil where none stands there.
  static func find(
    _ names: [StaticString], _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int
  ) -> Int? {
    for (index, name) in names.enumerated() {
      let shared = sharedCount(name, text + at, count - at)
      if shared < 3 { continue }
      at += shared == name.utf8CodeUnitCount ? shared : 3
      return index
    }
    return nil
  }

  private static func sharedCount(_ name: StaticString, _ text: UnsafePointer<UInt8>, _ count: Int) -> Int {
    var shared = 0
    while shared < min(count, name.utf8CodeUnitCount) && text[shared] | 0x20 == name.utf8Start[shared] {
      shared += 1
    }
    return shared
  }

  /// Names that mean one offset everywhere; others, such as CST, mean several.
  static func isUTC(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let text = name.baseAddress else { return false }
    let known: [StaticString] = ["utc", "gmt", "z"]
    return known.contains {
      $0.utf8CodeUnitCount == name.count && sharedCount($0, text, name.count) == name.count
    }
  }
}
/// Parts of a date that are seldom: blanks, names, halves of days and offsets.
extension DateReader {
  @inline(never)
  func takeBlanks(
    _ step: DateStep, _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int
  ) -> ValueFault {
    let start = at
    while at < count && (text[at] == UInt8(ascii: " ") || text[at] == 0x09) { at += 1 }
    return at == start && step.kind == .blanks ? .dateForm : .none
  }

  @inline(never)
  func takeWord(
    _ step: DateStep, _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int, _ found: inout Found
  ) -> ValueFault {
    switch step.kind {
    case .monthName:
      guard let month = DateName.find(DateName.months, text, count, &at) else { return .dateName }
      found.month = month + 1
    case .weekday:
      guard let weekday = DateName.find(DateName.weekdays, text, count, &at) else { return .dateName }
      found.weekday = weekday
    case .half:
      guard at < count else { return .dateForm }
      let letter = text[at] | 0x20
      if letter != UInt8(ascii: "a") && letter != UInt8(ascii: "p") { return .dateForm }
      var stop = at + 1
      let hasPoints = stop < count && text[stop] == UInt8(ascii: ".")
      if hasPoints { stop += 1 }
      if stop == count || text[stop] | 0x20 != UInt8(ascii: "m") { return .dateForm }
      stop += 1
      if hasPoints {
        if stop == count || text[stop] != UInt8(ascii: ".") { return .dateForm }
        stop += 1
      }
      found.half = letter == UInt8(ascii: "p") ? 12 : 0
      at = stop
    case .offset: return takeOffset(text, count, &at, &found)
    default:
      let start = at
      while at < count && (text[at] | 0x20) &- UInt8(ascii: "a") < 26 { at += 1 }
      return DateName.isUTC(UnsafeBufferPointer(start: text + start, count: at - start)) ? .none : .dateZone
    }
    return .none
  }

  /// `Z`, `+02`, `+0200` or `+02:00`.
  private func takeOffset(
    _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int, _ found: inout Found
  ) -> ValueFault {
    guard at < count else { return .dateForm }
    let sign = text[at]
    at += 1
    if sign | 0x20 == UInt8(ascii: "z") { return .none }
    if sign != UInt8(ascii: "+") && sign != UInt8(ascii: "-") { return .dateForm }
    let two = DateStep(kind: .hour, least: 2, most: 2)
    let hours = number(two, text, count, &at)
    var minutes = 0
    if at < count && (text[at] == UInt8(ascii: ":") || text[at] &- UInt8(ascii: "0") <= 9) {
      if text[at] == UInt8(ascii: ":") { at += 1 }
      minutes = number(two, text, count, &at)
    }
    if hours < 0 || minutes < 0 { return .dateForm }
    if hours > 15 || minutes > 59 { return .dateZone }
    found.offsetMinutes = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
    return .none
  }
}

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
      return value == 0 ? .dateDay : .none
    case .hour:
      found.hour = value
      return value > 23 ? .dateTime : .none
    case .halfHour:
      found.hour = value == 12 ? 0 : value
      return value == 0 || value > 12 ? .dateTime : .none
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
      if month > 12 { return .dateDay }
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
/// How the numbers of a file are written where that is not `1234.56`.
///
///     comma, groups by .      1.234,56     1234.56
///     point, groups by ,      1,234.56     1234.56
///     comma, groups by space  1 234,56     1234.56, also with no-break spaces
///
/// Groups are whole or not there at all: `1.23` and `12.34.567` are no numbers in the first form.
package struct NumberForm: Sendable, Equatable {
  /// What stands between groups of three digits.
  enum Group: UInt8, Sendable {
    case none, bytes
    /// A blank, U+00A0 or U+202F.
    case space
    /// `'` or U+2019.
    case apostrophe
  }

  /// The byte between whole and fraction.
  let mark: UInt8
  let group: Group
  /// The group's character in UTF-8, from its first byte on; up to four bytes.
  let groupBytes: UInt32
  let groupByteCount: Int

  /// - Parameter thousands: one character; nil where digits are not grouped.
  init(decimal: ValueFormats.DecimalMark, thousands: String?) {
    mark = decimal == .comma ? UInt8(ascii: ",") : UInt8(ascii: ".")
    let bytes = Array((thousands ?? "").utf8.prefix(4))
    group =
      switch thousands {
      case nil, "": .none
      case " ", "\u{A0}", "\u{202F}": .space
      case "'", "\u{2019}": .apostrophe
      default: .bytes
      }
    groupBytes = bytes.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
    groupByteCount = bytes.count
  }

  /// Writes a number as SQL does, which never takes more bytes; `output` has room for `count`.
  /// - Returns: the bytes written; 0 for what is no number of this form.
  func normalise(_ text: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
    var at = 0
    var written = 0
    @inline(__always) func copy() {
      output[written] = text[at]
      written += 1
      at += 1
    }
    @inline(__always) func copyDigits() -> Int {
      let start = at
      while at < count && text[at] &- UInt8(ascii: "0") <= 9 { copy() }
      return at - start
    }
    if at < count && (text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+")) { copy() }
    var digits = copyDigits()
    var separator = group == .none ? 0 : separatorByteCount(text + at, count - at)
    if separator > 0 && !(1...3).contains(digits) { return 0 }
    while separator > 0 {
      at += separator
      if copyDigits() != 3 { return 0 }
      separator = separatorByteCount(text + at, count - at)
    }
    if at < count && text[at] == mark {
      output[written] = UInt8(ascii: ".")
      written += 1
      at += 1
      digits += copyDigits()
    }
    if digits == 0 { return 0 }
    if at < count && text[at] | 0x20 == UInt8(ascii: "e") {
      copy()
      if at < count && (text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+")) { copy() }
      if copyDigits() == 0 { return 0 }
    }
    return at == count ? written : 0
  }

  /// Whether a text is a number of this form.
  func takes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { room in
      room.baseAddress.map { normalise(start, count: text.count, into: $0) > 0 } ?? false
    }
  }

  /// The bytes of the group's mark, where one stands at `text`; 0 where none does.
  @inline(__always)
  private func separatorByteCount(_ text: UnsafePointer<UInt8>, _ count: Int) -> Int {
    if count == 0 { return 0 }
    switch group {
    case .none: return 0
    case .bytes:
      if groupByteCount > count { return 0 }
      for index in 0..<groupByteCount
      where text[index] != UInt8(truncatingIfNeeded: groupBytes >> (8 * UInt32(index))) {
        return 0
      }
      return groupByteCount
    case .space:
      if text[0] == UInt8(ascii: " ") { return 1 }
      if count >= 2 && text[0] == 0xC2 && text[1] == 0xA0 { return 2 }
      return count >= 3 && text[0] == 0xE2 && text[1] == 0x80 && text[2] == 0xAF ? 3 : 0
    case .apostrophe:
      if text[0] == UInt8(ascii: "'") { return 1 }
      return count >= 3 && text[0] == 0xE2 && text[1] == 0x80 && text[2] == 0x99 ? 3 : 0
    }
  }
}

/// Why a value does not fit the format of its column.
enum ValueFault: UInt8, Equatable, Sendable {
  case none
  case dateForm, dateYear, dateMonth, dateDay, dateTime, dateName, dateWeekday, dateZone
  case number, truth
  /// A value of JSON that is no text.
  case kind

  @inline(__always) var isSet: Bool {
    if case .none = self { false } else { true }
  }
}

extension ValueReader.Form {
  /// The code of a reject whose value does not fit.
  var rejectCode: Reject.Code {
    switch self {
    case .date: .badDate
    case .truth: .badTruth
    case .number, .none: .badNumber
    }
  }
}

/// What is said of a value that does not fit.
struct ValueProblem: Equatable, Sendable {
  var code: Reject.Code
  var reason: Wording
  var hint: Wording
}

extension ValueReaders {
  /// What is said of a value that a reader could not read.
  func problem(
    _ fault: ValueFault, of column: String, form: ValueReader.Form, value: UnsafeBufferPointer<UInt8>
  ) -> ValueProblem {
    let cut = value.count > 60
    let shown = String(decoding: value.prefix(60), as: UTF8.self).escapedForTerminal + (cut ? "…" : "")
    let isPadded = value.first.map(FieldBlank.isBlank) == true || value.last.map(FieldBlank.isBlank) == true
    return ValueProblem(
      code: form.rejectCode,
      reason: "column \(column.escapedForTerminal): \(reason(fault, column, form, shown))",
      hint: isPadded && formats.trim == .none
        ? "\(.trim, "blanks") leaves out the blanks around values" : hint(form, column, value))
  }

  private func reason(_ fault: ValueFault, _ column: String, _ form: ValueReader.Form, _ shown: String)
    -> String
  {
    let value = "the value \"\(shown)\""
    let format = formats.dates.first { $0.key.nameKey == column.nameKey }?.value.escapedForTerminal ?? ""
    return switch fault {
    case .dateForm: "\(value) is not written as \(format)"
    case .dateYear: "\(value) has the year 0, which no calendar has"
    case .dateMonth: "\(value) is no date as \(format): there is no such month"
    case .dateDay: "\(value) is no date as \(format): the month has no such day"
    case .dateTime: "\(value) is no time as \(format): hour, minute or second is too large"
    case .dateName: "\(value) is not written as \(format): no English name of a month or day stands there"
    case .dateWeekday: "\(value) names another day of the week than its date has"
    case .dateZone: "\(value) has a time zone that is not known: only UTC, GMT and offsets are"
    case .truth: "\(value) is none of the words for yes and no"
    case .kind: "the value is no text"
    case .number, .none: "\(value) is no number with \(numberWords)"
    }
  }

  private var numberWords: String {
    let mark = formats.decimal == .comma ? "a decimal comma" : "a decimal point"
    guard let thousands = formats.thousands else { return "\(mark) and no mark between thousands" }
    return "\(mark) and \"\(thousands.escapedForTerminal)\" between thousands"
  }

  private func hint(_ form: ValueReader.Form, _ column: String, _ value: UnsafeBufferPointer<UInt8>)
    -> Wording
  {
    let null: Wording = "\(.null, "\(column)=TEXT".quotedForShell) if a text stands for no value"
    switch form {
    case .date:
      return
        "\(.date, "\(column)=FORMAT".quotedForShell) says how the column is written; \(saying: null); \(.onError, "reject") sets such records aside"
    case .truth:
      return
        "\(.bool, "\(column)=YES/NO".quotedForShell) names the words; \(saying: null); \(.onError, "reject") sets such records aside"
    case .number, .none:
      let mark = formats.decimal == .comma ? "." : ","
      if formats.thousands == nil, NumberForm(decimal: formats.decimal, thousands: mark).takes(value) {
        return
          "\(.thousands, mark.quotedForShell) if groups of three digits are parted by it; \(.onError, "reject") sets such records aside"
      }
      return
        "\(saying: null); \(.type, "\(column):TEXT".quotedForShell) keeps all values as text; \(.onError, "reject") sets such records aside"
    }
  }
}

/// Blanks around values.
enum FieldBlank {
  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 0x09 }
}

/// How values are written in the input, by column: what a field says is read so before types, key and merge rules.
///
///     var values = ValueFormats()
///     values.dates["day"] = "%d/%m/%Y"
///     values.decimal = .comma
///     values.thousands = "."
///     values.truths["active"] = .usual
public struct ValueFormats: Sendable, Equatable {
  /// What stands between the whole part of a number and its fraction.
  public enum DecimalMark: String, Sendable, CaseIterable {
    case point, comma
  }

  /// What is left out around values.
  public enum Trim: String, Sendable, CaseIterable {
    case none
    /// Blanks and tabs at both ends.
    case blanks
  }

  /// The words of a column that says yes or no.
  public enum Truths: Sendable, Equatable {
    /// `Y`/`N`, `yes`/`no`, `true`/`false`, `t`/`f`, `1`/`0`, `on`/`off`, and those of some other languages.
    case usual
    /// These, in any case of ASCII letters.
    case words(yes: [String], no: [String])
  }

  /// Formats of dates and times by the names of their columns, in the letters of `strptime`.
  public var dates: [String: String] = [:]
  /// How the numbers of all columns of numbers are written.
  public var decimal = DecimalMark.point
  /// The character between groups of three digits; nil where there are no groups.
  public var thousands: String?
  /// Columns that say yes or no, by name.
  public var truths: [String: Truths] = [:]
  public var trim = Trim.none
  /// Texts that are NULL in one column, by its name.
  public var nulls: [String: [String]] = [:]

  public init() {}

  /// Whether all values are what they say.
  package var isEmpty: Bool { self == ValueFormats() }

  /// The form of numbers; nil where they are written as SQL writes them.
  package var numbers: NumberForm? {
    decimal == .point && thousands == nil ? nil : NumberForm(decimal: decimal, thousands: thousands)
  }

  /// The columns that are named, each with the option that does.
  package var namedColumns: [(name: String, term: Term)] {
    dates.keys.sorted().map { ($0, .date) } + truths.keys.sorted().map { ($0, .bool) }
      + nulls.keys.sorted().map { ($0, .null) }
  }

  /// All that is said, as options with their values, in an order of their own.
  package var words: [(term: Term, value: String)] {
    var words: [(term: Term, value: String)] = dates.sorted { $0.key < $1.key }.map {
      (.date, "\($0.key)=\($0.value)")
    }
    if decimal != .point { words.append((.decimal, decimal.rawValue)) }
    if let thousands { words.append((.thousands, thousands)) }
    for (column, truths) in truths.sorted(by: { $0.key < $1.key }) {
      words.append((.bool, column + truths.suffix))
    }
    if trim != .none { words.append((.trim, trim.rawValue)) }
    for (column, texts) in nulls.sorted(by: { $0.key < $1.key }) {
      for text in texts { words.append((.null, "\(column)=\(text)")) }
    }
    return words
  }

  /// - Throws: `usage` for a format of dates that cannot be, marks that are the same, and columns that are named twice.
  package func validate() throws(UpsurgeError) {
    for (column, format) in dates.sorted(by: { $0.key < $1.key }) {
      _ = try DateFormat(format)
      guard let other = truths.keys.first(where: { $0.nameKey == column.nameKey }) else { continue }
      throw UpsurgeError(
        .usage, "the column \(other.escapedForTerminal) is named by \(.date) and by \(.bool)",
        hint: "leave out one of them")
    }
    if let twice = Self.firstTwice(dates.keys) ?? Self.firstTwice(truths.keys) ?? Self.firstTwice(nulls.keys)
    {
      throw UpsurgeError(
        .usage, "the column \(twice.escapedForTerminal) is named twice, in other letters",
        hint: "name it once: names of columns do not differ by their case")
    }
    try validateThousands()
    for (column, truths) in truths.sorted(by: { $0.key < $1.key }) { try truths.validate(column) }
  }

  private static func firstTwice(_ names: some Collection<String>) -> String? {
    var seen: Set<String> = []
    return names.sorted().first { !seen.insert($0.nameKey).inserted }
  }

  private func validateThousands() throws(UpsurgeError) {
    guard let thousands else { return }
    let isMark = thousands.unicodeScalars.count == 1
    let isTaken = thousands.unicodeScalars.allSatisfy {
      ("0"..."9").contains($0) || ("a"..."z").contains($0) || ("A"..."Z").contains($0) || $0 == "-"
        || $0 == "+" || $0.value < 0x20
    }
    if !isMark || isTaken {
      throw UpsurgeError(
        .usage,
        "\(.thousands, thousands.escapedForTerminal.quotedForShell) is no mark between groups of digits",
        hint: "give one character, or comma, point, space or apostrophe")
    }
    if thousands == (decimal == .comma ? "," : ".") {
      throw UpsurgeError(
        .usage,
        "\(.thousands, thousands.quotedForShell) is also what stands before a fraction (\(.decimal, decimal.rawValue))",
        hint: "\(.decimal, decimal == .comma ? "point" : "comma") if it is the other way round")
    }
  }
}

extension ValueFormats.Truths {
  /// What follows the name of the column: `=ja/nein`; empty for the usual words.
  var suffix: String {
    switch self {
    case .usual: ""
    case .words(let yes, let no): "=\(yes.joined(separator: ","))/\(no.joined(separator: ","))"
    }
  }

  /// Words of both kinds, in small ASCII letters.
  var lists: (yes: [String], no: [String]) {
    switch self {
    case .usual:
      (
        ["1", "y", "yes", "t", "true", "on", "j", "ja", "oui", "vrai", "si", "sim", "wahr", "tak", "da"],
        [
          "0", "n", "no", "f", "false", "off", "nein", "non", "faux", "nao", "falsch", "nie", "nee", "nej",
          "niet",
        ]
      )
    case .words(let yes, let no): (yes.map(\.asciiLowercased), no.map(\.asciiLowercased))
    }
  }

  fileprivate func validate(_ column: String) throws(UpsurgeError) {
    let (yes, no) = lists
    let both = Set(yes).intersection(no)
    if yes.isEmpty || no.isEmpty || (yes + no).contains("") || !both.isEmpty {
      throw UpsurgeError(
        .usage,
        "\(.bool, (column + suffix).escapedForTerminal.quotedForShell) does not say which words mean yes and which mean no",
        hint: "give different words, as in 'active=A,active/I,inactive'; the empty field is NULL")
    }
  }
}

extension String {
  fileprivate var asciiLowercased: String {
    String(
      decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
      as: UTF8.self)
  }
}
/// Reads the values of one column as its formats say, from bytes to bytes. It is compiled once, before the first record, and owns
/// nothing: what it points at is its ``ValueReaders``'.
///
/// The steps, each on what the one before has left: blanks are trimmed, texts that mean NULL are NULL, and the rest is a date, a
/// number, a truth, or text.
struct ValueReader: @unchecked Sendable {
  // Sendable because nothing that it points at ever changes.

  /// What a column's values are.
  enum Form: UInt8, Sendable {
    case none, date, number, truth
  }

  /// What became of a value.
  struct Value {
    enum Kind: UInt8 {
      /// Text of the value itself, from `start` on.
      case kept
      /// Text that was written to the output.
      case written
      case null
      /// Nothing is left but blanks that were trimmed.
      case blank
      case yes, no
      case fault
    }

    var kind: Kind
    var fault = ValueFault.none
    var start = 0
    var count = 0
  }

  var form: Form
  var trims: Bool
  /// Texts that are NULL.
  var nulls: WordList
  /// Of a date, and the most bytes that come out.
  var date: DateReader?
  var dateByteCount: Int
  /// Of a number.
  var number: NumberForm?
  /// Words that mean yes, and those that mean no, in small letters.
  var yes: WordList
  var no: WordList

  /// Bytes of output that a value of `count` bytes may need.
  @inline(__always)
  func outputLimit(_ count: Int) -> Int {
    switch form {
    case .date: dateByteCount
    case .number: count
    case .truth, .none: 0
    }
  }

  /// Reads the value of `count` bytes; `output` has room for `outputLimit(count)`.
  @inline(__always)
  func read(_ text: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>) -> Value {
    var start = 0
    var stop = count
    if trims {
      while start < stop && FieldBlank.isBlank(text[start]) { start += 1 }
      while stop > start && FieldBlank.isBlank(text[stop - 1]) { stop -= 1 }
    }
    let left = stop - start
    if left == 0 {
      if form != .none { return Value(kind: .null) }
      return Value(kind: count == 0 ? .kept : .blank)
    }
    if nulls.byteCount > 0 && nulls.holds(text + start, left, ignoringCase: false) {
      return Value(kind: .null)
    }
    switch form {
    case .none: return Value(kind: .kept, start: start, count: left)
    case .date:
      guard let date else { return Value(kind: .fault, fault: .dateForm) }
      let (byteCount, fault) = date.read(text + start, count: left, into: output)
      return fault.isSet ? Value(kind: .fault, fault: fault) : Value(kind: .written, count: byteCount)
    case .number:
      guard let number else { return Value(kind: .fault, fault: .number) }
      let byteCount = number.normalise(text + start, count: left, into: output)
      return byteCount == 0 ? Value(kind: .fault, fault: .number) : Value(kind: .written, count: byteCount)
    case .truth:
      if yes.holds(text + start, left, ignoringCase: true) { return Value(kind: .yes) }
      return no.holds(text + start, left, ignoringCase: true)
        ? Value(kind: .no) : Value(kind: .fault, fault: .truth)
    }
  }
}

/// Words to look a value up in, each with its length (four bytes) before it. It owns nothing.
struct WordList {
  var bytes: UnsafePointer<UInt8>
  var byteCount: Int

  /// - Parameter ignoringCase: whether letters of ASCII match in either case; the words are in small letters then.
  @inline(never)
  func holds(_ text: UnsafePointer<UInt8>, _ count: Int, ignoringCase: Bool) -> Bool {
    var at = 0
    while at < byteCount {
      let wordByteCount = Int(UnsafeRawPointer(bytes + at).loadUnaligned(as: UInt32.self))
      at += 4
      if wordByteCount == count && isSame(bytes + at, text, count, ignoringCase) { return true }
      at += wordByteCount
    }
    return false
  }

  private func isSame(
    _ word: UnsafePointer<UInt8>, _ text: UnsafePointer<UInt8>, _ count: Int, _ ignoringCase: Bool
  ) -> Bool {
    for index in 0..<count {
      var byte = text[index]
      if ignoringCase && byte &- UInt8(ascii: "A") < 26 { byte |= 0x20 }
      if byte != word[index] { return false }
    }
    return true
  }
}

/// Compiles the formats of columns to readers, and owns what these point at.
package final class ValueReaders: @unchecked Sendable {
  // Sendable because it belongs to one parser, which is on one thread at a time.

  let formats: ValueFormats
  private let numbers: NumberForm?
  private var steps: [UnsafeMutablePointer<DateStep>] = []
  private var words: [UnsafeMutablePointer<UInt8>] = []

  /// - Parameter readsNumbers: false while types are looked for, as nobody knows the columns of numbers then.
  /// - Throws: `usage` for formats that cannot be.
  package init?(_ formats: ValueFormats, readsNumbers: Bool = true) throws(UpsurgeError) {
    try formats.validate()
    if formats.isEmpty { return nil }
    self.formats = formats
    numbers = readsNumbers ? formats.numbers : nil
  }

  deinit {
    for pointer in steps { pointer.deallocate() }
    for pointer in words { pointer.deallocate() }
  }

  /// The reader of a column; nil where its values are what they say.
  func reader(of column: ColumnTarget) -> ValueReader? {
    let name = column.name.nameKey
    let format = formats.dates.first { $0.key.nameKey == name }?.value
    let truths = formats.truths.first { $0.key.nameKey == name }?.value
    let nulls = formats.nulls.first { $0.key.nameKey == name }?.value ?? []
    let isNumber = numbers != nil && column.isNumber && format == nil && truths == nil
    if formats.trim == .none && format == nil && truths == nil && nulls.isEmpty && !isNumber { return nil }
    let form: ValueReader.Form = format != nil ? .date : truths != nil ? .truth : isNumber ? .number : .none
    let lists: (yes: [String], no: [String]) = truths?.lists ?? ([], [])
    let date = format.flatMap(dateReader)
    return ValueReader(
      form: form, trims: formats.trim == .blanks, nulls: list(nulls), date: date,
      dateByteCount: date?.outputLimit ?? 0, number: isNumber ? numbers : nil, yes: list(lists.yes),
      no: list(lists.no))
  }

  /// What a column is that has a format, where that says more than its values.
  package static func form(of column: String, in formats: ValueFormats) -> ColumnForm? {
    let name = column.nameKey
    if formats.truths.contains(where: { $0.key.nameKey == name }) { return .truth }
    guard let format = formats.dates.first(where: { $0.key.nameKey == name })?.value else { return nil }
    return (try? DateFormat(format)).map { .date(serverType: $0.serverType) }
  }

  /// What comes out of a column with a format.
  package enum ColumnForm {
    case truth
    case date(serverType: String)
  }

  private func dateReader(_ format: String) -> DateReader? {
    // It was looked at before.
    guard let format = try? DateFormat(format) else { return nil }
    let pointer = UnsafeMutablePointer<DateStep>.allocate(capacity: max(format.steps.count, 1))
    for (index, step) in format.steps.enumerated() { (pointer + index).initialize(to: step) }
    steps.append(pointer)
    return DateReader(steps: UnsafePointer(pointer), stepCount: format.steps.count, parts: format.parts)
  }

  private func list(_ texts: [String]) -> WordList {
    var bytes: [UInt8] = []
    for text in texts {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.utf8.count)) { bytes += $0 }
      bytes += text.utf8
    }
    let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    for (index, byte) in bytes.enumerated() { pointer[index] = byte }
    words.append(pointer)
    return WordList(bytes: UnsafePointer(pointer), byteCount: bytes.count)
  }
}
