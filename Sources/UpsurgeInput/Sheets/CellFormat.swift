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
        if let first = inside.first, "hms".contains(first), inside.allSatisfy({ $0 == first }) {
          insert([.time, .elapsed])
        }
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
