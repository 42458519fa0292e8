import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files of a drop folder.
enum FolderListing {
  /// Names of files that somebody is still writing, by their ends.
  private static let unfinished = [".tmp", ".part", ".partial", ".filepart", ".crdownload", "~"]

  static func isFolder(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// Paths of the regular files in a folder; those that are hidden or unfinished by their names are left out.
  /// - Throws: `unreadableInput`.
  static func files(in folder: String, order: DropFolder.Order) throws(UpsurgeError) -> [String] {
    guard let directory = opendir(folder) else { throw .cannotOpen(folder, errno) }
    defer { closedir(directory) }
    var found: [(path: String, modified: Int64)] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(".") || unfinished.contains(where: { name.hasSuffix($0) }) { continue }
      let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
      guard let stamp = DeliveredFile.Stamp(path: path) else { continue }
      found.append((path, stamp.modified))
    }
    // By bytes, so that the order does not depend on the locale.
    let byName = found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    switch order {
    case .name: return byName.map(\.path)
    case .time: return byName.sorted { $0.modified < $1.modified }.map(\.path)
    }
  }
}

extension DropFolder.Done {
  /// Does with a file what is to be done when its records are in the table. A file that has taken its name meanwhile
  /// stays: it is looked at under a name of its own.
  /// - Throws: `cannotCreate`; the file stays where it is then.
  func apply(to path: String, if content: DeliveredFile) throws(UpsurgeError) {
    if self == .leave { return }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let folder = String(path.dropLast(name.count))
    let held = folder + ".upsurge-\(getpid())-" + name
    guard rename(path, held) == 0 else {
      if errno == ENOENT { return }
      throw refusal(path, errno)
    }
    let stamp = DeliveredFile.Stamp(path: held)
    // Renaming it has changed the time of the file itself.
    guard let stamp, stamp.inode == content.stamp.inode, stamp.modified == content.stamp.modified,
      stamp.byteCount == content.byteCount
    else { return try put(held, of: path, in: folder) }
    switch self {
    case .leave: break
    case .delete: if unlink(held) != 0 { throw refusal(path, errno) }
    case .move(let target): try put(held, of: path, in: target + "/")
    }
  }

  /// Gives a file its name in a folder, or one beside it where that is taken; where that cannot be, its old place.
  private func put(_ held: String, of path: String, in folder: String) throws(UpsurgeError) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    var number = 1
    while link(held, folder + (number == 1 ? "" : "\(number)-") + name) != 0 {
      let code = errno
      guard code == EEXIST else {
        rename(held, path)
        throw refusal(path, code)
      }
      number += 1
    }
    unlink(held)
  }

  private func refusal(_ path: String, _ code: Int32) -> UpsurgeError {
    let verb = self == .delete ? "delete" : "move"
    return UpsurgeError(
      .cannotCreate,
      "cannot \(verb) \(SourceName.shown(path)), whose records are in the table: \(String(cString: strerror(code)))",
      hint: code == EXDEV
        ? "name a folder on the same disk" : "give the right to write to its folder, and to the target",
      underlyingCode: code)
  }
}
