import UpsurgeRecords

/// The command line that goes on with a run, so that a person need not remember it.
package struct RunCommand: Sendable, Equatable {
  /// Where it was given; `.` where that has no name that can be told.
  package var folder: String
  /// The program first.
  package var words: [String]

  package init(folder: String, words: [String]) {
    self.folder = folder
    self.words = words
  }

  /// The command with more options, which follow the name of the subcommand.
  package func adding(_ options: [String]) -> RunCommand {
    RunCommand(folder: folder, words: Array(words.prefix(2)) + options + words.dropFirst(2))
  }

  /// The command without `--resume never`, with which nothing goes on.
  package var resuming: RunCommand {
    var rest: [String] = []
    var index = 0
    while index < words.count {
      if words[index] == "--" { return RunCommand(folder: folder, words: rest + words[index...]) }
      if words[index] == Wording.option(.resume), index + 1 < words.count, words[index + 1] == "never" {
        index += 2
        continue
      }
      if words[index] != Wording.option(.resume) + "=never" { rest.append(words[index]) }
      index += 1
    }
    return RunCommand(folder: folder, words: rest)
  }

  /// Whether an option is given, as `--option` or `--option=value`.
  package func gives(_ option: String) -> Bool {
    for word in words {
      if word == "--" { return false }
      if word == option || word.hasPrefix(option + "=") { return true }
    }
    return false
  }

  /// For a shell in the folder.
  package var line: String { words.map(\.quotedForShell).joined(separator: " ") }

  /// For a shell in any folder, where its own can be told.
  package var lineFromAnywhere: String { folder == "." ? line : "cd \(folder.quotedForShell) && \(line)" }
}
