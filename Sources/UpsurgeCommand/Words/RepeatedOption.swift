/// Options that are given twice, of which the argument parser would take the last in silence: `--key a --key b` is not
/// the key a, b.
enum RepeatedOption {
  /// Options with a value that may be given again.
  static let repeatable: Set<String> = [
    "--default", "--index", "--merge", "--not-null", "--null", "--rename", "--set", "--source",
    "--type",
  ]

  /// Options without a value, which say the same again.
  private static let flags: Set<String> = [
    "--allow-empty", "--alter", "--any-key", "--atomic", "--check", "--check-job", "--create-key", "--cron",
    "--explain", "--explain-time", "--help",
    "--history", "--input-order", "--json",
    "--no-header", "--quiet", "--schema", "--strict", "--systemd", "--trust-rules", "--verbose", "--version",
    "--yes",
  ]

  /// The first option that is given again and may not be; nil where there is none, or help is asked for.
  ///
  /// A word of its own that is a value never starts with two dashes, as the argument parser would not take it; behind
  /// `--` there are no options.
  static func first(in arguments: [String]) -> String? {
    let words = arguments.prefix { $0 != "--" }
    if words.contains("--help") || words.contains("-h") { return nil }
    var seen: Set<String> = []
    for word in words where word.hasPrefix("--") {
      let option = String(word.prefix { $0 != "=" })
      // The tables of a mirror are several, a table's CREATE TABLE is one.
      if option == "--table" && words.first == "mirror" { continue }
      if repeatable.contains(option) || flags.contains(option) { continue }
      if !seen.insert(option).inserted { return option }
    }
    return nil
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
