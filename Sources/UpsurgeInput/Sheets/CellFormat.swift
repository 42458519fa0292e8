/// What the format of a cell makes of its number: a day, a time, both, or hours that are counted on beyond a day.
struct CellFormat: OptionSet {
  let rawValue: UInt8

  static let day = CellFormat(rawValue: 1)
  static let time = CellFormat(rawValue: 2)
  static let elapsed = CellFormat(rawValue: 4)
  /// Day, time or both, as the number says: another one in each country.
  static let either = CellFormat(rawValue: 8)

  /// A format of ECMA-376, part 1, 18.8.30 that each program knows by its number.
  init(builtIn number: Int) {
    switch number {
    case 14...17: self = .day
    case 18...21, 45, 47: self = .time
    case 22: self = [.day, .time]
    case 46: self = [.time, .elapsed]
    case 27...36, 50...58: self = .either
    default: self = []
    }
  }

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A format as it is written: `yyyy\-mm\-dd`, `[h]:mm`, `0.00" days"`. Only its first part counts, which is for positive numbers.
  init(code: some Sequence<UInt8>) {
    var letters = ""
    var (isQuoted, isEscaped) = (false, false)
    var bracket: String?
    self = []
    scan: for byte in code {
      let letter = Character(UnicodeScalar(byte))
      if isEscaped {
        isEscaped = false
      } else if isQuoted {
        isQuoted = letter != "\""
      } else if let inside = bracket {
        bracket = inside + letter.lowercased()
        guard letter == "]" else { continue }
        bracket = nil
        if let first = inside.first, "hms".contains(first), inside.allSatisfy({ $0 == first }) { insert([.time, .elapsed]) }
      } else {
        switch letter {
        case ";": break scan
        case "\"": isQuoted = true
        case "\\", "_", "*": isEscaped = true
        case "[": bracket = ""
        default: letters += letter.lowercased()
        }
      }
    }
    let hasHalves = letters.contains("am/pm") || letters.contains("a/p")
    letters = letters.replacing("am/pm", with: "").replacing("a/p", with: "")
    if letters.contains(where: { "yd".contains($0) }) { insert(.day) }
    if hasHalves || letters.contains(where: { "hs".contains($0) }) { insert(.time) }
    // A month where nothing says that it is a minute.
    if letters.contains("m") && isEmpty { insert(.day) }
  }
}

/// Days as spreadsheets count them.
enum CellDate {
  /// 9999-12-31, the last day that they know.
  private static let lastDay = 2_958_465
  private static let dayMilliseconds = 86_400_000

  /// What a number means in a format, as ISO 8601; nil where that is no day or time of the calendar.
  /// - Parameter is1904: whether days are counted from 1904 on, as old programs of the Macintosh did.
  static func text(_ number: Double, _ format: CellFormat, is1904: Bool) -> [UInt8]? {
    guard number >= 0, number < Double(lastDay + 1) else { return nil }
    let all = (number * Double(dayMilliseconds)).rounded()
    guard all >= 0, all < Double((lastDay + 1) * dayMilliseconds) else { return nil }
    let (serial, milliseconds) = Int(all).quotientAndRemainder(dividingBy: dayMilliseconds)
    let hasTime = milliseconds > 0
    if format.contains(.elapsed) { return time(Int(all)) }
    let isTime = format == .time || format == .either && hasTime
    if isTime && serial == 0 { return time(milliseconds) }
    // The first programs took 1900 for a leap year: day 60 is none, and those before it are one off.
    let day = is1904 ? serial - 24_107 : serial < 60 ? serial - 25_568 : serial - 25_569
    if !is1904 && (serial == 0 || serial == 60) { return nil }
    let text = date(day)
    if !hasTime && (format == .day || format == .either) { return text }
    return text + [UInt8(ascii: "T")] + time(milliseconds)
  }

  /// Days since 1970 as a day of the calendar.
  private static func date(_ day: Int) -> [UInt8] {
    // Eras of 400 years, each from March on.
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    let number = month < 10 ? month + 3 : month - 9
    let year = yearOfEra + era * 400 + (number <= 2 ? 1 : 0)
    return digits(year, 4) + [0x2D] + digits(number, 2) + [0x2D] + digits(dayOfMonth, 2)
  }

  /// `10:20:30`, `26:00:00.5`
  static func time(_ milliseconds: Int) -> [UInt8] {
    let seconds = milliseconds / 1000
    var text = digits(seconds / 3600, 2) + [0x3A] + digits(seconds / 60 % 60, 2) + [0x3A] + digits(seconds % 60, 2)
    if milliseconds % 1000 > 0 {
      text += [0x2E] + digits(milliseconds % 1000, 3)
      while text.last == 0x30 { text.removeLast() }
    }
    return text
  }

  private static func digits(_ number: Int, _ count: Int) -> [UInt8] {
    let text = Array("\(number)".utf8)
    return Array(repeating: 0x30, count: max(count - text.count, 0)) + text
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
      guard let value = Double(String(decoding: number, as: UTF8.self)), value >= 0, value < 1e9 else { return nil }
      milliseconds += value * unit
      number = []
    }
    return number.isEmpty && text.count > 2 && milliseconds < 1e15 ? time(Int(milliseconds.rounded())) : nil
  }
}
