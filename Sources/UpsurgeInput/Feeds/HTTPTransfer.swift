import CCurl
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One request and its answer, on the fetching thread.
///
/// libcurl is told to leave the length of a body alone: where a server sends more than its Content-Length, the rest
/// would be dropped without a word. `Connection: close` asks the server to end the connection after the body.
final class HTTPTransfer {
  /// How it has ended.
  enum Ending {
    /// The body is wanted and as long as the head says; where it says nothing, as far as the connection went.
    case whole
    /// The body is longer than the head says.
    case tooLong
    /// The connection failed, before the head or inside the body; or was too slow.
    case failed(String, code: Int32)
    /// The head is not one whose body is wanted.
    case answered
    case cancelled
  }

  private(set) var head = HTTPHead()
  /// Bytes of the body that came, up to the length that it says it has.
  private(set) var bodyByteCount: UInt64 = 0
  private var isWanted = false
  private var isTooLong = false
  private var isRefused = false
  private var expected: UInt64?

  private let exchange: HTTPExchange
  private let timeouts: HTTPRequest.Timeouts
  /// Decides on the body when the head is complete; nil refuses it, else the length that it must have.
  private let accept: (HTTPHead) -> HTTPHead.BodyLength?
  private let deliver: (UnsafeRawBufferPointer) -> Bool

  private let start = MonotonicClock.seconds
  /// Since then the bytes of a body are counted, to see whether it stalls.
  private var windowStart = 0.0
  private var windowByteCount: UInt64 = 0
  /// When the last byte came that the head speaks of.
  private var completeSince: Double?

  /// So long a connection may stay open after a body before that is taken for whole; more bytes in that time are noticed.
  private static let graceSeconds = 0.05

  init(
    exchange: HTTPExchange, timeouts: HTTPRequest.Timeouts,
    accept: @escaping (HTTPHead) -> HTTPHead.BodyLength?,
    deliver: @escaping (UnsafeRawBufferPointer) -> Bool
  ) {
    self.exchange = exchange
    self.timeouts = timeouts
    self.accept = accept
    self.deliver = deliver
  }

  /// Does it all.
  /// - Parameter fields: whole lines, `Name: value`.
  /// - Throws: `unreadableInput` for what is not a URL, or without memory.
  func run(_ request: HTTPRequest, url: String, fields: [String]) throws(UpsurgeError) -> Ending {
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    defer { message.deallocate() }
    var list: UnsafeMutablePointer<curl_slist>?
    for field in fields {
      list = upsurge_curl_append(list, field)
      if list == nil { throw Self.noMemory }
    }
    defer { upsurge_curl_free_list(list) }
    guard let handle = upsurge_curl_open() else { throw Self.noMemory }
    defer { upsurge_curl_close(handle) }
    _ = upsurge_curl_set_headers(handle, list)
    _ = upsurge_curl_set_error(handle, message)
    let code = set(handle, request, url: url)
    if code != 0 { throw .badURL(exchange.name, String(cString: upsurge_curl_text(code))) }
    _ = upsurge_curl_set_callbacks(
      handle,
      { bytes, size, count, context in HTTPTransfer.of(context).takeHeader(bytes, size * count) },
      { bytes, size, count, context in HTTPTransfer.of(context).takeBody(bytes, size * count) },
      Unmanaged.passUnretained(self).toOpaque())
    guard let transfer = upsurge_curl_begin(handle) else { throw Self.noMemory }
    defer { upsurge_curl_end(transfer, handle) }
    return try drive(transfer, message)
  }

  /// - Returns: libcurl's code.
  private func set(_ handle: UnsafeMutableRawPointer, _ request: HTTPRequest, url: String) -> Int32 {
    let code = upsurge_curl_set_text(handle, CURLOPT_URL, url)
    _ = upsurge_curl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(timeouts.connect * 1_000))
    if request.usesNetrc {
      _ = upsurge_curl_set_number(handle, CURLOPT_NETRC, Int(CURL_NETRC_OPTIONAL.rawValue))
      if let path = request.netrcPath { _ = upsurge_curl_set_text(handle, CURLOPT_NETRC_FILE, path) }
    }
    // As the command curl does; the library looks at no variable but those of proxies.
    for name in ["CURL_CA_BUNDLE", "SSL_CERT_FILE"] {
      guard let path = getenv(name), path.pointee != 0 else { continue }
      _ = upsurge_curl_set_text(handle, CURLOPT_CAINFO, path)
      break
    }
    return code
  }

  private func drive(
    _ transfer: UnsafeMutableRawPointer, _ message: UnsafePointer<CChar>
  ) throws(UpsurgeError) -> Ending {
    while true {
      var code: Int32 = 0
      let hasEnded = upsurge_curl_step(transfer, &code) != 0
      if isTooLong { return .tooLong }
      if hasEnded { return try ending(code, message) }
      if exchange.isCancelled { return .cancelled }
      let now = MonotonicClock.seconds
      if let completeSince, now - completeSince >= Self.graceSeconds { return .whole }
      if let words = slowness(now) { return .failed(words, code: Int32(CURLE_OPERATION_TIMEDOUT.rawValue)) }
      upsurge_curl_wait(transfer, completeSince == nil ? Int32(HTTPExchange.lookMilliseconds) : 10)
    }
  }

  private func ending(_ code: Int32, _ message: UnsafePointer<CChar>) throws(UpsurgeError) -> Ending {
    if exchange.isCancelled { return .cancelled }
    if head.isComplete && !isWanted { return .answered }
    if isWanted {
      // However the connection ended: what the head speaks of is there.
      if let expected, bodyByteCount == expected { return .whole }
      if code == 0 {
        return expected == nil ? .whole : .failed("the server closed the connection", code: 0)
      }
    }
    if isRefused { return .cancelled }
    var words = String(cString: message)
    if words.isEmpty { words = code == 0 ? "there was no answer" : String(cString: upsurge_curl_text(code)) }
    words = words.escapedForTerminal
    if UInt32(bitPattern: code) == CURLE_URL_MALFORMAT.rawValue { throw .badURL(exchange.name, words) }
    if Self.lasting.contains(UInt32(bitPattern: code)) { throw .cannotFetch(exchange.name, words, code) }
    return .failed(words, code: code)
  }

  /// What another try cannot change.
  private static let lasting: Set<UInt32> = [
    CURLE_UNSUPPORTED_PROTOCOL.rawValue, CURLE_NOT_BUILT_IN.rawValue,
    CURLE_PEER_FAILED_VERIFICATION.rawValue, CURLE_SSL_CACERT_BADFILE.rawValue,
    CURLE_OUT_OF_MEMORY.rawValue, CURLE_BAD_FUNCTION_ARGUMENT.rawValue,
  ]

  /// Why the transfer is given up; nil while it is fast enough.
  private func slowness(_ now: Double) -> String? {
    if !isWanted {
      return now - start < timeouts.answer
        ? nil : "there was no answer within \(Words.seconds(timeouts.answer))"
    }
    if completeSince != nil || now - windowStart < timeouts.stall { return nil }
    if Double(windowByteCount) < timeouts.leastBytesPerSecond * timeouts.stall {
      return
        "no more than \(Words.count(windowByteCount, "byte")) came within \(Words.seconds(timeouts.stall))"
    }
    (windowStart, windowByteCount) = (now, 0)
    return nil
  }

  private static var noMemory: UpsurgeError {
    UpsurgeError(.unreadableInput, "no memory for a fetch", hint: "free some memory")
  }

  // MARK: - Called by libcurl

  private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
    guard let context else { preconditionFailure("libcurl has lost its context") }
    return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    let wasComplete = head.isComplete
    guard head.take(UnsafeRawBufferPointer(start: bytes, count: count)) else { return 0 }
    if wasComplete || !head.isComplete { return count }
    guard let length = accept(head) else { return 0 }
    isWanted = true
    if case .bytes(let byteCount) = length { expected = byteCount }
    windowStart = MonotonicClock.seconds
    if expected == 0 { completeSince = windowStart }
    return count
  }

  private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard isWanted else { return 0 }
    var wanted = count
    if let expected, UInt64(count) > expected - bodyByteCount {
      wanted = Int(expected - bodyByteCount)
      isTooLong = true
    }
    let before = MonotonicClock.seconds
    if wanted > 0, !deliver(UnsafeRawBufferPointer(start: bytes, count: wanted)) {
      isRefused = true
      return 0
    }
    let now = MonotonicClock.seconds
    // While nobody reads, the server cannot send.
    windowStart += now - before
    windowByteCount += UInt64(wanted)
    bodyByteCount += UInt64(wanted)
    if bodyByteCount == expected { completeSince = now }
    return isTooLong ? 0 : count
  }
}
