import UpsurgeRecords

/// Reads the rows of COPY's binary format: what `copyOut` gives, as cells.
///
///     integers, booleans (1, 0)        integer cells
///     float4, float8                   real cells; NaN and Infinity as text
///     bytea                            blob cells
///     numeric, dates, uuid, text, json text cells, spelled as the server spells them under DateStyle ISO and TimeZone UTC
///
/// Types that are not known here must be cast to text by the SELECT.
package struct BinaryDecoder {
  private let columns: [BinaryColumn]
  private var isFirst = true

  package init(_ columns: [BinaryColumn]) { self.columns = columns }

  /// Adds the cells of a row.
  /// - Parameters:
  ///   - message: one message of the copy: the header, a row, both, or the trailer.
  ///   - texts: what text and blob cells lie in, at the offsets that they name (as a batch's spill).
  ///   - cells: room for one cell a column.
  /// - Returns: whether there was a row.
  /// - Throws: `other` where the bytes are not what the format says.
  package mutating func row(
    _ message: UnsafeRawBufferPointer, into cells: UnsafeMutablePointer<Cell>, _ texts: inout RowBuffer
  ) throws(PostgresFailure) -> Bool {
    var reader = BinaryReader(message)
    if isFirst {
      isFirst = false
      let extensionCount = reader.skip(15) ? reader.integer(Int32.self) : nil
      guard let extensionCount, reader.skip(Int(extensionCount)) else { throw Self.damaged }
      if reader.isAtEnd { return false }
    }
    guard let count = reader.integer(Int16.self) else { throw Self.damaged }
    if count == -1 { return false }
    if Int(count) != columns.count { throw Self.damaged }
    for index in columns.indices {
      guard let length = reader.integer(Int32.self) else { throw Self.damaged }
      if length == -1 {
        cells[index] = .null
        continue
      }
      guard let bytes = reader.bytes(Int(length)), let cell = Self.cell(bytes, columns[index].form, &texts) else {
        throw Self.damaged
      }
      cells[index] = cell
    }
    return true
  }

  private static let damaged = PostgresFailure(.other, "the server has sent rows that are not COPY's binary format")

  /// nil for bytes that are none of the type.
  private static func cell(
    _ bytes: UnsafeBufferPointer<UInt8>, _ form: BinaryColumn.Form, _ texts: inout RowBuffer
  ) -> Cell? {
    var reader = BinaryReader(UnsafeRawBufferPointer(bytes))
    switch form {
    case .int2: return reader.integer(Int16.self).map { .integer(Int64($0)) }
    case .int4: return reader.integer(Int32.self).map { .integer(Int64($0)) }
    case .int8: return reader.integer(Int64.self).map { .integer($0) }
    case .bool: return reader.integer(UInt8.self).map { .integer(Int64($0)) }
    case .float8: return reader.integer(UInt64.self).map { real(Double(bitPattern: $0), &texts) }
    case .float4:
      // The double of the same digits: 0.1, not 0.10000000149011612.
      return reader.integer(UInt32.self).map { bits in
        let value = Float(bitPattern: bits)
        return real(value.isFinite ? Double(value.description) ?? Double(value) : Double(value), &texts)
      }
    case .bytea:
      let offset = texts.count
      texts.append(bytes)
      return .blob(offset: offset, byteCount: bytes.count)
    case .text, .bpchar, .castText, .json:
      return text(&texts) { $0.append(bytes) }
    case .jsonb:
      guard bytes.first == 1 else { return nil }
      return text(&texts) { $0.append(UnsafeBufferPointer(rebasing: bytes.dropFirst())) }
    case .uuid:
      guard bytes.count == 16 else { return nil }
      return text(&texts) { texts in
        for (index, byte) in bytes.enumerated() {
          if [4, 6, 8, 10].contains(index) { texts.append(UInt8(ascii: "-")) }
          texts.append(hexDigits[Int(byte >> 4)])
          texts.append(hexDigits[Int(byte & 15)])
        }
      }
    case .numeric:
      let offset = texts.count
      guard NumericDecoding.decode(&reader, into: &texts) else { return nil }
      return .text(offset: offset, byteCount: texts.count - offset, isInSpill: true)
    case .date: return reader.integer(Int32.self).map { days in text(&texts) { MomentText.date(days, into: &$0) } }
    case .time: return reader.integer(Int64.self).map { time in text(&texts) { MomentText.time(time, into: &$0) } }
    case .timestamp, .timestamptz:
      return reader.integer(Int64.self).map { time in
        text(&texts) { MomentText.timestamp(time, hasZone: form == .timestamptz, into: &$0) }
      }
    }
  }

  private static func text(_ texts: inout RowBuffer, _ write: (inout RowBuffer) -> Void) -> Cell {
    let offset = texts.count
    write(&texts)
    return .text(offset: offset, byteCount: texts.count - offset, isInSpill: true)
  }

  private static func real(_ value: Double, _ texts: inout RowBuffer) -> Cell {
    if value.isFinite { return .real(value) }
    return text(&texts) { $0.append(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity") }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)
}

/// Takes numbers and bytes from the front of a message.
struct BinaryReader {
  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
    let size = MemoryLayout<Number>.size
    guard rest.count >= size else { return nil }
    let value = Number(bigEndian: rest.loadUnaligned(as: Number.self))
    rest = UnsafeRawBufferPointer(rebasing: rest[size...])
    return value
  }

  mutating func bytes(_ count: Int) -> UnsafeBufferPointer<UInt8>? {
    guard count >= 0, rest.count >= count else { return nil }
    let bytes = UnsafeRawBufferPointer(rebasing: rest[..<count])
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    return bytes.assumingMemoryBound(to: UInt8.self)
  }

  mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }
}

enum NumericDecoding {
  /// Writes a numeric as the server spells it.
  static func decode(_ reader: inout BinaryReader, into texts: inout RowBuffer) -> Bool {
    guard let count = reader.integer(Int16.self), let weight = reader.integer(Int16.self),
      let sign = reader.integer(UInt16.self), let scale = reader.integer(Int16.self)
    else { return false }
    switch sign {
    case 0xC000: texts.append("NaN")
    case 0xD000: texts.append("Infinity")
    case 0xF000: texts.append("-Infinity")
    case 0, 0x4000:
      var groups: [Int16] = []
      for _ in 0..<max(count, 0) {
        guard let group = reader.integer(Int16.self), (0..<10_000).contains(group) else { return false }
        groups.append(group)
      }
      if sign == 0x4000 { texts.append(UInt8(ascii: "-")) }
      write(groups, weight: Int(weight), scale: Int(scale), into: &texts)
    default: return false
    }
    return true
  }

  private static func write(_ groups: [Int16], weight: Int, scale: Int, into texts: inout RowBuffer) {
    func digits(_ place: Int) -> [UInt8] {
      var value = place < groups.count && place >= 0 ? Int(groups[place]) : 0
      var digits: [UInt8] = [0, 0, 0, 0]
      for index in (0..<4).reversed() {
        digits[index] = UInt8(value % 10) + 0x30
        value /= 10
      }
      return digits
    }
    if weight < 0 || groups.isEmpty {
      texts.append(UInt8(ascii: "0"))
    } else {
      for place in 0...weight {
        let text = digits(place)
        let shown = place == 0 ? text.drop { $0 == 0x30 } : text[...]
        shown.withUnsafeBufferPointer { texts.append($0) }
      }
    }
    guard scale > 0 else { return }
    texts.append(UInt8(ascii: "."))
    var (left, place) = (scale, groups.isEmpty ? 0 : weight + 1)
    while left > 0 {
      digits(place).prefix(left).withUnsafeBufferPointer { texts.append($0) }
      (left, place) = (left - 4, place + 1)
    }
  }
}

/// Days and times as the server spells them under DateStyle ISO.
enum MomentText {
  static func date(_ days: Int32, into texts: inout RowBuffer) {
    if days == .max { return texts.append("infinity") }
    if days == .min { return texts.append("-infinity") }
    let isBefore = day(Int(days), into: &texts)
    if isBefore { texts.append(" BC") }
  }

  static func time(_ microseconds: Int64, into texts: inout RowBuffer) { clock(microseconds, into: &texts) }

  static func timestamp(_ microseconds: Int64, hasZone: Bool, into texts: inout RowBuffer) {
    if microseconds == .max { return texts.append("infinity") }
    if microseconds == .min { return texts.append("-infinity") }
    let length: Int64 = 86_400_000_000
    let days = microseconds >= 0 ? microseconds / length : (microseconds - length + 1) / length
    let isBefore = day(Int(days), into: &texts)
    texts.append(UInt8(ascii: " "))
    clock(microseconds - days * length, into: &texts)
    if hasZone { texts.append("+00") }
    if isBefore { texts.append(" BC") }
  }

  /// - Returns: whether the year is one before Christ.
  private static func day(_ days: Int, into texts: inout RowBuffer) -> Bool {
    let (year, month, day) = MomentReader.civil(days: days)
    number(year > 0 ? year : 1 - year, width: 4, into: &texts)
    texts.append(UInt8(ascii: "-"))
    number(month, width: 2, into: &texts)
    texts.append(UInt8(ascii: "-"))
    number(day, width: 2, into: &texts)
    return year <= 0
  }

  private static func clock(_ microseconds: Int64, into texts: inout RowBuffer) {
    let seconds = Int(microseconds / 1_000_000)
    number(seconds / 3600, width: 2, into: &texts)
    texts.append(UInt8(ascii: ":"))
    number(seconds / 60 % 60, width: 2, into: &texts)
    texts.append(UInt8(ascii: ":"))
    number(seconds % 60, width: 2, into: &texts)
    var fraction = Int(microseconds % 1_000_000)
    if fraction == 0 { return }
    var width = 6
    while fraction % 10 == 0 { (fraction, width) = (fraction / 10, width - 1) }
    texts.append(UInt8(ascii: "."))
    number(fraction, width: width, into: &texts)
  }

  private static func number(_ value: Int, width: Int, into texts: inout RowBuffer) {
    let text = String(value)
    texts.append(repeating: 0x30, count: max(0, width - text.utf8.count))
    texts.append(text)
  }
}
