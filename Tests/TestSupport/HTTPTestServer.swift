import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A web server on this machine that answers as a test wants it to, faults included: one thread accepts, one a
/// connection answers a single request. Gone with the object.
public final class HTTPTestServer: Sendable {
  /// What was asked.
  public struct Request: Sendable {
    /// Of this server, from 0.
    public var index: Int
    public var method: String
    public var path: String
    /// Names in lower case.
    public var headers: [String: String]

    /// The first byte that `Range: bytes=N-` asks for.
    public var rangeStart: Int? {
      guard let range = headers["range"], range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
      return Int(range.dropFirst(6).dropLast())
    }
  }

  /// What is done with a connection, in order; it is closed at the end.
  public enum Step: Sendable {
    case send([UInt8])
    /// The same bytes so many times.
    case rep([UInt8], times: Int)
    case pause(milliseconds: Int)
    /// The connection stays open until the client ends it.
    case hold
    /// Closed with a reset instead of an end.
    case reset
  }

  public let port: UInt16
  private let listener: Int32
  private let isStopped = Atomic<Bool>(false)
  private let known = Mutex<[Request]>([])
  private let connections = Atomic<Int>(0)
  private let sent = Atomic<Int>(0)
  private let answer: @Sendable (Request) -> [Step]

  /// - Parameter answer: called on the thread of the connection.
  public init(_ answer: @escaping @Sendable (Request) -> [Step]) throws {
    self.answer = answer
    listener = makeSocket()
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard code else { throw NoServer(code: errno) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [weak self] in
      while true {
        var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        let ready = poll(&entry, 1, 50)
        guard let self, !self.isStopped.load(ordering: .relaxed) else { break }
        if ready <= 0 { continue }
        let connection = accept(listener, nil, nil)
        if connection < 0 { continue }
        Thread.detachNewThread { [self] in self.serve(connection) }
      }
      close(listener)
    }
  }

  deinit { isStopped.store(true, ordering: .relaxed) }

  public struct NoServer: Error { public var code: Int32 }

  /// `http://127.0.0.1:PORT` and a path.
  public func url(_ path: String = "/feed.csv") -> String { "http://127.0.0.1:\(port)\(path)" }

  /// Connections that are being answered.
  public var openCount: Int { connections.load(ordering: .relaxed) }

  /// Bytes that the system has taken, over all connections.
  public var sentByteCount: Int { sent.load(ordering: .relaxed) }

  /// All that was asked so far.
  public var requests: [Request] { known.withLock { $0 } }

  private func serve(_ connection: Int32) {
    connections.wrappingAdd(1, ordering: .relaxed)
    defer {
      close(connection)
      connections.wrappingSubtract(1, ordering: .relaxed)
    }
    #if canImport(Darwin)
      var yes: Int32 = 1
      setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    guard let request = read(connection) else { return }
    for step in answer(request) {
      if isStopped.load(ordering: .relaxed) { return }
      switch step {
      case .send(let bytes): if !send(bytes, to: connection) { return }
      case .rep(let bytes, let times):
        for _ in 0..<times where !send(bytes, to: connection) { return }
      case .pause(let milliseconds): usleep(UInt32(milliseconds) * 1_000)
      case .hold: while !isOver(connection) {}
      case .reset:
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        return
      }
    }
    // What the client has not read would be lost with a reset.
    shutdown(connection, Int32(SHUT_WR))
    for _ in 0..<40 where isOver(connection) { return }
  }

  /// Waits a little for the client to end the connection.
  private func isOver(_ connection: Int32) -> Bool {
    var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
    let ready = poll(&entry, 1, 50)
    if isStopped.load(ordering: .relaxed) { return true }
    var byte: UInt8 = 0
    return ready > 0 && recv(connection, &byte, 1, 0) <= 0
  }

  private func read(_ connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 10_000) > 0 else { return nil }
      let count = recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      bytes += buffer[..<count]
    }
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].components(separatedBy: " ")
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
        in: .whitespaces)
    }
    return known.withLock {
      let request = Request(index: $0.count, method: words[0], path: words[1], headers: headers)
      $0.append(request)
      return request
    }
  }

  private func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
    var position = 0
    while position < bytes.count {
      let start = position
      let count = bytes.withUnsafeBytes { systemSend(connection, $0.baseAddress! + start, $0.count - start) }
      if count <= 0 { return false }
      position += count
      sent.wrappingAdd(count, ordering: .relaxed)
    }
    return true
  }
}

private func systemSend(_ connection: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  #if canImport(Glibc)
    send(connection, bytes, count, Int32(MSG_NOSIGNAL))
  #else
    send(connection, bytes, count, 0)
  #endif
}

private func makeSocket() -> Int32 {
  #if canImport(Glibc)
    socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  #else
    socket(AF_INET, SOCK_STREAM, 0)
  #endif
}

extension HTTPTestServer {
  /// The first part of an answer.
  public static func head(_ status: String, _ headers: [String] = []) -> Step {
    let lines = ["HTTP/1.1 \(status)"] + headers
    return .send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
  }

  /// A whole answer with the length of its body, or another one.
  public static func whole(
    _ body: [UInt8], status: String = "200 OK", headers: [String] = [], length: Int? = nil
  ) -> [Step] {
    [head(status, headers + ["Content-Length: \(length ?? body.count)"]), .send(body)]
  }

  /// A part of a body as a request for the rest wants it.
  public static func rest(_ body: [UInt8], from start: Int, headers: [String] = []) -> [Step] {
    let range = "Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)"
    return whole(Array(body[start...]), status: "206 Partial Content", headers: headers + [range])
  }

  /// A body in chunks; without the last, empty one where it is not whole.
  public static func chunked(
    _ body: [UInt8], isWhole: Bool = true, headers: [String] = [], piece: Int = 1_000
  ) -> [Step] {
    var steps = [head("200 OK", headers + ["Transfer-Encoding: chunked"])]
    var rest = body[...]
    while !rest.isEmpty {
      let part = rest.prefix(piece)
      rest = rest.dropFirst(part.count)
      steps.append(.send(Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)))
    }
    return steps + (isWhole ? [.send(Array("0\r\n\r\n".utf8))] : [])
  }

  /// A status without a body.
  public static func status(_ status: String, _ headers: [String] = []) -> [Step] {
    [head(status, headers + ["Content-Length: 0"])]
  }
}
