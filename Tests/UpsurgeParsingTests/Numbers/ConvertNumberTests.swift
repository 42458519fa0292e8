import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

private func convert(_ text: String, _ affinity: Affinity) -> (cell: Cell, note: ConversionNote) {
  var cell = Cell.absent
  let bytes = Array(text.utf8)
  let note = bytes.withUnsafeBufferPointer { buffer -> ConversionNote in
    guard let start = buffer.baseAddress else { return .none }
    return convertNumber(start, count: bytes.count, offset: 0, affinity: affinity, into: &cell)
  }
  return (cell, note)
}

@Suite("JSON numbers to cells")
struct ConvertNumberTests {
  @Test(
    "integers, reals, and what neither holds",
    arguments: [
      ("0", Cell.integer(0)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775807", .integer(.max)),
      ("1.5", .real(1.5)), ("1e5", .real(100_000)), ("1E400", nil), ("1e-400", nil), ("-0", .real(-0.0)),
      ("-0.0", .real(-0.0)), ("0e400", .real(0)), ("9223372036854775808", nil), ("1.0", .real(1)),
      ("123456789012345678901234567890", nil), ("0.1000000000000000055511151231257827", nil),
      ("0.30000000000000004", .real(0.30000000000000004)), ("1e308", .real(1e308)),
      ("5e-324", .real(.leastNonzeroMagnitude)),
      ("1.7976931348623157e308", .real(.greatestFiniteMagnitude)), ("1.7976931348623159e308", nil),
      ("0.000000000000000000000000000000000001", .real(1e-36)), ("1000000000000000000000000.0", .real(1e24)),
      ("9e999", .real(.infinity)), ("-9e999", .real(-.infinity)), ("9e9999", nil), ("9E999", nil),
      ("8e999", nil),
    ] as [(String, Cell?)])
  func table(text: String, expected: Cell?) {
    let found = convert(text, .none)
    if let expected {
      #expect(found.cell.kind == expected.kind && found.cell.payload == expected.payload)
    } else {
      #expect(found.cell.kind == .text && Int(found.cell.byteCount) == text.utf8.count)
      #expect(convert(text, .integer).note == .spellingChanges)
    }
    #expect(found.note == .none)
    let asText = convert(text, .text)
    #expect(asText.cell.kind == .text && asText.note == .none)
  }

  @Test("an integer that is no double becomes the nearest one in a REAL column")
  func integerInRealColumn() {
    let rounded = convert("9007199254740993", .real)
    #expect(rounded.note == .spellingChanges && rounded.cell.kind == .real)
    #expect(Double(bitPattern: rounded.cell.payload) == 9_007_199_254_740_992)
    #expect(convert("9007199254740992", .real).cell.kind == .integer)
  }
}
