/// The slow, obvious reader of JSON that the fast one is compared with. Recursive, one byte at a time, no tricks.
package indirect enum OracleJSON {
  case null
  case bool(Bool)
  case number(String)
  /// nil: a `\u` escape was half of a surrogate pair.
  case string([UInt8]?)
  case array([(value: OracleJSON, raw: ArraySlice<UInt8>)])
  case object([(key: [UInt8]?, value: OracleJSON, raw: ArraySlice<UInt8>)])

  /// Why it is no JSON, and where.
  package struct Fault: Error, Equatable {
    package enum Kind { case syntax, notUTF8, tooDeep }
    package var kind = Kind.syntax
    package var at: Int
  }

  /// Reads one value that takes all of the bytes but white space.
  package static func parse(_ bytes: ArraySlice<UInt8>, maximumDepth: Int = 1024) throws -> OracleJSON {
    var reader = OracleReader(bytes: bytes, at: bytes.startIndex, maximumDepth: maximumDepth)
    reader.skipSpace()
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    if reader.at != bytes.endIndex { throw Fault(at: reader.at) }
    return value
  }
}

struct OracleReader {
  let bytes: ArraySlice<UInt8>
  var at: Int
  let maximumDepth: Int

  private var current: UInt8? { at < bytes.endIndex ? bytes[at] : nil }

  mutating func skipSpace() {
    while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { at += 1 }
  }

  mutating func value(depth: Int) throws -> OracleJSON {
    switch current {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "n"):
      try word("null")
      return .null
    case UInt8(ascii: "t"):
      try word("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try word("false")
      return .bool(false)
    default: return .number(try number())
    }
  }

  private mutating func expect(_ character: Unicode.Scalar) throws {
    guard current == UInt8(ascii: character) else { throw OracleJSON.Fault(at: at) }
    at += 1
  }

  private mutating func word(_ text: String) throws {
    for scalar in text.unicodeScalars { try expect(scalar) }
  }

  private mutating func object(depth: Int) throws -> OracleJSON {
    if depth > maximumDepth { throw OracleJSON.Fault(kind: .tooDeep, at: at) }
    try expect("{")
    var members: [(key: [UInt8]?, value: OracleJSON, raw: ArraySlice<UInt8>)] = []
    skipSpace()
    if current == UInt8(ascii: "}") {
      at += 1
      return .object([])
    }
    while true {
      skipSpace()
      let key = try string()
      skipSpace()
      try expect(":")
      skipSpace()
      let start = at
      let value = try value(depth: depth)
      members.append((key, value, bytes[start..<at]))
      skipSpace()
      if current == UInt8(ascii: "}") {
        at += 1
        return .object(members)
      }
      try expect(",")
    }
  }

  private mutating func array(depth: Int) throws -> OracleJSON {
    if depth > maximumDepth { throw OracleJSON.Fault(kind: .tooDeep, at: at) }
    try expect("[")
    var elements: [(value: OracleJSON, raw: ArraySlice<UInt8>)] = []
    skipSpace()
    if current == UInt8(ascii: "]") {
      at += 1
      return .array([])
    }
    while true {
      skipSpace()
      let start = at
      let value = try value(depth: depth)
      elements.append((value, bytes[start..<at]))
      skipSpace()
      if current == UInt8(ascii: "]") {
        at += 1
        return .array(elements)
      }
      try expect(",")
    }
  }

  private mutating func number() throws -> String {
    let start = at
    if current == UInt8(ascii: "-") { at += 1 }
    if current == UInt8(ascii: "0") { at += 1 } else { try digits() }
    if current == UInt8(ascii: ".") {
      at += 1
      try digits()
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      at += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { at += 1 }
      try digits()
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private mutating func digits() throws {
    guard let first = current, (48...57).contains(first) else { throw OracleJSON.Fault(at: at) }
    while let byte = current, (48...57).contains(byte) { at += 1 }
  }

  private mutating func string() throws -> [UInt8]? {
    try expect("\"")
    let start = at
    var units: [UInt8] = []
    var isText = true
    var high: UInt32?
    while true {
      guard let byte = current else { throw OracleJSON.Fault(at: at) }
      if byte < 0x20 { throw OracleJSON.Fault(at: at) }
      let isUnit = byte == UInt8(ascii: "\\") && at + 1 < bytes.endIndex && bytes[at + 1] == UInt8(ascii: "u")
      if high != nil && !isUnit {
        isText = false
        high = nil
      }
      at += 1
      if byte == UInt8(ascii: "\"") { break }
      if byte != UInt8(ascii: "\\") {
        units.append(byte)
        continue
      }
      guard let letter = current else { throw OracleJSON.Fault(at: at) }
      at += 1
      let plain: [UInt8: UInt8] = [
        0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
      ]
      if let single = plain[letter] {
        units.append(single)
        continue
      }
      guard letter == UInt8(ascii: "u") else { throw OracleJSON.Fault(at: at - 1) }
      let unit = try hex()
      switch (high, unit) {
      case (nil, 0xD800...0xDBFF): high = unit
      case (nil, 0xDC00...0xDFFF): isText = false
      case (nil, _): units += utf8(unit)
      case (let first?, 0xDC00...0xDFFF):
        units += utf8(0x10000 + (first - 0xD800) * 0x400 + (unit - 0xDC00))
        high = nil
      case (_, 0xD800...0xDBFF): isText = false
      default:
        isText = false
        high = nil
      }
    }
    let raw = bytes[start..<at - 1]
    if String(validating: raw, as: UTF8.self) == nil { throw OracleJSON.Fault(kind: .notUTF8, at: start) }
    return isText ? units : nil
  }

  private mutating func hex() throws -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw OracleJSON.Fault(at: at)
      }
      value = value * 16 + UInt32(digit)
      at += 1
    }
    return value
  }

  private func utf8(_ scalar: UInt32) -> [UInt8] {
    Unicode.Scalar(scalar).map { Array(String($0).utf8) } ?? []
  }
}
