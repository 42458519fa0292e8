/// Days and times in the spellings of ISO 8601 that feeds have: `2024-02-29`, `2024-02-29T12:30:05.25Z`, `12:30`.
///
/// All that the server reads besides (`Feb 29 2024`, `yesterday`, `24:00`, spaces around) is left to it. Refused here is a day in
/// this spelling that no calendar has, and a text without a digit that is no word for a moment (`n/a`).
struct MomentReader {
  private let text: UnsafeBufferPointer<UInt8>
  private var index = 0

  private static let microsecondsADay: Int64 = 86_400_000_000
  /// From 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
  private static let daysToEpoch = 10_957

  init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

  /// What a text is that is not read here.
  private var unread: EncodingFault {
    if text.contains(where: SpelledNumber.isDigit) { return .undecided }
    let lower = String(decoding: text.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    return Self.words.contains(where: lower.contains) ? .undecided : .syntax
  }

  private static let words = ["infinity", "epoch", "now", "today", "tomorrow", "yesterday", "allballs"]

  /// Days since 2000-01-01.
  mutating func date() -> (Int32, EncodingFault?) {
    let (days, fault) = day()
    if let fault { return (0, fault) }
    return index == text.count ? (Int32(days), nil) : (0, unread)
  }

  /// Microseconds since midnight.
  /// - Parameter digits: of the seconds' fraction, that the column keeps; -1 for all six.
  mutating func time(digits: Int) -> (Int64, EncodingFault?) {
    guard let microseconds = clock(digits: digits), index == text.count else { return (0, unread) }
    return (microseconds, nil)
  }

  /// Microseconds since 2000-01-01, of UTC where the column has a zone. A column without one takes the clock as it stands.
  mutating func timestamp(hasZone: Bool, digits: Int) -> (Int64, EncodingFault?) {
    let (days, fault) = day()
    if let fault { return (0, fault) }
    var microseconds = days * Self.microsecondsADay
    if index == text.count { return (microseconds, nil) }
    guard text[index] == UInt8(ascii: "T") || text[index] == UInt8(ascii: " ") else { return (0, unread) }
    index += 1
    guard let clock = clock(digits: digits) else { return (0, unread) }
    microseconds += clock
    if index == text.count { return (microseconds, nil) }
    guard let offset = zone(), index == text.count else { return (0, unread) }
    return (hasZone ? microseconds - offset : microseconds, nil)
  }

  // MARK: - Parts

  /// `YYYY-MM-DD` as days since 2000-01-01.
  private mutating func day() -> (Int64, EncodingFault?) {
    guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
      index == text.count || !SpelledNumber.isDigit(text[index])
    else { return (0, unread) }
    // What follows may change the meaning of the year: `0044-03-15 BC`.
    let isPlain = index == text.count || text[index] == UInt8(ascii: "T") || index + 1 < text.count && SpelledNumber.isDigit(text[index + 1])
    if !isPlain { return (0, unread) }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    guard year > 0, (1...12).contains(month), day > 0, day <= Self.lengths[month - 1] + (month == 2 && isLeap ? 1 : 0) else {
      return (0, .badDate)
    }
    return (Int64(Self.days(year: year, month: month, day: day)), nil)
  }

  /// `HH:MM`, `HH:MM:SS`, `HH:MM:SS.ffffff` as microseconds.
  private mutating func clock(digits: Int) -> Int64? {
    guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else { return nil }
    var microseconds = Int64(hour * 3600 + minute * 60) * 1_000_000
    guard skip(":") else { return microseconds }
    guard let second = number(2), second < 60 else { return nil }
    microseconds += Int64(second) * 1_000_000
    guard skip(".") else { return microseconds }
    var (count, unit): (Int, Int64) = (0, 100_000)
    while index < text.count, SpelledNumber.isDigit(text[index]) {
      let digit = Int64(text[index] - 0x30)
      count += 1
      // Digits that the column does not keep would be rounded.
      if digit != 0, count > 6 || digits >= 0 && count > digits { return nil }
      microseconds += digit * unit
      unit /= 10
      index += 1
    }
    return count > 0 ? microseconds : nil
  }

  /// `Z`, `+HH`, `+HH:MM`, `+HHMM` as microseconds ahead of UTC.
  private mutating func zone() -> Int64? {
    if skip("Z") { return 0 }
    let isBehind = text[index] == UInt8(ascii: "-")
    guard isBehind || text[index] == UInt8(ascii: "+") else { return nil }
    index += 1
    guard let hours = number(2), hours < 15 else { return nil }
    var minutes = hours * 60
    if index < text.count {
      _ = skip(":")
      guard let more = number(2), more < 60 else { return nil }
      minutes += more
    }
    return Int64(isBehind ? -minutes : minutes) * 60_000_000
  }

  private mutating func number(_ count: Int) -> Int? {
    guard index + count <= text.count else { return nil }
    var value = 0
    for _ in 0..<count {
      guard SpelledNumber.isDigit(text[index]) else { return nil }
      value = value * 10 + Int(text[index] - 0x30)
      index += 1
    }
    return value
  }

  private mutating func skip(_ letter: Unicode.Scalar) -> Bool {
    guard index < text.count, text[index] == UInt8(ascii: letter) else { return false }
    index += 1
    return true
  }

  // MARK: - The calendar

  private static let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  /// Days since 2000-01-01 of a day of the Gregorian calendar, which reaches back before its time (Hinnant,
  /// `days_from_civil`).
  static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468 - daysToEpoch
  }

  /// The day that is so many days after 2000-01-01; the year before 1 is 0.
  static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + daysToEpoch + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part + (part < 10 ? 3 : -9)
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }
}
