/// What becomes of an earlier run of the same job that ended early: table and sources are the same.
public enum ResumePolicy: String, Sendable, CaseIterable {
  /// Goes on from its last commit. Where input or options have changed since: starts over if that does nothing twice,
  /// and refuses otherwise.
  case auto
  /// Starts over, whatever that does twice.
  case never
  /// Goes on, or refuses.
  case require
}
