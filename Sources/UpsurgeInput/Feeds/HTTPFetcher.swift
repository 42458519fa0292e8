import CCurl
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Fetches one URL on a thread of its own, and writes the body into a pipe.
///
///     request -> redirects -> answer -> body ... -> whole
///        ^                      |          | cut
///        +---- wait, again -----+          +-- the rest by Range, if it still is the same: If-Range
///
/// Until the first byte has come, each try starts anew. After it, the rest is asked for where the first part came from: at
/// the URL that the redirects led to. Only an answer from there that begins at the next byte of the same content is
/// taken. Anything else ends the stream as one that is cut: the same ETag on another server says nothing.
final class HTTPFetcher {
  private let request: HTTPRequest
  private let exchange: HTTPExchange
  private let writer: FeedWriter
  private let start = MonotonicClock.seconds
  private var random = SystemRandomNumberGenerator()

  /// The answer whose body is being written, from its first byte on.
  private var first: HTTPHead?
  /// Where that answer came from, after all redirects, and whether that is still the server of the request.
  private var place: (url: String, isSameServer: Bool)
  /// Bytes that are in the pipe, or were read.
  private var deliveredByteCount: UInt64 = 0
  /// Of the whole content.
  private var totalByteCount: UInt64?
  /// Why the last try has brought no more.
  private var lastReason = ""

  /// So many bytes between two failures make the second the first.
  private static let progressByteCount: UInt64 = 1 << 20

  init(_ request: HTTPRequest, exchange: HTTPExchange, writing descriptor: Int32) {
    self.request = request
    self.exchange = exchange
    place = (request.url, true)
    writer = FeedWriter(descriptor)
  }

  /// What has come of a request.
  private enum Outcome {
    case done
    /// Worth another try, after so many seconds where the server says so.
    case retry(String, askedSeconds: Double? = nil)
  }

  /// Does it all, and informs the exchange how it has ended.
  func run() {
    WorkerThread.blockSignals()
    do throws(UpsurgeError) {
      try fetch()
      exchange.end(.success(()))
    } catch {
      exchange.end(.failure(error))
    }
    systemClose(writer.descriptor)
    exchange.abandon()
  }

  private var name: String { exchange.name }

  private func fetch() throws(UpsurgeError) {
    var tries = 0
    var failures = 0
    var knownByteCount: UInt64 = 0
    while true {
      tries += 1
      guard case .retry(let reason, askedSeconds: let askedSeconds) = try attempt() else { return }
      if deliveredByteCount - knownByteCount >= Self.progressByteCount { failures = 0 }
      knownByteCount = deliveredByteCount
      failures += 1
      lastReason = reason
      try checkResumable(reason)
      if failures >= request.retry.mostTries { throw tooOften(tries, reason) }
      let asked = askedSeconds ?? 0
      if asked > request.retry.mostAskedSeconds {
        throw tooOften(tries, "\(reason) and asks to come again in \(Int(asked)) s")
      }
      if !exchange.pause(seconds: max(wait(behind: failures), asked)) { throw .interrupted(name) }
    }
  }

  /// Twice as long each time, less up to a half at random.
  private func wait(behind failures: Int) -> Double {
    let longest = request.retry.firstSeconds * Double(1 << min(failures - 1, 20))
    return min(longest, request.retry.mostSeconds) * Double.random(in: 0.5...1, using: &random)
  }

  /// - Throws: `badInput` where the body cannot be resumed.
  private func checkResumable(_ reason: String) throws(UpsurgeError) {
    guard let first else { return }
    if URLText.isSame(first.value("accept-ranges") ?? "", "none") {
      throw cutOff(reason, why: "the server does not send parts of it (Accept-Ranges: none)")
    }
    if first.strongValidator == nil {
      throw cutOff(
        reason,
        why:
          "the server has said nothing by which the rest could be told to be of the same content (a strong ETag, or "
          + "Last-Modified with Date)")
    }
  }

  private func tooOften(_ tries: Int, _ reason: String) -> UpsurgeError {
    let seconds = MonotonicClock.seconds - start
    guard first != nil else { return .givenUp(name, tries: tries, seconds: seconds, last: reason) }
    return cutOff(reason, why: "\(tries) tries within \(Words.seconds(seconds)) have not brought the rest")
  }

  private func cutOff(_ reason: String, why: String) -> UpsurgeError {
    .cutOff(name, offset: deliveredByteCount, total: totalByteCount, reason, why: why)
  }

  // MARK: - One try

  /// Asks for all, or for the rest, and follows redirects.
  private func attempt() throws(UpsurgeError) -> Outcome {
    var (url, isSameServer) = first == nil ? (request.url, true) : place
    for _ in 0...request.maximumRedirects {
      if first == nil { place = (url, isSameServer) }
      let transfer = HTTPTransfer(
        exchange: exchange, timeouts: request.timeouts, accept: { self.accept($0) },
        deliver: { self.deliver($0) })
      switch try transfer.run(request, url: url, fields: fields(isSameServer: isSameServer)) {
      case .cancelled: throw .interrupted(name)
      case .tooLong: throw .tooLong(name, transfer.bodyByteCount)
      case .failed(let reason, _): return .retry(reason)
      case .whole: return try finish()
      case .answered:
        guard transfer.head.isRedirect else { return try judge(transfer.head) }
        let next = try target(of: transfer.head, from: url)
        if first != nil {
          throw cutOff(
            lastReason,
            why: "the rest is now somewhere else: \(shown(url)) redirects to \(shown(next))")
        }
        isSameServer = isSameServer && URLText.origin(of: next) == URLText.origin(of: url)
        url = next
      }
    }
    throw .badAnswer(
      name, "it redirects more than \(request.maximumRedirects) times, at last to \(shown(url))",
      hint: "curl -sIL shows each step; name the last URL that is right")
  }

  private func fields(isSameServer: Bool) -> [String] {
    var fields = ["Accept-Encoding: identity", "Connection: close", "User-Agent: upsurge"]
    let harmless = ["accept", "accept-language", "user-agent"]
    for header in request.headers {
      if !isSameServer && !harmless.contains(where: { URLText.isSame($0, header.name) }) { continue }
      fields.removeAll { URLText.isSame(String($0.prefix { $0 != ":" }), header.name) }
      // A name alone would take a header of libcurl's away.
      fields.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
    }
    if let first {
      fields.append("Range: bytes=\(deliveredByteCount)-")
      if let validator = first.strongValidator { fields.append("If-Range: \(validator)") }
    } else {
      // They come back from a database, which must not add a line of its own.
      if let etag = request.validators.etag, isOneLine(etag) { fields.append("If-None-Match: \(etag)") }
      if let time = request.validators.lastModified, isOneLine(time) {
        fields.append("If-Modified-Since: \(time)")
      }
    }
    return fields
  }

  private func isOneLine(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  /// - Throws: `unreadableInput` for a redirect that is not followed.
  private func target(of head: HTTPHead, from url: String) throws(UpsurgeError) -> String {
    let location = head.value("location") ?? ""
    guard let found = upsurge_curl_resolve(url, location) else {
      throw .badAnswer(
        name, "it redirects to \(shown(location)), which is no http:// or https:// URL",
        hint: "name the URL that is right")
    }
    defer { upsurge_curl_free_text(found) }
    let next = String(cString: found)
    if URLText.isSecure(url) && !URLText.isSecure(next) {
      throw .badAnswer(
        name,
        "it redirects to \(shown(next)), which is not encrypted, so that anybody could change it on its way",
        hint: "name that URL itself if it is to be trusted")
    }
    return next
  }

  /// A text that a server has sent, in a message.
  private func shown(_ url: String) -> String {
    String(request.mask.shownURL(url).prefix(200)).escapedForTerminal
  }

  // MARK: - The answer

  /// Whether a body is one that is wanted, and how long it must be; nil refuses it.
  private func accept(_ head: HTTPHead) -> HTTPHead.BodyLength? {
    guard first == nil else { return rest(head).length }
    guard head.status == 200 || head.status == 203, head.unknownCoding == nil, head.bodyLength != .invalid
    else {
      return nil
    }
    candidate = head
    return head.bodyLength
  }

  /// An answer whose first byte has not come: the next try may bring another one.
  private var candidate: HTTPHead?

  private func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
    openCandidate()
    guard writer.write(bytes, isCancelled: { exchange.isCancelled }) else { return false }
    deliveredByteCount += UInt64(bytes.count)
    return true
  }

  private func openCandidate() {
    guard first == nil, let head = candidate else { return }
    first = head
    if case .bytes(let count) = head.bodyLength { totalByteCount = count }
    exchange.open(
      HTTPResponse(
        status: head.status, validators: head.validators, contentLength: totalByteCount,
        provesEnd: totalByteCount != nil || head.isChunked, charset: head.charset))
  }

  /// What follows from an answer to a request for the rest: how long it must be, or why it is not resumed.
  private func rest(_ head: HTTPHead) -> (length: HTTPHead.BodyLength?, refusal: String?) {
    guard let first else { return (nil, nil) }
    let (old, new) = (first.validators, head.validators)
    if head.status == 200 || head.status == 206 {
      if let etag = new.etag, let known = old.etag, etag != known {
        return (
          nil,
          "it has changed meanwhile (its ETag was \(known.escapedForTerminal), and is \(etag.escapedForTerminal))"
        )
      }
      if let time = new.lastModified, let known = old.lastModified, time != known {
        return (nil, "it has changed meanwhile (at \(time.escapedForTerminal))")
      }
    }
    if head.status == 200 { return (nil, "the server sends it from the start again instead of the rest") }
    guard head.status == 206 else {
      return (nil, "the server answered \(head.words) when it was asked for the rest")
    }
    guard let range = head.contentRange, range.first == deliveredByteCount else {
      let words =
        head.value("content-range").map { "Content-Range: \($0.escapedForTerminal)" } ?? "no Content-Range"
      return (nil, "the server has sent another part than the rest (\(words))")
    }
    guard let total = range.total ?? totalByteCount, totalByteCount ?? total == total, range.last < total
    else {
      return (nil, "its length was \(words(totalByteCount)) and is \(words(range.total))")
    }
    let count = range.last - range.first + 1
    if case .bytes(let said) = head.bodyLength, said != count {
      return (nil, "the server contradicts itself about the length of the rest")
    }
    if head.bodyLength == .invalid || head.unknownCoding != nil {
      return (nil, "the server sends the rest in a form that cannot be read")
    }
    totalByteCount = total
    return (.bytes(count), nil)
  }

  private func words(_ byteCount: UInt64?) -> String { byteCount.map { "\($0) bytes" } ?? "not known" }

  /// A body has ended as its head says.
  private func finish() throws(UpsurgeError) -> Outcome {
    // One without a byte.
    openCandidate()
    if let total = totalByteCount, deliveredByteCount < total {
      return .retry("the server sent no more than a part of the rest")
    }
    return .done
  }

  /// An answer without a body that is wanted.
  private func judge(_ head: HTTPHead) throws(UpsurgeError) -> Outcome {
    if head.isTransient {
      return .retry(
        "the server answered \(head.words)", askedSeconds: head.retryAfterSeconds(now: Int64(time(nil))))
    }
    if first != nil {
      throw cutOff(lastReason, why: rest(head).refusal ?? "the server sends no rest")
    }
    if head.status == 304, !request.validators.isEmpty {
      let known = request.validators
      let validators = HTTPValidators(
        etag: head.validators.etag ?? known.etag,
        lastModified: head.validators.lastModified ?? known.lastModified)
      exchange.open(
        HTTPResponse(status: head.status, validators: validators, contentLength: nil, provesEnd: true))
      return .done
    }
    if head.status == 200 || head.status == 203 {
      if let coding = head.unknownCoding {
        throw .badAnswer(
          name,
          "the server sends it as \(coding.escapedForTerminal), though it was asked to leave it as it is",
          hint: "exec:'curl -fsS --compressed URL' undoes that")
      }
      throw .badAnswer(
        name, "the server contradicts itself about its length (Content-Length)",
        hint: "curl -v shows the whole answer; its owner can fix that")
    }
    throw .refused(name, head, of: request)
  }
}
