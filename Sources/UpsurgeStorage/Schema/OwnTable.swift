import UpsurgeRecords

/// A table in which the engine keeps something beside the user's own. Their names are reserved here, all in one place;
/// what a table is and does stands where it is used.
package enum OwnTable: String, CaseIterable {
  case runs = "upsurge_runs"
  case rejects = "upsurge_rejects"
  case rejectContexts = "upsurge_reject_contexts"
  case replays = "upsurge_replays"
  case quarantine = "upsurge_quarantine"
  case rowState = "upsurge_rows"
  case chunks = "upsurge_chunks"
  case pendingWork = "upsurge_pending"
  case refusals = "upsurge_refusals"
  case unaccepted = "upsurge_unaccepted"
  case feeds = "upsurge_feeds"
  case takenFiles = "upsurge_files"

  /// Whether a name means one of them, so that records must not be loaded there.
  package static func isOwn(_ name: String) -> Bool { Self(rawValue: SQLName.folded(name)) != nil }

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
    _ name: String, columns: [String], purpose: Wording, on connection: Connection
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
