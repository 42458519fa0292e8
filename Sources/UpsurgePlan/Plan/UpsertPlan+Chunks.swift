import UpsurgeRecords
import UpsurgeSQLite

extension UpsertPlan {
  /// The cells of a record that make its key, where rows that a delivery has brought say nothing else than its records
  /// until the next one; nil where that is not sure, and for tables whose rows have no rowid.
  package var rememberedKeyCells: [Int]? {
    guard mode == .upsert, rules.merge == Merge(), rules.nullKeys == .reject, tombstoneCell == nil,
      unknownCells.isEmpty, schema.kind == .table, schema.rowidName != nil, targets.count == 1,
      let key, key.isPlain, let names = key.columns,
      !schema.referencingTables.contains(where: { SQLName.isSame($0, schema.name) })
    else { return nil }
    var cells: [Int] = []
    for name in names {
      guard let index = schema.columnIndex(name), schema.columns[index].notNullConflict == nil,
        let slot = slots.first(where: { $0.columnIndex == index })
      else { return nil }
      cells.append(slot.cellIndex)
    }
    return cells
  }

  /// Whether a trigger of the database may change rows of the table.
  package func isWritten(by triggers: [TriggerText]) -> Bool {
    triggers.contains { trigger in
      let tokens = SQLScanner.tokens(of: trigger.sql)
      let body = tokens.firstIndex { $0.isWord("BEGIN") } ?? 0
      return tokens[body...].contains {
        ($0.kind == .word || $0.kind == .quotedName || $0.kind == .literal)
          && SQLName.isSame($0.text, schema.name)
      }
    }
  }

  /// What decides, beside the bytes, which row a record is about.
  package var keyWords: String {
    targets.map { "\($0.description) \($0.parts.map(\.collation))" }.joined(separator: "; ")
  }
}
