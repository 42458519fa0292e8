/// Joins the values of one option, and the sources, into one word each. The argument parser takes longer for each word the
/// more there are, so that 2,000 renamed columns, or 8,000 files, would take seconds.
///
///     --rename a=b -q --rename c=d     ->     --rename a=b␀c=d -q
///
/// No word of a command line has the character NUL, which stands between them.
enum GatheredWords {
  private static let separator: Character = "\0"

  /// The words of each, as they were given.
  static func split(_ values: [String]) -> [String] {
    values.flatMap { $0.split(separator: separator, omittingEmptySubsequences: false).map(String.init) }
  }

  /// What the argument parser is given. After `--` all words stay as they are.
  static func gather(_ arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    var words = Array(arguments[..<end])
    if !RepeatedOption.again(in: arguments[..<end]).isEmpty {
      let known = OptionCatalogue.options(of: arguments.first).filter { $0.isRepeatable && $0.type == String.self }
      words = gatherValues(arguments[..<end], of: Set(known.map(\.option)))
    }
    if words.first == "load" { words = gatherSources(words) }
    return words + arguments[end...]
  }

  /// Joins the texts of an option that may be given again, at the place of the first one.
  private static func gatherValues(_ arguments: ArraySlice<String>, of repeatable: Set<String>) -> [String] {
    var groups: [[String]] = []
    // By option, the place of its first value, and all of them.
    var places: [String: Int] = [:]
    var values: [String: [String]] = [:]
    var index = arguments.startIndex
    while index < arguments.endIndex {
      let word = arguments[index]
      index += 1
      groups.append([word])
      let (option, joined) = split(word)
      guard repeatable.contains(option) else { continue }
      var value = joined
      if value == nil, index < arguments.endIndex, !arguments[index].hasPrefix("-") {
        value = arguments[index]
        index += 1
      }
      // Where it has none, the argument parser says so.
      guard let value else { continue }
      if places[option] == nil { places[option] = groups.count - 1 } else { groups.removeLast() }
      values[option, default: []].append(value)
    }
    for (option, place) in places {
      let list = (values[option] ?? []).joined(separator: String(separator))
      groups[place] = list.hasPrefix("-") ? ["\(option)=\(list)"] : [option, list]
    }
    return groups.flatMap { $0 }
  }

  private static func split(_ word: String) -> (option: String, value: String?) {
    guard word.hasPrefix("--"), let cut = word.firstIndex(of: "=") else { return (word, nil) }
    return (String(word[..<cut]), String(word[word.index(after: cut)...]))
  }

  /// Joins files that stand side by side. Of words without dashes the first three may be something else: `load`, the
  /// database and the table, or the value of the option before them.
  private static func gatherSources(_ arguments: [String]) -> [String] {
    let others = 3
    var words: [String] = []
    var sideBySide = 0
    for word in arguments {
      sideBySide = word.hasPrefix("-") ? 0 : sideBySide + 1
      if sideBySide > others + 1 {
        words[words.count - 1] += "\(separator)\(word)"
      } else {
        words.append(word)
      }
    }
    return words
  }
}
