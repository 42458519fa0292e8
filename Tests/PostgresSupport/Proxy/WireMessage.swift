/// A message of protocol 3: a letter, the length of what follows with itself, and that. The first one of a connection has no letter.
struct WireMessage {
  /// 0 for the first one.
  let type: UInt8
  /// All of it, as it goes over the wire.
  let bytes: [UInt8]

  init(type: UInt8, bytes: [UInt8]) { (self.type, self.bytes) = (type, bytes) }

  init(_ type: UnicodeScalar, _ payload: [UInt8]) {
    self.type = UInt8(ascii: type)
    bytes = [self.type] + Self.bigEndian(UInt32(payload.count + 4)) + payload
  }

  var payload: ArraySlice<UInt8> { bytes.dropFirst(type == 0 ? 4 : 5) }

  /// As it is named in events.
  var letter: String { type == 0 ? "start" : String(UnicodeScalar(type)) }

  static func bigEndian(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  static func terminated(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  /// ErrorResponse.
  static func error(_ error: ProxyError) -> WireMessage {
    let severity = error.isFatal ? "FATAL" : "ERROR"
    let fields = [("S", severity), ("V", severity), ("C", error.sqlState), ("M", error.message)]
    return WireMessage("E", fields.flatMap { Array($0.utf8) + terminated($1) } + [0])
  }

  /// An ErrorResponse with another SQLSTATE, where it has one of these.
  func restated(_ restatements: [String: String]) -> WireMessage {
    let fields = payload.split(separator: 0).map { field -> [UInt8] in
      guard field.first == UInt8(ascii: "C"),
        let other = restatements[String(decoding: field.dropFirst(), as: UTF8.self)]
      else { return Array(field) }
      return Array("C\(other)".utf8)
    }
    return WireMessage("E", fields.flatMap { $0 + [0] } + [0])
  }

  // MARK: - Statements

  /// The texts of a message that ends with NUL each, as many as are asked for, and what is left.
  private func texts(_ count: Int) -> (texts: [String], rest: ArraySlice<UInt8>)? {
    var (texts, rest) = ([String](), payload)
    while texts.count < count {
      guard let end = rest.firstIndex(of: 0) else { return nil }
      texts.append(String(decoding: rest[..<end], as: UTF8.self))
      rest = rest[(end + 1)...]
    }
    return (texts, rest)
  }

  /// What Query and Parse ask for.
  var queryText: String? {
    switch UnicodeScalar(type) {
    case "Q": texts(1)?.texts[0]
    case "P": texts(2)?.texts[1]
    default: nil
    }
  }

  /// The name of the statement that Parse makes, of the portal that Bind makes or Execute runs.
  var name: String { texts(1)?.texts[0] ?? "" }

  /// The statement of Bind.
  var boundStatement: String { texts(2)?.texts[1] ?? "" }

  /// The message with another text.
  func replacingQuery(_ text: String) -> WireMessage {
    if type == UInt8(ascii: "Q") { return WireMessage("Q", Self.terminated(text)) }
    guard let (texts, rest) = texts(2) else { return self }
    return WireMessage("P", Self.terminated(texts[0]) + Self.terminated(text) + rest)
  }

  // MARK: - Rows

  /// The names of a RowDescription's columns.
  var columnNames: [String] {
    var (names, rest) = ([String](), payload.dropFirst(2))
    while let end = rest.firstIndex(of: 0) {
      names.append(String(decoding: rest[..<end], as: UTF8.self))
      rest = rest[end...].dropFirst(19)
    }
    return names
  }

  /// A DataRow with another value in some columns.
  func replacingValues(_ values: [Int: String]) -> WireMessage {
    var (result, rest, column) = (Array(payload.prefix(2)), payload.dropFirst(2), 0)
    while rest.count >= 4 {
      let count = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let byteCount = 4 + (count == .max ? 0 : Int(count))
      if let value = values[column] {
        result += Self.bigEndian(UInt32(value.utf8.count)) + value.utf8
      } else {
        result += rest.prefix(byteCount)
      }
      rest = rest.dropFirst(byteCount)
      column += 1
    }
    return WireMessage("D", result)
  }
}

/// Bytes that have come, and are taken as messages.
struct WireBuffer {
  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  private func number(at offset: Int) -> Int? {
    if count < offset + 4 { return nil }
    return bytes[(start + offset)..<(start + offset + 4)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The next message that is complete.
  mutating func message() -> WireMessage? {
    guard let length = number(at: 1), count > length else { return nil }
    let message = WireMessage(type: bytes[start], bytes: Array(bytes[start...(start + length)]))
    drop(length + 1)
    return message
  }

  /// What begins a connection, and its code: the version of the protocol, or a request of another kind.
  mutating func startUp() -> (code: Int, message: WireMessage)? {
    guard let length = number(at: 0), let code = number(at: 4), count >= length else { return nil }
    let message = WireMessage(type: 0, bytes: Array(bytes[start..<(start + length)]))
    drop(length)
    return (code, message)
  }

  mutating func drop(_ byteCount: Int) {
    start += byteCount
    if start == bytes.count || start > 1 << 20 {
      bytes.removeFirst(start)
      start = 0
    }
  }

  mutating func removeAll() {
    bytes = []
    start = 0
  }

  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }
}
