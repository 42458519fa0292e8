/// What is noted of each row that a feed delivers.
package struct RowStateRules: Sendable, Equatable {
  /// The feed's name among those of the table; empty where it has none, and its sweeps are about all rows.
  package var owner = ""
  /// The source, as it may be shown; nil is each file by its own name.
  package var source: String?
  /// Whether what is noted without a name is this feed's, which has got one since.
  package var adoptsUnnamed = false
  /// What becomes of rows that were edited here; nil where nobody looks for that.
  package var localEdits: LocalEdits?

  /// Whether a sweep is only about rows that the feed has delivered.
  package var isOwned: Bool { !owner.isEmpty }

  package init() {}
}
