/// A value that goes beside a statement, for its `$1`.
package enum PostgresParameter: Sendable, Equatable {
  case null
  /// In the type's own text; the server finds the type out.
  case text(String)
  case integer(Int64)
  case flag(Bool)
  /// In the binary form of the type with this OID.
  case binary(type: UInt32, [UInt8])

  /// The OID of its type; 0 leaves it to the server.
  var type: UInt32 {
    switch self {
    case .null, .text: 0
    case .integer: PostgresType.int8
    case .flag: PostgresType.bool
    case .binary(let type, _): type
    }
  }

  var isBinary: Bool {
    if case .binary = self { return true }
    return false
  }

  /// The bytes of the value, with a NUL after a text; nil for NULL.
  var bytes: [UInt8]? {
    switch self {
    case .null: nil
    case .text(let text): Array(text.utf8) + [0]
    case .integer(let value): Array(String(value).utf8) + [0]
    case .flag(let value): [UInt8(ascii: value ? "t" : "f"), 0]
    case .binary(_, let bytes): bytes
    }
  }

  /// Calls `send` with the values as libpq takes them: where each lies, its length, and whether it is binary.
  static func withC(
    _ parameters: [PostgresParameter],
    _ send: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Int32
  ) -> Int32 {
    var bytes: [UInt8] = []
    var places: [Int?] = []
    var lengths: [Int32] = []
    for parameter in parameters {
      let value = parameter.bytes
      places.append(value == nil ? nil : bytes.count)
      lengths.append(Int32(value?.count ?? 0))
      bytes += value ?? []
    }
    // An empty array has no address, and a value of no bytes needs one.
    bytes.append(0)
    let formats = parameters.map { Int32($0.isBinary ? 1 : 0) }
    return bytes.withUnsafeBytes { bytes in
      let base = bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
      return send(places.map { place in place.map { base + $0 } }, lengths, formats)
    }
  }
}
