import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds records that a row says already by walking through the table's rows beside them.
///
/// A feed that comes again mostly has its records in the order in which they were stored, so the row of a record is
/// mostly the next one. To step to it and to compare costs a fraction of looking the key up in an index. A record that
/// equals the row in every column that it speaks of, its key included, has nothing to do; all others are stored.
///
///     rows      a b c d e f      ->   a, d, e and f are found
///     records   a B x d e f           B has a new value, x is a new row, c is gone
///
/// Rows are looked for among the next records (see `RecordWindow`), so new, changed and deleted ones do not matter.
/// Where none is found any more, the row of a later record is looked up by its key. Where that leads nowhere either, as
/// the order is another one or all is new, records are walked beside less and less often.
///
/// Only reads, and leaves no statement open: between two calls, rows may be written.
final class RowWalk {
  /// A column of the row in hand.
  private struct Field {
    var type: Int32 = SQLITE_NULL
    /// An integer, or the bits of a double.
    var bits: UInt64 = 0
    var bytes: UnsafeRawPointer?
    var byteCount = 0
  }

  private enum Likeness { case equal, sameKey, other }

  /// After so many rows that no record speaks of, the walk is lost.
  private static let missLimit = 32
  /// So often the row of a record is looked up in one call, and each time for so many records at most.
  private static let placingLimit = 2
  private static let lookUpLimit = 8
  /// Calls that are left out at most, one after the other.
  private static let longestPause = 64

  private let rows: Statement
  private let lookUp: KeyLookUp
  /// The cells of a record in the order of the fields: those of the key first, its last part before all.
  private let cellIndexes: UnsafeMutableBufferPointer<Int>
  private let keyCount: Int
  private let fields: UnsafeMutablePointer<Field>
  /// The rowids of the records of a window that a row says already.
  let rowids: UnsafeMutablePointer<Int64>

  /// The rowid at which to go on; nil where that is not known.
  private var position: Int64?
  /// Calls that are left out, and how many it were the last time.
  private var pause = 0
  private var lastPause = 0

  /// nil where a row that is equal could not stand for its record, or rows have no order.
  init?(_ plan: UpsertPlan, on connection: Connection) throws(UpsurgeError) {
    guard let key = plan.walkKey, let rowidName = plan.schema.rowidName,
      try connection.text("PRAGMA encoding") == "UTF-8", try connection.isInFile(table: plan.schema.name)
    else { return nil }
    let slots = plan.slots.filter(\.isKey).reversed() + plan.slots.filter { !$0.isKey && $0.rule != .along }
    let terms = try plan.schema.terms(slots.map(\.columnIndex))
    let table = try SQLName.quote(plan.schema.name)
    rows = try connection.prepare(
      "SELECT \(rowidName), \(terms) FROM main.\(table) NOT INDEXED WHERE \(rowidName) >= ? ORDER BY \(rowidName)",
      isPersistent: true)
    lookUp = try KeyLookUp(plan, key, rowidName: rowidName, on: connection)
    cellIndexes = .allocate(capacity: slots.count)
    _ = cellIndexes.initialize(from: slots.map(\.cellIndex))
    keyCount = plan.slots.count(where: \.isKey)
    fields = .allocate(capacity: slots.count)
    fields.initialize(repeating: Field(), count: slots.count)
    rowids = .allocate(capacity: EqualRecords.recordLimit)
  }

  deinit {
    cellIndexes.deallocate()
    fields.deallocate()
    rowids.deallocate()
  }

  /// Marks the records that a row says already.
  /// - Parameters:
  ///   - batch: has no absent cells.
  ///   - window: the records, at most `EqualRecords.recordLimit`.
  /// - Returns: how many.
  /// - Throws: `database` when rows cannot be read.
  func mark(_ batch: borrowing Batch, _ window: inout RecordWindow) throws(UpsurgeError) -> Int {
    if pause > 0 {
      pause -= 1
      return 0
    }
    defer { sqlite3_reset(rows.handle) }
    var (steps, misses, equals, placings) = (0, 0, 0, 0)
    if let position { try rows.bind(position, at: 1) } else { try place(&window, batch, &placings) }
    while position != nil, !window.isDone {
      guard try rows.stepInWalk() else {
        position = nil
        break
      }
      steps += 1
      readRow()
      switch find(batch, &window) {
      case .equal:
        equals += 1
        misses = 0
      case .sameKey: misses = 0
      case .other:
        misses += 1
        if misses == RowWalk.missLimit {
          misses = 0
          try place(&window, batch, &placings)
        }
      }
    }
    let isWorthIt = equals > 0 && 2 * equals >= steps + 8 * placings
    lastPause = isWorthIt ? 0 : min(max(2 * lastPause, 1), RowWalk.longestPause)
    pause = lastPause
    return equals
  }

  /// Finds the row of one of the next records, to walk on from there.
  private func place(
    _ window: inout RecordWindow, _ batch: borrowing Batch, _ placings: inout Int
  ) throws(UpsurgeError) {
    position = nil
    if placings == RowWalk.placingLimit { return }
    placings += 1
    sqlite3_reset(rows.handle)
    let distance = max(window.remaining / RowWalk.lookUpLimit, 1)
    var record = window.expected
    while record < window.end {
      if let rowid = try lookUp.rowid(of: record, in: batch) {
        window.expected = record
        position = rowid
        return try rows.bind(rowid, at: 1)
      }
      record += distance
    }
  }

  // MARK: - One row

  private func readRow() {
    let handle = rows.handle
    for index in 0..<cellIndexes.count {
      let column = Int32(truncatingIfNeeded: index + 1)
      let type = sqlite3_column_type(handle, column)
      fields[index].type = type
      switch type {
      case SQLITE_INTEGER: fields[index].bits = UInt64(bitPattern: sqlite3_column_int64(handle, column))
      case SQLITE_FLOAT: fields[index].bits = sqlite3_column_double(handle, column).bitPattern
      case SQLITE_TEXT, SQLITE_BLOB:
        // Of a text, its bytes as they are.
        fields[index].bytes = sqlite3_column_blob(handle, column)
        fields[index].byteCount = Int(sqlite3_column_bytes(handle, column))
      default: break
      }
    }
  }

  /// Looks for the record that speaks of the row in hand, and marks it.
  private func find(_ batch: borrowing Batch, _ window: inout RecordWindow) -> Likeness {
    let likeness = likeness(of: window.expected, in: batch)
    if likeness != .other {
      note(likeness, of: window.expected, &window)
      return likeness
    }
    for record in window.candidates where window.isOpen(record) {
      let likeness = self.likeness(of: record, in: batch)
      if likeness != .other {
        note(likeness, of: record, &window)
        return likeness
      }
    }
    return .other
  }

  private func note(_ likeness: Likeness, of record: Int, _ window: inout RecordWindow) {
    let rowid = sqlite3_column_int64(rows.handle, 0)
    rowids[record - window.start] = rowid
    window.mark(record, isEqual: likeness == .equal)
    position = rowid &+ 1
  }

  @inline(__always)
  private func likeness(of record: Int, in batch: borrowing Batch) -> Likeness {
    let cells = batch.cells + record * batch.columnCount
    for index in 0..<cellIndexes.count where !isEqual(fields[index], cells[cellIndexes[index]], batch) {
      return index < keyCount ? .other : .sameKey
    }
    return .equal
  }

  @inline(__always)
  private func isEqual(_ field: Field, _ cell: Cell, _ batch: borrowing Batch) -> Bool {
    switch cell.kind {
    case .absent: return false
    case .null: return field.type == SQLITE_NULL
    case .integer: return field.type == SQLITE_INTEGER && field.bits == cell.payload
    case .real: return field.type == SQLITE_FLOAT && field.bits == cell.payload
    case .text: return field.type == SQLITE_TEXT && hasBytes(field, cell, batch)
    case .blob: return field.type == SQLITE_BLOB && hasBytes(field, cell, batch)
    }
  }

  @inline(__always)
  private func hasBytes(_ field: Field, _ cell: Cell, _ batch: borrowing Batch) -> Bool {
    guard field.byteCount == Int(cell.byteCount) else { return false }
    guard let bytes = field.bytes, let start = batch.bytes(of: cell).baseAddress else { return true }
    return memcmp(bytes, start, field.byteCount) == 0
  }
}

extension UpsertPlan {
  /// The key whose rows may be walked through: a record that equals its row, column by column, changes nothing then and
  /// is refused by nothing. nil where that is not certain, and where the key is the rowid: to find that takes no index,
  /// and comparing is left to SQLite.
  var walkKey: TableSchema.Key? {
    guard mode == .upsert, form == .manyRowsOrFail, sortObstacle == nil, assignments.isEmpty,
      tombstoneCell == nil, unknownCells.isEmpty, !schema.isWithoutRowid, rules.nullKeys != .insert,
      let key, !key.isRowidAlias,
      slots.allSatisfy({ !$0.rule.isExpression && $0.rule != .sum })
    else { return nil }
    return key
  }
}
