import UpsurgeSQLite

/// How many rows a statement takes, and what becomes of a row in it that fails.
///
/// Many rows a statement save the cost of starting statements (1.3 to 1.8 times as fast). But a statement of
/// many rows that may have to be undone on a table with a unique index keeps a *statement journal*: each page
/// it first touches is copied, which on random keys costs more than is won. So:
///
/// - `manyRowsOrFail`: `INSERT OR FAIL` needs no such journal. A plain insert that fails leaves the rows
///   before the bad one, and `sqlite3_changes` says how many: the record is known, and writing goes on
///   after it. An upsert is only written so when no row can fail, which the writer checks cell by cell
///   beforehand, and when SQLite knows that too: a function call or a NOT NULL column in SET bring the
///   journal back. OR FAIL would override the ON CONFLICT clauses of the table, so there must be none.
/// - `manyRowsOrAbort`: where the only unique thing is the rowid, the journal is cheap (rows mostly arrive in
///   order), and CHECK and foreign keys may refuse rows. SQLite undoes the statement, and its rows are
///   written again one by one to find the bad ones. Foreign keys are looked at when a statement ends, so a
///   later row of it could heal an earlier one that alone would be refused: an upsert that changes the row
///   again, or the parent in the same table. Those go singly.
/// - `singleRow`: triggers, views, virtual tables, conflict clauses, expressions that may raise errors, a
///   second unique key under an upsert, `--durability off` where the second form would need the journal.
package enum StatementForm: Sendable {
  case singleRow, manyRowsOrFail, manyRowsOrAbort
}

extension UpsertPlan {
  /// The form for records that speak of every column.
  package var form: StatementForm { formChoice.form }

  /// The form and why it is that one, as a clause: `the table has triggers`.
  package var formChoice: (form: StatementForm, reason: String) {
    if let reason = singleRowReason { return (.singleRow, reason) }
    if !schema.foreignKeys.isEmpty {
      return mode != .upsert && !refersToItself && onlyRowidIsUnique
        ? (.manyRowsOrAbort, "foreign keys may refuse rows, and only the rowid is unique")
        : (.singleRow, "foreign keys may refuse rows")
    }
    if mode == .insert { return (.manyRowsOrFail, "an insert that fails says how far it came") }
    if schema.hasCheck {
      return onlyRowidIsUnique
        ? (.manyRowsOrAbort, "a CHECK may refuse rows, and only the rowid is unique")
        : (.singleRow, "a CHECK may refuse rows")
    }
    return (.manyRowsOrFail, "no row can fail that was looked at before")
  }

  /// Why every record goes into a statement of its own; nil where that need not be.
  private var singleRowReason: String? {
    if schema.kind != .table { return "\(schema.name.escapedForTerminal) is a \(schema.kind.rawValue)" }
    if let trigger = schema.triggers.first { return "the table has triggers (\(trigger.escapedForTerminal))" }
    if hasConflictClause { return "the table has ON CONFLICT clauses" }
    if mayRaise { return "an expression of the table may raise an error" }
    switch mode {
    case .update, .delete: return "mode \(mode.rawValue) looks each row up"
    case .insert:
      if targets.count > 1 { return "records are matched by several keys" }
      // A statement that fails on the way does not write down the last AUTOINCREMENT number.
      if schema.hasAutoincrement { return "the table counts with AUTOINCREMENT" }
      if schema.checkCallsFunction && !onlyRowidIsUnique { return "a CHECK calls a function" }
    case .ignore:
      if lacksRequiredColumn { return "the input lacks a NOT NULL column" }
      if targets.count > 1 { return "records are matched by several keys" }
      if !targets.isEmpty && hasOtherKey { return "the table has another key than the target" }
    case .upsert:
      if schema.keys.contains(where: { $0 != key }) { return "the table has another key than the target" }
      if updateMayFail && !onlyRowidIsUnique { return "an update sets a NOT NULL column" }
      if slots.contains(where: { $0.isKey && isSetBySQL($0.columnIndex) }) { return "SQL sets a key column" }
      if mergeMayRaise { return "free SQL may raise an error" }
    }
    return nil
  }

  private var onlyRowidIsUnique: Bool { schema.keys.allSatisfy(\.isRowidAlias) }

  /// Whether SQL of the merge rules may fail or give a value that the column does not take.
  private var mergeMayRaise: Bool {
    var free = assignments.map(\.expression)
    var sets = assignments.map(\.columnIndex)
    for slot in slots where !slot.isKey {
      if case .expression(let sql) = slot.rule {
        free.append(sql)
        sets.append(slot.columnIndex)
      } else if slot.rule == .sum {
        sets.append(slot.columnIndex)
      }
    }
    if let condition = rules.merge.condition { free.append(condition) }
    return free.contains { SQLFragment($0).mayRaise }
      || sets.contains { schema.isStrict || schema.columns[$0].isNotNull }
  }

  /// Whether DO UPDATE sets a NOT NULL column: SQLite checks it there with ABORT, whatever the statement
  /// says.
  private var updateMayFail: Bool {
    slots.contains { !$0.isKey && schema.columns[$0.columnIndex].isNotNull }
      || assignments.contains { schema.columns[$0.columnIndex].isNotNull }
  }

  /// Whether no record has a value for a column that must have one.
  private var lacksRequiredColumn: Bool {
    schema.columns.indices.contains { index in
      let column = schema.columns[index]
      return column.isNotNull && column.defaultExpression == nil && column.generation == .none
        && index != schema.rowidAlias && !slots.contains { $0.columnIndex == index }
    }
  }

  private var refersToItself: Bool {
    schema.foreignKeys.contains { SQLName.isSame($0.parentTable, schema.name) }
  }

  /// Whether a constraint of the table has an ON CONFLICT clause.
  var hasConflictClause: Bool {
    schema.keys.contains { $0.conflictClause != nil } || schema.columns.contains { $0.notNullConflict != nil }
  }

  /// Whether an expression is evaluated for each row that may raise an error which is no constraint.
  var mayRaise: Bool {
    schema.hasComputedIndex || schema.checkMayRaise || schema.columns.contains { $0.generation != .none }
  }

  /// Whether RAISE(IGNORE) or NOT NULL ON CONFLICT IGNORE may leave a row out without an error.
  package var mayIgnore: Bool { !schema.triggers.isEmpty || hasConflictClause }

  /// Whether a single-row statement that fails may leave traces, so that a savepoint must wrap it.
  package var needsSavepoint: Bool {
    if !schema.triggers.isEmpty && schema.hasUnsafeTriggers { return true }
    return mayFireActions && (schema.hasUnsafeTriggers || schema.hasTriggersElsewhere)
  }

  /// Whether a row may be deleted, or a key of it changed, to which rows refer with CASCADE and the like. Their triggers
  /// are then fired too, and a statement that fails in one of them may leave traces.
  private var mayFireActions: Bool {
    let changesKeys =
      (mode == .upsert || mode == .update)
      && (schema.keys.count > 1 || slots.contains { $0.isKey && isSetBySQL($0.columnIndex) })
    return schema.hasActingReferences && (mode == .delete || tombstoneCell != nil || changesKeys)
  }
}
