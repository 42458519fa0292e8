/// Days and times as spreadsheets count and write them.
enum CellDate {
  /// 9999-12-31, the last day that they know, counted from 1900.
  private static let lastDay = 2_958_465
  /// What 1904-01-01 is in the count from 1900, and 1970-01-01 in both.
  private static let firstDay1904 = 1462
  private static let epoch = 25_569
  private static let dayMilliseconds = 86_400_000

  /// What a number means in a format, as ISO 8601; nil where that is no day or time of the calendar.
  /// - Parameter is1904: whether days are counted from 1904 on, as old programs of the Macintosh did.
  static func text(_ number: Double, _ format: CellFormat, is1904: Bool) -> [UInt8]? {
    let last = is1904 ? lastDay - firstDay1904 : lastDay
    guard number >= 0, number < Double(last + 1) else { return nil }
    let all = Int((number * Double(dayMilliseconds)).rounded())
    let (serial, milliseconds) = all.quotientAndRemainder(dividingBy: dayMilliseconds)
    guard serial <= last else { return nil }
    if format.contains(.elapsed) { return time(all) }
    let hasTime = milliseconds > 0
    let isTime = format == .time || format == .either && hasTime
    if isTime && serial == 0 { return time(milliseconds) }
    // The first programs took 1900 for a leap year: day 60 is no day, and those before it are one off.
    if !is1904 && (serial == 0 || serial == 60) { return nil }
    let day = is1904 ? serial + firstDay1904 : serial < 60 ? serial + 1 : serial
    var text: [UInt8] = []
    text.reserveCapacity(24)
    appendDate(day - epoch, to: &text)
    if !hasTime && (format == .day || format == .either) { return text }
    text.append(UInt8(ascii: "T"))
    append(time: milliseconds, to: &text)
    return text
  }

  /// A day and time that was written as such: `2024-01-31T00:00:00.000`.
  /// - Parameter hasTime: whether a time is shown; else midnight is left out.
  static func moment(_ text: [UInt8], hasTime: Bool) -> [UInt8] {
    guard !hasTime, text.count > 10, text[10] == UInt8(ascii: "T") else { return text }
    let isMidnight = text[11...].allSatisfy {
      $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
    }
    return isMidnight ? Array(text[..<10]) : text
  }

  /// Days since 1970 as a day of the calendar.
  private static func appendDate(_ day: Int, to text: inout [UInt8]) {
    // Eras of 400 years, each from March on.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let number = month < 10 ? month + 3 : month - 9
    append(yearOfEra + era * 400 + (number <= 2 ? 1 : 0), 4, to: &text)
    text.append(UInt8(ascii: "-"))
    append(number, 2, to: &text)
    text.append(UInt8(ascii: "-"))
    append(dayOfYear - (153 * month + 2) / 5 + 1, 2, to: &text)
  }

  /// `10:20:30`, `26:00:00.5`
  static func time(_ milliseconds: Int) -> [UInt8] {
    var text: [UInt8] = []
    append(time: milliseconds, to: &text)
    return text
  }

  private static func append(time milliseconds: Int, to text: inout [UInt8]) {
    let seconds = milliseconds / 1000
    append(seconds / 3600, 2, to: &text)
    text.append(UInt8(ascii: ":"))
    append(seconds / 60 % 60, 2, to: &text)
    text.append(UInt8(ascii: ":"))
    append(seconds % 60, 2, to: &text)
    if milliseconds % 1000 == 0 { return }
    text.append(UInt8(ascii: "."))
    append(milliseconds % 1000, 3, to: &text)
    while text.last == UInt8(ascii: "0") { text.removeLast() }
  }

  /// Appends a number with so many digits, or more.
  private static func append(_ number: Int, _ count: Int, to text: inout [UInt8]) {
    var place = 1
    var left = max(count - 1, 0)
    while left > 0 || number / place > 9 {
      place *= 10
      left -= 1
    }
    while place > 0 {
      text.append(UInt8(ascii: "0") + UInt8(number / place % 10))
      place /= 10
    }
  }

  /// A duration of XML as hours, minutes and seconds: `PT26H10M30.5S` is `26:10:30.5`; nil for one with years, months or days.
  static func time(duration text: [UInt8]) -> [UInt8]? {
    guard text.starts(with: Array("PT".utf8)) else { return nil }
    var milliseconds = 0.0
    var number: [UInt8] = []
    for byte in text.dropFirst(2) {
      let unit: Double
      switch byte {
      case UInt8(ascii: "H"): unit = 3_600_000
      case UInt8(ascii: "M"): unit = 60_000
      case UInt8(ascii: "S"): unit = 1000
      default:
        number.append(byte == UInt8(ascii: ",") ? UInt8(ascii: ".") : byte)
        continue
      }
      guard let value = Double(String(decoding: number, as: UTF8.self)), value >= 0, value < 1e9 else {
        return nil
      }
      milliseconds += value * unit
      number = []
    }
    return number.isEmpty && text.count > 2 && milliseconds < 1e15 ? time(Int(milliseconds.rounded())) : nil
  }
}
