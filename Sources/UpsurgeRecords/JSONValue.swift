/// A JSON value as the engine reads back what it wrote itself: integers exact to 64 bits, numbers with a point or an exponent as
/// doubles, members in order.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Sendable, Equatable {
    package var name: String
    package var value: JSONValue
  }

  /// Reads one value (RFC 8259) that fills the whole text.
  /// - Throws: `badInput`.
  package init(_ text: String) throws(UpsurgeError) {
    var reader = JSONReader(text)
    self = try reader.document()
  }

  /// The member of an object; nil without one, or where this is no object.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  package var text: String? {
    if case .text(let text) = self { return text }
    return nil
  }

  /// The elements of an array; nil for anything else.
  package var array: [JSONValue]? {
    if case .array(let values) = self { return values }
    return nil
  }

  /// The texts of an array; nil for anything else, or where an element is no text.
  package var texts: [String]? {
    guard case .array(let values) = self else { return nil }
    let texts = values.compactMap(\.text)
    return texts.count == values.count ? texts : nil
  }
}

/// Reads a JSON text byte by byte: for what the engine itself wrote, not for input.
private struct JSONReader {
  private let bytes: [UInt8]
  private var at = 0
  private var depth = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func document() throws(UpsurgeError) -> JSONValue {
    let value = try value()
    skipSpace()
    if at != bytes.count { throw fault() }
    return value
  }

  private mutating func value() throws(UpsurgeError) -> JSONValue {
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    default: return try number()
    }
  }

  private mutating func object() throws(UpsurgeError) -> JSONValue {
    try open()
    var members: [JSONValue.Member] = []
    while try hasElement(UInt8(ascii: "}"), isFirst: members.isEmpty) {
      skipSpace()
      let name = try string()
      skipSpace()
      if !take(UInt8(ascii: ":")) { throw fault() }
      members.append(JSONValue.Member(name: name, value: try value()))
    }
    return .object(members)
  }

  private mutating func array() throws(UpsurgeError) -> JSONValue {
    try open()
    var values: [JSONValue] = []
    while try hasElement(UInt8(ascii: "]"), isFirst: values.isEmpty) { values.append(try value()) }
    return .array(values)
  }

  private mutating func open() throws(UpsurgeError) {
    at += 1
    depth += 1
    if depth > 100 { throw fault() }
  }

  /// Whether another element comes; takes the comma before it, or the closing bracket.
  private mutating func hasElement(_ end: UInt8, isFirst: Bool) throws(UpsurgeError) -> Bool {
    skipSpace()
    if take(end) {
      depth -= 1
      return false
    }
    if !isFirst && !take(UInt8(ascii: ",")) { throw fault() }
    return true
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(UpsurgeError) -> JSONValue {
    for byte in word.utf8 where !take(byte) { throw fault() }
    return value
  }

  private mutating func number() throws(UpsurgeError) -> JSONValue {
    let start = at
    while let byte = peek, "+-.0123456789eE".utf8.contains(byte) { at += 1 }
    let text = String(decoding: bytes[start..<at], as: UTF8.self)
    if let integer = Int64(text) { return .integer(integer) }
    guard let real = Double(text) else { throw fault() }
    return .real(real)
  }

  private mutating func string() throws(UpsurgeError) -> String {
    if !take(UInt8(ascii: "\"")) { throw fault() }
    var text: [UInt8] = []
    while let byte = peek {
      at += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") { try escape(into: &text) } else { text.append(byte) }
    }
    throw fault()
  }

  private mutating func escape(into text: inout [UInt8]) throws(UpsurgeError) {
    guard let byte = peek else { throw fault() }
    at += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "u"):
      var unit = try hexadecimal()
      if unit & 0xFC00 == 0xD800, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
        let low = try hexadecimal()
        if low & 0xFC00 != 0xDC00 { throw fault() }
        unit = 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF
      }
      guard let scalar = Unicode.Scalar(unit) else { throw fault() }
      text += Array(String(scalar).utf8)
    default: throw fault()
    }
  }

  private mutating func hexadecimal() throws(UpsurgeError) -> UInt32 {
    guard at + 4 <= bytes.count,
      let unit = UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
    else { throw fault() }
    at += 4
    return unit
  }

  private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    at += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
  }

  private func fault() -> UpsurgeError {
    let head = String(decoding: bytes.prefix(120), as: UTF8.self).escapedForTerminal
    return UpsurgeError(.badInput, "this is not JSON at byte \(at)", snippet: head)
  }
}
