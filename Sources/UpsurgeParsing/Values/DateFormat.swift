import UpsurgeRecords

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
  /// Whether digits of another number may follow those of a fraction.
  var isOpen = false

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
    if zones.isEmpty, parts.isSuperset(of: [.date, .time]), let zone = LiteralZone(in: steps) {
      throw UpsurgeError(
        .usage,
        "the date format \(text.escapedForTerminal) has the time zone \(zone.text) as plain letters, and would lose it",
        hint: "\(zone.letters) reads a time zone: \(zone.mended(text).quotedForShell)")
    }
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
    for index in steps.indices.dropLast() where steps[index].kind == .fraction && steps[index + 1].isNumber {
      steps[index].isOpen = true
    }
  }

  private func fault(_ what: String) -> UpsurgeError {
    UpsurgeError(
      .usage, "the date format \(text.escapedForTerminal) \(what)",
      hint: "give one such as '%d/%m/%Y' or '%Y-%m-%d %H:%M:%S'")
  }
}
