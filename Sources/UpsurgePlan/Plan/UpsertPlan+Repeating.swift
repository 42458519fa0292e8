import UpsurgeRecords
import UpsurgeSQLite

/// What it means that records come again: later ones of a row, or the same ones in another run.
extension UpsertPlan {
  /// Whether what a record makes of a row depends on the row, so that records are steps and not states: a later one
  /// takes nothing away from an earlier one.
  package var readsRow: Bool {
    mergeRules.contains { rule in
      switch rule {
      case .replace, .coalesce, .keep, .along: false
      case .min, .max, .sum: true
      case .expression(let sql): speaksOfRow(sql)
      }
    }
  }

  /// Whether the same record stored again changes the row again.
  package var addsUp: Bool {
    guard mode == .upsert || mode == .update, rules.merge.newer?.isStrict != true else { return false }
    return mergeRules.contains { rule in
      switch rule {
      case .sum: true
      case .expression(let sql): speaksOfRow(sql)
      default: false
      }
    }
  }

  /// Whether the same record stored again makes another row: no key of the table would refuse it.
  /// - Parameter hasPrimaryKey: whether the records have the primary key.
  package func insertsAnew(hasPrimaryKey: Bool) -> Bool {
    guard targets.isEmpty, mode == .insert || mode == .ignore else { return false }
    return !isRefusedByKey(hasPrimaryKey: hasPrimaryKey)
  }

  /// Whether some record, stored again, may make another row: it may lie outside a partial key, or have NULL in one.
  package func mayInsertAnew(hasPrimaryKey: Bool) -> Bool {
    if insertsAnew(hasPrimaryKey: hasPrimaryKey) { return true }
    guard mode == .upsert || mode == .ignore else { return false }
    let mayMiss = targets.allSatisfy { key in
      key.isPartial || rules.nullKeys == .insert && mayBeNull(key)
    }
    return mayMiss && !isRefusedByKey(hasPrimaryKey: hasPrimaryKey, ifNoNull: false)
  }

  /// Whether a part of the key can be NULL: an expression, or a column that takes NULL.
  private func mayBeNull(_ key: TableSchema.Key) -> Bool {
    key.parts.contains { part in
      guard let name = part.column, let index = schema.columnIndex(name) else { return true }
      return !schema.columns[index].isNotNull && schema.rowidAlias != index
    }
  }

  /// Whether a key of the whole table, all of whose columns the records have, lets no row in twice.
  /// - Parameter ifNoNull: takes keys, too, that let in rows with NULL.
  private func isRefusedByKey(hasPrimaryKey: Bool, ifNoNull: Bool = true) -> Bool {
    schema.keys.contains { key in
      if !ifNoNull && mayBeNull(key) { return false }
      if key.isPartial || (key.kind == .primaryKey && !hasPrimaryKey) { return false }
      return key.columnIndexes(in: schema).allSatisfy { index in slots.contains { $0.columnIndex == index } }
    }
  }

  /// What becomes of records that a partial key does not speak of; nil where the key is of all rows.
  package var partialKeyWords: String? {
    guard mode == .upsert || mode == .ignore, !targets.isEmpty, targets.allSatisfy(\.isPartial) else {
      return nil
    }
    let predicates = targets.compactMap(\.predicate).joined(separator: " and ").escapedForTerminal
    let hasOther = schema.keys.contains { key in
      !key.isPartial
        && key.columnIndexes(in: schema).allSatisfy { index in slots.contains { $0.columnIndex == index } }
    }
    return "records outside \(predicates) match no row and are "
      + (hasOther ? "inserted, or refused by another key" : "inserted anew by every run")
  }

  private var mergeRules: [MergeRule] { [rules.merge.rule] + rules.merge.columns.values }

  /// Whether SQL names a column of the row; of a table that is not known, any name may be one.
  private func speaksOfRow(_ sql: String) -> Bool {
    let tokens = SQLFragment(sql).tokens
    return tokens.indices.contains { index in
      guard tokens[index].isName else { return false }
      let isOfRecord =
        index >= 2 && tokens[index - 1].isMark(".") && SQLName.isSame(tokens[index - 2].text, "excluded")
      if isOfRecord || SQLName.isSame(tokens[index].text, "excluded") { return false }
      return schema.columns.isEmpty || schema.columnIndex(tokens[index].text) != nil
    }
  }
}
