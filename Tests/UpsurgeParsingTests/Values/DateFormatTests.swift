import Foundation
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

/// Dates as formats say them, against a calendar that counts days one by one, and against all ways to write one.
@Suite("Date formats")
struct DateFormatTests {
  /// What a column with the format makes of a value; nil for what does not fit.
  static func read(_ value: String, _ format: String) throws -> String? {
    var formats = ValueFormats()
    formats.dates["d"] = format
    let readers = try #require(try ValueReaders(formats))
    let target = ColumnTarget(name: "D", affinity: .text, spellingPolicy: .warn)
    let reader = try #require(readers.reader(of: target))
    let bytes = Array(value.utf8) + [0]
    let output = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
    output.initialize(repeating: 0x21, count: 64)
    defer { output.deallocate() }
    return withExtendedLifetime(readers) {
      bytes.withUnsafeBufferPointer { text in
        let found = reader.read(text.baseAddress!, count: value.utf8.count, into: output)
        #expect(found.count <= reader.outputLimit(value.utf8.count), "\(value) as \(format)")
        // Nothing is written beyond what was asked for.
        #expect(output[reader.outputLimit(value.utf8.count)] == 0x21, "\(value) as \(format)")
        guard found.kind == .written else { return nil }
        return String(decoding: UnsafeBufferPointer(start: output, count: found.count), as: UTF8.self)
      }
    }
  }

  @Test(
    "Values become ISO 8601",
    arguments: [
      ("%d/%m/%Y", "31/12/2024", "2024-12-31"), ("%d/%m/%Y", "1/2/2024", "2024-02-01"),
      ("%m/%d/%y", "02/29/00", "2000-02-29"),
      ("%d.%m.%y", "1.1.69", "1969-01-01"), ("%d.%m.%y", "1.1.68", "2068-01-01"),
      ("%Y%m%d", "20240229", "2024-02-29"),
      ("%y%j", "24366", "2024-12-31"), ("%Y-%j", "2023-60", "2023-03-01"),
      ("%d%b%Y", "3Dec2024", "2024-12-03"),
      ("%b %e %Y %I:%M %p", "Dec  3 2024 12:05 AM", "2024-12-03T00:05"),
      ("%B %d, %Y %I:%M %p", "december 3, 2024 12:05 p.m.", "2024-12-03T12:05"),
      ("%a, %d %b %Y %T %z", "Fri, 27 Nov 2026 18:00:00 +0200", "2026-11-27T18:00:00+02:00"),
      ("%A %d %h %Y", "Friday 27 November 2026", "2026-11-27"),
      ("%FT%T.%f%z", "2024-01-02T03:04:05.120Z", "2024-01-02T03:04:05.120Z"),
      ("%F %R%z", "2024-01-02 03:04-00:00", "2024-01-02T03:04Z"),
      ("%F %R %z", "2024-01-02 03:04 -11", "2024-01-02T03:04-11:00"),
      ("%F %T %Z", "2024-01-02 03:04:05 gmt", "2024-01-02T03:04:05Z"), ("%H:%M", "7:05", "07:05"),
      ("%I%p", "", nil),
      ("%%%Y/%-d/%-m", "%2024/1/2", "2024-02-01"),
    ] as [(String, String, String?)])
  func values(format: String, value: String, expected: String?) throws {
    guard let expected else {
      #expect(throws: UpsurgeError.self) { try DateFormat(format) }
      return
    }
    #expect(try Self.read(value, format) == expected)
  }

  @Test(
    "What is no such date does not fit: nothing is guessed, cut or carried over",
    arguments: [
      (
        "%d/%m/%Y",
        [
          "31/02/2024", "29/02/2023", "29/02/1900", "0/1/2024", "1/0/2024", "1/13/2024", "1/1/0000", "1/1/24",
          "1/1/20245",
          "1/1/2024 ", " 1/1/2024", "1-1-2024", "001/1/2024", "1/1/", "/1/2024", "1//2024", "+1/1/2024",
          "１/1/2024", "1/1/2024\u{0}",
        ]
      ),
      // Side by side a number has all its digits: 1152024 could be two dates.
      ("%d%m%Y", ["1152024", "11520241", "310220240"]), ("%Y%m%d", ["2024229", "202402290", "20230229"]),
      ("%y%j", ["23366", "24000", "2460"]),
      ("%b %d %Y", ["Dez 3 2024", "De 3 2024", "Sept 3 2024", "Dec3 2024"]),
      ("%a %d %b %Y", ["Thu 27 Nov 2026", "Fre 27 Nov 2026"]),
      ("%H:%M:%S", ["24:00:00", "23:60:00", "23:59:60", "12:00", "1:2"]),
      ("%I:%M %p", ["0:30 AM", "13:30 PM", "12:30", "12:30 XM", "12:30 A.M"]),
      ("%F %T %Z", ["2024-01-01 00:00:00 CET", "2024-01-01 00:00:00 "]),
      (
        "%F %R%z",
        [
          "2024-01-01 00:00", "2024-01-01 00:00+1", "2024-01-01 00:00+16", "2024-01-01 00:00+01:60",
          "2024-01-01 00:00+01:",
        ]
      ),
      ("%F %T.%f", ["2024-01-01 00:00:00.", "2024-01-01 00:00:00.1234567890", "2024-01-01 00:00:00"]),
    ])
  func misfits(format: String, values: [String]) throws {
    for value in values { #expect(try Self.read(value, format) == nil, "\(value) as \(format)") }
  }

  @Test(
    "Formats that say no whole date or time are refused",
    arguments: [
      "", "%", "%Y", "%m/%Y", "%d", "%d/%m", "%q", "%s", "%c", "%Y-%m-%d %H", "%Y-%m-%d %M", "%d/%d/%Y",
      "%Y %y %m %d", "%Y-%m-%d-%j",
      "%I:%M", "%H:%M %p", "%H %I:%M %p", "%H:%M%z", "%Y-%m-%d%z", "%F %R %z %Z", "%F %H:%M.%f", "%a", "text",
      "%Y-%b-%m-%d", "%Ü",
    ])
  func formats(format: String) {
    #expect(throws: UpsurgeError.self) { try DateFormat(format) }
  }

  @Test(
    "A time zone in plain letters would be lost: it is refused, and the letters that read it are named",
    arguments: [
      ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z"), ("%F %T.000Z", "%F %T.000%z"),
      ("%F %T UTC", "%F %T %Z"), ("%F %T (gmt)", "%F %T (%Z)"), ("%F %R+0100", "%F %R%z"), ("%F %R -05", "%F %R %z"),
      ("%F %T UTC+01:00", "%F %T UTC%z"), ("%a %b %e %T UTC %Y", "%a %b %e %T %Z %Y"),
    ])
  func literalZones(format: String, mended: String) throws {
    let error = #expect(throws: UpsurgeError.self) { try DateFormat(format) }
    #expect(error?.hint?.contains(mended) == true, "\(error?.description ?? "")")
    #expect(try DateFormat(mended).parts.contains(.zone))
  }

  @Test(
    "Letters that are no time zone stay letters",
    arguments: ["%F %H:%M Uhr", "%FZ%T", "%F %T.000", "Z%F %T", "%F %T%z", "%H:%M:%S Z", "%F %T %Z UTC", "%F %T-1", "%F %TBuzz"])
  func otherLetters(format: String) throws {
    _ = try DateFormat(format)
  }

  @Test(
    "What is said of a value that does not fit names its limit",
    arguments: [
      ("%F %I:%M %p", "2024-01-01 0:30 AM", .dateHalf), ("%F %H:%M", "2024-01-01 24:30", .dateTime),
      ("%Y-%j", "2026-366", .dateYearDay), ("%Y-%j", "2026-000", .dateYearDay), ("%F", "2026-02-29", .dateDay),
      ("%F %T.%f", "2024-01-01 00:00:00.123456789012", .dateFraction), ("%F %T.%f", "2024-01-01 00:00:00.x", .dateForm),
    ] as [(String, String, ValueFault)])
  func faults(format: String, value: String, fault: ValueFault) throws {
    var formats = ValueFormats()
    formats.dates["d"] = format
    let readers = try #require(try ValueReaders(formats))
    let reader = try #require(readers.reader(of: ColumnTarget(name: "d", affinity: .text, spellingPolicy: .warn)))
    let bytes = Array(value.utf8)
    let found = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { output in
      withExtendedLifetime(readers) { reader.read(bytes, count: bytes.count, into: output.baseAddress!).fault }
    }
    #expect(found == fault)
  }

  @Test("Each day of 800 years is read, and the day after each month's last one is not")
  func calendar() throws {
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    // 1 January 1600 was a Saturday.
    var dayCount = 5
    for year in 1600..<2400 {
      let isLeap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      var dayOfYear = 0
      for (month, length) in lengths.enumerated() {
        let step = year % 100 == 0 || year % 50 == 4 ? 1 : 9
        for day in stride(from: 1, through: length, by: step) {
          let weekday = names[(dayCount + day - 1) % 7]
          let iso = String(format: "%04d-%02d-%02d", year, month + 1, day)
          let value = "\(weekday) \(day)/\(month + 1)/\(year)"
          #expect(try Self.read(value, "%a %d/%m/%Y") == iso, "\(value)")
          #expect(try Self.read("\(year) \(dayOfYear + day)", "%Y %j") == iso, "\(value)")
        }
        #expect(try Self.read("\(length + 1)/\(month + 1)/\(year)", "%d/%m/%Y") == nil)
        dayCount += length
        dayOfYear += length
      }
      #expect(try Self.read("\(year) \(dayOfYear + 1)", "%Y %j") == nil)
    }
  }

  /// Letters of formats with their texts, by chance.
  private struct Maker {
    var random: SeededGenerator
    var format = ""
    var value = ""
    var iso = ""

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private func padded(_ number: Int, _ width: Int = 2) -> String {
      String(repeating: "0", count: max(0, width - "\(number)".count)) + "\(number)"
    }

    mutating func make() {
      let mark = ["/", "-", ".", " ", ", ", ":", "_"][number(0...6)]
      let (year, month, day) = (number(1969...2068), number(1...12), number(1...28))
      let isPadded = Bool.random(using: &random)
      let text = { (value: Int) in isPadded ? (value < 10 ? "0\(value)" : "\(value)") : "\(value)" }
      let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
      let isShort = Bool.random(using: &random)
      var parts = [
        (isShort ? "%y" : "%Y", isShort ? padded(year % 100) : "\(year)"), ("%d", text(day)),
        Bool.random(using: &random) ? ("%m", text(month)) : ("%b", months[month - 1].uppercased()),
      ]
      parts.shuffle(using: &random)
      format = parts.map(\.0).joined(separator: mark)
      value = parts.map(\.1).joined(separator: mark)
      iso = "\(year)-\(padded(month))-\(padded(day))"
      guard Bool.random(using: &random) else { return }
      let (hour, minute, second) = (number(0...23), number(0...59), number(0...59))
      format += " %H:%M"
      value += " \(text(hour)):\(text(minute))"
      iso += "T\(padded(hour)):\(padded(minute))"
      guard Bool.random(using: &random) else { return }
      format += ":%S"
      value += ":\(text(second))"
      iso += ":\(padded(second))"
    }

    /// Whether a text is one of all ways to write a date in the format: with zeros and without, in any case.
    func spells(_ text: String, _ iso: String) -> Bool {
      let numbers = iso.split { "-T:".contains($0) }.map(String.init)
      let letters: [Character: Int] = ["Y": 0, "y": 0, "m": 1, "b": 1, "d": 2, "H": 3, "M": 4, "S": 5]
      var ways = [""]
      var rest = format[...]
      while let next = rest.popFirst() {
        guard next == "%", let letter = rest.popFirst(), let place = letters[letter], place < numbers.count
        else {
          ways = ways.map { $0 + String(next) }
          continue
        }
        let number = numbers[place]
        let forms: [String] =
          switch letter {
          case "Y": [number]
          case "y": [String(number.suffix(2))]
          case "b":
            [
              ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"][
                Int(number)! - 1]
            ]
          default: Array(Set([number, "\(Int(number)!)"]))
          }
        ways = ways.flatMap { way in forms.map { way + $0 } }
      }
      let words = text.lowercased().split(separator: " ", omittingEmptySubsequences: true).joined(
        separator: " ")
      return ways.contains(words) || ways.contains(text.lowercased())
    }

    /// The value with one byte that is another one, or gone, or new.
    mutating func damaged() -> String {
      var bytes = Array(value.utf8)
      let at = number(0...bytes.count - 1)
      let byte = Array("0123456789/-:. aAJ".utf8)[number(0...17)]
      switch number(0...2) {
      case 0: bytes[at] = byte
      case 1: bytes.remove(at: at)
      default: bytes.insert(byte, at: at)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test(
    "Dates by chance are read, and a damaged one that is read is a way to write what it became",
    arguments: SeededGenerator.some(of: UInt64(40)))
  func chance(seed: UInt64) throws {
    var maker = Maker(seed: seed)
    var acceptedCount = 0
    for _ in 0..<500 {
      maker.make()
      #expect(
        try Self.read(maker.value, maker.format) == maker.iso,
        "seed \(seed): \(maker.value) as \(maker.format)")
      let damaged = maker.damaged()
      guard let found = try Self.read(damaged, maker.format) else { continue }
      acceptedCount += 1
      #expect(maker.spells(damaged, found), "seed \(seed): \(damaged) as \(maker.format) is \(found)")
    }
    // Digits that are other digits are dates as well.
    #expect(acceptedCount > 20, "seed \(seed)")
  }
}
