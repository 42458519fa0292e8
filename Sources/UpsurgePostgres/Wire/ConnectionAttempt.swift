import CPostgres
import UpsurgeRecords

/// Connects by libpq's rules, step by step, so that the wait can be ended.
///
/// libpq bounds the time for each host only in calls that cannot be ended, so `connect_timeout` is kept here: a host that does
/// not answer in time is left out, and the next one is tried. Names of hosts are still looked up by the system, which takes its time.
struct ConnectionAttempt {
  let target: PostgresTarget
  let cancellation: ReadCancellation?
  let applicationName: String

  /// - Returns: a connection of libpq that is ready.
  func connect() throws(PostgresFailure) -> OpaquePointer {
    if let problem = upsurge_pq_load() { throw PostgresFailure(.notInstalled, String(cString: problem)) }
    try check()
    var hosts: HostList?
    while true {
      let handle = try start(hosts)
      switch step(handle, isOneOfSeveral: hosts != nil) {
      case .connected:
        KeptAlive(handle).set()
        return handle
      case .failed(let failure):
        upsurge_pq_finish(handle)
        throw failure
      case .timedOut:
        let rest = (hosts ?? HostList(of: handle)).rest(behind: handle)
        upsurge_pq_finish(handle)
        guard let rest else { throw PostgresFailure(.unreachable, "no answer within connect_timeout") }
        hosts = rest
      }
    }
  }

  /// Refuses a URL that libpq cannot read.
  private func check() throws(PostgresFailure) {
    var error: UnsafeMutablePointer<CChar>?
    if let options = upsurge_pq_parse(target.url, &error) {
      upsurge_pq_free_options(options)
      return
    }
    defer { upsurge_pq_free(error) }
    let words = error.map { PostgresFailure.line(of: String(cString: $0)) } ?? "libpq cannot read it"
    throw PostgresFailure(.badTarget, target.masked(words))
  }

  private func start(_ hosts: HostList?) throws(PostgresFailure) -> OpaquePointer {
    // What comes after `dbname` overrides what the URL says. No `options`: poolers refuse it.
    var settings = [
      ("fallback_application_name", applicationName), ("dbname", target.url), ("client_encoding", "UTF8"),
    ]
    if let hosts { settings += hosts.settings }
    let handle = CStrings.with(settings.map(\.0)) { keywords in
      CStrings.with(settings.map(\.1)) { values in upsurge_pq_connect_start(keywords, values, 1) }
    }
    guard let handle else { throw PostgresFailure(.resources, "no memory for a connection") }
    upsurge_pq_say_states(handle)
    return handle
  }

  private enum Step {
    case connected, timedOut
    case failed(PostgresFailure)
  }

  private func step(_ handle: OpaquePointer, isOneOfSeveral: Bool) -> Step {
    if upsurge_pq_status(handle) == CONNECTION_BAD { return .failed(failure(of: handle)) }
    let limit = HostList.timeout(of: handle, isOneOfSeveral: isOneOfSeveral)
    var (place, deadline) = (HostList.place(of: handle), limit.map { SocketWait.now + $0 })
    var status = PGRES_POLLING_WRITING
    while true {
      if HostList.place(of: handle) != place {
        (place, deadline) = (HostList.place(of: handle), limit.map { SocketWait.now + $0 })
      }
      let wait = SocketWait(
        descriptor: upsurge_pq_socket(handle), reads: status == PGRES_POLLING_READING,
        writes: status == PGRES_POLLING_WRITING)
      switch wait(cancellation, until: deadline) {
      case .ready: break
      case .timedOut: return .timedOut
      case .cancelled: return .failed(PostgresFailure(.interrupted, "interrupted while it connected"))
      case .failed: return .failed(failure(of: handle))
      }
      status = upsurge_pq_connect_poll(handle)
      if status == PGRES_POLLING_OK { return .connected }
      if status == PGRES_POLLING_FAILED { return .failed(failure(of: handle)) }
    }
  }

  /// What libpq says of hosts that `target_session_attrs` leaves out.
  private static let readOnlyWords = [
    "session is read-only", "server is in hot standby mode", "could not make a writable connection",
  ]

  /// Why libpq gave up. A message of the server begins with its SQLSTATE: `FATAL:  28P01: password authentication failed`.
  private func failure(of handle: OpaquePointer) -> PostgresFailure {
    var words: [String] = []
    var sqlState = ""
    for line in String(cString: upsurge_pq_error_message(handle)).split(separator: "\n") {
      // Where in the server's sources it is said, and questions that libpq asks.
      if line.first == "\t" || line.contains(", postinit.c:") || line.contains(", auth.c:")
        || line.hasPrefix("LOCATION:")
      {
        continue
      }
      let parts = line.split(separator: ":  ", maxSplits: 1)
      if parts.count == 2, parts[1].dropFirst(5).hasPrefix(": "),
        parts[1].prefix(5).allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) })
      {
        sqlState = String(parts[1].prefix(5))
        words.append("\(parts[0]):  \(parts[1].dropFirst(7))")
      } else {
        words.append(String(line))
      }
    }
    var kind = sqlState.isEmpty ? .unreachable : FailureClass(sqlState: sqlState)
    if kind == .connectionLost { kind = .unreachable }
    // Hosts answer, and none of them takes rows.
    if words.contains(where: { line in Self.readOnlyWords.contains(where: line.contains) }) {
      kind = .readOnly
    }
    // No try is of use with what cannot be read.
    if sqlState.isEmpty, words.contains(where: { $0.hasPrefix("invalid ") }) { kind = .badTarget }
    // Nobody has asked for what the server wants.
    if sqlState.isEmpty, words.contains(where: { $0.contains("no password supplied") }) {
      (kind, sqlState) = (.refused, "28P01")
    }
    return PostgresFailure(
      kind, target.masked(PostgresFailure.line(of: words.joined(separator: "\n"))), sqlState: sqlState)
  }
}

/// The hosts that a connection may be made to, as libpq's settings have them: `host=a,b port=5432,5433`.
struct HostList {
  private var hosts: [Substring]
  private var addresses: [Substring]
  private var ports: [Substring]

  init(of handle: OpaquePointer) {
    let options = Self.options(of: handle)
    func list(_ name: String) -> [Substring] {
      options[name].map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? []
    }
    (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
  }

  private var count: Int { max(hosts.count, addresses.count) }

  /// The hosts after the one that is being connected to; nil without any.
  func rest(behind handle: OpaquePointer) -> HostList? {
    let (host, port) = Self.place(of: handle)
    let at = (0..<count).first { index in
      let name =
        index < hosts.count && !hosts[index].isEmpty
        ? hosts[index] : index < addresses.count ? addresses[index] : ""
      let ownPort = ports.count > 1 && index < ports.count ? ports[index] : ports.first ?? ""
      return (name.isEmpty || name == host) && (ownPort.isEmpty || ownPort == port)
    }
    guard let at, at + 1 < count else { return nil }
    var rest = self
    rest.hosts = Array(hosts.dropFirst(at + 1))
    rest.addresses = Array(addresses.dropFirst(at + 1))
    if ports.count > 1 { rest.ports = Array(ports.dropFirst(at + 1)) }
    return rest
  }

  var settings: [(String, String)] {
    [("host", hosts), ("hostaddr", addresses), ("port", ports)].compactMap { name, list in
      list.isEmpty ? nil : (name, list.joined(separator: ","))
    }
  }

  /// The host and port that are tried now.
  static func place(of handle: OpaquePointer) -> (host: String, port: String) {
    (
      upsurge_pq_host(handle).map { String(cString: $0) } ?? "",
      upsurge_pq_port(handle).map { String(cString: $0) } ?? ""
    )
  }

  /// Seconds for each host where several are named and nothing is said: one that has vanished is waited for by the system for
  /// minutes, and the next one may have taken over.
  private static let secondsOfSeveral = 10.0

  /// Seconds for each host; nil where that is without bound.
  static func timeout(of handle: OpaquePointer, isOneOfSeveral: Bool) -> Double? {
    guard let given = options(of: handle)["connect_timeout"] else {
      return isOneOfSeveral || HostList(of: handle).count > 1 ? secondsOfSeveral : nil
    }
    guard let seconds = Double(given), seconds > 0 else { return nil }
    // As libpq has it: clocks of whole seconds need two of them.
    return max(seconds, 2)
  }

  static func options(of handle: OpaquePointer) -> [String: String] {
    guard let options = upsurge_pq_options(handle) else { return [:] }
    defer { upsurge_pq_free_options(options) }
    var found: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { found[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    return found
  }
}
