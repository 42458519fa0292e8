import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The system's calls for sockets, as far as a proxy needs them.
enum LoopbackSocket {
  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #else
    private static let stream = SOCK_STREAM
    private static let sendFlags: Int32 = 0
  #endif

  /// A socket that listens on a free port of the loopback.
  static func listen() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, stream, 0)
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (code, port) = withUnsafeMutablePointer(to: &address) { address in
      let code = address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #if canImport(Glibc)
          bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, 64) == 0
            ? getsockname(descriptor, address, &length) : -1
        #else
          bind(descriptor, address, length) == 0 && Darwin.listen(descriptor, 64) == 0
            ? getsockname(descriptor, address, &length) : -1
        #endif
      }
      return (code, Int(UInt16(bigEndian: address.pointee.sin_port)))
    }
    if descriptor < 0 || code != 0 { throw PostgresServer.Failure(description: "no port to listen on") }
    return (descriptor, port)
  }

  private static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = UInt16(port).bigEndian
    return address
  }

  /// A connection to a port of the loopback; nil where nobody listens.
  static func connect(port: Int) -> Int32? {
    let descriptor = socket(AF_INET, stream, 0)
    var address = loopback(port: port)
    return connected(descriptor, &address)
  }

  /// A connection to a socket in the file system.
  static func connect(path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, stream, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isCopied = withUnsafeMutableBytes(of: &address.sun_path) { place in
      if path.utf8.count >= place.count { return false }
      place.copyBytes(from: path.utf8)
      return true
    }
    if !isCopied {
      close(descriptor)
      return nil
    }
    return connected(descriptor, &address)
  }

  private static func connected<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32? {
    let length = socklen_t(MemoryLayout<Address>.size)
    let code = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #if canImport(Glibc)
          Glibc.connect(descriptor, address, length)
        #else
          Darwin.connect(descriptor, address, length)
        #endif
      }
    }
    if code == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  /// Nothing waits for it, and small messages go at once.
  static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    #if canImport(Darwin)
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  /// Takes what has come.
  /// - Returns: false when there will be nothing more.
  static func read(_ descriptor: Int32, into buffer: inout WireBuffer) -> Bool {
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &piece, piece.count, 0)
    if count > 0 { buffer.append(piece[..<count]) }
    return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
  }

  /// Sends as much as there is room for; what nobody takes any more is dropped.
  static func write(_ buffer: inout WireBuffer, to descriptor: Int32) {
    while !buffer.isEmpty {
      let count = buffer.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, sendFlags) }
      if count > 0 {
        buffer.drop(count)
      } else if errno == EAGAIN || errno == EINTR {
        return
      } else {
        buffer.removeAll()
      }
    }
  }

  /// The other sides find their connections reset, where these are of TCP.
  static func resetOnClose(_ descriptors: Int32...) {
    var lingering = linger(l_onoff: 1, l_linger: 0)
    for descriptor in descriptors {
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
    }
  }
}
