/// What becomes of a record, by whether the row it is about exists.
public enum WriteMode: String, Sendable, CaseIterable {
  /// No row: inserted. A row: changed as the merge rules say, or left alone when it already says so.
  case upsert
  /// No row: inserted. A row: the record is rejected.
  case insert
  /// No row: inserted. A row: stays as it is, the record is ignored.
  case ignore
  /// No row: the record is ignored. A row: changed as the merge rules say.
  case update
  /// No row: the record is ignored. A row: deleted.
  case delete
}
