import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension UpsurgeError {
  /// A file that cannot be opened, from the `errno` of stat(2) or open(2).
  package static func cannotOpen(_ name: String, _ code: Int32) -> UpsurgeError {
    let shown = SourceName.shown(name)
    switch code {
    case EISDIR: return .isDirectory(name)
    case EBADF:
      return UpsurgeError(
        .unreadableInput, "\(shown) is closed", hint: "pipe the input in, or name a file",
        underlyingCode: code)
    case ENOENT:
      var hint = "check the path"
      if !name.utf8.starts(with: "/".utf8), let directory = currentDirectory() {
        hint += "; it was looked for in \(directory.escapedForTerminal)"
      }
      return UpsurgeError(
        .unreadableInput, "there is no file \(shown)", hint: hint, underlyingCode: code)
    case EACCES, EPERM:
      return UpsurgeError(
        .unreadableInput, "cannot open \(shown): permission denied",
        hint: "give user \(geteuid()) the right to read it and to enter its folders "
          + "(namei -l\(SourceName.asShellArgument(name)))",
        underlyingCode: code)
    case EMFILE, ENFILE:
      return UpsurgeError(
        .unreadableInput, "cannot open \(shown): too many open files",
        hint: "raise the limit: ulimit -n 4096",
        underlyingCode: code)
    default:
      return UpsurgeError(
        .unreadableInput, "cannot open \(shown): \(systemText(code))",
        hint: "try to read it with another program: cat\(SourceName.asShellArgument(name)) >/dev/null",
        underlyingCode: code)
    }
  }

  /// A directory where a file was expected.
  static func isDirectory(_ name: String) -> UpsurgeError {
    var folder = name.escapedForTerminal
    while folder.utf8.count > 1 && folder.hasSuffix("/") { folder.removeLast() }
    let inside = folder == "/" ? "/" : folder + "/"
    return UpsurgeError(
      .unreadableInput, "\(name.escapedForTerminal) is a directory",
      hint: "name its files: \(inside)*.csv", underlyingCode: EISDIR)
  }

  /// A symbolic link among files that were found in a folder.
  static func isLink(_ name: String) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput, "\(name.escapedForTerminal) is a symbolic link, which is not followed in a folder",
      hint: "put the file itself there, or name the link as a source of its own", underlyingCode: ELOOP)
  }

  /// A device, pipe or socket among files that were found in a folder.
  static func isNoFile(_ name: String) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput,
      "\(name.escapedForTerminal) is a device, pipe or socket, which is not read in a folder",
      hint: "put a file there, or name it as a source of its own")
  }

  /// A glob that matches nothing.
  static func noMatch(_ pattern: String) -> UpsurgeError {
    var hint = "check the pattern"
    if !pattern.utf8.starts(with: "/".utf8), let directory = currentDirectory() {
      hint += "; it was tried in \(directory.escapedForTerminal)"
    }
    return UpsurgeError(
      .unreadableInput, "no file matches \(pattern.escapedForTerminal)", hint: hint, underlyingCode: ENOENT)
  }

  /// A read(2) or poll(2) that failed after `offset` bytes of the file.
  package static func cannotRead(_ name: String, offset: UInt64, _ code: Int32) -> UpsurgeError {
    if code == EISDIR { return .isDirectory(name) }
    // Where it was closed, the command has put something there that cannot be read.
    if code == EBADF { return .cannotOpen(name, code) }
    let what = "cannot read \(SourceName.shown(name)) beyond byte \(offset): \(systemText(code))"
    let hint =
      code == EIO
      ? "the disk or its connection fails (dmesg says more); copy the file elsewhere and load the copy"
      : "try to read it with another program: cat\(SourceName.asShellArgument(name)) >/dev/null"
    return UpsurgeError(
      .unreadableInput, what, position: Position(file: name), hint: hint, underlyingCode: code)
  }

  /// A regular file that lost bytes while it was read.
  static func becameShorter(_ name: String, offset: UInt64, expected: UInt64) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) was made shorter while it was read: it ends at byte \(offset) "
        + "and had \(expected) bytes before",
      position: Position(file: name),
      hint: "load it when its writer is done; writers should write to a new name and rename")
  }

  /// A text whose last line does not end, where every line must.
  static func endsInLine(_ name: String, offset: UInt64) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) ends at byte \(offset) without a line end: its last record may be cut",
      position: Position(file: name, byte: offset),
      hint: "deliver it again; \(.lineEnd, "any") takes feeds whose last line never ends")
  }

  /// A file that does not fit what an interrupted run has noted of it.
  static func isAnotherFile(_ name: String, _ what: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(SourceName.shown(name)) \(what): it is not the file that the interrupted run has read",
      position: Position(file: name),
      hint:
        "\(.resume, "never") reads the input from its start; without a key, delete first what that run has stored")
  }

  private static func systemText(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return String(cString: text)
  }
}
