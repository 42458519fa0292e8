/// Where in a URL a value is put, so that it stays in its place: no part of it is taken for another part of the URL.
///
///     https://user:${env:PW}@h/a     p@x/y      https://user:p%40x%2Fy@h/a
///     https://h/${env:NAME}.csv      a b#       https://h/a%20b%23.csv
///     https://h/a?key=${env:KEY}     a&b        https://h/a?key=a%26b
///     postgres://u:${env:PW}@h/d#t   p@x        postgres://u:p%40x@h/d#t
///
/// What is encoded already (`%40`) stays as it is. A value that brings the scheme, or stands for the host, is the URL that
/// somebody has put there, and is not changed.
enum URLPlace {
  private enum Place { case elsewhere, credentials, path, parameter, query }

  /// The value as it goes between two parts of a text.
  static func encoded(_ value: String, after start: String, before rest: Substring) -> String {
    let place = place(after: start, before: rest)
    if place == .elsewhere { return value }
    let bytes = Array(value.utf8)
    var out: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if mustEncode(byte, in: place) && !isEscape(bytes, at: index) {
        let digits = Array("0123456789ABCDEF".utf8)
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func place(after start: String, before rest: Substring) -> Place {
    let schemes = ["http://", "https://", "postgres://", "postgresql://"]
    guard let scheme = schemes.first(where: { start.lowercased().hasPrefix($0) }) else { return .elsewhere }
    let behind = start.dropFirst(scheme.count)
    if behind.contains("#") { return .elsewhere }
    // What a server is asked for is no part of its URL.
    if scheme.hasPrefix("postgres"), behind.contains("?query=") || behind.contains("&query=") { return .elsewhere }
    if behind.contains("?") { return behind.last == "?" || behind.last == "&" ? .query : .parameter }
    if behind.contains("/") { return .path }
    let authority = rest.prefix { !"/?#".contains($0) }
    return authority.contains("@") && !behind.contains("@") ? .credentials : .elsewhere
  }

  private static func mustEncode(_ byte: UInt8, in place: Place) -> Bool {
    if byte <= 0x20 || byte >= 0x7F { return true }
    return Array(always.utf8).contains(byte) || Array(more(place).utf8).contains(byte)
  }

  private static let always = "\"<>\\^`{|}%#"

  private static func more(_ place: Place) -> String {
    switch place {
    case .credentials: "/?@[]"
    case .parameter: "&+"
    case .path, .elsewhere, .query: ""
    }
  }

  /// Whether two hexadecimal digits follow a percent sign.
  private static func isEscape(_ bytes: [UInt8], at index: Int) -> Bool {
    guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return false }
    return bytes[index + 1...index + 2].allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
  }
}
