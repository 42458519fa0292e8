import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

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
