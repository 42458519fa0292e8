/// Options that are given twice, of which the argument parser would take the last in silence: `--key a --key b` is not
/// the key a, b.
enum RepeatedOption {
  /// Flags of the argument parser's own.
  private static let flags: Set<String> = ["--help", "--version"]

  /// The first option that is given again and may not be; nil without one, or where help is asked for. A flag says the same
  /// again.
  ///
  /// A separate word that is a value never starts with two dashes, as the argument parser would not take it; after
  /// `--` there are no options.
  static func first(in arguments: [String]) -> String? {
    let words = arguments.prefix { $0 != "--" }
    if words.contains("--help") || words.contains("-h") { return nil }
    let again = again(in: words)
    if again.isEmpty { return nil }
    let known = OptionCatalogue.options(of: words.first)
    let repeatable = flags.union(known.filter { $0.isFlag || $0.isRepeatable }.map(\.option))
    return again.first { !repeatable.contains($0) }
  }

  /// Options that stand there before, in the order of the words; empty for most command lines, which need no catalogue then.
  static func again(in words: ArraySlice<String>) -> [String] {
    var seen: Set<String> = []
    return words.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }.filter { !seen.insert($0).inserted }
  }

  static func message(_ option: String) -> String {
    switch option {
    case "--key", "--columns", "--names":
      let what = option == "--key" ? "a compound key is" : "several names are"
      return "\(option) is given twice; \(what) \(option) A,B"
    default: return "\(option) is given twice"
    }
  }
}
