import ArgumentParser
import Upsurge

/// A key of a table in a job file that is an option of the command line under its own name.
struct JobOption: Sendable {
  /// What a job file may say of it.
  enum Shape: Sendable {
    /// One text or number.
    case value
    /// `true` or `false`.
    case flag
    /// A text, or a list of them.
    case list
    /// A list of names, or a text with commas between them.
    case names
    /// A list of lists of names, each a text or a list.
    case indexes
    /// Names and what holds for each.
    case mapping
    /// `{COLUMN: VALUE}`, or a text.
    case condition
    /// One of the words, or a mapping of this word to a text: `{soft: COL}`.
    case choice(String)
    /// `true`, which means this text, `false`, or a text.
    case valueOrFlag(String)
  }

  /// The name in the job file, within its group.
  var key: String
  /// The mapping that it is written in: `guards`, `folder`; nil for the table itself.
  var group: String?
  /// The place of its group in `TableOptions.groups`.
  var parser: Int
  /// With its dashes.
  var option: String
  var shape: Shape
  /// The texts that it takes; empty where that is no list.
  var words: [String]
  /// What `--help` says.
  var help: String

  /// The key with its group, as messages and settings name it.
  var name: String { group.map { "\($0).\(key)" } ?? key }
}

/// The keys that stand for options, as the option groups declare them: a new option there is a key of job files.
enum OptionCatalogue {
  static let all: [JobOption] = TableOptions.groups.enumerated().flatMap { index, type in
    options(of: type, parser: index)
  }

  /// The options of a group, or those of the table itself, by their keys.
  static func byKey(group: String?) -> [String: JobOption] {
    Dictionary(uniqueKeysWithValues: all.filter { $0.group == group }.map { ($0.key, $0) })
  }

  /// What the argument parser knows of an option group, which it tells as JSON.
  private static func options(of type: any TableOptionGroup.Type, parser: Int) -> [JobOption] {
    let group = type == GuardOptions.self ? "guards" : type == FolderOptions.self ? "folder" : nil
    guard case .array(let arguments)? = (try? JSONValue(type._dumpHelp()))?["command"]?["arguments"] else {
      preconditionFailure("the argument parser describes \(type) in another way than it did")
    }
    return arguments.compactMap { argument in
      guard let name = argument["preferredName"]?["name"]?.text, name != "help" else { return nil }
      let prefix = (group ?? "") + "-"
      let words = argument["allValues"]?.texts ?? []
      return JobOption(
        key: name.hasPrefix(prefix) ? String(name.dropFirst(prefix.utf8.count)) : name, group: group,
        parser: parser, option: "--\(name)",
        shape: shape(
          of: name, isFlag: argument["kind"]?.text == "flag",
          isRepeating: argument["isRepeating"] == .bool(true)), words: words,
        help: argument["abstract"]?.text ?? "")
    }
  }

  private static func shape(of name: String, isFlag: Bool, isRepeating: Bool) -> JobOption.Shape {
    switch name {
    case "key", "columns", "names": .names
    case "index": .indexes
    case "rename", "type", "set", "default": .mapping
    case "delete-when": .condition
    case "sweep": .choice("soft")
    case "folder-done": .choice("move")
    case "flatten": .valueOrFlag("_")
    default: isFlag ? .flag : isRepeating ? .list : .value
    }
  }
}

/// Keys that are options of `upsurge load` and have no place in a job file, with the reason.
enum RefusedKey {
  static func reason(_ key: String) -> String? {
    switch key {
    case "atomic":
      "what becomes visible at once is said of the whole job: atomic: job, table or bounded at the top"
    case "tables", "defaults": "it belongs at the top of the file, not into a table"
    case "dry-run", "explain", "explain-time", "emit-sql", "max-statement", "changes":
      "it shows what one run would do or did, and a job file is for all runs"
    case "summary", "quiet", "verbose", "progress":
      "what is seen of a run is said on the command line"
    case "resume", "history": "a mirror always goes on where its last run ended, and always keeps its history"
    case "stop-after": "a feed that is not read to its end proves nothing"
    case "direct": "how a new database is packed is the engine's choice in a mirror"
    case "database": "the database is said on the command line: upsurge mirror DB JOB"
    case "table", "name": "a table's name is its key under tables"
    default: nil
    }
  }
}
