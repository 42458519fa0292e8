import Foundation
import Testing

@testable import UpsurgeModels

@Suite("Dates as text") struct DateTests {
  private func text(_ milliseconds: Int64) -> String {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CalendarTime.textCapacity) { text in
      let count = CalendarTime.write(milliseconds: milliseconds, to: text)
      return String(decoding: text[..<count], as: UTF8.self)
    }
  }

  @Test(
    "Read",
    arguments: [
      ("1970-01-01", 0), ("1970-01-01 00:00", 0), ("1970-01-01T00:00:01Z", 1000),
      ("1970-01-01 00:00:00.5", 500),
      ("1970-01-01 00:00:00.123456", 123), ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T23:00:00-0100", 0),
      ("2000-02-29 00:00:00", 951_782_400_000), ("1969-12-31 23:59:59.999", -1),
    ] as [(String, Int64)])
  func read(_ text: String, _ milliseconds: Int64) {
    #expect(CalendarTime.milliseconds(Array(text.utf8)) == milliseconds)
  }

  @Test(
    "Refused",
    arguments: [
      "", "1970", "1970-1-1", "1970-13-01", "1970-02-30", "1900-02-29", "1970-01-01T", "1970-01-01 24:00",
      "1970-01-01 00:60",
      "1970-01-01 00:00:60", "1970-01-01 00:00:00.", "1970-01-01 00:00:00x", "1970-01-01 00:00:00ZZ",
      "1970-01-01T00:00:00+1",
      "1970-01-01T00:00:00+01:00x", "x", "1970-01-01 00:00 ", "999999999-01-01",
      "-999999999-12-31 23:59:59.999", "200000001-01-01",
    ])
  func refused(_ text: String) { #expect(CalendarTime.milliseconds(Array(text.utf8)) == nil) }

  @Test("Texts are those of a calendar, and are read as the same time") func calendar() throws {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime]
    formatter.timeZone = TimeZone(identifier: "UTC")
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      // From the year 1583, since when the calendar is one everywhere, to 9999.
      let milliseconds = Int64.random(in: -12_212_553_600_000...253_402_300_799_999, using: &generator)
      let written = text(milliseconds)
      let seconds = Date(
        timeIntervalSince1970: Double(milliseconds - (milliseconds % 1000 + 1000) % 1000) / 1000)
      let expected = formatter.string(from: seconds).replacing("T", with: " ").dropLast()
      #expect(written.dropLast(4) == expected, "\(milliseconds)")
      #expect(CalendarTime.milliseconds(Array(written.utf8)) == milliseconds, "\(milliseconds)")
    }
  }

  @Test("The ends of what a text can say neither trap nor overflow it", arguments: [6e15, -6e15, 0])
  func extremes(_ seconds: Double) {
    let values = [SQLValue](encoding: Date(timeIntervalSince1970: seconds), as: Date.self)
    guard case .text(let text) = values[0] else {
      Issue.record("no text")
      return
    }
    #expect(text.utf8.count < CalendarTime.textCapacity)
    #expect(CalendarTime.milliseconds(Array(text.utf8)) == Int64(seconds) * 1000, "\(text)")
  }

  @Test("A date that a column cannot hold is refused, and never another one")
  func refusedDates() throws {
    func isStored<Coding: SingleColumnCoding>(_ seconds: Double, as coding: Coding.Type) -> Bool
    where Coding.Value == Date {
      (try? coding.storedValue(Date(timeIntervalSince1970: seconds))) != nil
    }
    for seconds in [Double.nan, .infinity, -.infinity, 1e300, 9.3e18] {
      #expect(!isStored(seconds, as: Date.self) && !isStored(seconds, as: Date.Seconds.self), "\(seconds)")
    }
    for seconds in [6.1e15, -6.1e15] {
      #expect(!isStored(seconds, as: Date.self) && isStored(seconds, as: Date.Seconds.self), "\(seconds)")
    }
    #expect(!isStored(.nan, as: Date.UnixTime.self) && isStored(.infinity, as: Date.UnixTime.self))
    let error = #expect(throws: UpsurgeError.self) {
      try Date.storedValue(Date(timeIntervalSince1970: .nan))
    }
    #expect(error?.message == "the column cannot hold a date nan seconds from 1970")
  }
}
