/// What becomes of rows that a snapshot no longer has.
public enum RowSweep: Sendable, Equatable {
  /// The rows stay.
  case none
  /// The rows are deleted.
  case hard
  /// The rows are marked in this column, which says which are gone. Where nothing else is said it gets the time of the run
  /// if it is declared as text or has no type, else 1. It is NULL, or 0, in rows that are there.
  case soft(column: String)
}
