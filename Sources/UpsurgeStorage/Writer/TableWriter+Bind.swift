import CSQLite
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
    ledger.read += UInt64(rowCount)
    ledger.inserted += UInt64(changes - updates)
    ledger.updated += UInt64(updates)
    if plan.mode == .upsert {
      ledger.unchanged += UInt64(rowCount - changes)
    } else {
      ledger.ignored += UInt64(rowCount - changes)
    }
  }

  /// Counts a statement of one row that succeeded.
  @inline(__always)
  func countAlone(hasChanged: Bool) {
    let notes = connection.notes.pointee
    ledger.read += 1
    if plan.schema.kind != .table {
      // SQLite counts no changes of views and not always of virtual tables.
      ledger.inserted += 1
    } else if hasChanged {
      if notes.updates > 0 { ledger.updated += 1 } else { ledger.inserted += 1 }
    } else if plan.mode == .upsert && notes.updates == 0 && (!plan.mayIgnore || notes.conflicts > 0) {
      ledger.unchanged += 1
    } else {
      ledger.ignored += 1
    }
  }
}
