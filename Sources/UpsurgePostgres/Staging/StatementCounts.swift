/// What one statement of `OrderedPlan` has counted.
struct StatementCounts {
  private(set) var inserted = 0, updated = 0, kept = 0, deleted = 0, missing = 0

  init() {}

  init(inserted: Int, updated: Int, kept: Int, deleted: Int, missing: Int) {
    (self.inserted, self.updated, self.kept, self.deleted, self.missing) = (
      inserted, updated, kept, deleted, missing
    )
  }

  /// Adds those of another statement.
  mutating func add(_ other: StatementCounts) {
    inserted += other.inserted
    updated += other.updated
    kept += other.kept
    deleted += other.deleted
    missing += other.missing
  }

  /// Adds a row that has one number for each.
  mutating func add(_ row: PostgresRow) {
    func number(_ column: Int) -> Int { Int(row.integer(column) ?? 0) }
    inserted += number(0)
    updated += number(1)
    kept += number(2)
    deleted += number(3)
    missing += number(4)
  }
}

extension BatchOutcomes {
  /// Adds what became of so many records; what nothing was done with was unchanged.
  mutating func add(_ counts: StatementCounts, of count: Int) {
    inserted += counts.inserted
    updated += counts.updated
    kept += counts.kept
    deleted += counts.deleted
    missing += counts.missing
    unchanged += count - counts.inserted - counts.updated - counts.kept - counts.deleted - counts.missing
  }
}

extension PostgresFailure {
  /// Somebody else has written rows of the batch between two statements. All of it is to be done again.
  static var disturbed: PostgresFailure {
    PostgresFailure(
      .retryTransaction, "another session has stored rows under the same keys", sqlState: "40001")
  }
}
