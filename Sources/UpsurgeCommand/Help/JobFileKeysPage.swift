/// The page of the manual that has every key of a job file.
struct JobFileKeysPage {
  /// What holds where a key is not given, by the name of its option.
  let defaults: [String: String]

  var text: String {
    var lines = [
      "# The keys of a job file", "", "Every key that `upsurge mirror` takes in a job file, with what it takes.", "",
      "## Overview", "",
      "This page is made of the same table as `--help` and the JSON Schema of `upsurge mirror --schema`.",
      "`.ci/generate` writes it. Do not change it by hand.", "",
      "A key of a table is an option of the command without its dashes. `defaults` holds what tables share.",
      "A key of a table wins over that of `defaults`. In `guards`, `folder` and `headers` each key wins by itself.", "",
      "```yaml", "defaults: { rejects: table }", "tables:", "  members:", "    source: feed.csv", "    key: [id]",
      "    sweep: hard", "    guards: { max-delete: 10% }", "```", "",
    ]
    lines += ["## At the top", ""]
    for (key, text) in Self.topKeys { lines += MarkdownText.item(key, text) }
    lines += ["", "## Only in job files", "", "These are keys of a table without an option of the same name.", ""]
    for (key, text) in Self.ownKeys { lines += MarkdownText.item(key, text) }
    lines.append("")
    for topic in OptionTopic.allCases { lines += keys(of: topic) }
    lines += ["## Not in a job file", "", "These options are refused as keys, each for its reason.", ""]
    for option in OptionCatalogue.all {
      if case .refused(let reason) = option.place { lines += MarkdownText.item(option.name, reason) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let topKeys = [
    ("tables", "Each table's name, with its settings. A mapping."),
    ("defaults", "Settings for every table that does not say something else. A mapping, without `source`."),
    ("atomic", "What becomes visible at once: `job` (all tables), `table` (each delivery of a table) or `bounded`."),
    ("deadline", "After this time the run ends at a commit, whatever table it is at: 30m, 2h."),
  ]

  private static let ownKeys = [
    (
      "source",
      "Paths, globs, folders, URLs, exec:COMMAND, sqlite:PATH#TABLE, postgres://HOST/DATABASE#TABLE or -. A text or a list. ${env:NAME} and ${file:PATH} are put in."
    ),
    ("headers", "Headers for http and https sources. A mapping. ${env:NAME} and ${file:PATH} are put in."),
  ]

  private func keys(of topic: OptionTopic) -> [String] {
    let members = OptionCatalogue.keys.filter { $0.topic == topic }
    guard let first = members.first else { return [] }
    var lines = ["## \(topic.heading)", ""]
    if let group = first.group { lines += ["Keys of `\(group)`, a mapping of the table.", ""] }
    for option in members {
      let defaultValue = defaults[option.name].map { " Default: \($0)." } ?? ""
      lines += MarkdownText.item(option.path, "\(option.help) Takes \(Self.value(of: option)).\(defaultValue)")
    }
    return lines + [""]
  }

  /// What a key takes, in words.
  private static func value(of option: OptionSpecification) -> String {
    switch option.form {
    case .flag: "`true` or `false`"
    case .value: option.words.isEmpty ? "a text or a number" : list(option.words.map { "`\($0)`" })
    case .list: "a text or a number, or a list"
    case .listOrMapping: "a text or a number, a list, or a mapping"
    case .names: "a list of names, or a text with commas"
    case .indexes: "a list of lists of names"
    case .mapping: "a mapping"
    case .condition: "a mapping of one column, or a text"
    case .choice(_, let word):
      list(option.words.filter { !$0.contains(":") && $0 != word }.map { "`\($0)`" } + ["`{\(word): …}`"])
    case .valueOrFlag: "`true`, `false` or a text"
    }
  }

  /// `a`, `b` or `c`.
  private static func list(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
  }
}
