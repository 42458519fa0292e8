#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a disk has left.
package enum DiskSpace {
  /// Bytes that this user may still write where a file lies; nil when the system does not say (statvfs).
  package static func free(at path: String) -> Int? {
    var status = statvfs()
    return statvfs(path, &status) == 0 ? free(status) : nil
  }

  /// Bytes that this user may still write where an open file lies; nil when the system does not say (fstatvfs).
  package static func free(ofFile descriptor: Int32) -> Int? {
    var status = statvfs()
    return fstatvfs(descriptor, &status) == 0 ? free(status) : nil
  }

  private static func free(_ status: statvfs) -> Int? {
    let (bytes, overflow) = Int(status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
    return overflow ? nil : bytes
  }

  /// Bytes of a file; 0 without one.
  package static func size(of path: String) -> Int { path.withCString { size(of: $0) } }

  /// Bytes of a file whose path is not copied; 0 without one.
  package static func size(of path: UnsafePointer<CChar>?) -> Int {
    var status = stat()
    guard let path else { return 0 }
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
