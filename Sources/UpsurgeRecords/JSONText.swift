/// Writes JSON (RFC 8259) to a byte buffer: summaries, rejects, changes.
package struct JSONText: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  package mutating func beginObject() { open(UInt8(ascii: "{")) }
  package mutating func endObject() { close(UInt8(ascii: "}")) }
  package mutating func beginArray() { open(UInt8(ascii: "[")) }
  package mutating func endArray() { close(UInt8(ascii: "]")) }

  package mutating func key(_ name: String) {
    separate()
    quote(name.utf8)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func string(_ value: String) { element { $0.quote(value.utf8) } }
  package mutating func strings(_ values: [String]) {
    beginArray()
    for value in values { string(value) }
    endArray()
  }
  package mutating func number(_ value: UInt64) { element { $0.bytes += Array(String(value).utf8) } }
  package mutating func number(_ value: Int64) { element { $0.bytes += Array(String(value).utf8) } }
  package mutating func bool(_ value: Bool) { element { $0.bytes += Array(String(value).utf8) } }
  package mutating func null() { element { $0.bytes += Array("null".utf8) } }

  /// A finite double with six decimals at most; anything else is null.
  package mutating func number(_ value: Double) {
    guard value.isFinite else { return null() }
    let scaled = (value * 1e6).rounded() / 1e6
    element { $0.bytes += Array("\(scaled)".utf8) }
  }

  /// A double with all the digits that bring it back, always with a point or an exponent; `9e999` is infinity.
  package mutating func exact(_ value: Double) {
    if value.isNaN { return null() }
    let digits = value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
    element { $0.bytes += Array(digits.utf8) }
  }

  /// Begins a text that is written in pieces, so that a long one need not be held as JSON.
  package mutating func beginString() {
    separate()
    bytes.append(UInt8(ascii: "\""))
  }

  /// The next bytes of the text that was begun.
  package mutating func appendToString(_ piece: some Sequence<UInt8>) { escape(piece) }

  package mutating func endString() {
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Text as its bytes, which must be UTF-8.
  package mutating func string(bytes text: UnsafeBufferPointer<UInt8>) { element { $0.quote(text) } }

  /// A token that is JSON as it stands.
  package mutating func literal(_ token: String) { element { $0.bytes += Array(token.utf8) } }

  /// Text that may hold invalid UTF-8, which becomes U+FFFD.
  package mutating func string(repairing raw: [UInt8]) {
    element { $0.quote(String(decoding: raw, as: UTF8.self).utf8) }
  }

  package mutating func newline() {
    bytes.append(0x0A)
    needsComma = false
  }

  /// Forgets what was written and keeps the room.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Forgets the bytes, which somebody has written out, in the midst of what they tell.
  package mutating func removeWritten() { bytes.removeAll(keepingCapacity: true) }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func element(_ write: (inout JSONText) -> Void) {
    separate()
    write(&self)
    needsComma = true
  }

  private mutating func open(_ byte: UInt8) {
    separate()
    bytes.append(byte)
    needsComma = false
  }

  private mutating func close(_ byte: UInt8) {
    bytes.append(byte)
    needsComma = true
  }

  private mutating func quote(_ text: some Sequence<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    escape(text)
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ text: some Sequence<UInt8>) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: bytes += Array("\\n".utf8)
      case 0x0D: bytes += Array("\\r".utf8)
      case 0x09: bytes += Array("\\t".utf8)
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
  }
}
