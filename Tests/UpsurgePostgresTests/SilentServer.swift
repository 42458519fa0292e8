import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A port that takes connections and never answers.
final class SilentServer {
  let port: Int
  private let descriptor: Int32

  init() throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (descriptor, capacity) = (descriptor, length)
    let code = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, capacity) == 0 && listen(descriptor, 8) == 0 ? getsockname(descriptor, address, &length) : -1
      }
    }
    if code != 0 { throw CocoaError(.fileNoSuchFile) }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }
}
