import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// Stands between clients and a server, understands their messages, and does what can go wrong between them: see `ProxyFault`.
///
///     let proxy = try WireProxy(before: server, faults: [.cut(.after, .commit)])
///     … a client of proxy.url(database: "test") …
///     proxy.events
///
/// It is for engines that are not to be had here, too: it says another `version()`, and refuses what they do not know. What it
/// cannot be is such an engine.
public final class WireProxy: Sendable {
  /// How it comes to the server.
  public enum Route: Sendable {
    /// The server trusts who comes by its socket.
    case socket
    /// The client's password goes through the proxy.
    case loopback
  }

  public let port: Int
  private let route: Route
  private let plan: FaultPlan

  public init(before server: PostgresServer, by route: Route = .socket, faults: [ProxyFault] = []) throws {
    let plan = FaultPlan(faults)
    let (listener, port) = try LoopbackSocket.listen()
    (self.port, self.route, self.plan) = (port, route, plan)
    let (path, serverPort) = (server.socketPath, server.port)
    let thread = Thread {
      Self.accept(listener, plan) {
        route == .socket ? LoopbackSocket.connect(path: path) : LoopbackSocket.connect(port: serverPort)
      }
    }
    thread.start()
  }

  deinit { plan.stop() }

  /// Closes all connections; there are no new ones.
  public func stop() { plan.stop() }

  /// Sets other faults. Counts and events begin anew.
  public func set(_ faults: [ProxyFault]) { plan.set(faults) }

  /// What it has done.
  public var events: [ProxyEvent] { plan.events }

  /// The messages of all connections. Those are not counted that only a proxy and its client have (no TLS).
  public func messageCount(_ direction: ProxyFault.Direction) -> Int { plan.messageCount(direction) }

  /// The URL of a database of the server.
  public func url(database: String, parameters: String = "") -> String {
    let secret =
      route == .socket
      ? ""
      : ":" + (PostgresServer.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    return "postgres://\(PostgresServer.user)\(secret)@127.0.0.1:\(port)/\(database)"
      + (parameters.isEmpty ? "" : "?" + parameters)
  }

  private static func accept(
    _ listener: Int32, _ plan: FaultPlan, _ connect: @escaping @Sendable () -> Int32?
  ) {
    defer { close(listener) }
    while !plan.isStopped {
      var polled = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      if poll(&polled, 1, 100) <= 0 { continue }
      #if canImport(Glibc)
        let client = Glibc.accept(listener, nil, nil)
      #else
        let client = Darwin.accept(listener, nil, nil)
      #endif
      if client < 0 { continue }
      let thread = Thread { serve(client, plan, connect) }
      thread.start()
    }
  }

  private static func serve(_ client: Int32, _ plan: FaultPlan, _ connect: () -> Int32?) {
    guard let server = connect() else {
      close(client)
      return
    }
    LoopbackSocket.prepare(client)
    LoopbackSocket.prepare(server)
    var session = ProxySession(number: plan.connect(), plan: plan, client: client, server: server)
    session.run()
  }
}
