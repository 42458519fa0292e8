import UpsurgeSQLite

extension UpsertPlan {
  /// Whether records are all that adds rows to the table or takes rows from it.
  package var hasPlainRows: Bool {
    mode == .upsert && tombstoneCell == nil && schema.triggers.isEmpty && schema.foreignKeys.isEmpty
      && !schema.referencingTables.contains { SQLName.isSame($0, schema.name) }
  }
}
