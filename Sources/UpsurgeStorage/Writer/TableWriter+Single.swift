import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Records that go one by one: by a statement of one row, or by a look-up of their row.
extension TableWriter {
  /// How the attempt to store a record ended.
  private enum Attempt {
    case done(Outcome)
    case failed(Refusal, UpsurgeError)
  }

  /// Stores one record by its own statement, which can be refused without touching its neighbours.
  /// - Parameter isTombstone: whether the record deletes its row, whatever the mode is.
  func storeAlone(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isTombstone: Bool = false
  ) throws(UpsurgeError) {
    if isTombstone { tally.hasMetTombstone = true }
    if try isKeyNull(batch, record, shape, isTombstone: isTombstone) {
      for stage in stages.watching { try stage.didFail(record, nil) }
      return try reject(nullKey(batch, record), in: batch)
    }
    for stage in stages.watching {
      if let refusal = try stage.willStore(batch, record, shape, isTombstone: isTombstone) {
        for stage in stages.watching { try stage.didFail(record, nil) }
        return try reject(refusal, in: batch)
      }
    }
    if statements.needsSavepoint { try connection.execute("SAVEPOINT upsurge_record") }
    switch try attempt(batch, record, shape, isTombstone: isTombstone) {
    case .done(let outcome):
      count(outcome)
      if statements.needsSavepoint { try connection.execute("RELEASE upsurge_record") }
      for stage in stages.watching {
        try stage.didStore(outcome, batch, record, shape, isDelete: isTombstone || plan.mode == .delete)
      }
    case .failed(let refusal, let error):
      for stage in stages.watching { try stage.didFail(record, refusal) }
      try refuse(batch, record, refusal, error, isDelete: isTombstone || plan.mode == .delete)
    }
  }

  private func attempt(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isTombstone: Bool
  ) throws(UpsurgeError) -> Attempt {
    let isDelete = isTombstone || plan.mode == .delete
    if isDelete || statements.facts.looksUp {
      let role: ShapeStatements.Role = isDelete ? .delete : .update(0)
      return try attemptByKey(role, batch, record, shape) ?? .done(.ignored)
    }
    if statements.updatesFirst {
      for target in plan.targets.indices {
        if let found = try attemptByKey(.update(target), batch, record, shape) {
          for stage in stages.watching { stage.willUpdate(byTarget: target) }
          return found
        }
      }
    } else if statements.looksBeforeInsert {
      if try hasRow(batch, record, shape) { return .done(.ignored) }
    }
    let handle = try statements.handle(shape, step: shape.rowCounts.count - 1)
    let code = step(handle, batch, record, shape)
    if code == SQLITE_DONE {
      sqlite3_reset(handle)
      if try isMissingInView(batch, record, shape) { return .done(.ignored) }
      return .done(outcomeOfInsert(hasChanged: sqlite3_changes(connection.handle) > 0))
    }
    let failure = failed(code, handle)
    if Refusal.comesBeforeConflict(code), !connection.isInAutocommit {
      return try attemptOnRow(batch, record, shape) ?? failure
    }
    return failure
  }

  /// Goes on after SQLite has refused to insert a record without looking whether its row is there.
  /// - Returns: nil without one.
  private func attemptOnRow(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> Attempt? {
    guard !plan.targets.isEmpty, plan.mode == .upsert || plan.mode == .ignore else { return nil }
    if statements.needsSavepoint { try connection.execute("ROLLBACK TO upsurge_record") }
    if plan.mode == .ignore {
      if try !hasRow(batch, record, shape) { return nil }
      for stage in stages.watching { stage.willIgnore() }
      return .done(.ignored)
    }
    for target in plan.targets.indices {
      if let found = try attemptByKey(.update(target), batch, record, shape) {
        for stage in stages.watching { stage.willUpdate(byTarget: target) }
        return found
      }
    }
    return nil
  }

  /// Updates or deletes the row of a record.
  /// - Returns: nil without one.
  private func attemptByKey(
    _ role: ShapeStatements.Role, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> Attempt? {
    let isView = statements.facts.isView
    if isView, try !exists(batch, record, shape, byTarget: role.target) { return nil }
    let handle = try statements.handle(shape, role)
    let code = step(handle, batch, record, shape)
    guard code == SQLITE_DONE else { return failed(code, handle) }
    sqlite3_reset(handle)
    if isView { connection.notes.pointee.conflicts = 1 }
    let hasChanged = sqlite3_changes(connection.handle) > 0
    return outcomeOfLookUp(hasChanged: hasChanged, isDelete: role == .delete).map { .done($0) }
  }

  /// Whether a view has a row that a record is about. The terms that count do not tell: SQLite copies a view's rows
  /// before its triggers run, with `"w"."k"` become `?1` in the condition, and asks what has no column left only once.
  private func exists(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, byTarget target: Int
  ) throws(UpsurgeError) -> Bool {
    let handle = try statements.handle(shape, .exists(target))
    defer { sqlite3_reset(handle) }
    let code = step(handle, batch, record, shape)
    if code == SQLITE_DONE { return false }
    if code != SQLITE_ROW { throw connection.failure(code, sql: String(cString: sqlite3_sql(handle))) }
    return true
  }

  /// Whether a view lacks the row that was inserted through its trigger: that said RAISE(IGNORE). A record without a
  /// key cannot be looked for.
  private func isMissingInView(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> Bool {
    if !statements.facts.isView { return false }
    let row = batch.cells + record * batch.columnCount
    var isMissing = false
    for (index, key) in plan.targets.enumerated() {
      if isNull(key, row, cellCount: batch.columnCount, mustFind: true) { continue }
      if try exists(batch, record, shape, byTarget: index) { return false }
      isMissing = true
    }
    return isMissing
  }

  /// What SQLite has said; another statement would make it forget.
  private func failed(_ code: Int32, _ handle: OpaquePointer) -> Attempt {
    let refusal = Refusal(code: code, message: connection.lastMessage)
    let error = connection.failure(code, sql: String(cString: sqlite3_sql(handle)))
    sqlite3_reset(handle)
    return .failed(refusal, error)
  }

  /// Binds a record and takes the first step; the statement is to be reset.
  func step(
    _ handle: OpaquePointer, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) -> Int32 {
    connection.notes.pointee.clear()
    var parameter: Int32 = 1
    // A look-up need not name every value.
    let count = min(Int(sqlite3_bind_parameter_count(handle)), shape.cellIndexes.count)
    let cells = UnsafeMutableBufferPointer(rebasing: shape.cellIndexes[..<count])
    let code = bind(batch, record, cells, to: handle, &parameter)
    return code == SQLITE_OK ? sqlite3_step(handle) : code
  }

  /// Rejects a record that SQLite refused, or ends the run where it was not the record's fault.
  @inline(never)
  private func refuse(
    _ batch: borrowing Batch, _ record: Int, _ refusal: Refusal, _ error: UpsurgeError, isDelete: Bool
  ) throws(UpsurgeError) {
    if connection.isInAutocommit {
      if refusal.isConstraint { tally.fatalReject = refused(batch, record, refusal) }
      throw lostTransaction(error, batch, record)
    }
    // After an error in a trigger that is no constraint, only a savepoint knows what to undo; triggers of tables that
    // refer to this one are never without.
    let isKnown = refusal.isConstraint || plan.schema.triggers.isEmpty || statements.needsSavepoint
    guard refusal.concernsRecord, isKnown else { throw error }
    if statements.needsSavepoint {
      try connection.execute("ROLLBACK TO upsurge_record; RELEASE upsurge_record")
    }
    if !isDelete, let parent = try stages.quarantine?.missingParent(of: record, in: batch, after: refusal) {
      return try quarantine(batch, record, waitingFor: parent)
    }
    try reject(self.refused(batch, record, refusal, isDelete: isDelete), in: batch)
  }

  // MARK: - Keys

  /// Whether a record cannot say which row it is about, as far as the guards have not seen it.
  private func isKeyNull(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isTombstone: Bool
  ) throws(UpsurgeError) -> Bool {
    if !isTombstone && !statements.hasUnguardedKeys { return false }
    let mustFind = isTombstone || statements.facts.looksUp
    guard mustFind || plan.rules.nullKeys == .reject else { return false }
    let row = batch.cells + record * batch.columnCount
    let cellCount = batch.columnCount
    let others = plan.targets.filter { !isNull($0, row, cellCount: cellCount, mustFind: mustFind) }
    if others.isEmpty { return true }
    guard others.allSatisfy({ $0.columns == nil }) else { return false }
    let handle = try statements.handle(shape, .nullKey)
    defer { sqlite3_reset(handle) }
    guard step(handle, batch, record, shape) == SQLITE_ROW else { return false }
    return sqlite3_column_int(handle, 0) != 0
  }

  private func isNull(
    _ key: TableSchema.Key, _ row: UnsafeMutablePointer<Cell>, cellCount: Int, mustFind: Bool
  ) -> Bool {
    key.parts.contains { part in
      guard let column = part.column, let index = plan.schema.columnIndex(column) else { return false }
      if index == plan.schema.rowidAlias && !mustFind { return false }
      let standard = plan.schema.columns[index].defaultExpression
      var fillsNull = false
      if case .replace? = plan.schema.columns[index].notNullConflict { fillsNull = standard != nil && !mustFind }
      guard let slot = plan.slots.first(where: { $0.columnIndex == index }) else { return standard == nil }
      switch slot.cellIndex < cellCount ? row[slot.cellIndex].kind : .absent {
      case .null: return !fillsNull
      case .absent: return standard == nil || mustFind
      default: return false
      }
    }
  }
}

extension SQLValue {
  /// A column of the row that a statement stands on; a text that is the one from before is not copied.
  init(_ statement: OpaquePointer, column: Int32, before: SQLValue) {
    if case .text(let text) = before, sqlite3_column_type(statement, column) == SQLITE_TEXT,
      let start = sqlite3_column_text(statement, column)
    {
      let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
      let isSame = text.utf8.withContiguousStorageIfAvailable { text in
        if text.count != bytes.count { return false }
        return text.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? true
      }
      if isSame == true {
        self = before
        return
      }
    }
    self.init(statement, column: column)
  }
}
