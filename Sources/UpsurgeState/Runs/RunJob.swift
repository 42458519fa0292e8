import UpsurgeRecords

/// What a run was asked to do: how it is found again, and whether it is still the same.
package struct RunJob: Sendable, Equatable {
  /// The table's name as it was given.
  package var table: String
  /// The sources as paths from the root without links; globs stay globs.
  package var sources: [String]
  /// The options that decide what the table becomes, as they would be typed; those that only tune are left out.
  package var options: [Option]
  /// Only to be shown: it is no part of what the job is.
  package var command: RunCommand?

  package struct Option: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }

    package init(_ term: Term, _ value: String) { self.init(Wording.option(term), value) }
  }

  package init(table: String, sources: [String], options: [Option], command: RunCommand? = nil) {
    self.table = table
    self.sources = sources
    self.options = options
    self.command = command
  }

  /// Whether a source is standard input, of which nobody knows whether it is the same again.
  package var isStream: Bool { sources.contains("-") }

  /// The names of the options in which two jobs differ, each once.
  package func changedOptions(from other: RunJob) -> [String] {
    var names: [String] = []
    for option in options + other.options where !names.contains(option.name) {
      let (mine, theirs) = (
        options.filter { $0.name == option.name }, other.options.filter { $0.name == option.name }
      )
      if mine != theirs { names.append(option.name) }
    }
    return names
  }
}

/// One file of a run's input.
package struct RunFile: Sendable, Equatable {
  /// The path from the root without links, so that it means the same in every folder.
  package var name: String
  /// nil for what cannot be read twice.
  package var identity: FileIdentity?

  package init(name: String, identity: FileIdentity?) {
    self.name = name
    self.identity = identity
  }
}

extension RunRecord {
  /// Whether all that was read can be read again, as far as the last commit.
  package var isReadable: Bool {
    let read = files.prefix(max(position.sourceIndex, 0) + 1)
    return !read.isEmpty && read.allSatisfy { $0.identity != nil }
  }
}
