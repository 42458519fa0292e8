import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A request that does not wait long for its next try.
func quick(_ url: String, tries: Int = 4) -> HTTPRequest {
  var request = HTTPRequest(url: url)
  request.retry.mostTries = tries
  request.retry.firstSeconds = 0.02
  request.retry.mostSeconds = 0.1
  request.retry.mostAskedSeconds = 2
  request.usesNetrc = false
  return request
}

/// What a fetch has brought.
struct Fetched {
  var response: HTTPResponse?
  var bytes: [UInt8] = []
  var error: UpsurgeError?
  var seconds = 0.0
}

/// Fetches a URL to its end, through a source.
func fetch(_ request: HTTPRequest, cancellation: ReadCancellation? = nil) -> Fetched {
  var fetched = Fetched()
  let start = MonotonicClock.seconds
  do throws(UpsurgeError) {
    let fetch = try HTTPFetch.open(request, cancellation: cancellation)
    fetched.response = fetch.response
    let source = try FileSource(feed: fetch, name: request.shownURL, cancellation: cancellation)
    let delivery = drain(source)
    (fetched.bytes, fetched.error) = (delivery.bytes, delivery.error)
  } catch {
    fetched.error = error
  }
  fetched.seconds = MonotonicClock.seconds - start
  return fetched
}

/// Memory of this process that is resident, in bytes; nil where the system does not tell.
func residentByteCount() -> Int? {
  guard let file = fopen("/proc/self/statm", "r") else { return nil }
  defer { fclose(file) }
  var buffer = [CChar](repeating: 0, count: 256)
  guard fgets(&buffer, 256, file) != nil else { return nil }
  let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  let words = text.split(separator: " ")
  return words.count > 1 ? Int(words[1]).map { $0 * Int(getpagesize()) } : nil
}
