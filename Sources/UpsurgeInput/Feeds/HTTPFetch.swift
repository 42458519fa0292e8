import CCurl
import UpsurgeRecords

/// What an http(s) URL leads to, as a stream: a thread fetches it and writes it into a pipe, which bounds the memory
/// however long it is.
///
///     let fetch = try HTTPFetch.open(HTTPRequest(url: url), cancellation: cancellation)
///     if fetch.response.isNotModified { return }
///     let source = try FileSource(feed: fetch, name: request.shownURL, cancellation: cancellation)
package final class HTTPFetch: Feed {
  package let response: HTTPResponse
  package let descriptor: Int32
  private let exchange: HTTPExchange

  package var expectedByteCount: UInt64? { response.contentLength }
  package var provesEnd: Bool { response.provesEnd }

  /// Sends the request and waits for the answer, and for the first byte of its body. What may pass is tried again.
  /// - Parameter cancellation: ends the fetch within a tenth of a second, also later.
  /// - Throws: `unreadableInput` where there is no such thing, or no answer; `usage`; `interrupted`.
  package static func open(
    _ request: HTTPRequest, cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) -> HTTPFetch {
    let name = request.shownURL
    let source = Source(request.url)
    guard source.isURL else {
      throw source.unknownScheme
        ?? .badURL(name, "it does not begin with http:// or https://")
    }
    try request.validate()
    if let problem = upsurge_curl_load() {
      throw UpsurgeError(
        .unreadableInput, "cannot fetch \(name.escapedForTerminal): \(String(cString: problem))",
        hint: "install it: apt-get install libcurl4 (Debian, Ubuntu), dnf install libcurl (Fedora)")
    }
    let pipe = try FeedPipe(for: name)
    let exchange = HTTPExchange(name: name, cancellation: cancellation)
    do throws(UpsurgeError) {
      _ = try WorkerThread { HTTPFetcher(request, exchange: exchange, writing: pipe.writeEnd).run() }
    } catch {
      systemClose(pipe.readEnd)
      systemClose(pipe.writeEnd)
      throw error
    }
    do throws(UpsurgeError) {
      return HTTPFetch(try exchange.waitForResponse(), exchange, descriptor: pipe.readEnd)
    } catch {
      systemClose(pipe.readEnd)
      exchange.stopAndWait()
      throw error
    }
  }

  private init(_ response: HTTPResponse, _ exchange: HTTPExchange, descriptor: Int32) {
    self.response = response
    self.exchange = exchange
    self.descriptor = descriptor
  }

  deinit {
    systemClose(descriptor)
    exchange.stopAndWait()
  }

  package func checkWhole(cancellation: ReadCancellation?) throws(UpsurgeError) {
    try exchange.waitForEnd(cancellation: cancellation)
  }

  package func stop() { exchange.stop() }
}
