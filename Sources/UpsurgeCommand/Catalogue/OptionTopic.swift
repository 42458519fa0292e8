import ArgumentParser

/// What a group of options is about: a heading of `--help`, and a part of the catalogue.
enum OptionTopic: CaseIterable {
  // What can be said of a table of a mirror, in the order of a job file's schema.
  case feed, guards, folders, unattended, input, key, table, rejects, transactions
  // What else is said of a run.
  case preview, output, log
  // What only one command has.
  case load, mirror, forgetting, schedulers, draft, inspect, replay, runs, status, migration, bench

  /// The heading of the help; nil for options that stand below none.
  var title: String? {
    switch self {
    case .feed: "Feed"
    case .guards: "Guards"
    case .folders: "Folders"
    case .unattended: "Unattended runs"
    case .input: "Input"
    case .key: "Key and merge"
    case .table: "Table"
    case .rejects: "Bad records"
    case .transactions: "Transactions and bounds"
    case .preview: "Preview"
    case .output, .log: "Output"
    case .forgetting: "Forgetting"
    case .schedulers: "Schedulers"
    case .load, .mirror, .draft, .inspect, .replay, .runs, .status, .migration, .bench: nil
    }
  }

  /// The subcommands that have its options.
  var commands: Set<String> {
    switch self {
    case .feed, .guards, .folders, .unattended, .log, .mirror, .forgetting, .schedulers: ["mirror"]
    case .input: ["load", "mirror", "inspect"]
    case .key, .table, .rejects, .transactions: ["load", "mirror"]
    case .output: ["load", "mirror", "replay"]
    case .preview, .load: ["load"]
    case .draft: ["mirror-init"]
    case .inspect: ["inspect"]
    case .replay: ["replay"]
    case .runs: ["runs"]
    case .status: ["status"]
    case .migration: ["migrate-keys"]
    case .bench: ["bench"]
    }
  }

  /// Where a job file has its options, as far as they do not say something else.
  var place: OptionSpecification.Place {
    switch self {
    case .feed, .unattended, .input, .key, .table, .rejects, .transactions: .table
    case .guards: .group("guards")
    case .folders: .group("folder")
    case .output: .refused("what is seen of a run is said on the command line")
    case .preview: .refused("it shows what one run would do or did, and a job file is for all runs")
    case .log, .load, .mirror, .forgetting, .schedulers, .draft, .inspect, .replay, .runs, .status,
      .migration, .bench:
      .none
    }
  }
}

extension OptionGroup {
  /// The options of a topic, below its heading.
  init(_ topic: OptionTopic) { self.init(title: topic.title ?? "") }
}
