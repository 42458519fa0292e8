import UpsurgeRecords
import UpsurgeSQLite

extension UpsertPlan {
  /// Why records have to be stored in the order of the input as far as the table and the rules say; nil where only the
  /// order of records about one row can be seen. As a clause: `the table has triggers`.
  package var sortObstacle: String? {
    if mode == .insert { return "mode insert keeps the order of the input" }
    guard targets.count == 1, let key else { return "there is no key to sort by" }
    if schema.kind != .table { return "\(schema.name.escapedForTerminal) is a \(schema.kind.rawValue)" }
    if let trigger = schema.triggers.first { return "the table has triggers (\(trigger.escapedForTerminal))" }
    if schema.keys.count > 1 { return "the table has more than one key" }
    guard key.isPlain, key.parts.allSatisfy({ SQLName.isSame($0.collation, "BINARY") }) else {
      return "the key is partial, on expressions or has a collation"
    }
    if hasConflictClause { return "the table has ON CONFLICT clauses" }
    if let alias = schema.rowidAlias, !key.isRowidAlias, mode == .upsert || mode == .ignore {
      return "new rows get their \(schema.columns[alias].name.escapedForTerminal) in the order of the input"
    }
    if schema.isNamedByVirtualTable, !schema.isWithoutRowid, schema.rowidAlias == nil {
      return "a virtual table may know its rows by their rowid"
    }
    if schema.hasDeferredForeignKeys { return "foreign keys are looked at when the transaction ends" }
    if schema.foreignKeys.contains(where: { SQLName.isSame($0.parentTable, schema.name) }) {
      return "the table refers to itself"
    }
    if schema.hasActingReferences && (mode == .delete || tombstoneCell != nil) {
      return "deletes act on other tables"
    }
    if slots.contains(where: { $0.isKey && isSetBySQL($0.columnIndex) }) { return "SQL sets a key column" }
    return sqlSeesOrder ? "SQL of the rules or the table looks beyond its row" : nil
  }

  /// Whether SQL that is run for a record may see what other records have done.
  private var sqlSeesOrder: Bool {
    var texts = assignments.map(\.expression)
    for slot in slots { if case .expression(let sql) = slot.rule { texts.append(sql) } }
    if let condition = rules.merge.condition { texts.append(condition) }
    texts += schema.columns.compactMap(\.defaultExpression)
    // What a CHECK calls is not known by name.
    if schema.checkCallsFunction && schema.checkMayRaise { return true }
    let words = ["SELECT", "changes", "total_changes", "last_insert_rowid", "random", "randomblob", "uuid"]
    return texts.contains { text in
      SQLFragment(text).tokens.contains { token in
        token.isName && words.contains { SQLName.isSame(token.text, $0) }
      }
    }
  }
}
