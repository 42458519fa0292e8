import UpsurgeRecords

/// URLs as text, as far as they must be understood to be shown and compared; libcurl reads them to fetch them.
///
///     https://user:password@host:8443/path?token=abc&day=1#part
///     scheme  userinfo      authority      query
enum URLText {
  private static let mask = "***"

  /// The URL without its user and password, the values of parameters that are called like secrets, and its fragment.
  static func redacted(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let mark = range(of: "://", in: bytes[...]) else { return url }
    var out = Array(bytes[..<mark.upperBound])
    var rest = bytes[mark.upperBound...]
    if let at = endOfCredentials(rest) {
      out += mask.utf8
      rest = rest[at...]
    }
    if let fragment = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<fragment] }
    let query = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
    // A path has parameters of its own: `/list;jsessionid=4711`.
    out += withoutSecrets(
      rest[..<query], endsParameter: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "/") })
    out += withoutSecrets(
      rest[query...],
      endsParameter: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "?") })
    return String(decoding: out, as: UTF8.self)
  }

  /// A part of a URL with a mask for the values of `NAME=VALUE` that nobody else may see.
  private static func withoutSecrets(
    _ part: ArraySlice<UInt8>, endsParameter: (UInt8) -> Bool
  ) -> [UInt8] {
    var out: [UInt8] = []
    var rest = part
    while !rest.isEmpty {
      let end = rest.firstIndex(where: endsParameter) ?? rest.endIndex
      let parameter = rest[..<end]
      if let cut = parameter.firstIndex(of: UInt8(ascii: "=")),
        SecretName.isSecret(decoded(parameter[..<cut])) || holdsSecretURL(parameter[(cut + 1)...])
      {
        out += parameter[...cut]
        out += mask.utf8
      } else {
        out += parameter
      }
      if end < rest.endIndex { out.append(rest[end]) }
      rest = rest[end...].dropFirst()
    }
    return out
  }

  /// The URL of a database server without its password, so that it can be pasted where the password stands elsewhere. Its library
  /// ends the credentials at an @ before the first `/`, whatever else they hold.
  static func redactedServer(_ url: String) -> String {
    let end = endOfServerCredentials(url)
    guard let mark = url.firstRange(of: "://"), end > mark.upperBound else { return redacted(url) }
    let user = url[mark.upperBound..<url.index(before: end)].prefix { $0 != ":" }
    let isPlain = !user.isEmpty && user.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    let host = redacted("\(url[..<mark.upperBound])\(url[end...])").dropFirst(mark.upperBound.utf16Offset(in: url))
    return "\(url[..<mark.upperBound])\(isPlain ? String(user) : mask)@\(host)"
  }

  /// Where the host of a server's URL begins, after the `@`; the start of the text where no credentials stand.
  static func endOfServerCredentials(_ url: String) -> String.Index {
    guard let mark = url.firstRange(of: "://") else { return url.startIndex }
    let rest = url[mark.upperBound...]
    guard let at = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return url.startIndex }
    return url.index(after: at)
  }

  /// Whether a value is another URL, with a secret in it.
  private static func holdsSecretURL(_ value: ArraySlice<UInt8>) -> Bool {
    guard value.contains(UInt8(ascii: "%")) else { return false }
    let inner = decoded(value)
    return inner.contains("://") && redacted(inner) != inner
  }

  /// A part of a URL with the bytes that `%XX` stands for.
  private static func decoded(_ part: ArraySlice<UInt8>) -> String {
    var out: [UInt8] = []
    var index = part.startIndex
    while index < part.endIndex {
      if part[index] == UInt8(ascii: "%"), index + 2 < part.endIndex,
        let byte = UInt8(String(decoding: part[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
      {
        out.append(byte)
        index += 3
      } else {
        out.append(part[index])
        index += 1
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// A text in which each URL is redacted; a URL ends at a space or a quote.
  static func redacted(within text: String) -> String {
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    var rest = bytes[...]
    while let mark = range(of: "://", in: rest) {
      var start = mark.lowerBound
      while start > rest.startIndex, isSchemeByte(rest[start - 1]) { start -= 1 }
      let end =
        rest[mark.upperBound...].firstIndex { [0x20, 0x09, 0x0A, 0x22, 0x27].contains($0) } ?? rest.endIndex
      out += rest[..<start]
      out += redacted(String(decoding: rest[start..<end], as: UTF8.self)).utf8
      rest = rest[end...]
    }
    return String(decoding: out + rest, as: UTF8.self)
  }

  /// Where a URL leads: scheme, host and port in one spelling.
  static func origin(of url: String) -> String {
    let bytes = url.utf8.map(lowercased)
    guard let mark = range(of: "://", in: bytes[...]) else { return url }
    let scheme = String(decoding: bytes[..<mark.lowerBound], as: UTF8.self)
    var authority = bytes[mark.upperBound...].prefix { !isEndOfAuthority($0) }
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    let hasPort =
      authority.lastIndex(of: UInt8(ascii: ":")).map { authority[($0 + 1)...].allSatisfy(isDigit) } ?? false
    let host = String(decoding: authority, as: UTF8.self)
    return "\(scheme)://\(host)" + (hasPort ? "" : scheme == "https" ? ":443" : ":80")
  }

  /// The host alone, as a line of ~/.netrc names it.
  static func host(of url: String) -> String {
    let bytes = Array(origin(of: url).utf8)
    guard let mark = range(of: "://", in: bytes[...]), let colon = bytes.lastIndex(of: UInt8(ascii: ":"))
    else {
      return url
    }
    return String(decoding: bytes[mark.upperBound..<max(colon, mark.upperBound)], as: UTF8.self)
  }

  /// Whether what is sent there is encrypted.
  static func isSecure(_ url: String) -> Bool { origin(of: url).hasPrefix("https:") }

  /// Where the credentials end, with the `@` after them; nil without any.
  ///
  /// A `/`, `?` or `#` in a password should be escaped, and would end the authority. What stands before it is a host
  /// and a port then, of which the port is no number.
  private static func endOfCredentials(_ rest: ArraySlice<UInt8>) -> Int? {
    let authority = rest.prefix { !isEndOfAuthority($0) }
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { return at }
    guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), authority.last != UInt8(ascii: "]"),
      !authority[(colon + 1)...].allSatisfy(isDigit)
    else { return nil }
    return rest.lastIndex(of: UInt8(ascii: "@"))
  }

  // MARK: - Bytes

  static func isSchemeByte(_ byte: UInt8) -> Bool {
    let lower = lowercased(byte)
    return (0x61...0x7A).contains(lower) || isDigit(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E
  }

  /// ASCII only.
  static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// A text as it stands in a URL where it must mean nothing: all but letters, digits and `-._~` as `%XX`.
  static func percentEncoded(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default:
        let digits = Array("0123456789ABCDEF".utf8)
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Whether two ASCII texts differ in case only.
  static func isSame(_ text: String, _ other: String) -> Bool {
    text.utf8.map(lowercased) == other.utf8.map(lowercased)
  }

  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  static func range(of text: String, in bytes: ArraySlice<UInt8>) -> Range<Int>? {
    let wanted = Array(text.utf8)
    guard bytes.count >= wanted.count else { return nil }
    for start in bytes.startIndex...(bytes.endIndex - wanted.count)
    where bytes[start..<start + wanted.count].elementsEqual(wanted) {
      return start..<start + wanted.count
    }
    return nil
  }

  private static func isEndOfAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }
}
