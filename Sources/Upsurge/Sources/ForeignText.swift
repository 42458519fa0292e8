import UpsurgeRecords

/// A text that is no feed, though records could be read from it: what a server, a shell or a version control system puts
/// in the place of a file.
///
///     <!DOCTYPE html>…                             a page that asks for a login, or says what went wrong
///     <Error><Code>NoSuchKey</Code>…</Error>       the answer of a file store
///     version https://git-lfs.github.com/spec/v1   a pointer to the file
///     bash: line 1: mysql: command not found       what a pipe has caught of a failed command
///
/// A page is known by how it begins, or by one element that is all of it. Messages are looked for in short texts only:
/// a long one that begins with an error has records after it, or is a log.
struct ForeignText: Equatable {
  /// What it is, with its article: `an HTML page`.
  var what: String
  var hint: String

  private static let longestMessage = 4096
  private static let mostMessageLines = 20

  /// - Parameters:
  ///   - sample: how the text begins, in UTF-8.
  ///   - isWhole: whether it is all of it.
  static func detect(_ sample: [UInt8], isWhole: Bool) -> ForeignText? {
    let start = sample.prefix(longestMessage).drop(while: isBlank)
    guard let first = start.first else { return nil }
    let text = String(decoding: start, as: UTF8.self)
    if first == UInt8(ascii: "<") { return markup(text, all: isWhole ? sample : nil) }
    if let pointer = pointer(text) { return pointer }
    return isWhole && sample.count <= longestMessage ? message(text) : nil
  }

  func error(_ name: String, in sample: [UInt8]) -> UpsurgeError {
    let line = sample.drop(while: Self.isBlank).prefix { $0 != 0x0A && $0 != 0x0D }.prefix(120)
    return UpsurgeError(
      .badInput, "\(name) looks like \(what), not like records",
      position: Position(file: name, line: 1, byte: 0),
      snippet: String(decoding: line, as: UTF8.self).escapedForTerminal, hint: hint)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  // MARK: - Markup

  private static let page = ForeignText(
    what: "an HTML page",
    hint: "open it in a browser: it says why the data did not come, and often asks for a login")
  private static let document = ForeignText(
    what: "an XML document",
    hint: "read it: as a rule it is an error document that says why the data did not come")

  /// - Parameter all: the whole text, where the sample is that.
  private static func markup(_ text: String, all: [UInt8]?) -> ForeignText? {
    let low = text.lowercased()
    if low.hasPrefix("<?xml") || low.hasPrefix("<!--") {
      if low.contains("<html") || low.contains("<!doctype html") { return page }
      if low.hasPrefix("<?xml") { return document }
      guard let end = low.firstRange(of: "-->") else { return nil }
      let rest = low[end.upperBound...].drop(while: \.isWhitespace)
      return rest.hasPrefix("<") ? markup(String(rest), all: nil) : nil
    }
    if low.hasPrefix("<!doctype") {
      return low.dropFirst(9).drop(while: \.isWhitespace).hasPrefix("html") ? page : document
    }
    // What PHP puts in the place of a page.
    if ["<br />", "<br>", "<b>"].contains(where: low.hasPrefix), low.contains("<b>warning</b>") || low.contains("error</b>") { return page }
    let name = low.dropFirst().prefix { $0.isLetter || $0.isNumber || ":_-".contains($0) }
    if name.isEmpty { return nil }
    if ["html", "head", "body", "title", "meta", "script", "center"].contains(String(name)),
      let next = low.dropFirst(1 + name.count).first, next == ">" || next.isWhitespace
    {
      return page
    }
    guard let all, isOneElement(all, name: Array(name.utf8)) else { return nil }
    return ["h1", "h2", "h3", "p", "div", "pre", "table", "br"].contains(String(name)) ? page : document
  }

  /// Whether a text is one element from its first byte to its last: the element that opens first closes only at the end.
  private static func isOneElement(_ text: [UInt8], name: [UInt8]) -> Bool {
    let lower = text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard let last = lower.lastIndex(where: { !isBlank($0) }), lower[last] == UInt8(ascii: ">") else {
      return false
    }
    var depth = 0
    var place = 0
    while let tag = lower[place...].firstIndex(of: UInt8(ascii: "<")) {
      let isClosing = tag + 1 < lower.count && lower[tag + 1] == UInt8(ascii: "/")
      let start = tag + (isClosing ? 2 : 1)
      place = start
      let end = start + name.count
      guard end < lower.count, lower[start..<end].elementsEqual(name),
        lower[end] == UInt8(ascii: ">") || isBlank(lower[end])
      else { continue }
      guard let close = lower[end...].firstIndex(of: UInt8(ascii: ">")) else { return false }
      if lower[close - 1] == UInt8(ascii: "/") && !isClosing {
        if depth == 0 { return close == last }
        continue
      }
      depth += isClosing ? -1 : 1
      if depth == 0 { return close == last }
    }
    return false
  }

  // MARK: - Pointers

  private static func pointer(_ text: String) -> ForeignText? {
    if text.hasPrefix("version https://git-lfs.github.com/spec/")
      || text.hasPrefix("version https://hawser.github.com/spec/")
    {
      return ForeignText(
        what: "a pointer of Git LFS, not the file that it stands for",
        hint: "git lfs pull fetches the file itself")
    }
    let line = text.prefix { !$0.isNewline }
    if line.hasPrefix("/annex/objects/") || line.contains(".git/annex/objects/") && !line.contains(",") {
      return ForeignText(
        what: "a pointer of git-annex, not the file that it stands for",
        hint: "git annex get fetches the file itself")
    }
    return nil
  }

  // MARK: - Messages

  /// How the messages of programs begin that are asked for data.
  private static let starts = [
    "curl: (", "wget: ", "fatal: ", "traceback (most recent call last):", "exception in thread ",
    "psql: error: ", "psql: fatal", "ssh: connect to host ", "zsh: command not found: ", "rsync: ",
    "aws: error", "error:  ", "http/1.", "http/2 ", "-----begin ", "{\\rtf1",
  ]

  /// How those of shells and their commands end: `cat: a.csv: No such file or directory`.
  private static let ends = [
    ": no such file or directory", ": permission denied", ": command not found", ": not found",
    ": is a directory", ": operation not permitted", ": connection refused", ": cannot execute binary file",
    ": no space left on device", ": input/output error",
  ]

  /// What servers answer in one line.
  private static let answers: Set<String> = [
    "not found", "page not found", "access denied", "forbidden", "unauthorized", "bad request", "bad gateway",
    "service unavailable", "gateway timeout", "gateway time-out", "too many requests",
    "internal server error",
    "rate limit exceeded", "api rate limit exceeded", "request timeout", "permission denied", "no such file or directory", "method not allowed", "gone",
  ]

  private static func message(_ text: String) -> ForeignText? {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.lowercased() }
    guard let first = lines.first, lines.count <= mostMessageLines else { return nil }
    let isOfCommand =
      starts.contains { first.hasPrefix($0) }
      || ends.contains { first.hasSuffix($0) } && first.firstRange(of: ": ") != nil && !first.hasPrefix("\"")
      || isSQLError(first)
    if lines.count == 1, answers.contains(answer(first)) {
      return ForeignText(
        what: "the error message of a server", hint: "ask for the address by itself, until data comes")
    }
    if isOfCommand {
      return ForeignText(
        what: "the error message of a command",
        hint: "run the command that makes the data by itself, until it succeeds")
    }
    return nil
  }

  /// `ERROR 1045 (28000): Access denied`, as mysql says it.
  private static func isSQLError(_ line: String) -> Bool {
    guard line.hasPrefix("error ") else { return false }
    let number = line.dropFirst(6).prefix { $0.isNumber }
    return !number.isEmpty && line.dropFirst(6 + number.count).hasPrefix(" (")
  }

  /// A line without the number and the marks around its words: `404: Not Found` is `not found`.
  private static func answer(_ line: String) -> String {
    var words = Substring(line)
    for prefix in ["http/1.1 ", "http/2 ", "error: ", "error "] where words.hasPrefix(prefix) {
      words = words.dropFirst(prefix.count)
    }
    if words.prefix(3).allSatisfy({ $0.isNumber }) && words.count > 3 { words = words.dropFirst(3) }
    return String(words.drop { ": -".contains($0) }.reversed().drop { ".! ".contains($0) }.reversed())
  }
}

extension ForeignText {
  /// Whether somebody has said what the text is: then it is read as that.
  static func isAllowed(by options: LoadOptions) -> Bool {
    if options.environment.parser != nil { return true }
    switch options.input.format {
    case .csv, .tsv: return true
    default: return options.input.csv.delimiter != nil || options.input.csv.widths != nil || (options.input.csv.skippedLineCount ?? 0) > 0
    }
  }
}
