import Upsurge
import UpsurgeMirror

/// What a job says, in words: `upsurge mirror DB JOB --check-job`. Secrets are shown as the file names them.
enum JobText {
  static func text(_ file: JobFile) -> String {
    let job = file.job
    let count = Words.count(UInt64(job.tables.count), "table")
    var lines = [
      "\(job.file.map(SourceName.shown) ?? "this job"): \(count) of \(job.shownDatabase); \(job.atomicity.words)"
        + (job.deadline.map { "; ended after \(Words.seconds($0))" } ?? "")
    ]
    for table in job.tables {
      lines += ["", "table \(table.name)"] + text(table, words: file.words[table.name] ?? [])
    }
    return lines.map(\.escapedForTerminal).joined(separator: "\n") + "\n"
  }

  private static func text(_ table: MirrorTable, words: [String]) -> [String] {
    var facts: [(String, String)] = table.sources.map { ("source", $0.shown) }
    if !table.headers.isEmpty {
      facts.append(("headers", table.headers.keys.sorted().joined(separator: ", ")))
    }
    facts.append(
      (
        "kind",
        table.kind == .snapshot ? "snapshot: every delivery is the whole truth" : "delta: only changes"
      ))
    facts.append(("key", key(table.options.rules.target)))
    facts.append(("sweep", sweep(table)))
    if table.sweep != .none { facts.append(("guards", guards(table.guards))) }
    if let trailer = table.guards.trailer { facts.append(("trailer", "the last line is \(trailer)")) }
    if let count = table.guards.expectedCount {
      facts.append(("count", "exactly \(Words.count(count, "record"))"))
    }
    if table.folder != DropFolder() || table.sources.contains(where: { $0.label.hasSuffix("/") }) {
      facts.append(("folder", folder(table.folder)))
    }
    let told = OptionCatalogue.keys.filter {
      $0.group != nil || ["kind", "sweep", "scope", "key", "owned-by"].contains($0.key)
    }
    let others = words.filter { word in !told.contains { $0.option == word.prefix { $0 != " " && $0 != "=" } }
    }
    if !others.isEmpty { facts.append(("options", others.joined(separator: " "))) }
    return facts.map { "  \($0.0)\(String(repeating: " ", count: 9 - $0.0.count))\($0.1)" }
  }

  private static func key(_ target: ConflictTarget) -> String {
    switch target {
    case .columns(let names, let predicate):
      names.joined(separator: ", ") + (predicate.map { " where \($0)" } ?? "")
    case .index(let name): "the UNIQUE index \(name)"
    case .any: "every key of the table whose columns the records have"
    case .primaryKey: "the table's primary key, if the records have its columns"
    case .firstOf(let targets): targets.map(key).joined(separator: ", else ")
    }
  }

  private static func sweep(_ table: MirrorTable) -> String {
    let scope =
      (table.ownedBy.map { ", of those that \($0) has delivered (owned-by)" } ?? "")
      + (table.scope.map { ", of those where \($0)" } ?? "")
    return switch table.sweep {
    case .none: "none: rows that the feed no longer has stay"
    case .hard: "hard: rows that a snapshot no longer has are deleted\(scope)"
    case .soft(let column): "soft: rows that a snapshot no longer has are marked in \(column)\(scope)"
    }
  }

  private static func guards(_ guards: MirrorGuards) -> String {
    var parts = [
      "at most \(guards.maximumDeletes.defaultValueDescription) of the rows go",
      "a snapshot has at least \(Words.count(guards.leastRows, "record")) and \(guards.leastRatio) of the last one's",
      guards.allowsEmpty ? "an empty one means no rows" : "an empty one sweeps nothing",
    ]
    if guards.needsLineEnd { parts.append("the last line ends with a line end") }
    return parts.joined(separator: "; ")
  }

  private static func folder(_ folder: DropFolder) -> String {
    let order = folder.order == .name ? "files by name" : "files by time of change"
    return switch folder.done {
    case .leave: "\(order); they stay"
    case .delete: "\(order); those that are stored are deleted"
    case .move(let path): "\(order); those that are stored go to \(path)"
    }
  }
}

extension MirrorJob.Atomicity {
  /// In words, with the word of the job file.
  var words: String {
    switch self {
    case .job: "all of it becomes visible at once (atomic: job)"
    case .table: "each delivery of a table becomes visible at once (atomic: table)"
    case .bounded: "transactions of --commit-every, sweeps come last (atomic: bounded)"
    }
  }
}
