/// What became of one record: the words of the ledger.
public enum Outcome: String, Sendable, CaseIterable {
  case inserted, updated, unchanged, stale, ignored, deleted, rejected, quarantined
}
