import ArgumentParser

/// What a group of options is about: a heading of `--help`, and a part of the catalogue.
enum OptionTopic: CaseIterable {
  // What can be said of a table of a mirror, in the order of a job file's schema.
  case feed, guards, folders, unattended, input, values, key, table, rejects, transactions
  // What else is said of a run.
  case preview, output, log
  // What only one command has.
  case load, mirror, forgetting, schedulers, draft, inspect, replay, runs, status, migration, bench, move

  /// The heading of the help; nil for options that stand below none.
  var title: String? {
    switch self {
    case .feed: "Feed"
    case .guards: "Guards"
    case .folders: "Folders"
    case .unattended: "Unattended runs"
    case .input: "Input"
    case .values: "Values"
    case .key: "Key and merge"
    case .table: "Table"
    case .rejects: "Bad records"
    case .transactions: "Transactions and bounds"
    case .preview: "Preview"
    case .output, .log: "Output"
    case .forgetting: "Forgetting"
    case .schedulers: "Schedulers"
    case .load, .mirror, .draft, .inspect, .replay, .runs, .status, .migration, .bench, .move: nil
    }
  }

  /// The heading where all options of a command are shown.
  var heading: String {
    switch self {
    case .load: "This run"
    case .mirror: "The job"
    default: title ?? "Options"
    }
  }

  /// What it is called in `upsurge help mirror guards`.
  var word: String {
    switch self {
    case .feed: "feed"
    case .guards: "guards"
    case .folders: "folders"
    case .unattended: "unattended"
    case .input: "input"
    case .values: "values"
    case .key: "key"
    case .table: "table"
    case .rejects: "bad-records"
    case .transactions: "transactions"
    case .preview: "preview"
    case .output, .log: "output"
    case .forgetting: "forgetting"
    case .schedulers: "schedulers"
    case .load: "run"
    case .mirror: "job"
    case .draft, .inspect, .replay, .runs, .status, .migration, .bench, .move: "options"
    }
  }

  /// What it is about, in a line of the list of topics.
  var about: String {
    switch self {
    case .feed: "what a delivery holds, which rows are swept, edits made locally"
    case .guards: "what must hold before a row is swept"
    case .folders: "in which order files are taken, and what happens to them"
    case .unattended: "retries, deadline, and how much history is kept"
    case .input: "format, dialect, encoding, columns, types, JSON"
    case .values: "dates, decimals, yes and no, blanks, added columns, SQL over fields"
    case .key: "which row a record is about, and how that row changes"
    case .table: "new tables and columns, indexes, triggers, foreign keys"
    case .rejects: "stop or go on, and where rejected records are kept"
    case .transactions: "commits, durability, locks, the write-ahead log"
    case .preview: "what would happen, or what did: plan, dry run, changes, time"
    case .output, .log: "summary, progress, log"
    case .forgetting: "how to take back what a feed has delivered"
    case .schedulers: "units for systemd, a line for crontab"
    case .load: "resume, atomic, stop early, pack a new database"
    case .mirror: "which tables, dry run, checks, changes that are accepted"
    case .draft, .inspect, .replay, .runs, .status, .migration, .bench, .move: "its options"
    }
  }

  /// The subcommands that have its options.
  var commands: Set<String> {
    switch self {
    case .feed, .guards, .folders, .unattended, .log, .mirror, .forgetting, .schedulers: ["mirror"]
    case .input, .values: ["load", "mirror", "inspect"]
    case .key, .table, .rejects, .transactions: ["load", "mirror"]
    case .output: ["load", "mirror", "replay", "move"]
    case .preview, .load: ["load"]
    case .draft: ["mirror-init"]
    case .inspect: ["inspect"]
    case .replay: ["replay"]
    case .runs: ["runs"]
    case .status: ["status"]
    case .migration: ["migrate-keys"]
    case .bench: ["bench"]
    case .move: ["move"]
    }
  }

  /// Where a job file has its options, as far as they do not say something else.
  var place: OptionSpecification.Place {
    switch self {
    case .feed, .unattended, .input, .values, .key, .table, .rejects, .transactions: .table
    case .guards: .group("guards")
    case .folders: .group("folder")
    case .output: .refused("what is seen of a run is said on the command line")
    case .preview: .refused("it shows what one run would do or did, and a job file is for all runs")
    case .log, .load, .mirror, .forgetting, .schedulers, .draft, .inspect, .replay, .runs, .status,
      .migration, .bench, .move:
      .none
    }
  }
}

extension OptionGroup {
  /// The options of a topic, below its heading.
  init(_ topic: OptionTopic) { self.init(title: topic.title ?? "") }
}
