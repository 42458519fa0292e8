import Synchronization
import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

private typealias Server = HTTPTestServer

@Suite("Feeds: cancellation and back pressure", .serialized)
struct FeedStreamTests {
  @Test(
    "A cancellation ends a fetch wherever it is",
    arguments: ["no answer", "a body that stalls", "between tries", "nobody reads"])
  func cancels(kind: String) throws {
    let server = try Server { request in
      switch kind {
      case "no answer": [.hold]
      case "a body that stalls": [Server.head("200 OK", ["Content-Length: 9"]), .send([65]), .hold]
      case "between tries": Server.status("503 Service Unavailable", ["Retry-After: 100"])
      default: [Server.head("200 OK"), .rep([UInt8](repeating: 65, count: 1 << 20), times: 100_000)]
      }
    }
    // A busy machine may take its time now and then, but not always.
    var waits: [Double] = []
    repeat {
      waits.append(try cancelled(server.url(), isRead: kind != "nobody reads"))
    } while waits.count < 5 && waits[waits.count - 1] > 1
    #expect(waits.contains { $0 < 1 }, "\(waits)")
  }

  /// - Returns: seconds from the request for an end to the end.
  private func cancelled(_ url: String, isRead: Bool) throws -> Double {
    let cancellation = ReadCancellation()
    let requestedAt = Moment()
    let canceller = BackgroundThread {
      usleep(200_000)
      requestedAt.note()
      cancellation.request()
    }
    var error: UpsurgeError?
    do throws(UpsurgeError) {
      let request = HTTPRequest(url: url)
      let feed = try HTTPFetch.open(request, cancellation: cancellation)
      let source = try FileSource(feed: feed, name: request.shownURL, cancellation: cancellation)
      if isRead { error = drain(source).error } else { canceller.join() }
    } catch let failure {
      error = failure
    }
    let end = MonotonicClock.seconds
    if isRead {
      canceller.join()
      #expect(try #require(error).description == "reading \(url) was interrupted\n  at \(url)")
      #expect(error?.code == .interrupted)
    }
    return end - requestedAt.seconds
  }

  @Test("A source that is dropped ends its fetch")
  func drops() throws {
    let server = try Server { _ in
      [Server.head("200 OK"), .rep([UInt8](repeating: 65, count: 1 << 20), times: 1_000_000)]
    }
    do {
      let source = try OpenedSource(name: server.url())
      #expect(source.sample.count > 0)
    }
    let end = MonotonicClock.seconds + 30
    while server.openCount > 0 && MonotonicClock.seconds < end { usleep(10_000) }
    #expect(server.openCount == 0 && server.requests.count == 1)
  }

  @Test("A reader that stops holds up the server: nothing is gathered in between")
  func backPressure() throws {
    let server = try Server { _ in
      [Server.head("200 OK"), .rep([UInt8](repeating: 65, count: 1 << 20), times: 1_000_000)]
    }
    let feed = try HTTPFetch.open(HTTPRequest(url: server.url()))
    var sent = -1
    while sent != server.sentByteCount {
      sent = server.sentByteCount
      usleep(300_000)
    }
    // The pipe, libcurl's buffer and those of both sockets.
    #expect(sent > 0 && sent < 24 << 20)
    withExtendedLifetime(feed) {}
  }
}

/// A time that one thread notes for another.
private final class Moment: Sendable {
  private let value = Mutex(0.0)

  func note() { value.withLock { $0 = MonotonicClock.seconds } }

  var seconds: Double { value.withLock { $0 } }
}
