import UpsurgeRecords

/// The fields of a record after its last column, kept as JSON: `x,"y ""z"""` -> `["x","y \"z\""]`.
///
/// Written straight to where it is kept, after its size was counted: JSON may be six times as long as what it is made
/// of, so that no copy of it should be held.
struct SurplusFields {
  private let raw: UnsafeBufferPointer<UInt8>
  private var dialect: CSVDialect
  /// Bytes of the JSON.
  private(set) var byteCount = 0

  /// - Parameter raw: the surplus fields as they are written, without the line end; UTF-8.
  init(_ raw: UnsafeBufferPointer<UInt8>, dialect: CSVDialect) {
    self.raw = raw
    self.dialect = dialect
    // What follows the last field of a line that is cut by widths is one text.
    self.dialect.widths = nil
    byteCount = emit(to: nil)
  }

  /// Writes `byteCount` bytes.
  func write(to output: UnsafeMutablePointer<UInt8>) { _ = emit(to: output) }

  private func emit(to output: UnsafeMutablePointer<UInt8>?) -> Int {
    var writer = Writer(output: output)
    writer.put(UInt8(ascii: "["))
    var reader = FieldReader(bytes: raw, dialect: dialect)
    while true {
      let field = reader.nextField()
      writer.put(UInt8(ascii: "\""))
      if field.hasEscapes {
        for byte in reader.text(of: field) { writer.escape(byte) }
      } else {
        for index in field.start..<field.stop { writer.escape(raw[index]) }
      }
      writer.put(UInt8(ascii: "\""))
      if field.ending != .delimiter { break }
      writer.put(UInt8(ascii: ","))
    }
    writer.put(UInt8(ascii: "]"))
    return writer.count
  }

  /// Counts bytes, and keeps them where there is a place for them.
  private struct Writer {
    let output: UnsafeMutablePointer<UInt8>?
    var count = 0

    init(output: UnsafeMutablePointer<UInt8>?) { self.output = output }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
      output?[count] = byte
      count += 1
    }

    /// As `JSONText` does.
    @inline(__always)
    mutating func escape(_ byte: UInt8) {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): short(byte)
      case 0x0A: short(UInt8(ascii: "n"))
      case 0x0D: short(UInt8(ascii: "r"))
      case 0x09: short(UInt8(ascii: "t"))
      case 0..<0x20:
        short(UInt8(ascii: "u"))
        put(UInt8(ascii: "0"))
        put(UInt8(ascii: "0"))
        put(UInt8(ascii: "0") + byte >> 4)
        put(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") + byte & 15 - 10)
      default: put(byte)
      }
    }

    private mutating func short(_ letter: UInt8) {
      put(UInt8(ascii: "\\"))
      put(letter)
    }
  }
}
