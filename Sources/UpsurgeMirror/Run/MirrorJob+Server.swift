import Upsurge
import UpsurgeRecords
import UpsurgeSQLite

/// Jobs whose database is one of a server: the same words, and what they cannot mean there yet.
extension MirrorJob {
  /// - Throws: `usage` for what is not done on a server yet, by its name, before anything is read.
  func checkServer() throws(UpsurgeError) {
    guard let name = StoreRegistry.provider(of: database)?.name else { return }
    for table in tables {
      let shown = "table \(table.name.escapedForTerminal)"
      for (isGiven, key) in [
        (table.ownedBy != nil, "owned-by"), (table.localEdits != nil, "local-edits"), (table.keepsRowState, "row-state"),
      ] where isGiven {
        throw UpsurgeError(
          .usage, "\(shown): \(key) does not apply to \(name) yet: nothing is noted of each row there",
          hint: "leave out \(key); or mirror into a file of SQLite")
      }
      if atomicity == .bounded, table.sweep != .none {
        throw UpsurgeError(
          .usage,
          "\(shown): a sweep on \(name) is one transaction with its delivery, and atomic: bounded makes many of it",
          hint: "leave out atomic, or sweep")
      }
    }
    if atomicity == .job, tables.count > 1 {
      throw UpsurgeError(
        .usage, "atomic: job does not apply to \(name) yet: each table is a transaction there",
        hint: "atomic: table makes each table visible at once")
    }
  }

  /// The tables, each for itself, those to which others refer first.
  /// - Throws: `usage` for tables that refer to each other: their rows come and go together.
  func serverGroups(_ shelves: ServerShelves) throws(UpsurgeError) -> [TableGroup] {
    let groups = try TableGroup.groups(of: tables, isOne: false) { (table) throws(UpsurgeError) in
      try shelves.shelf(of: load(of: table))?.schema(of: table.name)?.foreignKeys.map(\.parentTable) ?? []
    }
    if let group = groups.first(where: { $0.tables.count > 1 }) {
      let names = group.tables.map(\.name).joined(separator: ", ").escapedForTerminal
      throw UpsurgeError(
        .usage,
        "the tables \(names) refer to each other, and a job of one transaction for several tables does not apply to "
          + "\(StoreRegistry.provider(of: database)?.name ?? "a server") yet",
        hint: "upsurge mirror with \(.table), once for each of them, those to which others refer first")
    }
    return groups.map { TableGroup(circles: $0.circles, hasReferences: false) }
  }
}
