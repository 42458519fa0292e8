import Upsurge
import UpsurgeMirror

/// What the parts of a job must not say against each other.
struct JobChecks {
  private var names: [(name: String, line: Int)] = []
  /// The line where standard input was named.
  private var inputLine: Int?
  /// Files of rejects, with the tables that write them.
  private var rejects: [String: String] = [:]
  /// Tables that write the file of rejects of the defaults.
  private var sharedCount = 0

  /// - Throws: `usage` for a table without a name, of Upsurge's own, or named before.
  mutating func checkName(_ entry: JobNode.Entry) throws(UpsurgeError) {
    if entry.key.isEmpty { throw entry.keyPlace.error("tables", "a table without a name") }
    if OwnTable.isOwn(entry.key) {
      throw entry.keyPlace.error(
        "tables", "\(entry.key) is a table of Upsurge's own, in which it keeps something beside the data",
        hint: "give another table")
    }
    if let other = names.first(where: { SQLName.isSame($0.name, entry.key) }) {
      throw entry.keyPlace.error(
        "tables", "\(entry.key) and \(other.name) of line \(other.line) are one table to SQLite",
        hint: "remove one of them")
    }
    names.append((entry.key, entry.keyPlace.line))
  }

  /// - Throws: `usage` at the setting that does not fit.
  mutating func check(_ table: MirrorTable, settings: JobSettings) throws(UpsurgeError) {
    try checkSweep(table, settings: settings)
    try checkSources(table, settings: settings)
    if let path = table.options.rejects.path, let setting = settings.options["rejects"] {
      if path == "-" {
        throw setting.error("takes a file, or table", hint: "give the path of a file, such as bad.ndjson")
      }
      sharedCount += setting.isDefault ? 1 : 0
      if !setting.isDefault, let other = rejects.updateValue(table.name, forKey: path) {
        throw setting.error(
          "\(path) is the file of table \(other), too, and each makes it anew",
          hint: "give another file, or rejects: table")
      }
    }
  }

  /// - Throws: `usage` for what all tables together say.
  func finish(defaults: JobSettings) throws(UpsurgeError) {
    if let setting = defaults.options["rejects"], sharedCount > 1 {
      throw setting.error(
        "each of \(sharedCount) tables would make the file anew",
        hint: "write rejects: table, or give each table a file of its own")
    }
  }

  private func checkSweep(_ table: MirrorTable, settings: JobSettings) throws(UpsurgeError) {
    guard let conflict = SweepConflict.of(table) else { return }
    let options = settings.options
    guard let setting = options[conflict.key] ?? options["sweep"] else { return }
    // A scope of the defaults is for the tables that are swept, a trailer for those that are fed with text.
    if ["scope", "owned-by", "trailer"].contains(conflict.key) && setting.isDefault { return }
    if conflict.key == "kind", let sweep = options["sweep"] {
      let inherited = sweep.isDefault ? " (sweep is set in line \(sweep.keyPlace.line))" : ""
      throw (setting.isDefault ? sweep : setting).error(conflict.message + inherited, hint: conflict.fileHint)
    }
    throw setting.error(conflict.message, hint: conflict.fileHint)
  }

  private mutating func checkSources(_ table: MirrorTable, settings: JobSettings) throws(UpsurgeError) {
    if let source = settings.own["source"] {
      for _ in table.sources.filter(\.isStandardInput) {
        if let line = inputLine {
          throw source.value.place.error(
            source.path, "standard input is named in line \(line), too, and can be read only once")
        }
        inputLine = source.value.place.line
      }
    }
    if let headers = settings.own["headers"], !headers.isDefault,
      !table.sources.contains(where: \.isURL)
    {
      throw headers.keyPlace.error(
        headers.path, "only http:// and https:// sources are asked with headers", hint: "remove it")
    }
  }
}

/// A sweep, a guard or a repair that cannot be.
struct SweepConflict {
  /// The setting that is wrong: `sweep`, `kind`, `mode`, `scope`, `owned-by`, `trailer` or `local-edits`.
  var key: String
  var message: String
  /// What helps in a job file, and on a command line.
  var fileHint: String?
  var commandHint: String?

  static func of(_ table: MirrorTable) -> SweepConflict? {
    if let fault = table.repairFault {
      return SweepConflict(
        key: "local-edits", message: "repair: \(fault.message)", fileHint: fault.hint,
        commandHint: "leave out --merge, --set and --update-if, or give --kind snapshot or --local-edits keep"
      )
    }
    if table.guards.trailer != nil, table.sources.allSatisfy(\.isDatabase) {
      return SweepConflict(
        key: "trailer", message: "is for text, and a database says itself where its rows end",
        fileHint: "remove it", commandHint: "leave it out")
    }
    if table.sweep == .none {
      if table.ownedBy != nil {
        return SweepConflict(
          key: "owned-by", message: "says which rows may be swept, and nothing is swept",
          fileHint: "add sweep: hard, or write row-state: true in its place",
          commandHint: "add --sweep hard, or give --row-state in its place")
      }
      if table.scope == nil { return nil }
      return SweepConflict(
        key: "scope", message: "says which rows may be swept, and nothing is swept",
        fileHint: "add sweep: hard",
        commandHint: "add --sweep hard")
    }
    if table.kind == .delta {
      return SweepConflict(
        key: "kind", message: "a delta does not say which rows are gone, so that none can be swept",
        fileHint: "write kind: snapshot, or sweep: none",
        commandHint: "give --kind snapshot, or leave out --sweep")
    }
    switch table.options.rules.target {
    case .columns, .index: break
    default:
      return SweepConflict(
        key: "sweep", message: "needs a key, which says what rows the snapshot still has",
        fileHint: "add key: [COLUMN]", commandHint: "add --key COLS")
    }
    if table.options.rules.mode == .delete {
      return SweepConflict(
        key: "mode", message: "deletes what the snapshot has, and sweep what it has not: nothing would stay")
    }
    if case .soft(let column) = table.sweep,
      table.options.rules.key.contains(where: { SQLName.isSame($0, column) })
    {
      return SweepConflict(
        key: "sweep", message: "\(column) is part of the key, which never changes",
        fileHint: "name another column", commandHint: "name another column")
    }
    return nil
  }
}
