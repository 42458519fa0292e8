import UpsurgeRecords

/// A table in which the engine keeps something beside the user's own.
package enum OwnTable {
  /// Whether a name means one of them, so that records must not be loaded there.
  package static func isOwn(_ name: String) -> Bool {
    let names = [
      RunTable.name, KeptTable.name, RejectTable.name, "upsurge_reject_contexts", "upsurge_replays",
      "upsurge_feeds", "upsurge_files", "upsurge_chunks", "upsurge_pending", RowStateTable.name,
    ] + UnacceptedState.tables
    return names.contains(SQLName.folded(name))
  }

  /// Refuses such a table for records.
  /// - Throws: `usage`.
  package static func refuse(_ name: String) throws(UpsurgeError) {
    guard isOwn(name) else { return }
    throw UpsurgeError(
      .usage, "\(name) is a table of Upsurge's own, in which it keeps something beside the data",
      hint: "give another table")
  }

  /// Whether the database holds it.
  /// - Parameters:
  ///   - columns: those that must be there.
  ///   - purpose: what is kept in it, for the message: `records are kept in one of this name`.
  /// - Throws: `guardRefused` when a table of that name is not ours.
  package static func exists(
    _ name: String, columns: [String], purpose: String, on connection: Connection
  ) throws(UpsurgeError) -> Bool {
    let kind = try connection.prepare(
      "SELECT type FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')")
    try kind.bind(name, at: 1)
    guard try kind.step() else { return false }
    // At work until the end, so that the columns are those of the same moment.
    defer { kind.reset() }
    if kind.text(at: 0) == "view" {
      throw UpsurgeError(
        .guardRefused, "the database has a view \(name), which is not Upsurge's",
        hint: "rename that view; \(purpose)")
    }
    let statement = try connection.prepare("SELECT name FROM pragma_table_info(?1, 'main')")
    try statement.bind(name, at: 1)
    var found: Set<String> = []
    while try statement.step() { found.insert(SQLName.folded(statement.text(at: 0) ?? "")) }
    if let missing = columns.first(where: { !found.contains($0) }) {
      throw UpsurgeError(
        .guardRefused, "the database has a table \(name) that is not Upsurge's: it has no column \(missing)",
        hint: "rename that table; \(purpose)")
    }
    return true
  }
}
