import CSQLite
import UpsurgePlan
import UpsurgeRecords

extension TableWriter {
  /// Stores records of a batch and the rejects among them, merged by record number. Records whose row says the same are
  /// left out.
  func store(
    _ batch: borrowing Batch, _ records: Range<Int>, rejects: Range<Int>
  ) throws(UpsurgeError) {
    var (record, rejectIndex) = (records.lowerBound, rejects.lowerBound)
    while record < records.upperBound || rejectIndex < rejects.upperBound {
      try begin()
      for stage in stages.list { try stage.willStore(batch, from: record, reject: rejectIndex) }
      let rejectNumber =
        rejectIndex < rejects.upperBound ? batch.rejects[rejectIndex].position.record ?? 0 : .max
      if record < records.upperBound && batch.records[record].number < rejectNumber {
        let most = min(log.recordsBetweenLooks, settings.commitEvery.records - transaction.recordCount)
        var end = min(records.upperBound, record + max(most, 1))
        while rejectNumber != .max && batch.records[end - 1].number > rejectNumber { end -= 1 }
        if let others = try stages.equalRows?.leaveOut(batch, record..<end) {
          if others.count > 0 { try storeSeen(batch, in: others.order, from: 0, to: others.count) }
        } else {
          try storeSeen(batch, in: .input, from: record, to: end)
        }
        countFiltered(in: batch, through: batch.records[end - 1].number, besides: end - record)
        transaction.note(batch, from: record, to: end)
        record = end
      } else {
        try take(batch.rejects[rejectIndex], in: batch)
        countFiltered(in: batch, through: rejectNumber, besides: 1)
        transaction.note(batch.rejects[rejectIndex], sourceIndex: batch.origin.sourceIndex)
        rejectIndex += 1
      }
      if isCommitDue {
        try leave(batch, before: record, reject: rejectIndex)
        try commit(batch, recordCount: record)
      }
      if grace.isOver && (record < records.upperBound || rejectIndex < rejects.upperBound) {
        try endEarly(batch, before: record, reject: rejectIndex)
      }
    }
    try leave(batch, before: record, reject: rejectIndex)
  }

  /// Goes away from a batch, or on in it after a commit.
  private func leave(_ batch: borrowing Batch, before record: Int, reject: Int) throws(UpsurgeError) {
    for stage in stages.list { try stage.willLeave(batch, before: record, reject: reject) }
  }

  /// Ends inside of a batch, as the run was told to end: at a commit where there may be one, else at the last one.
  /// - Throws: `interrupted`.
  private func endEarly(_ batch: borrowing Batch, before record: Int, reject: Int) throws(UpsurgeError) {
    let mayCommit =
      !settings.commitsOnce && !settings.isDryRun && connection.durability != .off && connection.shared == nil
    if mayCommit && transaction.isOpen {
      try leave(batch, before: record, reject: reject)
      try commit(batch, recordCount: record)
    }
    throw UpsurgeError(.interrupted, "interrupted")
  }

  /// Stores records between two looks, or a part of them, and has their rows noted where a sweep follows.
  func storeSeen(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int
  ) throws(UpsurgeError) {
    for stage in stages.list { stage.willStoreRun() }
    if let rowState = stages.rowState, rowState.looksBefore {
      try rowState.storeUnedited(batch, in: order, from: start, to: end)
    } else {
      try storeRun(batch, in: order, from: start, to: end)
    }
    for stage in stages.list { try stage.didStoreRun(batch, in: order, from: start, to: end) }
  }

  /// Stores records between two looks: groups neighbours of one shape into statements. Hot loop: nothing is asked of a
  /// stage here unless records go alone.
  /// - Parameters:
  ///   - start: the place of the first record in the order.
  ///   - end: the place after the last one.
  func storeRun(
    _ batch: borrowing Batch, in order: RecordOrder = .input, from start: Int, to end: Int
  ) throws(UpsurgeError) {
    let guards = bound.guards
    let cellCount = batch.columnCount
    let mayDiffer = batch.hasAbsentCells || cellCount < bound.plan.columns.count
    let mayFlag =
      mayDiffer && bound.statements.flagged != nil && stages.permitsNow.contains(.flagged)
    let cells = batch.cells
    let tracking = stages.references?.references == nil ? nil : stages.references
    var shape = bound.fullShape
    var place = start
    while place < end {
      let record = order[place]
      try tracking?.holdAgain(batch, from: record)
      let row = cells + record * cellCount
      let found = verdict(batch, record, guards)
      if found != .clean {
        shape = try storeSpecial(batch, record, found, last: shape, mayDiffer: mayDiffer)
        place += 1
        continue
      }
      if mayFlag {
        if let usual = usualShape(of: row, cellCount: cellCount, last: shape) {
          shape = usual
        } else if try storeFlagged(batch, record) {
          place += 1
          continue
        } else {
          shape = self.shape(of: row, cellCount: cellCount, last: shape)
        }
      } else if mayDiffer {
        shape = self.shape(of: row, cellCount: cellCount, last: shape)
      }
      // Records are kept from the first one on that has no place.
      if shape.isSingleRow || !stages.permitsNow.contains(.manyRows) {
        try storeAlone(batch, record, shape)
        place += 1
        continue
      }
      var groupEnd = place + 1
      while groupEnd < end {
        let next = order[groupEnd]
        guard verdict(batch, next, guards) == .clean,
          !mayDiffer || hasShape(cells + next * cellCount, cellCount: cellCount, shape)
        else { break }
        groupEnd += 1
      }
      try storeGroup(batch, in: order, from: place, to: groupEnd, shape)
      place = groupEnd
    }
  }

  /// Stores or refuses a record that the guards single out.
  /// - Returns: the statements for its shape; `last` where it has none.
  @inline(never)
  private func storeSpecial(
    _ batch: borrowing Batch, _ record: Int, _ verdict: RecordGuards.Verdict, last: ShapeStatements,
    mayDiffer: Bool
  ) throws(UpsurgeError) -> ShapeStatements {
    switch verdict {
    case .clean: preconditionFailure("a clean record is nothing special")
    case .nullKey:
      for stage in stages.watching { try stage.didFail(record, nil) }
      try reject(nullKey(batch, record), in: batch)
      return last
    case .quarantined:
      for stage in stages.watching { try stage.didFail(record, nil) }
      try quarantine(batch, record)
      return last
    case .alone, .tombstone:
      let row = batch.cells + record * batch.columnCount
      let shape = mayDiffer ? self.shape(of: row, cellCount: batch.columnCount, last: last) : last
      let insertedCount = tally.ledger.inserted
      try storeAlone(batch, record, shape, isTombstone: verdict == .tombstone)
      if tally.ledger.inserted > insertedCount, bound.guards.isNumbered(row, cellCount: batch.columnCount) {
        let position = batch.position(of: record, file: sourceName(batch.origin.sourceIndex))
        tally.warnings.add(.numberedKey, at: position)
      }
      return shape
    }
  }

  @inline(__always)
  func verdict(
    _ batch: borrowing Batch, _ record: Int, _ guards: RecordGuards
  ) -> RecordGuards.Verdict {
    let row = batch.cells + record * batch.columnCount
    if let special = guards.special(row, cellCount: batch.columnCount, batch: batch) { return special }
    let verdict = guards.verdict(row, cellCount: batch.columnCount)
    if verdict == .clean && Int(batch.records[record].byteCount) > largeRecordByteCount { return .alone }
    return verdict
  }

  /// Stores neighbours of one shape with as few statements as their number allows.
  private func storeGroup(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) {
    let notes = connection.notes
    let statements = bound.statements
    var place = start
    var step = 0
    while place < end {
      while shape.rowCounts[step] > end - place { step += 1 }
      let rowCount = shape.rowCounts[step]
      let handle = try statements.handle(shape, step: step)
      var parameter: Int32 = 1
      var code: Int32 = SQLITE_OK
      for row in place..<place + rowCount {
        code |= bind(batch, order[row], shape.cellIndexes, to: handle, &parameter)
      }
      notes.pointee.clear()
      if code == SQLITE_OK { code = sqlite3_step(handle) }
      if code == SQLITE_DONE {
        sqlite3_reset(handle)
        count(rowCount, changes: Int(sqlite3_changes(connection.handle)), updates: notes.pointee.updates)
        place += rowCount
      } else {
        place = try recover(batch, in: order, from: place, rowCount: rowCount, code: code, handle, shape)
      }
    }
  }

  /// Goes on after a statement of many rows that failed.
  /// - Returns: the place of the first record that is still to be stored.
  @inline(never)
  private func recover(
    _ batch: borrowing Batch, in order: RecordOrder, from place: Int, rowCount: Int, code: Int32,
    _ handle: OpaquePointer, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> Int {
    let refusal = Refusal(code: code, message: connection.lastMessage)
    let error = connection.failure(code, sql: String(cString: sqlite3_sql(handle)))
    let stored = Int(sqlite3_changes(connection.handle))
    sqlite3_reset(handle)
    if rowCount == 1 || shape.form == .manyRowsOrAbort {
      guard refusal.concernsRecord, !connection.isInAutocommit else { throw error }
      for row in place..<place + rowCount { try storeAlone(batch, order[row], shape) }
      return place + rowCount
    }
    // Only a plain insert says how far it came; an upsert is written so only when no row can fail.
    guard plan.mode == .insert, refusal.isPinned, !connection.isInAutocommit, stored < rowCount else {
      throw error
    }
    count(stored, changes: stored, updates: 0)
    try reject(self.refused(batch, order[place + stored], refusal), in: batch)
    return place + stored + 1
  }

  // MARK: - Shapes

  /// The statements for a record that may leave columns out; `last` when nothing changed.
  func shape(
    of row: UnsafeMutablePointer<Cell>, cellCount: Int, last: ShapeStatements
  ) -> ShapeStatements {
    if hasShape(row, cellCount: cellCount, last) { return last }
    return bound.statements.statements(for: slotShape(of: row, cellCount: cellCount))
  }

  /// The statements for a record; nil where its shape has none and is not worth them.
  private func usualShape(
    of row: UnsafeMutablePointer<Cell>, cellCount: Int, last: ShapeStatements
  ) -> ShapeStatements? {
    if hasShape(row, cellCount: cellCount, last) { return last }
    return bound.statements.usualStatements(for: slotShape(of: row, cellCount: cellCount))
  }

  private func slotShape(of row: UnsafeMutablePointer<Cell>, cellCount: Int) -> SlotShape {
    var shape = bound.fullShape.shape
    for (cellIndex, slot) in bound.shapedSlots where isAbsent(row, cellIndex, cellCount) {
      shape.leaveOut(slot)
    }
    return shape
  }

  @inline(__always)
  private func hasShape(
    _ row: UnsafeMutablePointer<Cell>, cellCount: Int, _ shape: ShapeStatements
  ) -> Bool {
    for (cellIndex, slot) in bound.shapedSlots
    where isAbsent(row, cellIndex, cellCount) == shape.shape.has(slot) {
      return false
    }
    return true
  }

  @inline(__always)
  private func isAbsent(_ row: UnsafeMutablePointer<Cell>, _ cellIndex: Int, _ cellCount: Int) -> Bool {
    cellIndex >= cellCount || row[cellIndex].kind == .absent
  }
}
