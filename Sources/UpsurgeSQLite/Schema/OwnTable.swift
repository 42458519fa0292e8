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

/// What is said of a table that has the name of one of ours, and is not what is meant.
extension OwnTable {
  /// - Parameters:
  ///   - layout: what the table says of itself.
  ///   - number: the newest layout that is known here.
  package func refusal(ofLayout layout: Int, after number: Int) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "the database has a table \(rawValue) of layout \(layout), which a newer upsurge has made; this one knows it up to "
        + "layout \(number)",
      hint: "use a newer upsurge, at least the version that wrote that table")
  }

  /// - Parameter purpose: what is kept in the table.
  package func refusal(lacking column: String, purpose: Wording) -> UpsurgeError {
    UpsurgeError(
      .guardRefused, "the database has a table \(rawValue) that is not Upsurge's: it has no column \(column)",
      hint: "rename that table; \(purpose)")
  }

  /// - Parameters:
  ///   - layout: what stands where the number of its layout should.
  ///   - purpose: what is kept in the table.
  package func refusal(ofRubbish layout: String, purpose: Wording) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "the database has a table \(rawValue) that is not Upsurge's: its layout is no number: \(layout.escapedForTerminal)",
      hint: "rename that table; \(purpose)")
  }

  /// - Parameter purpose: what is kept in the table.
  package func refusalOfView(purpose: Wording) -> UpsurgeError {
    UpsurgeError(
      .guardRefused, "the database has a view \(rawValue), which is not Upsurge's",
      hint: "rename that view; \(purpose)")
  }
}
