import UpsurgeRecords

/// One statement for records of every shape: bits say which columns a record speaks of.
///
///     INSERT INTO "t" ("k", "v") VALUES (?1, ?2)
///     ON CONFLICT ("k") DO UPDATE SET "v" = CASE WHEN ?3 & 1 THEN excluded."v" ELSE "t"."v" END
///     WHERE ((?3 & 1 AND "t"."v" IS NOT excluded."v")) AND …
///
/// Compiling a statement for each of a hundred thousand shapes would cost more than all else. What such a statement
/// does to a row is what the one of the record's own shape does, where setting a column to what it holds goes unnoticed.
/// Such tables have no triggers, foreign keys, CHECKs, generated columns or conflict clauses. They have no NOT NULL column
/// but those of the key, which SQLite would look at. A record that is refused is stored again by its own shape's.
extension UpsertPlan {
  /// Bits of one parameter.
  package static let flagsPerParameter = 62

  /// The slots that a record may lack in the flagged statement; nil where the table allows no such statement.
  package var flaggedSlots: [Bool]? {
    guard mode == .upsert, schema.kind == .table, !schema.hasCheck, let key, targets.count == 1,
      !hasUnguardedKeys, !updatesFirst, !needsSavepoint, !hasConflictClause, !mayRaise, !hasFreeSQL,
      schema.triggers.isEmpty, schema.foreignKeys.isEmpty, schema.referencingTables.isEmpty,
      schema.columns.indices.allSatisfy({ !schema.columns[$0].isNotNull || key.speaks(of: $0, in: schema) })
    else { return nil }
    let flagged = slots.map { slot in
      !isKept(slot.columnIndex, matching: key) && !key.speaks(of: slot.columnIndex, in: schema)
        && schema.columns[slot.columnIndex].defaultExpression == nil
    }
    return flagged.contains(true) ? flagged : nil
  }

  /// Slots that need no bit, as their rules leave the row's value where the record has NULL, which is bound then.
  package var shapelessSlots: [Bool] {
    guard let flaggedSlots else { return Array(repeating: false, count: slots.count) }
    return flaggedSlots.indices.map {
      // What makes the row newer makes a difference also where the rule leaves it.
      flaggedSlots[$0] && slots[$0].rule.ignoresNull && slots[$0].columnIndex != newerColumn
    }
  }

  /// The statement of one row for records that may lack any of these slots. Its parameters are the slots' values,
  /// numbered, and then the bits: the first slot's is the lowest.
  /// - Parameter hasFlag: which slots have a bit.
  package func flaggedSQL(hasFlag: [Bool]) throws(UpsurgeError) -> String {
    var terms: [Int: String] = [:]
    for (index, slot) in slots.enumerated() where hasFlag[index] {
      let parameter = slots.count + 1 + index / UpsertPlan.flagsPerParameter
      terms[slot.columnIndex] = "?\(parameter) & \(UInt64(1) << UInt64(index % UpsertPlan.flagsPerParameter))"
    }
    return try insertSQL(shape: SlotShape(full: slots.count), rowCount: 1, .numbered) { terms[$0] }
  }
}
