/// What happened to each record of a run.
///
/// The law, asserted by the engine:
/// `read = inserted + updated + unchanged + stale + ignored + deleted + rejected + quarantined + filtered`.
public struct Ledger: Sendable, Equatable {
  /// Records that the input held.
  public var read: UInt64 = 0
  /// No row had the key.
  public var inserted: UInt64 = 0
  /// A row changed.
  public var updated: UInt64 = 0
  /// The row already said so; nothing was written.
  public var unchanged: UInt64 = 0
  /// A newer row won.
  public var stale: UInt64 = 0
  /// The table stays as it was for another reason.
  public var ignored: UInt64 = 0
  /// The record was a tombstone and its row is gone.
  public var deleted: UInt64 = 0
  /// Cannot be stored; kept with its reason.
  public var rejected: UInt64 = 0
  /// Well-formed, but the schema has no place for it yet.
  public var quarantined: UInt64 = 0
  /// Left out by the filter of the load.
  public var filtered: UInt64 = 0
  /// Rows removed because a snapshot no longer holds them; not part of the law.
  public var swept: UInt64 = 0

  public init() {}

  /// Whether every record read is accounted for exactly once.
  public var isBalanced: Bool {
    read == inserted + updated + unchanged + stale + ignored + deleted + rejected + quarantined + filtered
  }

  /// Records that the filter has let through.
  package var wanted: UInt64 { read - filtered }

  /// Counts records that the filter has left out.
  package mutating func countFiltered(_ count: UInt64) {
    read += count
    filtered += count
  }

  /// The words of the ledger with their counts, in the order of the law; `swept` comes last.
  public var entries: [(word: String, count: UInt64)] {
    [
      ("read", read), ("inserted", inserted), ("updated", updated), ("unchanged", unchanged),
      ("stale", stale), ("ignored", ignored), ("deleted", deleted), ("rejected", rejected),
      ("quarantined", quarantined), ("filtered", filtered), ("swept", swept),
    ]
  }

  package static func += (left: inout Ledger, right: Ledger) {
    left.read += right.read
    left.inserted += right.inserted
    left.updated += right.updated
    left.unchanged += right.unchanged
    left.stale += right.stale
    left.ignored += right.ignored
    left.deleted += right.deleted
    left.rejected += right.rejected
    left.quarantined += right.quarantined
    left.filtered += right.filtered
    left.swept += right.swept
  }
}
