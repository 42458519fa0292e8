#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that a run writes, opened so that nobody else's file is written and nobody else reads along.
///
///     regular file   made 0600, or taken over from its start; no symbolic link, and in a folder that all may write
///                    (/tmp) only one of our own without further hard links. Locked before it is touched, until the
///                    descriptor is closed, so that no two processes write it
///     /dev/fd/N      and /dev/stdout, /dev/stderr, which lead to what is open already: a pipe of the shell's `>(...)`
///     pipe, device   as they are
package struct OutputDescriptor {
  package let descriptor: Int32
  /// Whether it is a file made or taken over here, which can be cut again; false for all that is open elsewhere.
  package let isOwnFile: Bool

  /// - Parameters:
  ///   - option: the option that named the path, for messages.
  ///   - goesOn: whether an earlier part of the run has written the file: it keeps what it holds, and can be read.
  /// - Throws: `cannotCreate`; `databaseBusy` for a file that another process writes or replays.
  package init(path: String, option: Wording, goesOn: Bool = false) throws(UpsurgeError) {
    if path.utf8.contains(0) {
      throw UpsurgeError(.cannotCreate, "the path of \(saying: option) holds a NUL byte", hint: Self.hint(option))
    }
    if let open = Self.inherited(path) {
      try Self.checkOpen(open, path, option)
      descriptor = fcntl(open, F_DUPFD_CLOEXEC, 3)
      isOwnFile = false
      if descriptor < 0 { throw Self.failure(path, option, String(cString: strerror(errno)), errno) }
      return
    }
    let (opened, isRegular) = try Self.opened(path, option, goesOn: goesOn)
    if isRegular && !goesOn { ftruncate(opened, 0) }
    if !isRegular { _ = fcntl(opened, F_SETFL, O_WRONLY) }
    descriptor = opened
    isOwnFile = isRegular
  }

  /// Opens a path; a regular file is locked, and is what the path leads to, also after a replay has ended meanwhile and
  /// put another one there.
  private static func opened(
    _ path: String, _ option: Wording, goesOn: Bool
  ) throws(UpsurgeError) -> (descriptor: Int32, isRegular: Bool) {
    // A pipe without a reader would make the open wait where no signal could end it.
    let flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
    while true {
      // Nor is a pipe opened for reading, too: it would seem to have a reader for ever.
      var known = stat()
      let isStream = lstat(path, &known) == 0 && known.st_mode & S_IFMT != S_IFREG
      let reads = goesOn && !isStream
      let opened = open(path, flags | (reads ? O_RDWR : O_WRONLY), 0o600)
      if opened < 0 && errno == EINTR { continue }
      if opened < 0 { throw failure(path, option, reason(errno), errno) }
      var status = stat()
      guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        if !reads { return (opened, false) }
        // Opened for reading as well, a pipe would have this process as its reader.
        close(opened)
        return try Self.opened(path, option, goesOn: false)
      }
      if let trap = trap(path, status) {
        close(opened)
        throw failure(path, option, trap, nil)
      }
      // A file system without locks has none to look for.
      if flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK {
        close(opened)
        throw FileHolder.busy(path, option, status)
      }
      var now = stat()
      if lstat(path, &now) == 0, now.st_ino == status.st_ino, now.st_dev == status.st_dev {
        return (opened, true)
      }
      close(opened)
    }
  }

  /// Looks whether a stream that the process was given can be written, before anything is done for it.
  /// - Throws: `cannotCreate` for one that the caller has closed.
  static func checkOpen(_ descriptor: Int32, _ path: String, _ option: Wording) throws(UpsurgeError) {
    let flags = fcntl(descriptor, F_GETFL)
    if flags >= 0 && flags & O_ACCMODE != O_RDONLY { return }
    throw failure(path, option, "it is closed, or open for reading only", flags < 0 ? errno : nil)
  }

  /// Whether a path means standard output.
  static func isStandardOutput(_ path: String) -> Bool { path == "-" || inherited(path) == STDOUT_FILENO }

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
    var status = stat()
    guard stat(folder(of: path), &status) == 0, status.st_mode & S_IWOTH != 0 else { return nil }
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

  private static func hint(_ option: Wording) -> Wording { "give another path to \(saying: option)" }

  private static func failure(_ path: String, _ option: Wording, _ reason: String, _ code: Int32?)
    -> UpsurgeError
  {
    let isLink = code == ELOOP
    return UpsurgeError(
      .cannotCreate, "cannot create \(path.escapedForTerminal) for \(saying: option): \(reason)",
      hint: isLink ? "give the path of the file itself to \(saying: option)" : hint(option), underlyingCode: code)
  }
}
