import UpsurgeRecords

/// A table in which the engine keeps something beside the user's own. Their names are reserved here, all in one place;
/// what a table is and does stands where it is used, and how it is made in its `OwnLayout` there.
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
}
