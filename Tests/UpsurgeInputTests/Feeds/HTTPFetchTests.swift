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

@Suite("HTTPFetch: what servers answer")
struct HTTPFetchTests {
  static let body = Compressing.table(300_001, seed: 7)
  static let etag = "ETag: \"v1\""

  @Test(
    "A whole body, however its end is told", arguments: ["length", "chunked", "close", "empty", "kept open"])
  func wholeBodies(kind: String) throws {
    let server = try Server { _ in
      switch kind {
      case "length":
        Server.whole(Self.body, headers: [Self.etag, "Last-Modified: Mon, 05 Jan 2026 10:00:00 GMT"])
      case "chunked": Server.chunked(Self.body, headers: [Self.etag])
      case "close": [Server.head("200 OK"), .send(Self.body)]
      case "empty": Server.whole([])
      default: Server.whole(Self.body) + [.hold]
      }
    }
    let fetched = fetch(quick(server.url()))
    #expect(fetched.error == nil)
    expectSame(fetched.bytes, kind == "empty" ? [] : Self.body)
    let response = try #require(fetched.response)
    #expect(response.status == 200 && !response.isNotModified)
    #expect(response.provesEnd == (kind != "close"))
    let lengths = ["length": UInt64(Self.body.count), "empty": 0, "kept open": UInt64(Self.body.count)]
    #expect(response.contentLength == lengths[kind])
    #expect(response.etag == (kind == "length" || kind == "chunked" ? "\"v1\"" : nil))
    #expect(response.lastModified == (kind == "length" ? "Mon, 05 Jan 2026 10:00:00 GMT" : nil))
    #expect(fetched.seconds < 5)
    let request = try #require(server.requests.first)
    #expect(request.method == "GET" && request.headers["accept-encoding"] == "identity")
    #expect(request.headers["range"] == nil && server.requests.count == 1)
  }

  /// What a refusal says, with `URL` for the URL.
  struct Refusal: Sendable, CustomTestStringConvertible {
    var status: String
    var headers: [String] = []
    var text: String
    var testDescription: String { status }
  }

  @Test(
    "What is no content is refused at once, with its status and a way out",
    arguments: [
      Refusal(
        status: "404 Not Found",
        text: "there is no URL: the server answered 404 Not Found\n  at URL\n  fix: check the URL"),
      Refusal(
        status: "410 Gone",
        text:
          "URL is gone for good: the server answered 410 Gone\n  at URL\n  fix: ask its owner where it is now"
      ),
      Refusal(
        status: "401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=x"],
        text: "URL may not be fetched: the server answered 401 Unauthorized\n  at URL\n"
          + "  fix: check the credentials: ~/.netrc holds them as `machine 127.0.0.1 login USER password PASSWORD`"
      ),
      Refusal(
        status: "403 Forbidden",
        text: "URL may not be fetched: the server answered 403 Forbidden\n  at URL\n"
          + "  fix: check the credentials: ~/.netrc holds them as `machine 127.0.0.1 login USER password PASSWORD`"
      ),
      Refusal(
        status: "204 No Content",
        text:
          "URL has no content now: the server answered 204 No Content\n  at URL\n  fix: try again when it is made"
      ),
      Refusal(
        status: "418 \u{1B}[31mTeapot",
        text: "cannot fetch URL: the server answered 418 \\x1B[31mTeapot\n  at URL\n"
          + "  fix: curl -v fetches it and shows the whole answer"),
      Refusal(
        status: "304 Not Modified",
        text: "cannot fetch URL: the server answered 304 Not Modified\n  at URL\n"
          + "  fix: curl -v fetches it and shows the whole answer"),
      Refusal(
        status: "200 OK", headers: ["Content-Encoding: br"],
        text:
          "cannot fetch URL: the server sends it as br, though it was asked to leave it as it is\n  at URL\n"
          + "  fix: exec:'curl -fsS --compressed URL' undoes that"),
      Refusal(
        status: "200 OK", headers: ["Content-Length: 7"],
        text: "cannot fetch URL: the server contradicts itself about its length (Content-Length)\n  at URL\n"
          + "  fix: curl -v shows the whole answer; its owner can fix that"),
    ])
  func refusals(refusal: Refusal) throws {
    let server = try Server { _ in Server.status(refusal.status, refusal.headers) }
    let fetched = fetch(quick(server.url()))
    let error = try #require(fetched.error)
    #expect(error.code == .unreadableInput)
    let text = refusal.text.replacing("URL", with: server.url())
    let expected = text.replacing("--compressed \(server.url())", with: "--compressed URL")
    #expect(error.description == expected.replacing("check the \(server.url())", with: "check the URL"))
    #expect(server.requests.count == 1)
  }

  @Test(
    "What may pass is tried again",
    arguments: [
      "500 Internal Server Error", "503 Service Unavailable", "429 Too Many Requests", "408 Request Timeout",
      "reset",
      "nothing", "cut head", "cut before the first byte",
    ])
  func retries(fault: String) throws {
    let server = try Server { request in
      if request.index == 2 { return Server.whole(Self.body) }
      switch fault {
      case "reset": return [.reset]
      case "nothing": return []
      case "cut head": return [.send(Array("HTTP/1.1 200 OK\r\nContent-".utf8))]
      case "cut before the first byte": return [Server.head("200 OK", ["Content-Length: 5"])]
      default: return Server.status(fault, request.index == 0 ? ["Retry-After: 0"] : [])
      }
    }
    let fetched = fetch(quick(server.url()))
    #expect(fetched.error == nil)
    expectSame(fetched.bytes, Self.body)
    #expect(server.requests.count == 3)
  }

  @Test("Tries are bounded, and the last reason is said")
  func givesUp() throws {
    let server = try Server { _ in Server.status("502 Bad Gateway") }
    let error = try #require(fetch(quick(server.url(), tries: 3)).error)
    #expect(server.requests.count == 3)
    #expect(error.code == .unreadableInput)
    #expect(
      error.message.hasPrefix("cannot fetch \(server.url()): tried 3 times within ")
        && error.message.hasSuffix(" s, and at last the server answered 502 Bad Gateway"), "\(error.message)")
    // Nobody listens behind a port that is free again.
    let url = try Server { _ in [] }.url()
    usleep(150_000)
    let refused = try #require(fetch(quick(url, tries: 2)).error)
    #expect(
      refused.code == .unreadableInput && refused.message.contains("tried 2 times within"), "\(refused)")
  }

  @Test("Retry-After is waited for, unless it is too long")
  func retryAfter() throws {
    let server = try Server { request in
      request.index > 0 ? Server.whole([65]) : Server.status("503 Service Unavailable", ["Retry-After: 1"])
    }
    let fetched = fetch(quick(server.url()))
    #expect(fetched.bytes == [65] && fetched.seconds >= 1)
    let busy = try Server { _ in
      Server.status(
        "429 Too Many Requests",
        ["Date: Mon, 05 Jan 2026 10:00:00 GMT", "Retry-After: Mon, 05 Jan 2026 11:00:00 GMT"])
    }
    let error = try #require(fetch(quick(busy.url())).error)
    #expect(
      error.message
        == "cannot fetch \(busy.url()): tried once, and at last the server answered 429 Too Many Requests and asks "
        + "to come again in 3600 s", "\(error)")
    #expect(busy.requests.count == 1)
  }

  @Test("What has not changed is not sent again")
  func notModified() throws {
    let server = try Server { request in
      request.headers["if-none-match"] == "\"v1\""
        && request.headers["if-modified-since"] == "Mon, 05 Jan 2026 10:00:00 GMT"
        ? [Server.head("304 Not Modified", [Self.etag])] : Server.whole(Self.body, headers: [Self.etag])
    }
    var request = quick(server.url())
    request.validators = HTTPValidators(etag: "\"v1\"", lastModified: "Mon, 05 Jan 2026 10:00:00 GMT")
    let same = fetch(request)
    #expect(same.error == nil && same.bytes.isEmpty && same.response?.isNotModified == true)
    #expect(same.response?.validators == request.validators)
    request.validators.etag = "\"v0\""
    let other = fetch(request)
    #expect(other.response?.isNotModified == false && other.response?.etag == "\"v1\"")
    expectSame(other.bytes, Self.body)
  }

  @Test("Redirects are followed, with what belongs to the server")
  func redirects() throws {
    let other = try Server { _ in Server.whole(Self.body) }
    let server = try Server { [url = other.url("/there")] request in
      switch request.path {
      case "/feed.csv": Server.status("302 Found", ["Location: /b"])
      case "/b": Server.status("307 Temporary Redirect", ["Location: c?x=1"])
      default: Server.status("301 Moved Permanently", ["Location: \(url)"])
      }
    }
    var request = quick(server.url().replacing("//", with: "//user:secret@"))
    request.headers = [.init("X-Key", "secret"), .init("Accept", "text/csv")]
    let fetched = fetch(request)
    #expect(fetched.error == nil)
    expectSame(fetched.bytes, Self.body)
    #expect(server.requests.map(\.path) == ["/feed.csv", "/b", "/c?x=1"])
    for asked in server.requests {
      #expect(
        asked.headers["x-key"] == "secret" && asked.headers["authorization"] == "Basic dXNlcjpzZWNyZXQ=")
    }
    let last = try #require(other.requests.first)
    #expect(last.path == "/there" && last.headers["accept"] == "text/csv")
    #expect(last.headers["x-key"] == nil && last.headers["authorization"] == nil)
  }

  @Test(
    "Redirects that are not followed",
    arguments: [
      ("/loop", "it redirects more than 10 times, at last to "),
      ("file:///etc/passwd", "which is no http:// or https:// URL"),
      ("ftp://example.org/a", "which is no http:// or https:// URL"),
      ("http://[bad", "which is no http:// or https:// URL"),
    ])
  func refusedRedirects(location: String, words: String) throws {
    let server = try Server { _ in Server.status("302 Found", ["Location: \(location)"]) }
    let error = try #require(fetch(quick(server.url())).error)
    #expect(error.code == .unreadableInput && error.message.contains(words), "\(error)")
    #expect(server.requests.count == (location == "/loop" ? 11 : 1))
  }

  @Test("Names that are no http URL are not fetched")
  func otherSchemes() throws {
    for url in ["ftp://h/a.csv", "file:///etc/passwd", "a.csv", "http://", "http://a b/"] {
      let error = try #require(fetch(quick(url, tries: 1)).error)
      #expect(error.code == .unreadableInput, "\(url): \(error)")
    }
    var request = quick("http://127.0.0.1:1/")
    request.headers = [.init("X", "a\r\nHost: evil")]
    let error = try #require(fetch(request).error)
    #expect(error.code == .usage && !error.description.contains("evil"))
  }

  @Test("Credentials come from the URL or a netrc file, and are shown nowhere")
  func credentials() throws {
    let folder = try TemporaryFolder()
    let server = try Server { request in
      request.headers["authorization"] == nil
        ? Server.status("401 Unauthorized") : Server.status("404 Not Found")
    }
    var request = quick(server.url())
    request.usesNetrc = true
    request.netrcPath = try folder.write("netrc", "machine 127.0.0.1 login ann password hidden\n")
    #expect(fetch(request).error?.underlyingCode == 404)
    request.netrcPath = folder.path + "/none"
    #expect(fetch(request).error?.underlyingCode == 401)
    request.url = server.url("/a?api_key=hidden&day=1").replacing("//", with: "//ann:hidden@")
    let error = try #require(fetch(request).error)
    #expect(error.underlyingCode == 404 && !error.description.contains("hidden"), "\(error)")
    #expect(error.message.contains("http://***@127.0.0.1:\(server.port)/a?api_key=***&day=1"), "\(error)")
    #expect(
      server.requests.map { $0.headers["authorization"] } == [
        "Basic YW5uOmhpZGRlbg==", nil, "Basic YW5uOmhpZGRlbg==",
      ])
  }

  @Test("A server that answers too slowly, or stalls inside the body, is given up")
  func slowServers() throws {
    var request = quick("", tries: 2)
    request.timeouts.answer = 0.3
    request.timeouts.stall = 0.3
    let silent = try Server { _ in [.hold] }
    request.url = silent.url()
    let error = try #require(fetch(request).error)
    #expect(error.message.hasSuffix("and at last there was no answer within 0.30 s"), "\(error)")
    #expect(error.message.contains(": tried 2 times within "))
    request.timeouts.answer = 20
    request.timeouts.stall = 1
    let stalling = try Server { _ in Array(Server.whole(Self.body).dropLast()) + [.send([65, 66]), .hold] }
    request.url = stalling.url()
    let stalled = fetch(request)
    #expect(stalled.bytes == [65, 66])
    #expect(stalled.error?.code == .badInput)
    // The bytes that came first count in the first window.
    #expect(
      stalled.error?.message.contains("cut off at byte 2 of 300001: no more than ") == true, "\(stalled)")
    let steady = try Server { _ in
      [Server.head("200 OK", ["Content-Length: 12"])]
        + (0..<12).flatMap { _ in [.send([65]), .pause(milliseconds: 110)] }
    }
    request.url = steady.url()
    request.timeouts.leastBytesPerSecond = 1
    #expect(fetch(request).bytes.count == 12)
  }

  @Test("A reader that takes its time is no stall")
  func slowReader() throws {
    let server = try Server { _ in Server.whole([UInt8](repeating: 65, count: 3 << 20)) }
    var request = quick(server.url())
    request.timeouts.stall = 0.2
    let feed = try HTTPFetch.open(request)
    let source = try FileSource(feed: feed, name: request.shownURL)
    usleep(700_000)
    let delivery = drain(source)
    #expect(delivery.error == nil && delivery.bytes.count == 3 << 20)
  }
}
