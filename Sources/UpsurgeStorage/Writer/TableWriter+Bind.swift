import CSQLite
import UpsurgePlan
import UpsurgeRecords

extension TableWriter {
  /// Binds one record's cells in place (SQLITE_STATIC: SQLite reads them from the batch while it steps).
  /// - Returns: SQLITE_OK, or bits of the codes that failed.
  @inline(__always)
  func bind(
    _ batch: borrowing Batch, _ record: Int, _ cellIndexes: UnsafeMutableBufferPointer<Int32>,
    to handle: OpaquePointer, _ parameter: inout Int32
  ) -> Int32 {
    let cellCount = batch.columnCount
    let row = batch.cells + record * cellCount
    let arena = UnsafeRawPointer(batch.arena)
    let spill = UnsafeRawPointer(batch.spill)
    var failed: Int32 = SQLITE_OK
    for at in 0..<cellIndexes.count {
      let index = Int(cellIndexes[at])
      let cell = index < cellCount ? row[index] : .absent
      switch cell.kind {
      case .integer:
        failed |= sqlite3_bind_int64(handle, parameter, Int64(bitPattern: cell.payload))
      case .text:
        let start = (cell.isInSpill ? spill : arena) + Int(truncatingIfNeeded: cell.payload)
        failed |= sqlite3_bind_text64(
          handle, parameter, start.assumingMemoryBound(to: CChar.self), UInt64(cell.byteCount), nil,
          UInt8(SQLITE_UTF8))
      case .real:
        failed |= sqlite3_bind_double(handle, parameter, Double(bitPattern: cell.payload))
      case .null, .absent:
        failed |= sqlite3_bind_null(handle, parameter)
      case .blob:
        let start = (cell.isInSpill ? spill : arena) + Int(truncatingIfNeeded: cell.payload)
        failed |= sqlite3_bind_blob64(handle, parameter, start, UInt64(cell.byteCount), nil)
      }
      parameter += 1
    }
    return failed
  }

  /// Counts a statement of many rows that succeeded.
  @inline(__always)
  func count(_ rowCount: Int, changes: Int, updates: Int) {
    precondition(updates <= changes && changes <= rowCount, "SQLite changed more rows than were written")
    tally.ledger.read += UInt64(rowCount)
    tally.ledger.inserted += UInt64(changes - updates)
    tally.ledger.updated += UInt64(updates)
    guard bound.plan.mode == .upsert else {
      tally.ledger.ignored += UInt64(rowCount - changes)
      return
    }
    let stale = bound.statements.facts.hasCondition ? connection.notes.pointee.differences - updates : 0
    tally.ledger.stale += UInt64(stale)
    tally.ledger.unchanged += UInt64(rowCount - changes - stale)
  }

  /// Counts one record.
  @inline(__always)
  func count(_ outcome: Outcome) { tally.ledger.count(outcome) }

  /// What became of the record whose INSERT of one row succeeded.
  @inline(__always)
  func outcomeOfInsert(hasChanged: Bool) -> Outcome {
    let notes = connection.notes.pointee
    // SQLite counts no changes of views and not always of virtual tables.
    if !statements.facts.isTable { return .inserted }
    if hasChanged { return notes.updates > 0 ? .updated : .inserted }
    if plan.mode != .upsert || notes.updates > 0 { return .ignored }
    if notes.differences > 0 { return .stale }
    return !statements.facts.mayIgnore || notes.conflicts > 0 ? .unchanged : .ignored
  }

  /// What became of the record whose UPDATE or DELETE succeeded; nil when there was no row.
  func outcomeOfLookUp(hasChanged: Bool, isDelete: Bool) -> Outcome? {
    let notes = connection.notes.pointee
    if hasChanged || (!statements.facts.isTable && notes.updates > 0) {
      return isDelete ? .deleted : .updated
    }
    if notes.conflicts == 0 { return nil }
    // A trigger said RAISE(IGNORE).
    if notes.updates > 0 { return .ignored }
    return isDelete || notes.differences > 0 ? .stale : .unchanged
  }
}
