import CCurl
import UpsurgeRecords

/// Status and header fields of one answer (RFC 9110, RFC 9112).
struct HTTPHead: Sendable {
  private(set) var status = 0
  /// `Not Found`; as the server says it.
  private(set) var phrase = ""
  /// Names in lower case.
  private var fields: [(name: String, value: String)] = []
  private var byteCount = 0
  private(set) var isComplete = false

  /// More than that is no head.
  private static let byteLimit = 1 << 20

  /// Takes one line, its end included. A status line begins a new head: after `100 Continue` another one comes.
  /// - Returns: false for what is too large.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    // Fields after a chunked body say nothing that is of use here.
    if isComplete { return true }
    byteCount += line.count
    if byteCount > Self.byteLimit { return false }
    var text = String(decoding: line, as: UTF8.self)
    while let last = text.unicodeScalars.last, last == "\r" || last == "\n" {
      text.unicodeScalars.removeLast()
    }
    if text.utf8.starts(with: "HTTP/".utf8) {
      let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
      status = words.count > 1 ? Int(words[1]) ?? 0 : 0
      phrase = words.count > 2 ? String(words[2].prefix(60)) : ""
      fields = []
    } else if text.isEmpty {
      isComplete = status >= 200
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      let name = String(decoding: text[..<colon].utf8.map(URLText.lowercased), as: UTF8.self)
      let value = text[text.utf8.index(after: colon)...]
      fields.append((name, value.trimmed))
    }
    return true
  }

  /// The value of a field; the first where it comes twice.
  func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// `404 Not Found`
  var words: String { (phrase.isEmpty ? "\(status)" : "\(status) \(phrase)").escapedForTerminal }

  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && value("location") != nil }

  /// Whether another try may help.
  var isTransient: Bool { status == 408 || status == 429 || (500...599).contains(status) }

  var isChunked: Bool {
    fields.contains { $0.name == "transfer-encoding" && $0.value.lowercased().contains("chunked") }
  }

  /// How long the body says it is; a chunked one says it at its end.
  enum BodyLength: Equatable {
    case unknown
    case bytes(UInt64)
    /// No number, or several that differ.
    case invalid
  }

  var bodyLength: BodyLength {
    if isChunked { return .unknown }
    let values = fields.filter { $0.name == "content-length" }.flatMap {
      $0.value.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmed }
    }
    guard let first = values.first else { return .unknown }
    guard values.allSatisfy({ $0 == first }), first.utf8.allSatisfy(URLText.isDigit),
      let count = UInt64(first)
    else { return .invalid }
    return .bytes(count)
  }

  var validators: HTTPValidators {
    HTTPValidators(etag: value("etag"), lastModified: value("last-modified"))
  }

  /// What a request for the rest of this body may refer to: an ETag that is not weak, or a time that lies before the
  /// answer's, so that a later change has another one (RFC 9110, 8.8.2.2). nil where there is neither.
  var strongValidator: String? {
    if let etag = value("etag") { return etag.hasPrefix("W/") ? nil : etag }
    guard let modified = value("last-modified"), let date = value("date") else { return nil }
    let (then, now) = (upsurge_curl_date(modified), upsurge_curl_date(date))
    return then > 0 && now > then ? modified : nil
  }

  /// `bytes 100-199/200`; nil for what is not of that form or contradicts itself.
  var contentRange: (first: UInt64, last: UInt64, total: UInt64?)? {
    guard let text = value("content-range")?.lowercased(), text.hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).trimmed.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < .max else {
      return nil
    }
    if parts[1] == "*" { return (first, last, nil) }
    guard let total = UInt64(parts[1]), last < total else { return nil }
    return (first, last, total)
  }

  /// Seconds that the server asks to wait; a date counts from the answer's own, where it has one.
  func retryAfterSeconds(now: Int64) -> Double? {
    guard let text = value("retry-after") else { return nil }
    if let seconds = UInt32(text) { return Double(seconds) }
    let then = upsurge_curl_date(text)
    let sent = value("date").map { upsurge_curl_date($0) } ?? -1
    return then < 0 ? nil : max(Double(then - (sent < 0 ? now : sent)), 0)
  }

  /// What the text is encoded in, by `Content-Type: text/csv; charset=windows-1251` (RFC 9110, 8.3).
  var charset: String? {
    for parameter in (value("content-type") ?? "").split(separator: ";").dropFirst() {
      guard let equals = parameter.firstIndex(of: "="),
        URLText.isSame(parameter[..<equals].trimmed, "charset")
      else { continue }
      let name = parameter[parameter.index(after: equals)...].trimmed
      let bare = name.split(separator: "\"").joined()
      return bare.isEmpty ? nil : bare
    }
    return nil
  }

  /// A coding of the body that is not undone here: only gzip and zstd are, by their content.
  var unknownCoding: String? {
    let codings = fields.filter { $0.name == "content-encoding" }.flatMap { $0.value.split(separator: ",") }
    let known = ["identity", "gzip", "x-gzip", "zstd", ""]
    return codings.map { $0.trimmed }.first { !known.contains($0.lowercased()) }
  }
}

extension StringProtocol {
  /// Without spaces and tabs at both ends.
  fileprivate var trimmed: String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let bytes = Array(utf8)
    guard let first = bytes.firstIndex(where: { !isBlank($0) }),
      let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }
}
