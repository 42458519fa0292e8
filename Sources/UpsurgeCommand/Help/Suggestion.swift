/// What somebody may have meant who has mistyped a command or an option.
enum Suggestion {
  /// Options that every command has.
  private static let ofAll = ["help", "help-all"]

  /// What other programs call our commands.
  private static let commands = [
    "import": "load", "insert": "load", "upsert": "load", "copy": "load", "tables": "inspect", "schema": "inspect",
    "show": "inspect", "list": "inspect", "describe": "inspect", "history": "runs", "retry": "replay", "sync": "mirror",
    "check": "status",
  ]

  /// What other programs call our options.
  private static let options = [
    "sep": "delimiter", "separator": "delimiter", "quotechar": "quote", "quote-char": "quote", "escapechar": "escape",
    "skip-rows": "skip-lines", "skiprows": "skip-lines", "nullstr": "null", "null-value": "null", "limit": "stop-after",
    "head": "stop-after", "primary-key": "key", "pk": "key", "dtype": "type", "batch-size": "commit-every",
    "batch": "commit-every", "chunk-size": "commit-every", "timeout": "busy-timeout", "truncate": "sweep",
    "upsert": "mode", "errors": "on-error", "ignore-errors": "on-error", "skip-errors": "on-error", "max-errors": "max-rejects",
  ]

  /// The command that somebody may have meant.
  static func command(nearest word: String) -> String? {
    commands[word.lowercased()] ?? NearestWord.find(word, in: CommandGuide.commands.map(\.name))
  }

  /// What is said of a first word that is no command; nil where it is one, or an option.
  /// - Parameter parsed: the commands that the parser knows.
  static func unknownCommand(_ word: String, of parsed: [String]) -> String? {
    if word.isEmpty || word.hasPrefix("-") || parsed.contains(word) || word == "help" { return nil }
    let known = CommandGuide.commands.map(\.name)
    let nearest = command(nearest: word).map { "; did you mean \($0)?" } ?? ""
    return "there is no command \(word)\(nearest)\n  commands: \(known.joined(separator: ", "))"
  }

  /// The parser's message on an unknown option, with the option of the command that is nearest. The parser takes another one for
  /// it, however far off that is.
  static func mended(_ message: String, of words: [String]) -> String {
    let opening = "Unknown option '--"
    guard let start = message.firstRange(of: opening),
      let guide = (words.count > 1 ? CommandGuide.of("\(words[0]) \(words[1])") : nil) ?? words.first.flatMap(CommandGuide.of)
    else { return message }
    let word = message[start.upperBound...].prefix { $0 != "'" }
    let end = message[start.upperBound...].firstIndex(of: "\n") ?? message.endIndex
    let name = word.prefix { $0 != "=" }
    let known = guide.options.map(\.name) + ofAll
    let own = options[String(name)].flatMap { known.contains($0) ? $0 : nil }
    let nearest = own ?? NearestWord.find(String(name), in: known)
    let question = nearest.map { ". Did you mean '--\($0)'?" } ?? ""
    return message[..<start.lowerBound] + "\(opening)\(word)'\(question)" + message[end...]
  }
}
