import UpsurgeRecords

/// All that is said of a command beside its options. Help, man page and manual are made of it.
struct CommandGuide: Sendable {
  /// An argument without dashes, as the synopsis names it.
  struct Argument: Sendable {
    let name: String
    let help: String

    init(_ name: String, _ help: String) {
      self.name = name
      self.help = help
    }
  }

  /// Something to know of the command, which `upsurge help COMMAND WORD` shows.
  ///
  /// Paragraphs of the text have an empty line between them. Lines that begin with two spaces stay as they are; others are one paragraph.
  struct Section: Sendable {
    /// What it is called in `upsurge help mirror guards`.
    let word: String
    let title: String
    /// What it is about, in a line of the list of topics.
    let about: String
    let text: String

    init(_ word: String, _ title: String, about: String, text: String) {
      self.word = word
      self.title = title
      self.about = about
      self.text = text
    }
  }

  /// An exit code, or several of one meaning.
  struct Ending: Sendable {
    let codes: String
    let meaning: String

    init(_ codes: String, _ meaning: String) {
      self.codes = codes
      self.meaning = meaning
    }

    static let usage = Ending("64", "wrong use of the command")
    static let input = Ending("65", "bad input")
    static let unreadable = Ending("66", "input that cannot be read")
    static let busy = Ending("75", "the database is busy")
    static let signals = Ending("129, 130, 143", "ended by SIGHUP, SIGINT, SIGTERM")
    static let others = Ending("1", "anything else")
  }

  /// As it is typed after `upsurge`: `load`, `mirror init`; empty for `upsurge` itself.
  let name: String
  /// The name that the argument parser and the topics know: `mirror-init`.
  let parsedName: String
  /// What it does, in one sentence.
  let abstract: String
  /// What may follow the name, one form a line.
  let forms: [String]
  let arguments: [Argument]
  /// The options that `--help` shows; empty where it shows all of them.
  let essentials: [Term]
  /// Command lines that `--help` shows. The tests run them.
  let examples: [String]
  let sections: [Section]
  let endings: [Ending]

  init(
    _ name: String, parsedName: String? = nil, abstract: String, forms: [String], arguments: [Argument],
    essentials: [Term] = [], examples: [String], sections: [Section], endings: [Ending]
  ) {
    self.name = name
    self.parsedName = parsedName ?? name
    self.abstract = abstract
    self.forms = forms
    self.arguments = arguments
    self.essentials = essentials
    self.examples = examples
    self.sections = sections
    self.endings = endings
  }

  /// As it is typed: `upsurge load`.
  var command: String { name.isEmpty ? "upsurge" : "upsurge \(name)" }

  /// The name of its man page: `upsurge-mirror-init`.
  var pageName: String { command.replacing(" ", with: "-") }

  /// The command's options, in the order of the topics; hidden ones are not among them.
  var options: [OptionSpecification] {
    OptionCatalogue.all.filter { $0.topic.commands.contains(parsedName) && !$0.isHidden }
  }

  /// The options of `--help`, in its order.
  var shownOptions: [OptionSpecification] {
    essentials.isEmpty ? groups.flatMap(\.options) : essentials.compactMap { term in options.first { $0.term == term } }
  }

  /// The headings below which its options stand, each with its options, and the topic that says what they are about.
  var groups: [(topic: OptionTopic, options: [OptionSpecification])] {
    var groups: [(topic: OptionTopic, options: [OptionSpecification])] = []
    let own: [OptionTopic] = [.mirror, .draft, .inspect, .replay, .runs, .status, .migration, .bench, .move]
    // First what is the command's own.
    for topic in own + OptionTopic.allCases.filter({ !own.contains($0) }) {
      let members = options.filter { $0.topic == topic }
      if members.isEmpty { continue }
      if let place = groups.firstIndex(where: { $0.topic.word == topic.word }) {
        groups[place].options += members
      } else {
        groups.append((topic, members))
      }
    }
    return groups
  }
}

extension CommandGuide {
  /// All commands, in the order of `upsurge --help`.
  static let commands = [
    load, mirror, mirrorInit, inspect, runs, replay, status, move, migrateKeys, bench,
  ]

  /// `upsurge` itself.
  static let root = CommandGuide(
    "", abstract: "Gets records into SQLite or PostgreSQL fast, and keeps them right.", forms: ["COMMAND ..."],
    arguments: [],
    examples: [
      "upsurge inspect people.csv",
      "upsurge load app.db people people.csv --key id",
      "upsurge mirror app.db job.yaml",
    ],
    sections: [], endings: load.endings)

  /// The command of this name, with or without a dash: `mirror init`, `mirror-init`.
  static func of(_ name: String) -> CommandGuide? {
    name.isEmpty ? root : commands.first { $0.name == name || $0.parsedName == name }
  }
}
