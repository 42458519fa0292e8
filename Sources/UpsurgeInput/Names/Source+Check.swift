import UpsurgeRecords

extension Source {
  /// - Throws: `usage` for what is not a command, and for no rows of a database.
  func checkFeed() throws(UpsurgeError) {
    switch opening {
    case .database: _ = try database()
    case .server: _ = try server()
    case .command(let command):
      guard command.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return }
      throw UpsurgeError(
        .usage, "\(Opening.commandMark) names no command", hint: "give one: 'exec:COMMAND', as sh -c takes it"
      )
    case .file, .standardInput, .url, .program: return
    }
  }

  /// The rows of a database that it is; nil for anything else.
  /// - Throws: `usage` for what begins as a database and says no rows.
  package func database() throws(UpsurgeError) -> DatabaseSource? {
    guard case .database(let text, let rows) = opening else { return nil }
    if let rows { return rows }
    let mark = Opening.databaseMark
    throw UpsurgeError(
      .usage, "\(text.escapedForTerminal) names no rows of a database",
      hint: "give \(mark)PATH#TABLE, or '\(mark)PATH?query=SELECT …'")
  }

  /// The rows of a server's database that it is; nil for anything else.
  /// - Throws: `usage` for the URL of a server that says no rows.
  package func server() throws(UpsurgeError) -> ServerSource? {
    guard case .server(let text, let rows) = opening else { return nil }
    if let rows { return rows }
    throw UpsurgeError(
      .usage, "\(ServerSource.redacted(text).escapedForTerminal) names no rows of a database",
      hint: "give postgres://HOST/DATABASE#TABLE, or 'postgres://HOST/DATABASE?query=SELECT …'")
  }

  /// What precedes `://`, where all of it may be a scheme.
  var scheme: String? {
    let bytes = Array(opening.text.utf8)
    guard let mark = URLText.range(of: "://", in: bytes[...]), mark.lowerBound > 0,
      bytes[..<mark.lowerBound].allSatisfy(URLText.isSchemeByte)
    else { return nil }
    return String(decoding: bytes[..<mark.lowerBound], as: UTF8.self)
  }

  /// The error for a URL of a kind that is not fetched (`ftp://`, `file://`, `s3://`); nil for other sources.
  var unknownScheme: UpsurgeError? {
    if let start = ServerSource.misspelling(opening.text) {
      return UpsurgeError(
        .usage, "the source is a URL that begins with \(start), which is not known",
        hint: "give postgres://HOST/DATABASE#TABLE, or 'postgres://HOST/DATABASE?query=SELECT …'")
    }
    guard let scheme else { return nil }
    let shown = URLText.redacted(opening.text).escapedForTerminal
    let fix =
      URLText.isSame(scheme, "file")
      ? "name the file by its path"
      : "let a program fetch it: 'exec:COMMAND' reads what COMMAND writes"
    return UpsurgeError(
      .unreadableInput, "\(shown) cannot be fetched: only http:// and https:// are, not \(scheme)://",
      hint: fix)
  }
}
