import CPostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Has the system notice within two minutes that the other side of a connection has vanished. By itself it asks after two hours: so
/// long a run would wait for the answer of a host that a failover has left without power. Routers forget connections sooner, too.
///
/// What the URL or a service file says (`keepalives=0`, `keepalives_idle=…`) stays.
struct KeptAlive {
  private let handle: OpaquePointer

  private static let idleSeconds: Int32 = 60
  private static let intervalSeconds: Int32 = 10
  private static let probeCount: Int32 = 6

  init(_ handle: OpaquePointer) { self.handle = handle }

  func set() {
    let given = HostList.options(of: handle)
    if given["keepalives"] == "0" { return }
    #if canImport(Darwin)
      let idle = TCP_KEEPALIVE
    #else
      let idle = TCP_KEEPIDLE
    #endif
    for (name, option, value) in [
      ("keepalives_idle", idle, Self.idleSeconds),
      ("keepalives_interval", TCP_KEEPINTVL, Self.intervalSeconds),
      ("keepalives_count", TCP_KEEPCNT, Self.probeCount),
    ] where given[name] == nil {
      // A socket of the file system has no such option, and needs none.
      var value = value
      setsockopt(
        upsurge_pq_socket(handle), Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
  }
}
