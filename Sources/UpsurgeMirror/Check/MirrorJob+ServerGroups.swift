import Upsurge
import UpsurgeRecords

extension MirrorJob {
  /// The tables that refer to each other, those to which others refer first.
  /// - Throws: `usage` for tables that refer to each other in a circle: none of them can come first. And for a trial of several:
  ///   each is tried alone, without the rows of those before it.
  func serverGroups(
    _ shelves: ServerShelves, _ note: (RunNote) -> Void
  ) throws(UpsurgeError) -> [TableGroup] {
    let groups = try TableGroup.groups(of: tables, isOne: false) { (table) throws(UpsurgeError) in
      try shelves.shelf(of: load(of: table))?.schema(of: table.name)?.foreignKeys.map(\.parentTable) ?? []
    }
    let server = StoreRegistry.provider(of: database)?.name ?? "a server"
    for circle in groups.flatMap(\.circles) where circle.count > 1 {
      throw UpsurgeError(
        .usage,
        "the tables \(Self.words(circle)) refer to each other in a circle, and a transaction for several tables does not apply to "
          + "\(server) yet",
        hint: "mirror all but one of them by another job")
    }
    for group in groups where group.tables.count > 1 {
      let names = Self.words(group.tables)
      if dryRun != nil {
        throw UpsurgeError(
          .usage, "\(.dryRun) does not apply to the tables \(names) on \(server): they refer to each other, and each would be tried alone",
          hint: "upsurge mirror with \(.table) tries one of them alone")
      }
      note(RunNote(.info, "the tables \(names) refer to each other, and are stored one by one: each is a transaction on \(server)"))
    }
    return groups.map { TableGroup(circles: $0.circles, hasReferences: false) }
  }

  private static func words(_ tables: [MirrorTable]) -> String {
    tables.map(\.name).joined(separator: ", ").escapedForTerminal
  }
}
