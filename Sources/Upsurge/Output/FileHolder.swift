#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Who holds a file that somebody else wants to write.
enum FileHolder {
  /// The refusal to write a file that another process writes or replays.
  static func busy(_ path: String, _ option: Wording, _ file: stat) -> UpsurgeError {
    UpsurgeError(
      .databaseBusy,
      "the file \(path.escapedForTerminal) of \(saying: option) is being written or replayed by \(words(file))",
      hint: "wait until that has ended, or give another path to \(saying: option)")
  }

  /// `process 123`, as far as it can be told: on Linux, and in the same container.
  static func words(_ file: stat) -> String {
    processID(file).map { "process \($0)" } ?? "another process"
  }

  /// The process that holds the lock of a file.
  ///
  /// A line of /proc/locks is `1: FLOCK  ADVISORY  WRITE 123 08:01:4567 0 EOF`; the device is left alone, as some file
  /// systems name another one there than `stat` does.
  private static func processID(_ file: stat) -> Int32? {
    guard let locks = fopen("/proc/locks", "r") else { return nil }
    defer { fclose(locks) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), locks) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let words = text.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let pid = Int32(words[4]), pid > 0,
        words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(file.st_ino)
      else { continue }
      return pid
    }
    return nil
  }
}

/// Puts a folder's entry of a new or renamed file on the disk.
/// - Returns: 0, or the reason why not.
func syncFolder(of path: String) -> Int32 {
  let descriptor = open(folder(of: path), O_RDONLY | O_CLOEXEC | O_DIRECTORY)
  // One that may be written and not read can only be left to the system.
  if descriptor < 0 { return errno == EACCES ? 0 : errno }
  defer { close(descriptor) }
  // Some file systems cannot; they order the rename themselves.
  return fsync(descriptor) != 0 && errno != EINVAL ? errno : 0
}

/// The folder in which a path lies.
func folder(of path: String) -> String {
  guard let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return cut == path.startIndex ? "/" : String(path[..<cut])
}

/// Whether a path leads to a regular file, and not by a symbolic link.
func isRegularFile(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}

/// A path without links and dots; nil for what is not there.
func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}
