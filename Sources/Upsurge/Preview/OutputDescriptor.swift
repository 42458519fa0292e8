#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that a run writes, opened so that nobody else's file is written and nobody else reads along.
///
///     regular file   made 0600, or taken over from its start; no symbolic link, and in a folder that all may write
///                    (/tmp) only one of our own without further hard links
///     /dev/fd/N      and /dev/stdout, /dev/stderr, which lead to what is open already: a pipe of the shell's `>(...)`
///     pipe, device   as they are
package struct OutputDescriptor {
  package let descriptor: Int32
  /// Whether it is a file made or taken over here, which can be cut again; false for all that is open elsewhere.
  package let isOwnFile: Bool

  /// - Parameters:
  ///   - option: the option that named the path, for messages.
  ///   - goesOn: whether an earlier part of the run has written the file, which keeps what it holds.
  /// - Throws: `cannotCreate`; `guardRefused` for a file to go on with that is not there.
  package init(path: String, option: String, goesOn: Bool = false) throws(UpsurgeError) {
    if path.utf8.contains(0) {
      throw UpsurgeError(.cannotCreate, "the path of \(option) holds a NUL byte", hint: Self.hint(option))
    }
    if let open = Self.inherited(path) {
      descriptor = fcntl(open, F_DUPFD_CLOEXEC, 3)
      isOwnFile = false
      if descriptor < 0 { throw Self.failure(path, option, String(cString: strerror(errno)), errno) }
      return
    }
    // A pipe without a reader would make the open wait where no signal could end it.
    var opened: Int32
    repeat {
      opened = open(
        path,
        O_WRONLY | (goesOn ? 0 : O_CREAT) | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0o600)
    } while opened < 0 && errno == EINTR
    if opened < 0 && goesOn && errno == ENOENT { throw Self.incomplete(path, option) }
    if opened < 0 { throw Self.failure(path, option, Self.reason(errno), errno) }
    var status = stat()
    let isRegular = fstat(opened, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    if isRegular, let trap = Self.trap(path, status) {
      close(opened)
      throw Self.failure(path, option, trap, nil)
    }
    if isRegular && !goesOn { ftruncate(opened, 0) }
    if !isRegular { _ = fcntl(opened, F_SETFL, O_WRONLY) }
    descriptor = opened
    isOwnFile = isRegular
  }

  /// The refusal to go on with a file that lacks what an earlier part of the run has written.
  static func incomplete(_ path: String, _ option: String) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "the file \(path.escapedForTerminal) of \(option) does not hold any more what the earlier part of this run has "
        + "written to it",
      hint: "bring it back, or start over with --resume never")
  }

  /// The descriptor that a path such as `/dev/fd/63` means.
  private static func inherited(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default: break
    }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      let number = path.dropFirst(folder.count)
      if number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Int32(number) }
    }
    return nil
  }

  /// Why a file that is there may have been laid out for us; nil when it was not.
  private static func trap(_ path: String, _ file: stat) -> String? {
    var folder = "."
    if let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = cut == path.startIndex ? "/" : String(path[..<cut])
    }
    var status = stat()
    guard stat(folder, &status) == 0, status.st_mode & S_IWOTH != 0 else { return nil }
    if file.st_uid != geteuid() { return "it belongs to another user, in a folder that all may write" }
    if file.st_nlink > 1 {
      return "it has another name (a hard link), and its folder is one that all may write"
    }
    return nil
  }

  private static func reason(_ code: Int32) -> String {
    switch code {
    case ELOOP: "it is a symbolic link, which is not followed"
    case ENXIO: "it is a pipe that nobody reads"
    default: String(cString: strerror(code))
    }
  }

  private static func hint(_ option: String) -> String { "give another path to \(option)" }

  private static func failure(_ path: String, _ option: String, _ reason: String, _ code: Int32?)
    -> UpsurgeError
  {
    let isLink = code == ELOOP
    return UpsurgeError(
      .cannotCreate, "cannot create \(path.escapedForTerminal) for \(option): \(reason)",
      hint: isLink ? "give the path of the file itself to \(option)" : hint(option), underlyingCode: code)
  }
}
