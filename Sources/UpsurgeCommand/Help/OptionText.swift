/// What is said of an option, with its values and its default, for help and pages.
struct OptionText {
  let option: OptionSpecification
  /// What holds where it is not given; nil where nothing does, or the help says it.
  let defaultValue: String?

  /// `-q, --quiet`, `--key COLS`.
  var label: String { (option.letter.map { "-\($0), " } ?? "") + option.usage }

  /// The help, and in parentheses the values that it does not name, and the default.
  var help: String {
    let known = Set(option.help.split { !($0.isLetter || $0.isNumber || $0 == "-" || $0 == ":") })
    let words = option.words
    let facts = [
      words.allSatisfy { known.contains($0[...]) || known.contains("\($0):") } ? nil : "values: " + words.joined(separator: ", "),
      defaultValue.map { "default: \($0)" },
    ].compactMap { $0 }
    let whole = option.isRepeatable ? option.help + " May be given again." : option.help
    let text = facts.isEmpty ? whole : "\(whole) (\(facts.joined(separator: "; ")))"
    return text.isEmpty ? "For measurements." : text
  }

  /// What the essential help shows of an option, where there is no room for more.
  static func firstSentence(of help: String) -> String {
    help.firstRange(of: ". ").map { help[..<$0.lowerBound] + "." } ?? help
  }

  /// The defaults of a command's options, by their names. The parser knows them from the properties that hold the values, and says
  /// them at the end of its own help.
  /// - Parameter message: that help, each option in one line.
  static func defaults(in message: String) -> [String: String] {
    var defaults: [String: String] = [:]
    var name = ""
    for line in message.split(separator: "\n") {
      if line.hasPrefix("  -"), let dashes = line.firstRange(of: "--") {
        name = String(line[dashes.upperBound...].prefix { $0 != " " && $0 != "," })
      }
      if line.hasSuffix(")"), let start = line.ranges(of: "default: ").last {
        defaults[name] = String(line[start.upperBound...].dropLast())
      }
    }
    return defaults
  }
}
