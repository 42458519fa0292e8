import UpsurgeRecords

/// All options of the command, each said once.
///
/// An option that is added here, and declared in a group of `TableOptions`, is an option of `upsurge mirror`, a key of job
/// files and a part of their schema.
enum OptionCatalogue {
  /// In the order of the help, and of the schema of job files. Of options of one name the one of more commands comes first.
  static let all: [OptionSpecification] =
    feed + guards + folders + unattended + input + values + key + table + rejects + transactions + preview
    + output
    + load + mirror
    + others + move

  /// Options that are keys of a table in a job file.
  static let keys = all.filter(\.isKey)

  private static let byTerm = Dictionary(grouping: all, by: \.term)

  /// - Parameter topic: which of the options of this name; nil is the first one.
  static func specification(_ term: Term, of topic: OptionTopic? = nil) -> OptionSpecification {
    guard let found = byTerm[term]?.first(where: { topic == nil || $0.topic == topic }) else {
      preconditionFailure("the catalogue has no option \(term.rawValue)")
    }
    return found
  }

  /// The keys of a group, or those of the table itself, by their names there.
  static func byKey(group: String?) -> [String: OptionSpecification] {
    Dictionary(uniqueKeysWithValues: keys.filter { $0.group == group }.map { ($0.key, $0) })
  }

  /// The options of a subcommand; of all where none has this name.
  static func options(of command: String?) -> [OptionSpecification] {
    let found = all.filter { $0.topic.commands.contains(command ?? "") }
    return found.isEmpty ? all : found
  }
}
