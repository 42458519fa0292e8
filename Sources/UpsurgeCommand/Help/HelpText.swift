/// The help of a command, as it stands on a terminal.
struct HelpText {
  let guide: CommandGuide
  /// What holds where an option is not given, by its name.
  let defaults: [String: String]
  let columns: TextColumns
  /// Headings are bold.
  let isColoured: Bool

  /// What `--help` shows: the options that most people need, and where the others are.
  var short: String {
    var lines = head
    let isWhole = guide.essentials.isEmpty
    lines += heading(isWhole ? "Options" : "Common options")
    lines += guide.shownOptions.flatMap { isWhole ? entry($0) : columns.entry($0.usage, OptionText.firstSentence(of: $0.help)) }
    lines += columns.entry("-h, --help", "Show this help.")
    if !isWhole { lines += columns.entry("--help-all", "Show every option, by topic.") }
    lines += examples
    lines += [""] + listOfTopics
    return text(lines)
  }

  /// Everything, by topic.
  /// - Parameter hidden: options that are shown only here.
  func all(hidden: [OptionSpecification] = []) -> String {
    var lines = head
    for group in guide.groups {
      lines += heading(group.topic.heading) + group.options.flatMap(entry)
    }
    lines += heading("Help") + columns.entry("-h, --help", "Show the most common options.")
    lines += columns.entry("--help-all", "Show all of this.")
    if !hidden.isEmpty { lines += heading("Hidden") + hidden.flatMap(entry) }
    lines += examples
    for section in guide.sections { lines += heading(section.title) + body(of: section) }
    lines += heading("Exit codes") + endings
    return text(lines)
  }

  /// One topic; nil for an unknown name.
  func topic(_ word: String) -> String? {
    let command = bold(guide.command)
    if let group = guide.groups.first(where: { $0.topic.word == word }) {
      return text(["\(command): \(group.topic.about)", ""] + group.options.flatMap(entry))
    }
    if let section = guide.sections.first(where: { $0.word == word }) {
      return text(["\(command): \(section.about)", ""] + body(of: section))
    }
    if word == Self.endingsWord { return text(["\(command): \(Self.endingsAbout)", ""] + endings) }
    let name = word.hasPrefix("--") ? String(word.dropFirst(2)) : word
    return guide.options.first { $0.name == name }.map { text(entry($0)) }
  }

  /// What `upsurge --help` shows.
  var overview: String {
    var lines = [guide.abstract, "", "\(bold("Usage:")) upsurge COMMAND ..."] + heading("Commands")
    for command in CommandGuide.commands { lines += columns.entry(command.name, command.abstract, column: 16) }
    lines += heading("Options")
    lines += columns.entry("--version", "Show the version. With -v also the libraries, and which are missing.", column: 16)
    lines += columns.entry("-h, --help", "Show this help, or that of a command.", column: 16)
    lines += columns.entry(
      "--generate-completion-script SHELL", "Print completions for bash, zsh or fish.", column: 16)
    lines += examples
    lines += heading("More") + [
      "  upsurge load --help         the most common options of a command",
      "  upsurge load --help-all     all of them, by topic",
      "  upsurge help mirror guards  one topic of a command",
    ]
    return text(lines)
  }

  /// The names of a command's topics.
  static func topics(of guide: CommandGuide) -> [String] {
    guide.groups.map(\.topic.word) + guide.sections.map(\.word) + [endingsWord]
  }

  private static let topicColumn = 20
  private static let endingsWord = "exit-codes"
  private static let endingsAbout = "what the exit code says"

  private var head: [String] {
    var lines = columns.wrapped(guide.abstract) + [""]
    let title = "Usage: "
    for (index, form) in guide.forms.enumerated() {
      let start = index == 0 ? bold("Usage:") + " " : String(repeating: " ", count: title.count)
      lines.append(start + "\(guide.command) \(form)")
    }
    if !guide.arguments.isEmpty {
      lines += heading("Arguments")
      for argument in guide.arguments { lines += columns.entry(argument.name, argument.help, column: 14) }
    }
    return lines
  }

  private func entry(_ option: OptionSpecification) -> [String] {
    let text = OptionText(option: option, defaultValue: defaults[option.name])
    return columns.entry(text.label, text.help)
  }

  private var examples: [String] {
    guide.examples.isEmpty ? [] : heading("Examples") + guide.examples.map { "  \($0)" }
  }

  private func body(of section: CommandGuide.Section) -> [String] {
    Array(columns.paragraphs(section.text, indent: 2).dropLast())
  }

  private var endings: [String] {
    guide.endings.flatMap { columns.entry($0.codes, $0.meaning, column: 17) }
  }

  private var listOfTopics: [String] {
    let isWhole = guide.essentials.isEmpty
    var lines = ["\(bold("Topics:")) upsurge help \(guide.name) TOPIC shows one"]
    for group in guide.groups where !isWhole {
      lines += columns.entry(group.topic.word, group.topic.about, column: Self.topicColumn)
    }
    for section in guide.sections { lines += columns.entry(section.word, section.about, column: Self.topicColumn) }
    return lines + columns.entry(Self.endingsWord, Self.endingsAbout, column: Self.topicColumn)
  }

  private func heading(_ title: String) -> [String] { ["", bold("\(title):")] }

  private func bold(_ text: String) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  private func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
}
