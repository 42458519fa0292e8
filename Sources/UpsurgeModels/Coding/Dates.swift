import Foundation
import UpsurgeRecords

/// Text in UTC with milliseconds, as SQLite's date functions read it: `2026-11-22 20:12:00.000`. Texts sort as their times
/// do, from the year 0 to 9999. ``UnixTime`` and ``Seconds`` are other codings, which round otherwise.
///
/// Read is ISO 8601 with `T` or a space, with or without a fraction, and with `Z`, an offset, or nothing for UTC. A row with a date that
/// a coding cannot say, as one that is no number, is rejected.
extension Date: ColumnValue {
  public static var storage: StorageClass { .text }

  public static func encode(_ value: Date, into row: inout RowEncoder) {
    guard let milliseconds = value.milliseconds else { return refuse(value, in: &row) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CalendarTime.textCapacity) { text in
      let count = CalendarTime.write(milliseconds: milliseconds, to: text)
      row.appendText(UnsafeBufferPointer(rebasing: text[..<count]))
    }
  }

  public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Date {
    guard let milliseconds = CalendarTime.milliseconds(Array(try row.decodeText().utf8)) else {
      throw row.invalid("a date")
    }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// Seconds since 1970, as a number with a fraction.
  public enum UnixTime: SingleColumnCoding {
    public static var storage: StorageClass { .real }

    public static func encode(_ value: Date, into row: inout RowEncoder) {
      if value.timeIntervalSince1970.isNaN { return refuse(value, in: &row) }
      row.append(value.timeIntervalSince1970)
    }

    public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Date {
      Date(timeIntervalSince1970: try row.decodeNumber())
    }
  }

  /// Whole seconds since 1970.
  public enum Seconds: SingleColumnCoding {
    public static var storage: StorageClass { .integer }

    public static func encode(_ value: Date, into row: inout RowEncoder) {
      guard let seconds = Int64(exactly: value.timeIntervalSince1970.rounded(.down)) else {
        return refuse(value, in: &row)
      }
      row.append(seconds)
    }

    public static func decode(from row: inout RowDecoder) throws(UpsurgeError) -> Date {
      Date(timeIntervalSince1970: Double(try row.decodeInteger()))
    }
  }

  /// Milliseconds since 1970, to the nearest; nil where a text cannot say them.
  private var milliseconds: Int64? {
    Int64(exactly: (timeIntervalSince1970 * 1000).rounded()).flatMap {
      $0.magnitude <= CalendarTime.millisecondLimit.magnitude ? $0 : nil
    }
  }

  private static func refuse(_ value: Date, in row: inout RowEncoder) {
    row.refuse("the column cannot hold a date \(value.timeIntervalSince1970) seconds from 1970")
    row.appendNull()
  }
}

/// Times of the proleptic Gregorian calendar in UTC, and their texts
/// (https://howardhinnant.github.io/date_algorithms.html, days_from_civil).
enum CalendarTime {
  /// `-` and a year of up to 12 digits more than 4 need no more.
  static let textCapacity = 40
  /// Times are at most so far from 1970, about 190 million years.
  static let millisecondLimit: Int64 = 6_000_000_000_000_000_000
  private static let yearLimit: Int64 = 200_000_000

  /// Writes `YYYY-MM-DD HH:MM:SS.SSS`.
  /// - Returns: how many bytes.
  static func write(milliseconds: Int64, to text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let (day, time) = milliseconds.floorDivided(by: 86_400_000)
    let (year, month, dayOfMonth) = civil(day)
    var at = 0
    func put(_ byte: UInt8) {
      text[at] = byte
      at += 1
    }
    func put(_ number: Int64, digits: Int) {
      var power: Int64 = 1
      for _ in 1..<digits { power *= 10 }
      while number / power >= 10 { power *= 10 }
      while power > 0 {
        put(UInt8(ascii: "0") + UInt8(number / power % 10))
        power /= 10
      }
    }
    if year < 0 { put(UInt8(ascii: "-")) }
    put(abs(year), digits: 4)
    put(UInt8(ascii: "-"))
    put(month, digits: 2)
    put(UInt8(ascii: "-"))
    put(dayOfMonth, digits: 2)
    put(UInt8(ascii: " "))
    put(time / 3_600_000, digits: 2)
    put(UInt8(ascii: ":"))
    put(time / 60_000 % 60, digits: 2)
    put(UInt8(ascii: ":"))
    put(time / 1000 % 60, digits: 2)
    put(UInt8(ascii: "."))
    put(time % 1000, digits: 3)
    return at
  }

  /// Reads a date, or a date and a time.
  /// - Returns: nil for anything else.
  static func milliseconds(_ text: [UInt8]) -> Int64? {
    var reader = Reader(text: text[...])
    let isNegative = reader.skip("-")
    guard let year = reader.number(digits: 4...9), reader.skip("-"), let month = reader.number(digits: 2...2),
      (1...12).contains(month), year <= yearLimit, reader.skip("-"), let day = reader.number(digits: 2...2),
      (1...31).contains(day)
    else { return nil }
    let days = daysSince1970(isNegative ? -year : year, month, day)
    // A day that the month does not have is another day.
    guard civil(days) == (isNegative ? -year : year, month, day) else { return nil }
    var result = days * 86_400_000
    if reader.text.isEmpty { return result }
    guard reader.skip("T") || reader.skip(" "), let hour = reader.number(digits: 2...2), hour < 24,
      reader.skip(":"),
      let minute = reader.number(digits: 2...2), minute < 60
    else { return nil }
    result += hour * 3_600_000 + minute * 60_000
    if reader.skip(":") {
      guard let second = reader.number(digits: 2...2), second < 60 else { return nil }
      result += second * 1000
      if reader.skip(".") {
        guard let fraction = reader.fraction() else { return nil }
        result += fraction
      }
    }
    if reader.skip("Z") || reader.text.isEmpty { return reader.text.isEmpty ? result : nil }
    let isEast = reader.skip("+")
    guard isEast || reader.skip("-"), let hours = reader.number(digits: 2...2), hours < 24 else { return nil }
    _ = reader.skip(":")
    guard let minutes = reader.number(digits: 2...2), minutes < 60, reader.text.isEmpty else { return nil }
    let offset = (hours * 60 + minutes) * 60_000
    return result + (isEast ? -offset : offset)
  }

  private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = year.floorDivided(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).floorDivided(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private struct Reader {
    var text: ArraySlice<UInt8>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard text.first == UInt8(ascii: character) else { return false }
      text.removeFirst()
      return true
    }

    mutating func number(digits: ClosedRange<Int>) -> Int64? {
      let run = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.prefix(digits.upperBound)
      if run.count < digits.lowerBound { return nil }
      text = text[run.endIndex...]
      return run.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    /// Milliseconds; what is finer is cut off.
    mutating func fraction() -> Int64? {
      let run = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      if run.isEmpty { return nil }
      text = text[run.endIndex...]
      let digits = Array(run.prefix(3)) + Array(repeating: UInt8(ascii: "0"), count: max(3 - run.count, 0))
      return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
  }
}

extension Int64 {
  /// Quotient and remainder, which is never negative.
  fileprivate func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
