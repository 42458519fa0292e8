import ArgumentParser
import UpsurgeRecords

#if compiler(>=6.2)
  typealias ArgumentType = any (ExpressibleByArgument & SendableMetatype).Type
#else
  typealias ArgumentType = any ExpressibleByArgument.Type
#endif

/// All that is said of an option: from it come the option of the command and its help, the key of a job file, and what the
/// schema of job files says of that key.
struct OptionSpecification: Sendable {
  /// What an option takes.
  enum Form: Sendable {
    /// Nothing; `true` or `false` in a job file.
    case flag
    /// One text or number.
    case value(ArgumentType)
    /// May be given again; a text, or a list of them.
    case list(ArgumentType)
    /// May be given again; a text, a list of them, or names with one or several texts each.
    case listOrMapping(ArgumentType)
    /// Names with commas between them; also a list.
    case names
    /// May be given again; a list of lists of names, each a text or a list.
    case indexes
    /// May be given again; names and what holds for each.
    case mapping
    /// `COL=VALUE`; `{COLUMN: VALUE}`, or a text.
    case condition
    /// One of the words, or this word with a text: `soft:COL`, `{soft: COL}`.
    case choice(ArgumentType, String)
    /// A text that may be left out, which means this one; `true`, `false` or a text.
    case valueOrFlag(String)
  }

  /// Where a job file has it.
  enum Place: Sendable {
    /// A key of a table, under its own name.
    case table
    /// A key of this mapping of a table, whose name it begins with: `guards`, `folder`.
    case group(String)
    /// Nowhere, for this reason.
    case refused(String)
    /// Nowhere, and nobody would look for it there.
    case none
  }

  let term: Term
  let topic: OptionTopic
  let form: Form
  let place: Place
  /// What stands for its value in help, in capitals: `COLS`, `FILE`; `[SEP]` may be left out. Empty for a flag.
  let valueName: String
  /// A letter that means the same.
  let letter: Character?
  /// Whether only `--help-hidden` shows it.
  let isHidden: Bool
  /// What `--help` says, and the schema of job files.
  let help: String

  /// - Parameters:
  ///   - valueName: nil is what the form or type says.
  ///   - place: where a job file has it; nil is the place of its topic.
  init(
    _ term: Term, of topic: OptionTopic, _ form: Form = .value(String.self), named valueName: String? = nil,
    letter: Character? = nil, in place: Place? = nil, isHidden: Bool = false, help: String
  ) {
    self.term = term
    self.topic = topic
    self.form = form
    self.place = place ?? topic.place
    self.valueName = valueName ?? form.valueName
    self.letter = letter
    self.isHidden = isHidden
    self.help = help
  }

  /// Without dashes, as the command and a job file name it.
  var name: String { term.rawValue }

  /// As it is typed.
  var option: String { "--\(name)" }

  /// With what stands for its value: `--key COLS`, `--flatten [SEP]`, `--dry-run[=diff]`.
  var usage: String {
    valueName.isEmpty ? option : valueName.hasPrefix("[=") ? option + valueName : "\(option) \(valueName)"
  }

  /// Whether it may be given again, each time with another value.
  var isRepeatable: Bool {
    switch form {
    case .list, .listOrMapping, .indexes, .mapping: true
    case .flag, .value, .names, .condition, .choice, .valueOrFlag: false
    }
  }

  var isFlag: Bool { if case .flag = form { true } else { false } }

  /// The type of a value; nil for a flag.
  var type: ArgumentType? {
    switch form {
    case .flag: nil
    case .value(let type), .list(let type), .listOrMapping(let type), .choice(let type, _): type
    case .names, .indexes, .mapping, .condition, .valueOrFlag: String.self
    }
  }

  /// The texts that it takes; empty where that is no list.
  var words: [String] { type?.allValueStrings ?? [] }
}

extension OptionSpecification {
  /// The mapping of a table that it is written in: `guards`, `folder`; nil for the table itself.
  var group: String? { if case .group(let name) = place { name } else { nil } }

  /// Whether it is a key of a table in a job file, or of one of its mappings.
  var isKey: Bool {
    switch place {
    case .table, .group: true
    case .refused, .none: false
    }
  }

  /// The name in a job file, within its group: `max-delete`, and `order` of `--folder-order`.
  var key: String {
    guard let group, name.hasPrefix("\(group)-") else { return name }
    return String(name.dropFirst(group.utf8.count + 1))
  }

  /// The key with its group, as messages and settings name it: `guards.max-delete`.
  var path: String { group.map { "\($0).\(key)" } ?? key }
}

extension OptionSpecification.Form {
  /// What stands for a value where the option gives no name to it.
  fileprivate var valueName: String {
    switch self {
    case .flag: ""
    case .names, .indexes: "COLS"
    case .mapping, .condition: "COL=VALUE"
    case .value(let type), .list(let type), .listOrMapping(let type), .choice(let type, _):
      if type == ByteSize.self { "SIZE" } else if type == TimeLength.self { "DURATION" } else { "N" }
    case .valueOrFlag: "[TEXT]"
    }
  }
}
