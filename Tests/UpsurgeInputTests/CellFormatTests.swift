import Testing

@testable import UpsurgeInput

@Suite("Sheets: formats of days and times") struct CellFormatTests {
  private static let both: CellFormat = [.day, .time]
  private static let hours: CellFormat = [.time, .elapsed]

  @Test(
    "What a code shows",
    arguments: [
      ("General", []), ("0.00", []), ("#,##0.00\\ \"Kč\"", []), ("0\" days\"", []), ("0\\d", []),
      ("#,##0_d;[Red]-#,##0_d", []),
      ("0.00E+00", []), ("@", []), ("[$USD-409] #,##0", []), ("# ?/?", []), ("*d0", []), ("[Magenta]0", []),
      ("\"$\"#,##0.00_);[Red](\"$\"#,##0.00)", []), ("0;yyyy", []), ("", []),
      ("yyyy\\-mm\\-dd", .day), ("d", .day), ("mmm", .day), ("m/d/yy", .day),
      ("[$-F800]dddd, mmmm dd, yyyy", .day),
      ("[$-409]d-mmm-yy;@", .day), ("[Red][<40000]YYYY/MM/DD", .day), ("d\"h\"", .day),
      ("[$-411]ggge\"年\"m\"月\"d\"日\"", .day),
      ("h:mm", .time), ("mm:ss.0", .time), ("h:mm AM/PM", .time), ("[$-F400]h:mm:ss AM/PM", .time),
      ("h\"d\"", .time), ("hh a/p", .time),
      ("d/m/yyyy h:mm", both), ("[$-409]m/d/yy h:mm AM/PM;@", both), ("yyyy-mm-dd\"T\"hh:mm:ss", both),
      ("[h]:mm", hours), ("[HH]:mm:ss", hours), ("[mm]:ss", hours), ("[s]", hours),
    ] as [(String, CellFormat)])
  func codes(code: String, expected: CellFormat) {
    #expect(CellFormat(code: code.utf8) == expected)
  }

  @Test("What numbers of formats mean")
  func builtIn() {
    for number in 0...200 {
      let expected: CellFormat =
        switch number {
        case 14...17: .day
        case 18...21, 45, 47: .time
        case 22: Self.both
        case 46: Self.hours
        case 27...36, 50...58: .either
        default: []
        }
      #expect(CellFormat(builtIn: number) == expected, "\(number)")
    }
  }

  @Test("Each day of the calendar, and none that is not there")
  func days() {
    func text(_ number: Double, is1904: Bool = false) -> String? {
      CellDate.text(number, .day, is1904: is1904).map { String(decoding: $0, as: UTF8.self) }
    }
    // Counted in another way: month by month.
    var (year, month, day) = (1900, 1, 1)
    for serial in 1...2_958_465 where serial != 60 {
      if serial % 97 == 0 || serial < 800 || serial > 2_958_000 || day == 1 || month == 2 && day > 27 {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let expected = "\(year)-\(padded(month))-\(padded(day))"
        if text(Double(serial)) != expected {
          Issue.record("\(serial) is \(text(Double(serial)) ?? "nil"), not \(expected)")
        }
        if serial >= 1462, text(Double(serial - 1462), is1904: true) != expected {
          Issue.record("\(serial) of 1904")
        }
      }
      let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
      let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
      day += 1
      if day > length { (day, month) = (1, month + 1) }
      if month > 12 { (month, year) = (1, year + 1) }
    }
    for number in [0, 60, 2_958_466, -1, 1e300, .infinity, .nan] { #expect(text(number) == nil, "\(number)") }
    #expect(text(2_957_003, is1904: true) == "9999-12-31" && text(2_957_004, is1904: true) == nil)
    #expect(text(2_958_465.9999999999) == nil && text(2_958_465.99) == "9999-12-31T23:45:36")
  }

  @Test(
    "Durations of XML",
    arguments: [
      ("PT26H10M30.5S", "26:10:30.5"), ("PT00H00M00S", "00:00:00"), ("PT90M", "01:30:00"),
      ("PT0,25S", "00:00:00.25"),
      ("P1DT2H", nil), ("-PT1H", nil), ("PT", nil), ("PTH", nil), ("PT1", nil), ("PT1e99H", nil), ("", nil),
    ] as [(String, String?)])
  func durations(text: String, expected: String?) {
    #expect(CellDate.time(duration: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == expected)
  }
}
