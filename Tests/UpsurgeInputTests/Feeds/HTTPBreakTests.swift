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

@Suite("HTTPFetch: bodies that are cut, and how they go on")
struct HTTPBreakTests {
  static let body = Compressing.table(200_003, seed: 8)
  static let etag = "ETag: \"v1\""
  static let dates = ["Last-Modified: Mon, 05 Jan 2026 10:00:00 GMT", "Date: Mon, 05 Jan 2026 11:00:00 GMT"]

  /// So many bytes of a body with its whole length.
  private static func cut(_ count: Int, _ headers: [String]) -> [Server.Step] {
    [Server.head("200 OK", headers + ["Content-Length: \(body.count)"]), .send(Array(body[..<count]))]
  }

  @Test(
    "A body that breaks is gone on with where it broke", arguments: [0, 1, 777, 100_000, 200_002],
    ["etag", "time", "chunked", "reset"])
  func goesOn(count: Int, kind: String) throws {
    let headers = kind == "time" ? Self.dates : [Self.etag]
    let server = try Server { request in
      if let start = request.rangeStart, request.index < 3 {
        // The rest comes in two parts, too.
        let whole = Server.rest(Self.body, from: start, headers: headers)
        return request.index == 1 ? [whole[0], .send(Array(Self.body[start...].prefix(50)))] : whole
      }
      if kind == "chunked" {
        return Server.chunked(Array(Self.body[..<count]), isWhole: count == 0, headers: headers)
      }
      let steps = Self.cut(count, headers)
      return kind == "reset" ? steps + [.pause(milliseconds: 20), .reset] : steps
    }
    if count == 0 && kind != "chunked" { return try startsAnew(server, kind) }
    let fetched = fetch(quick(server.url()))
    if count == 0 { return #expect(fetched.error == nil && fetched.bytes.isEmpty) }
    #expect(fetched.error == nil)
    expectSame(fetched.bytes, Self.body)
    let rests = server.requests.dropFirst()
    // A reset may take bytes along that were sent before.
    let start = try #require(rests.lazy.compactMap(\.rangeStart).first)
    #expect(kind == "reset" ? start <= count : start == count && rests.first?.rangeStart == count)
    for request in rests where request.rangeStart != nil {
      #expect(request.headers["if-range"] == (kind == "time" ? "Mon, 05 Jan 2026 10:00:00 GMT" : "\"v1\""))
    }
  }

  /// Nothing has come, so there is nothing to go on with; this server never sends more.
  private func startsAnew(_ server: HTTPTestServer, _ kind: String) throws {
    let fetched = fetch(quick(server.url(), tries: 3))
    #expect(fetched.error?.code == .unreadableInput && fetched.response == nil)
    #expect(server.requests.count == 3 && server.requests.allSatisfy { $0.headers["range"] == nil })
  }

  /// A server that cuts the first body and answers otherwise when it is asked for the rest.
  struct Fault: Sendable, CustomTestStringConvertible {
    var name: String
    var headers = [HTTPBreakTests.etag]
    var answer: @Sendable (HTTPTestServer.Request) -> [HTTPTestServer.Step] = { _ in [] }
    /// How the message ends behind `cut off at byte 5000 of 200003: the server closed the connection, and `.
    var why: String
    var requestCount = 2
    var testDescription: String { name }
  }

  static let faults = [
    Fault(
      name: "no validator", headers: [],
      why:
        "the server has said nothing by which the rest could be told to be of the same content (a strong ETag, or "
        + "Last-Modified with Date)", requestCount: 1),
    Fault(
      name: "a weak ETag", headers: ["ETag: W/\"v1\""],
      why:
        "the server has said nothing by which the rest could be told to be of the same content (a strong ETag, or "
        + "Last-Modified with Date)", requestCount: 1),
    Fault(
      name: "changed in the same second", headers: [dates[0], "Date: Mon, 05 Jan 2026 10:00:00 GMT"],
      why:
        "the server has said nothing by which the rest could be told to be of the same content (a strong ETag, or "
        + "Last-Modified with Date)", requestCount: 1),
    Fault(
      name: "no ranges", headers: [etag, "Accept-Ranges: none"],
      why: "the server does not send parts of it (Accept-Ranges: none)", requestCount: 1),
    Fault(
      name: "range ignored", answer: { _ in Server.whole(body, headers: [etag]) },
      why: "the server sends it from the start again instead of the rest"),
    Fault(
      name: "changed", answer: { _ in Server.whole(body, headers: ["ETag: \"v2\""]) },
      why: "it has changed meanwhile (its ETag was \"v1\", and is \"v2\")"),
    Fault(
      name: "changed, and the rest of it sent all the same",
      answer: { Server.rest(body, from: $0.rangeStart ?? 0, headers: ["ETag: \"v2\""]) },
      why: "it has changed meanwhile (its ETag was \"v1\", and is \"v2\")"),
    Fault(
      name: "another part", answer: { Server.rest(body, from: ($0.rangeStart ?? 0) + 1, headers: [etag]) },
      why: "the server has sent another part than the rest (Content-Range: bytes 5001-200002/200003)"),
    Fault(
      name: "no Content-Range",
      answer: { _ in Server.whole(body, status: "206 Partial Content", headers: [etag]) },
      why: "the server has sent another part than the rest (no Content-Range)"),
    Fault(
      name: "another length",
      answer: { _ in
        Server.whole(
          Array(body[5_000...]) + [65], status: "206 Partial Content",
          headers: [etag, "Content-Range: bytes 5000-200003/200004"])
      }, why: "its length was 200003 bytes and is 200004 bytes"),
    Fault(
      name: "not satisfiable", answer: { _ in Server.status("416 Range Not Satisfiable") },
      why: "the server answered 416 Range Not Satisfiable when it was asked for the rest"),
    Fault(
      name: "gone", answer: { _ in Server.status("404 Not Found") },
      why: "the server answered 404 Not Found when it was asked for the rest"),
    Fault(
      name: "twice the length",
      answer: { _ in
        Server.whole(
          Array(body[5_000...]), status: "206 Partial Content",
          headers: [etag, "Content-Range: bytes 5000-200002/200003"], length: 100)
      }, why: "the server contradicts itself about the length of the rest"),
  ]

  @Test(
    "A break that cannot be mended is a cut stream, said with its place and the reason", arguments: faults)
  func isCut(fault: Fault) throws {
    let server = try Server { $0.index == 0 ? Self.cut(5_000, fault.headers) : fault.answer($0) }
    let fetched = fetch(quick(server.url()))
    expectSame(fetched.bytes, Self.body[..<5_000])
    let error = try #require(fetched.error)
    #expect(error.code == .badInput && error.position?.file == server.url())
    #expect(
      error.message
        == "\(server.url()) is cut off at byte 5000 of 200003: the server closed the connection, and \(fault.why)"
    )
    #expect(error.hint == "load it again; what a cut body lacks is not known")
    #expect(server.requests.count == fault.requestCount)
  }

  @Test("The rest comes from where the first part came from, whatever the redirect says by now")
  func sameURL() throws {
    let other = [UInt8](repeating: 66, count: Self.body.count)
    let wrong = try Server { Server.rest(other, from: $0.rangeStart ?? 0, headers: [Self.etag]) }
    let right = try Server { request in
      request.rangeStart.map { Server.rest(Self.body, from: $0, headers: [Self.etag]) }
        ?? Self.cut(5_000, [Self.etag])
    }
    let server = try Server { [right = right.url("/a"), wrong = wrong.url("/a")] in
      Server.status("302 Found", ["Location: \($0.index == 0 ? right : wrong)"])
    }
    var request = quick(server.url())
    request.headers = [.init("X-Key", "secret")]
    let fetched = fetch(request)
    #expect(fetched.error == nil)
    expectSame(fetched.bytes, Self.body)
    #expect(server.requests.count == 1 && wrong.requests.isEmpty)
    #expect(right.requests.map(\.rangeStart) == [nil, 5_000])
    #expect(right.requests.allSatisfy { $0.headers["x-key"] == nil })
  }

  @Test("A redirect to the rest is not followed, though it has the same ETag", arguments: [false, true])
  func movedRest(isBehindRedirect: Bool) throws {
    let other = [UInt8](repeating: 66, count: Self.body.count)
    let wrong = try Server { Server.rest(other, from: $0.rangeStart ?? 0, headers: [Self.etag]) }
    let server = try Server { [wrong = wrong.url("/b?token=1")] request in
      if isBehindRedirect, request.path == "/feed.csv" { return Server.status("302 Found", ["Location: /a"]) }
      return request.rangeStart == nil
        ? Self.cut(5_000, [Self.etag]) : Server.status("307 Temporary Redirect", ["Location: \(wrong)"])
    }
    let fetched = fetch(quick(server.url()))
    expectSame(fetched.bytes, Self.body[..<5_000])
    let place = server.url(isBehindRedirect ? "/a" : "/feed.csv")
    #expect(
      fetched.error?.message
        == "\(server.url()) is cut off at byte 5000 of 200003: the server closed the connection, and the rest is now "
        + "somewhere else: \(place) redirects to \(wrong.url("/b?token=***"))")
    #expect(wrong.requests.isEmpty)
  }

  @Test("What was noted of the last answer adds no line to a request")
  func validators() throws {
    let server = try Server { _ in Server.whole(Self.body) }
    var request = quick(server.url())
    request.validators = HTTPValidators(etag: "\"v\"\r\nX-Evil: 1", lastModified: "a\nX-Evil: 1")
    let fetched = fetch(request)
    #expect(fetched.error == nil && fetched.bytes == Self.body)
    let asked = try #require(server.requests.first).headers
    #expect(asked["x-evil"] == nil && asked["if-none-match"] == nil && asked["if-modified-since"] == nil)
  }

  @Test("Tries for the rest are bounded, but not where each brings much")
  func boundsTries() throws {
    let server = try Server {
      $0.index == 0 ? Self.cut(5_000, [Self.etag]) : Server.status("503 Service Unavailable")
    }
    let error = try #require(fetch(quick(server.url(), tries: 3)).error)
    #expect(server.requests.count == 3)
    #expect(
      error.code == .badInput
        && error.message.hasPrefix(
          "\(server.url()) is cut off at byte 5000 of 200003: the server answered 503 Service Unavailable, and 3 tries"
        ),
      "\(error)")
    let large = [UInt8](repeating: 66, count: 9 << 20)
    let generous = try Server { request in
      let whole =
        request.rangeStart.map { Server.rest(large, from: $0, headers: [Self.etag]) }
        ?? Server.whole(large, headers: [Self.etag])
      let start = request.rangeStart ?? 0
      return [whole[0], .send(Array(large[start...].prefix(1_200_000)))]
    }
    let fetched = fetch(quick(generous.url(), tries: 2))
    #expect(fetched.error == nil && fetched.bytes == large)
    #expect(generous.requests.count == 8)
  }

  @Test(
    "A length that is not the body's",
    arguments: ["plain", "kept open", "chunked cut", "closed without length"])
  func wrongLengths(kind: String) throws {
    let server = try Server { _ in
      switch kind {
      case "plain": Server.whole(Self.body, length: 1_000)
      case "kept open": Server.whole(Self.body, length: 1_000) + [.hold]
      case "chunked cut": Server.chunked(Array(Self.body[..<1_000]), isWhole: false)
      default: [Server.head("200 OK"), .send(Array(Self.body[..<1_000])), .pause(milliseconds: 30), .reset]
      }
    }
    let fetched = fetch(quick(server.url()))
    expectSame(fetched.bytes, Self.body[..<1_000])
    let error = try #require(fetched.error)
    #expect(error.code == .badInput)
    if kind == "plain" || kind == "kept open" {
      #expect(
        error.message
          == "\(server.url()) is longer than its Content-Length of 1000 bytes, so nobody knows where it should end"
      )
    } else {
      #expect(error.message.hasPrefix("\(server.url()) is cut off at byte 1000: "), "\(error)")
    }
  }

  @Test("A cut inside a compressed body is said as what it is", arguments: ["gzip", "zstd"])
  func cutCompressed(kind: String) throws {
    // More than one block of zstd must come.
    let body = Compressing.table(1_000_000, seed: 9)
    let whole = kind == "gzip" ? Compressing.gzip(body) : Compressing.zstd(body)
    let server = try Server { _ in
      [Server.head("200 OK", ["Content-Length: \(whole.count)"]), .send(Array(whole[..<(whole.count / 2)]))]
    }
    var options = OpenedSource.Options()
    options.sampleByteCount = 1_000
    let source = try OpenedSource(name: server.url("/feed.gz"), options: options)
    #expect(source.name == server.url("/feed.gz") && !source.isSeekable && source.fileByteCount == nil)
    #expect(source.expectedByteCount == UInt64(whole.count))
    let delivery = drain(source)
    #expect(body.starts(with: delivery.bytes) && delivery.bytes.count > 1_000)
    #expect(
      delivery.error?.message.contains("is cut off at byte \(whole.count / 2) of \(whole.count)") == true)
  }
}
