import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// What is looked at in each record before it goes into a statement of many rows.
///
/// Finds the records that SQLite may refuse, so that a statement of many rows cannot fail in the middle, and
/// those with NULL in the key, which SQLite would take and store anew with every run. A wrong type in a
/// STRICT table or an INTEGER PRIMARY KEY must be found here: SQLite 3.40 does not undo the rows that its
/// statement has stored before it.
final class RecordGuards {
  enum Verdict { case clean, alone, nullKey, tombstone, quarantined }

  /// The kinds of cells that a column surely takes, one bit each.
  private struct Guard {
    var cellIndex: Int
    var allowed: UInt8
    var isKey: Bool
    /// Whether a record with nothing there gets its key from SQLite, and is counted.
    var isNumbered = false
  }

  private let guards: UnsafeMutableBufferPointer<Guard>
  /// Whether records must be looked at for more than what a statement may refuse.
  private let isSpecial: Bool
  private let unknownCells: [Int]
  /// Whether there is no table at all.
  private let isTableMissing: Bool
  private let tombstone: TombstoneTest?

  init(_ plan: UpsertPlan) {
    unknownCells = plan.unknownCells
    tombstone = TombstoneTest(plan)
    isTableMissing = plan.schema.columns.isEmpty
    isSpecial = isTableMissing || !unknownCells.isEmpty || tombstone != nil
    var list: [Guard] = []
    for slot in plan.slots {
      let column = plan.schema.columns[slot.columnIndex]
      let isRowid = plan.schema.rowidAlias == slot.columnIndex
      let isKey = plan.refusesNull(in: slot)
      var allowed =
        isRowid
        ? mask(.integer)
        : plan.schema.isStrict ? RecordGuards.strictKinds(column) : mask(.integer, .real, .text, .blob)
      let isNumbered = plan.countsNumbered(in: slot)
      if !isKey && !isNumbered && (isRowid || !column.isNotNull) { allowed |= mask(.null, .absent) }
      if column.defaultExpression != nil && !plan.looksUp { allowed |= mask(.absent) }
      if allowed != everything {
        list.append(Guard(cellIndex: slot.cellIndex, allowed: allowed, isKey: isKey, isNumbered: isNumbered))
      }
    }
    guards = .allocate(capacity: list.count)
    _ = guards.initialize(from: list)
  }

  deinit { guards.deallocate() }

  /// Whether a record deletes its row or has a value for which there is no column; nil for most.
  @inline(__always)
  func special(_ record: UnsafeMutablePointer<Cell>, cellCount: Int, batch: borrowing Batch) -> Verdict? {
    if !isSpecial { return nil }
    if isTableMissing { return .quarantined }
    if let tombstone, tombstone.holds(record, cellCount: cellCount, batch: batch) { return .tombstone }
    for cell in unknownCells where cell < cellCount {
      if record[cell].kind != .null && record[cell].kind != .absent { return .quarantined }
    }
    return nil
  }

  /// The first key column that is NULL in a record, by cell index.
  func nullKeyCell(_ record: UnsafeMutablePointer<Cell>, cellCount: Int) -> Int? {
    guards.first { $0.isKey && isMissing($0, kind(of: $0, record, cellCount)) }?.cellIndex
  }

  /// Whether a record gets its key from SQLite, where that is to be counted.
  func isNumbered(_ record: UnsafeMutablePointer<Cell>, cellCount: Int) -> Bool {
    guards.contains { $0.isNumbered && isMissing($0, kind(of: $0, record, cellCount)) }
  }

  @inline(__always)
  func verdict(_ record: UnsafeMutablePointer<Cell>, cellCount: Int) -> Verdict {
    var verdict = Verdict.clean
    for index in 0..<guards.count {
      let kind = kind(of: guards[index], record, cellCount)
      if guards[index].allowed & (1 << kind.rawValue) == 0 {
        if guards[index].isKey && isMissing(guards[index], kind) { return .nullKey }
        verdict = .alone
      }
    }
    return verdict
  }

  @inline(__always)
  private func kind(of guarded: Guard, _ record: UnsafeMutablePointer<Cell>, _ cellCount: Int) -> Cell.Kind {
    guarded.cellIndex < cellCount ? record[guarded.cellIndex].kind : .absent
  }

  @inline(__always)
  private func isMissing(_ guarded: Guard, _ kind: Cell.Kind) -> Bool {
    (kind == .null || kind == .absent) && guarded.allowed & (1 << kind.rawValue) == 0
  }

  /// What a column of a STRICT table takes whatever the value is.
  private static func strictKinds(_ column: TableSchema.Column) -> UInt8 {
    switch SQLName.folded(column.declaredType) {
    case "int", "integer": mask(.integer)
    case "real": mask(.integer, .real)
    case "text": mask(.integer, .real, .text)
    case "blob": mask(.blob)
    default: mask(.integer, .real, .text, .blob)
    }
  }
}

/// Every kind of cell.
private let everything = mask(.absent, .null, .integer, .real, .text, .blob)

private func mask(_ kinds: Cell.Kind...) -> UInt8 { kinds.reduce(0) { $0 | 1 << $1.rawValue } }
