#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A path that goes on after a regular file: `feeds/feed.zip/stops.txt` names a member of an archive.
///
/// No file can have such a path, so it takes no other file's name.
package struct ArchivePath: Sendable, Hashable {
  /// The path of the file.
  package let archive: String
  /// What follows it, without slashes at its start; empty for `feed.zip/`.
  package let member: String

  /// nil for the path of anything else, also of what is not there.
  package init?(_ path: String) {
    guard stat(path: path) == nil, errno == ENOTDIR else { return nil }
    var end = path.utf8.endIndex
    while let slash = path.utf8[..<end].lastIndex(of: UInt8(ascii: "/")), slash > path.utf8.startIndex {
      end = slash
      guard let info = stat(path: String(path[..<slash])) else {
        if errno == ENOTDIR { continue }
        return nil
      }
      guard info.isRegular else { return nil }
      archive = String(path[..<slash])
      member = String(path[slash...].drop { $0 == "/" })
      return
    }
    return nil
  }

  /// The member of an archive that a listing calls so.
  init(archive: String, member: String) { (self.archive, self.member) = (archive, member) }

  /// All of it.
  var text: String { "\(archive)/\(member)" }
}
