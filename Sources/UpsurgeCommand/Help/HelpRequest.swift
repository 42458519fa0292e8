/// What somebody wants explained.
struct HelpRequest {
  enum Extent: Equatable {
    /// The most common options, and where the others are.
    case essential
    case all
    /// All, with options for measurements.
    case hidden
    case topic(String)
  }

  let guide: CommandGuide
  let extent: Extent

  /// A command or a topic that there is not.
  struct Unknown: Error {
    let message: String
    let command: String
  }

  /// nil where the words of the command line ask for no help.
  /// - Throws: `Unknown`.
  init?(_ arguments: [String]) throws(Unknown) {
    let words = arguments.prefix { $0 != "--" }
    if words.first == "help" {
      self = try Self.answer(to: Array(words.dropFirst().filter { !$0.hasPrefix("--help") && $0 != "-h" }))
      return
    }
    guard words.isEmpty || words.contains(where: Self.asksForHelp) else { return nil }
    if words.contains("--help-hidden") {
      extent = .hidden
    } else {
      extent = words.contains("--help-all") ? .all : .essential
    }
    guide = Self.command(at: Array(words))?.guide ?? .root
  }

  private init(_ guide: CommandGuide, _ extent: Extent) {
    self.guide = guide
    self.extent = extent
  }

  /// `upsurge help`, with what follows.
  private static func answer(to words: [String]) throws(Unknown) -> HelpRequest {
    guard let first = words.first else { return HelpRequest(.root, .essential) }
    guard let (guide, count) = command(at: words) else {
      let owners = CommandGuide.commands.filter { HelpText.topics(of: $0).contains(first) }
      let known = CommandGuide.commands.map(\.name)
      let nearest = Suggestion.command(nearest: first).map { "; did you mean \($0)?" } ?? ""
      let list = "\n  commands: \(known.joined(separator: ", "))"
      throw Unknown(
        message: owners.first.map { "\(first) is a topic of a command: upsurge help \($0.name) \(first)" }
          ?? "there is no command \(first)\(nearest)\(list)", command: "")
    }
    let rest = words.dropFirst(count)
    guard let topic = rest.first else { return HelpRequest(guide, .essential) }
    let topics = HelpText.topics(of: guide)
    let options = guide.options.flatMap { [$0.name, $0.option] }
    guard topics.contains(topic) || options.contains(topic) else {
      let nearest = NearestWord.find(topic, in: topics).map { "; did you mean \($0)?" } ?? ""
      throw Unknown(
        message: "\(guide.name) has no topic \(topic)\(nearest)\n  topics: \(topics.joined(separator: ", "))",
        command: guide.parsedName)
    }
    return HelpRequest(guide, .topic(topic))
  }

  /// The command that words begin with, and how many of them name it.
  private static func command(at words: [String]) -> (guide: CommandGuide, count: Int)? {
    guard let first = words.first, !first.isEmpty else { return nil }
    if words.count > 1, let guide = CommandGuide.of("\(first) \(words[1])") { return (guide, 2) }
    return CommandGuide.of(first).map { ($0, 1) }
  }

  /// `-h` stands for `--help`, also among other letters: `-vh`.
  private static func asksForHelp(_ word: String) -> Bool {
    if ["--help", "--help-all", "--help-hidden"].contains(word) { return true }
    return word.hasPrefix("-") && word.hasSuffix("h") && word.dropFirst().allSatisfy { "qvh".contains($0) } && word.count > 1
  }

  /// - Parameter defaults: what holds where an option is not given, by its name.
  func text(defaults: [String: String], columns: TextColumns, isColoured: Bool) -> String {
    let help = HelpText(guide: guide, defaults: defaults, columns: columns, isColoured: isColoured)
    if guide.name.isEmpty { return help.overview }
    switch extent {
    case .essential: return help.short
    case .all: return help.all()
    case .hidden:
      let hidden = OptionCatalogue.all.filter { $0.isHidden && $0.topic.commands.contains(guide.parsedName) }
      return help.all(hidden: hidden)
    case .topic(let word): return help.topic(word) ?? help.short
    }
  }
}
