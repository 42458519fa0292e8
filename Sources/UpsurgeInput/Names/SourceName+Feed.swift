import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension SourceName {
  /// What stands in front of a command whose output is read.
  package static let commandMark = "exec:"

  /// What stands in front of the name of a source that the program itself is.
  package static let programMark = "program:"

  /// Whether the name is no file but a stream that is sent: what a URL leads to, what a command or the
  /// program itself writes, rows of a database.
  package static func isFeed(_ name: String) -> Bool {
    isURL(name) || command(of: name) != nil || isDatabase(name) || name.utf8.starts(with: programMark.utf8)
  }

  /// Whether what the name stands for is gone once it was read: standard input, a named pipe, a device.
  package static func isReadOnce(_ name: String) -> Bool {
    if isStandardInput(name) { return true }
    guard !isFeed(name), let info = stat(path: name) else { return false }
    return !info.isRegular && !info.isDirectory
  }

  /// Whether the name is a URL that is fetched: `http://…` or `https://…`.
  package static func isURL(_ name: String) -> Bool {
    name.begins(inAnyCaseWith: "http://") || name.begins(inAnyCaseWith: "https://")
  }

  /// The command of `exec:COMMAND`; nil for another name.
  package static func command(of name: String) -> String? {
    guard name.utf8.starts(with: commandMark.utf8) else { return nil }
    return String(decoding: name.utf8.dropFirst(commandMark.utf8.count), as: UTF8.self)
  }

  /// The name as it may be shown and stored: without the credentials that a URL holds (`https://***@host/…`), nor the
  /// values of parameters that are called like secrets (`?token=***`).
  package static func redacted(_ name: String) -> String {
    if isURL(name) { return URLText.redacted(name) }
    if isDatabase(name) { return name }
    return command(of: name) == nil ? name : URLText.redacted(within: name)
  }

  /// - Throws: `usage` for a command that is none, and for no rows of a database.
  static func checkFeed(_ name: String) throws(UpsurgeError) {
    _ = try database(of: name)
    guard let command = command(of: name), command.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else {
      return
    }
    throw UpsurgeError(
      .usage, "\(commandMark) names no command", hint: "give one: 'exec:COMMAND', as sh -c takes it")
  }

  /// The error for a URL of a kind that is not fetched (`ftp://`, `file://`, `s3://`); nil for other names.
  static func unknownScheme(of name: String) -> UpsurgeError? {
    let bytes = Array(name.utf8)
    guard let mark = URLText.range(of: "://", in: bytes[...]), mark.lowerBound > 0,
      bytes[..<mark.lowerBound].allSatisfy(URLText.isSchemeByte)
    else { return nil }
    let scheme = String(decoding: bytes[..<mark.lowerBound], as: UTF8.self)
    let shown = URLText.redacted(name).escapedForTerminal
    let fix =
      URLText.isSame(scheme, "file")
      ? "name the file by its path"
      : "let a program fetch it: 'exec:COMMAND' reads what COMMAND writes"
    return UpsurgeError(
      .unreadableInput, "\(shown) cannot be fetched: only http:// and https:// are, not \(scheme)://",
      hint: fix)
  }
}

extension String {
  /// Whether it begins with an ASCII text in lower case, whatever its own case.
  fileprivate func begins(inAnyCaseWith prefix: String) -> Bool {
    utf8.count >= prefix.utf8.count && zip(utf8, prefix.utf8).allSatisfy { URLText.lowercased($0) == $1 }
  }
}
