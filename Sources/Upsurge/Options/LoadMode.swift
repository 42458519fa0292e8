/// What happens to a record whose row exists.
public enum LoadMode: String, Sendable, CaseIterable {
  /// It is updated, unless it already says the same.
  case upsert
  /// A conflict is a reject.
  case insert
  /// It stays as it is.
  case ignore
}
