/// The page of the manual that has every option of every command.
struct CommandLinePage {
  /// What holds where an option of a command is not given, by its name.
  let defaults: (CommandGuide) -> [String: String]

  var text: String {
    var lines = [
      "# The command line", "", "Every command of `upsurge`, with its options and exit codes.", "", "## Overview", "",
      "This page is made of the same table as `--help`, the man pages and the keys of a job file.",
      "`.ci/generate` writes it. Do not change it by hand.", "",
      "`upsurge load --help` shows the most common options, `upsurge load --help-all` all of them.",
      "`upsurge help mirror guards` shows one topic of a command.", "",
    ]
    for guide in CommandGuide.commands { lines += text(of: guide) }
    while lines.last == "" { lines.removeLast() }
    return lines.joined(separator: "\n") + "\n"
  }

  private func text(of guide: CommandGuide) -> [String] {
    var lines = ["## \(guide.command)", ""] + MarkdownText.prose(guide.abstract)
    lines += ["", "```"] + guide.forms.map { "\(guide.command) \($0)" } + ["```", ""]
    for argument in guide.arguments { lines += MarkdownText.item(argument.name, argument.help) }
    lines += ["", "Examples:", "", "```"] + guide.examples + ["```", ""]
    let values = defaults(guide)
    for group in guide.groups {
      lines += ["### \(title(group.topic.heading, of: guide))", ""]
      for option in group.options {
        let text = OptionText(option: option, defaultValue: values[option.name])
        lines += MarkdownText.item(text.label, text.help)
      }
      lines.append("")
    }
    for section in guide.sections {
      lines += ["### \(title(section.title, of: guide))", ""] + MarkdownText.body(section.text)
    }
    lines += ["### \(title("Exit codes", of: guide))", ""]
    for ending in guide.endings { lines += MarkdownText.item(ending.codes, ending.meaning) }
    return lines + [""]
  }

  /// Headings are different, so that links find them.
  private func title(_ title: String, of guide: CommandGuide) -> String { "\(guide.name): \(title)" }
}
