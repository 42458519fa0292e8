import UpsurgeRecords

extension UpsurgeError {
  /// The end of a read that was asked to end.
  package static func interrupted(_ name: String) -> UpsurgeError {
    UpsurgeError(
      .interrupted, "reading \(SourceName.shown(name)) was interrupted", position: Position(file: name))
  }

  /// A URL that libcurl does not understand.
  static func badURL(_ name: String, _ reason: String) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput, "\(name.escapedForTerminal) is no URL that can be fetched: \(reason)",
      position: Position(file: name),
      hint: "write special characters as %XX (a space is %20), also in a user or password")
  }

  /// A fetch that another try would not help.
  static func cannotFetch(_ name: String, _ reason: String, _ code: Int32) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput, "cannot fetch \(name.escapedForTerminal): \(reason)", position: Position(file: name),
      hint: "curl -v fetches it and shows each step (SSL_CERT_FILE names other certificates)",
      underlyingCode: code)
  }

  /// An answer that is not the content, and stays so.
  static func refused(_ name: String, _ head: HTTPHead, of request: HTTPRequest) -> UpsurgeError {
    let shown = name.escapedForTerminal
    let message: String
    let hint: String
    switch head.status {
    case 401, 403:
      message = "\(shown) may not be fetched: the server answered \(head.words)"
      let host = URLText.host(of: request.shownURL).escapedForTerminal
      hint = "check the credentials: ~/.netrc holds them as `machine \(host) login USER password PASSWORD`"
    case 404:
      message = "there is no \(shown): the server answered \(head.words)"
      hint = "check the URL"
    case 410:
      message = "\(shown) is gone for good: the server answered \(head.words)"
      hint = "ask its owner where it is now"
    case 202, 204, 205:
      message = "\(shown) has no content now: the server answered \(head.words)"
      hint = "try again when it is made"
    default:
      message = "cannot fetch \(shown): the server answered \(head.words)"
      hint = "curl -v fetches it and shows the whole answer"
    }
    return UpsurgeError(
      .unreadableInput, message, position: Position(file: name), hint: hint,
      underlyingCode: Int32(head.status))
  }

  /// An answer that contradicts itself, or that cannot be read.
  static func badAnswer(_ name: String, _ what: String, hint: String) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput, "cannot fetch \(name.escapedForTerminal): \(what)", position: Position(file: name),
      hint: hint)
  }

  /// All tries have failed before the first byte.
  static func givenUp(_ name: String, tries: Int, seconds: Double, last reason: String) -> UpsurgeError {
    let often = tries == 1 ? "once" : "\(tries) times within \(Words.seconds(seconds))"
    return UpsurgeError(
      .unreadableInput, "cannot fetch \(name.escapedForTerminal): tried \(often), and at last \(reason)",
      position: Position(file: name), hint: "try again later; curl -v fetches it and shows each step")
  }

  /// A body that ended before its end.
  /// - Parameters:
  ///   - total: how long it should be, where that is known.
  ///   - why: why it was not resumed.
  static func cutOff(
    _ name: String, offset: UInt64, total: UInt64?, _ reason: String, why: String
  ) -> UpsurgeError {
    let place = total.map { "byte \(offset) of \($0)" } ?? "byte \(offset)"
    return UpsurgeError(
      .badInput, "\(name.escapedForTerminal) is cut off at \(place): \(reason), and \(why)",
      position: Position(file: name), hint: "load it again; what a cut body lacks is not known")
  }

  /// A body that goes on after its end.
  static func tooLong(_ name: String, _ byteCount: UInt64) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(name.escapedForTerminal) is longer than its Content-Length of \(byteCount) bytes, so nobody knows where it "
        + "should end",
      position: Position(file: name), hint: "have the server, or the proxy before it, send the right length")
  }
}
