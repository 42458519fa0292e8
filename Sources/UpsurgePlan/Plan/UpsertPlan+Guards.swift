import UpsurgeSQLite

extension UpsertPlan {
  /// Whether records find their row by a look-up and are never inserted.
  package var looksUp: Bool { mode == .update || mode == .delete }

  /// Whether NULL in a key cannot be told from single cells: of several targets one may match, and an expression
  /// makes its own NULLs.
  package var hasUnguardedKeys: Bool { targets.count > 1 || targets.contains { $0.columns == nil } }

  /// Whether a record with NULL in this slot is a reject for that alone.
  ///
  /// With several targets, NULL only keeps the one from matching. An INTEGER PRIMARY KEY gets its number (not in a
  /// snapshot), a NOT NULL ON CONFLICT REPLACE column its default.
  package func refusesNull(in slot: Slot) -> Bool {
    guard targets.count == 1, let key, slot.isKey else { return false }
    let column = schema.columns[slot.columnIndex]
    guard key.parts.contains(where: { SQLName.isSame($0.column ?? "", column.name) }) else { return false }
    if looksUp { return true }
    if rules.nullKeys == .insert { return false }
    if schema.rowidAlias == slot.columnIndex { return rules.needsRowids }
    return !(column.notNullConflict == .replace && column.defaultExpression != nil)
  }

  /// Whether a record with NULL in this slot gets its key from SQLite, and is to be counted.
  package func countsNumbered(in slot: Slot) -> Bool {
    rules.countsNumbered && mode == .upsert && targets.count == 1 && slot.isKey && schema.rowidAlias == slot.columnIndex
      && !refusesNull(in: slot)
  }
}
