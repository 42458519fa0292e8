/// Rows in the text format of COPY: fields with tabs between them, `\N` for NULL.
struct CopyText {
  private(set) var bytes: [UInt8] = []
  private var isInRow = false

  /// A text without U+0000.
  mutating func add(_ text: String?) {
    if isInRow { bytes.append(UInt8(ascii: "\t")) }
    isInRow = true
    guard let text else {
      bytes += [UInt8(ascii: "\\"), UInt8(ascii: "N")]
      return
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): bytes += [byte, byte]
      case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
      case UInt8(ascii: "\r"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
      case UInt8(ascii: "\t"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
      default: bytes.append(byte)
      }
    }
  }

  mutating func add(_ number: UInt64?) { add(number.map { String(Int64(clamping: $0)) }) }

  /// A value of type bytea.
  mutating func add(bytea: [UInt8]?) {
    let digits = Array("0123456789abcdef")
    add(bytea.map { bytes in bytes.reduce(into: "\\x") { $0 += [digits[Int($1 >> 4)], digits[Int($1 & 15)]] } })
  }

  mutating func endRow() {
    bytes.append(UInt8(ascii: "\n"))
    isInRow = false
  }
}
