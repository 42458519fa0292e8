import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that a run holds under a hidden name while it does with it what is to be done: nobody can replace it there, and
/// whatever takes its name meanwhile is another file.
///
///     in/1.csv  ->  in/.upsurge-4711-1.csv  ->  done/1.csv
///
/// A process that is killed on the way leaves it hidden. The next run puts it back. Should the first one be at work after
/// all (in another container, say), it finds nothing to do any more, and the later run does it.
struct HeldFile {
  /// The folder with a slash at its end; empty for the current one.
  let folder: String
  /// The file's own name in it.
  let name: String
  private let pid: Int32

  /// Where it was, and where it is held.
  var path: String { folder + name }
  var place: String { folder + Self.prefix + "\(pid)-" + name }

  private static let prefix = ".upsurge-"

  /// A file of that path, as this process holds it.
  init(_ path: String) {
    name = path.split(separator: "/").last.map(String.init) ?? path
    folder = String(path.dropLast(name.count))
    pid = getpid()
  }

  /// nil for a name under which no file is held.
  private init?(folder: String, hidden: String) {
    guard hidden.hasPrefix(Self.prefix) else { return nil }
    let rest = hidden.dropFirst(Self.prefix.count)
    guard let dash = rest.firstIndex(of: "-"), let pid = Int32(rest[..<dash]), pid > 0 else { return nil }
    (self.folder, self.pid, name) = (folder, pid, String(rest[dash...].dropFirst()))
    if name.isEmpty || place != folder + hidden { return nil }
  }

  /// Files in a folder that a process which is no more has held; none where the folder cannot be read.
  static func abandoned(in folder: String) -> [HeldFile] {
    let names = (try? FolderListing.names(in: folder.isEmpty ? "." : folder)) ?? []
    let folder = folder.isEmpty || folder.hasSuffix("/") ? folder : folder + "/"
    return names.sorted().compactMap { HeldFile(folder: folder, hidden: $0) }.filter(\.isAbandoned)
  }

  /// Whether its process is no more. This one holds nothing while it lists a folder: its number was another's.
  private var isAbandoned: Bool {
    guard DeliveredFile.Stamp(path: place) != nil else { return false }
    return pid == getpid() || kill(pid, 0) != 0 && errno == ESRCH || isOld
  }

  /// Whether it was held a minute ago, for which nobody needs so long: the number is another process's by now.
  private var isOld: Bool {
    guard let changed = DeliveredFile.Stamp(path: place)?.changed else { return false }
    return changed / 1_000_000_000 + 60 < Int64(time(nil))
  }

  /// Whether it is a file of which the content is known. Renaming it has changed the time of the file itself.
  func has(_ content: DeliveredFile) -> Bool {
    guard let stamp = DeliveredFile.Stamp(path: place) else { return false }
    return stamp.inode == content.stamp.inode && stamp.modified == content.stamp.modified
      && stamp.byteCount == content.byteCount
  }

  /// Gives it a name beside the hidden one; true as well where it has that already, from a run that was killed after this.
  /// - Returns: false where it cannot have it; `errno` says why.
  func isLinked(as path: String) -> Bool {
    if link(place, path) == 0 { return true }
    let code = errno
    var (one, other) = (stat(), stat())
    let isSame =
      code == EEXIST && stat(place, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev
      && one.st_ino == other.st_ino
    errno = code
    return isSame
  }

  /// Puts it back under its own name, where no other file has that.
  /// - Returns: whether it has it.
  @discardableResult
  func takesName() -> Bool {
    if isLinked(as: path) {
      unlink(place)
      return true
    }
    // A file system without links cannot refuse a name that is taken, so it is looked for before that.
    return errno != EEXIST && access(path, F_OK) != 0 && rename(place, path) == 0
  }
}
