/// What triggers are told of the run.
public enum TriggerPolicy: String, Sendable, CaseIterable {
  case run
  /// `upsurge_is_synchronizing()` is 1, so that a trigger can say `WHEN NOT upsurge_is_synchronizing()`.
  case guarded
}

/// When foreign keys are looked at.
public enum ForeignKeyPolicy: String, Sendable, CaseIterable {
  /// As the schema says: at once, or at the commit where a key is DEFERRABLE INITIALLY DEFERRED.
  case auto
  /// At once.
  case on
  /// At the commit, so that a parent may come later in the same transaction.
  ///
  /// A record whose parent never comes is a reject, and its row becomes what it was. That cannot be where the table has
  /// triggers, other than those that keep an FTS5 table in step. Nor can it be where rows of any table refer to it with
  /// CASCADE, SET NULL or SET DEFAULT. The run then ends at the first such record, as it does at the commit where a row was
  /// deleted to which others still refer.
  case deferred
}

/// What becomes of a record that has columns which the table lacks.
public enum SchemaContract: String, Sendable, CaseIterable {
  /// The columns are added.
  case evolve
  /// The run stops.
  case freeze
  /// The record is kept whole in a quarantine table until the schema has a place for it.
  case quarantine
}

/// How much is only tried out.
public enum DryRun: String, Sendable, CaseIterable {
  /// Everything runs, and is rolled back.
  case count
  /// Everything is tried and rolled back, and the rows that would change are listed.
  case diff
}
