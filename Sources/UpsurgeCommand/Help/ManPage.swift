import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The man page of a command, in the macros of man(7).
struct ManPage {
  let guide: CommandGuide
  /// What holds where an option is not given, by its name.
  let defaults: [String: String]

  var text: String {
    var lines = [
      ".TH \(Self.escaped(guide.pageName).uppercased()) 1 \(Self.date) \"upsurge \(upsurgeVersion)\" \"User Commands\"",
      ".SH NAME", "\(Self.escaped(guide.pageName)) \\- \(Self.prose(Self.withoutPeriod(guide.abstract)))",
      ".SH SYNOPSIS",
    ]
    for (index, form) in guide.forms.enumerated() {
      if index > 0 { lines.append(".br") }
      lines.append("\\fB\(Self.escaped(guide.command))\\fR \(Self.escaped(form))")
    }
    lines += description
    if !guide.arguments.isEmpty {
      lines.append(".SH ARGUMENTS")
      for argument in guide.arguments {
        lines += entry("\\fI\(Self.escaped(argument.name))\\fR", argument.help)
      }
    }
    lines += guide.name.isEmpty ? rootOptions : options
    lines += [".SH EXAMPLES", ".EX"] + guide.examples.map(Self.codeLine) + [".EE"]
    lines.append(".SH EXIT STATUS")
    for ending in guide.endings { lines += entry("\\fB\(Self.escaped(ending.codes))\\fR", ending.meaning) }
    return (lines + seeAlso).joined(separator: "\n") + "\n"
  }

  private var description: [String] {
    var lines = [".SH DESCRIPTION"] + Self.proseLines(guide.abstract)
    if guide.name.isEmpty {
      lines.append(".SH COMMANDS")
      for command in CommandGuide.commands { lines += entry("\\fB\(Self.escaped(command.name))\\fR", command.abstract) }
    }
    for section in guide.sections { lines += [".SS \(Self.escaped(section.title))"] + Self.body(section.text) }
    return lines
  }

  private var options: [String] {
    var lines = [".SH OPTIONS"]
    for group in guide.groups {
      if guide.groups.count > 1 { lines.append(".SS \(Self.escaped(group.topic.heading))") }
      for option in group.options {
        let text = OptionText(option: option, defaultValue: defaults[option.name])
        lines += entry(Self.label(of: option), text.help)
      }
    }
    if guide.groups.count > 1 { lines.append(".SS Help") }
    lines += entry("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Show the most common options.")
    return lines + entry("\\fB\\-\\-help\\-all\\fR", "Show every option, by topic.")
  }

  private var rootOptions: [String] {
    [".SH OPTIONS"] + entry("\\fB\\-\\-version\\fR", "Show the version. With -v also the libraries, and which are missing.")
      + entry("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Show the commands, or explain one.")
      + entry(
        "\\fB\\-\\-generate\\-completion\\-script\\fR \\fISHELL\\fR", "Print completions for bash, zsh or fish.")
  }

  private var seeAlso: [String] {
    let others = ([.root] + CommandGuide.commands).map(\.pageName).filter { $0 != guide.pageName }
    let names = others.map { ".BR \(Self.escaped($0)) (1)" }
    return [".SH SEE ALSO"] + names.dropLast().map { $0 + "," } + names.suffix(1)
  }

  private static func label(of option: OptionSpecification) -> String {
    let letter = option.letter.map { "\\fB\\-\($0)\\fR, " } ?? ""
    let value = option.usage.dropFirst(option.option.count)
    return letter + "\\fB\(escaped(option.option))\\fR" + (value.isEmpty ? "" : "\\fI\(escaped(String(value)))\\fR")
  }

  private func entry(_ label: String, _ text: String) -> [String] { [".TP", label] + Self.proseLines(text) }

  private static func body(_ text: String) -> [String] {
    var lines: [String] = []
    for paragraph in Paragraph.all(of: text) {
      if !lines.isEmpty { lines.append(".PP") }
      switch paragraph {
      case .prose(let text): lines += proseLines(text)
      case .code(let code): lines += [".EX"] + code.map(codeLine) + [".EE"]
      }
    }
    return lines
  }

  /// A line of an example; an empty one would be a break that the checkers do not like.
  private static func codeLine(_ line: String) -> String { line.isEmpty ? "\\&" : guarded(escaped(line)) }

  /// Each sentence in lines of its own, as man(7) wants it.
  private static func proseLines(_ text: String) -> [String] {
    var sentences: [[Substring]] = [[]]
    for word in text.split(separator: " ") {
      sentences[sentences.count - 1].append(word)
      if word.hasSuffix(".") { sentences.append([]) }
    }
    return sentences.filter { !$0.isEmpty }.flatMap { words in
      TextColumns(width: 72).wrapped(prose(words.joined(separator: " "))).map(guarded)
    }
  }

  /// What stands between backticks is bold.
  private static func prose(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      index % 2 == 1 ? "\\fB\(escaped(String(part)))\\fR" : escaped(String(part))
    }.joined()
  }

  /// The characters as they are: none means something to roff.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "'": escaped += "\\(aq"
      case "`": escaped += "\\(ga"
      case "^": escaped += "\\(ha"
      case "~": escaped += "\\(ti"
      case "…": escaped += "\\&..."
      default: escaped.append(character)
      }
    }
    return escaped
  }

  private static func guarded(_ line: String) -> String {
    line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
  }

  private static func withoutPeriod(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Of `SOURCE_DATE_EPOCH` (https://reproducible-builds.org), so that the same source makes the same page; else today.
  private static var date: String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    if let epoch = getenv("SOURCE_DATE_EPOCH"), let seconds = Int(String(cString: epoch)) { time.tv_sec = seconds }
    return String(LogLine.text(time).prefix(10))
  }
}
