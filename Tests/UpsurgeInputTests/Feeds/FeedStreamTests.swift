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

@Suite("Feeds: memory and cancellation", .serialized)
struct FeedStreamTests {
  /// `UPSURGE_FEED_MIB=10240` streams as much as that.
  static let mebibytes = getenv("UPSURGE_FEED_MIB").flatMap { Int(String(cString: $0)) } ?? 1_024
  static let mostGrowth = 32 << 20

  @Test("A large body takes no more memory than a small one", arguments: ["length", "chunked", "exec"])
  func boundsMemory(kind: String) throws {
    // Other tests run beside this one in the same process, and take memory too, but not for ever.
    var growths: [Int] = []
    repeat {
      growths.append(try growth(kind))
    } while growths.count < 4 && growths[growths.count - 1] >= Self.mostGrowth
    #expect(growths.contains { $0 < Self.mostGrowth }, "bytes more: \(growths)")
  }

  /// Streams a body and looks at the memory now and then.
  private func growth(_ kind: String) throws -> Int {
    let piece =
      Array("1234567,some text,0.5\n".utf8) + [UInt8](repeating: 0x30, count: (1 << 20) - 23) + [0x0A]
    #expect(piece.count == 1 << 20)
    let total = Self.mebibytes << 20
    let server = try Server { _ in
      if kind == "length" {
        return [Server.head("200 OK", ["Content-Length: \(total)"]), .rep(piece, times: Self.mebibytes)]
      }
      let chunk = Array("100000\r\n".utf8) + piece + Array("\r\n".utf8)
      return [
        Server.head("200 OK", ["Transfer-Encoding: chunked"]), .rep(chunk, times: Self.mebibytes),
        .send(Array("0\r\n\r\n".utf8)),
      ]
    }
    let name = kind == "exec" ? "exec:head -c \(total) /dev/zero" : server.url()
    // What the first fetch of the process loads counts for none.
    if kind != "exec" { _ = fetch(quick(try Server { _ in Server.whole([]) }.url())) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { buffer.deallocate() }
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    let before = residentByteCount() ?? 0
    var peak = before
    let source = try FileSource(name: name)
    var count = 0
    var looked = 0
    while true {
      let more = try source.read(into: buffer)
      if more == 0 { break }
      count += more
      if count - looked > 8 << 20 {
        looked = count
        peak = max(peak, residentByteCount() ?? 0)
      }
    }
    #expect(count == total && source.counter.count == UInt64(total))
    return peak - before
  }

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
    } while waits.count < 5 && waits[waits.count - 1] > 0.25
    #expect(waits.contains { $0 < 0.25 }, "\(waits)")
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
    let end = MonotonicClock.seconds + 5
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
