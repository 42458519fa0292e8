import Upsurge
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Source {
  /// The path of a folder; nil for anything else.
  var folderPath: String? { filePath.flatMap { FolderListing.isFolder($0) ? $0 : nil } }

  var isFolder: Bool { folderPath != nil }
}

/// The files of a drop folder.
enum FolderListing {
  /// Names of files that somebody is still writing, by their ends.
  private static let unfinished = [".tmp", ".part", ".partial", ".filepart", ".crdownload", "~"]

  static func isFolder(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// What a folder holds, in no order.
  /// - Throws: `unreadableInput`.
  static func names(in folder: String) throws(UpsurgeError) -> [String] {
    guard let directory = opendir(folder) else { throw .cannotOpen(folder, errno) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }

  private static func isLink(_ path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
  }

  /// Paths of the regular files in a folder. Those that are hidden or unfinished by their names are left out, and so are
  /// symbolic links: whoever writes into the folder could have any file read by them.
  /// - Returns: the files in order, and the links by name.
  /// - Throws: `unreadableInput`.
  static func files(
    in folder: String, order: DropFolder.Order
  ) throws(UpsurgeError) -> (files: [String], links: [String]) {
    var found: [(path: String, modified: Int64)] = []
    var links: [String] = []
    for name in try names(in: folder) {
      if name.hasPrefix(".") || unfinished.contains(where: { name.hasSuffix($0) }) { continue }
      let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
      guard let stamp = DeliveredFile.Stamp(path: path, followsLinks: false) else {
        if isLink(path) { links.append(path) }
        continue
      }
      found.append((path, stamp.modified))
    }
    // By bytes, so that the order does not depend on the locale.
    let byName = found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    links.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    switch order {
    case .name: return (byName.map(\.path), links)
    case .time: return (byName.sorted { $0.modified < $1.modified }.map(\.path), links)
    }
  }
}

extension DropFolder.Done {
  /// Does with a file what is to be done when its records are in the table. A file that has taken its name meanwhile
  /// stays: it is looked at under a name of its own.
  /// - Throws: `cannotCreate`; the file stays where it is then.
  func apply(to path: String, if content: DeliveredFile) throws(UpsurgeError) {
    if self == .leave { return }
    let held = HeldFile(path)
    guard rename(path, held.place) == 0 else {
      if errno == ENOENT { return }
      throw refusal(path, errno)
    }
    if held.has(content) {
      try finish(held)
    } else {
      try put(held, in: held.folder)
    }
  }

  /// Puts back what runs that were killed have held in a folder, so that it is listed again. Where another file has the
  /// name by now, that stays: what is known to be taken is done with, anything else gets a name beside it.
  /// - Parameters:
  ///   - taken: files whose records are in the table.
  ///   - note: is told of files that cannot be put back; they stay hidden.
  func putBack(in folder: String, taken: KnownFiles, note: (RunNote) -> Void) {
    for held in HeldFile.abandoned(in: folder) {
      do throws(UpsurgeError) {
        if held.takesName() { continue }
        let name = SourceName.place(of: held.path)
        guard let file = taken.named(name).first(where: { held.has($0) }) else {
          try put(held, in: held.folder)
          continue
        }
        guard self != .leave else {
          throw UpsurgeError(
            .cannotCreate,
            "\(SourceName.shown(held.place)) stays hidden: \(SourceName.shown(file.name)) is another file by now",
            hint: "its records are in the table: delete it, or move it away")
        }
        try finish(held)
      } catch {
        note(RunNote(.warning, error.message + (error.hint.map { " (\($0))" } ?? "")))
      }
    }
  }

  /// - Precondition: it is not `leave`.
  private func finish(_ held: HeldFile) throws(UpsurgeError) {
    switch self {
    case .leave: preconditionFailure("a file that is left was held")
    case .delete: if unlink(held.place) != 0, errno != ENOENT { throw refusal(held.path, errno) }
    case .move(let target): try put(held, in: target + "/")
    }
  }

  /// Gives a file its name in a folder, or one beside it where that is taken; where that cannot be, its old place, unless
  /// another file has that by now.
  private func put(_ held: HeldFile, in folder: String) throws(UpsurgeError) {
    var number = 1
    while !held.isLinked(as: folder + (number == 1 ? "" : "\(number)-") + held.name) {
      let code = errno
      guard code == EEXIST else {
        // Another run may have put it back.
        if code == ENOENT, access(held.place, F_OK) != 0 { return }
        held.takesName()
        throw refusal(held.path, code)
      }
      number += 1
    }
    unlink(held.place)
  }

  private func refusal(_ path: String, _ code: Int32) -> UpsurgeError {
    let verb = self == .delete ? "delete" : "move"
    if code == ENOENT, case .move(let folder) = self {
      return UpsurgeError(
        .cannotCreate,
        "cannot move \(SourceName.shown(path)), whose records are in the table: there is no folder \(SourceName.shown(folder))",
        hint: "make that folder", underlyingCode: code)
    }
    return UpsurgeError(
      .cannotCreate,
      "cannot \(verb) \(SourceName.shown(path)), whose records are in the table: \(String(cString: strerror(code)))",
      hint: code == EXDEV
        ? "name a folder on the same disk" : "give the right to write to its folder, and to the target",
      underlyingCode: code)
  }
}
