import UpsurgeRecords

/// What is looked at in each record before it goes into a statement of many rows.
///
/// Finds the records that SQLite may refuse, so that a statement of many rows cannot fail in the middle, and
/// those with NULL in the key, which SQLite would take and store anew with every run.
final class RecordGuards {
  enum Verdict { case clean, alone, nullKey }

  private struct Guard {
    enum Kind { case key, notNull, rowid }
    var kind: Kind
    var cellIndex: Int
    /// Whether a record without the column gets a default.
    var hasDefault: Bool
  }

  private let guards: UnsafeMutableBufferPointer<Guard>

  init(_ plan: UpsertPlan) {
    var list: [Guard] = []
    for slot in plan.slots {
      let column = plan.schema.columns[slot.columnIndex]
      let isRowid = plan.schema.rowidAlias == slot.columnIndex
      let hasDefault = column.defaultExpression != nil
      if isRowid {
        list.append(Guard(kind: .rowid, cellIndex: slot.cellIndex, hasDefault: true))
      } else if slot.isKey && plan.mode == .upsert {
        list.append(Guard(kind: .key, cellIndex: slot.cellIndex, hasDefault: hasDefault))
      } else if column.isNotNull {
        list.append(Guard(kind: .notNull, cellIndex: slot.cellIndex, hasDefault: hasDefault))
      }
    }
    guards = .allocate(capacity: list.count)
    _ = guards.initialize(from: list)
  }

  deinit { guards.deallocate() }

  /// The first key column that is NULL in a record, by cell index.
  func nullKeyCell(_ record: UnsafeMutablePointer<Cell>, cellCount: Int) -> Int? {
    guards.first { $0.kind == .key && isMissing($0, record, cellCount) }?.cellIndex
  }

  @inline(__always)
  func verdict(_ record: UnsafeMutablePointer<Cell>, cellCount: Int) -> Verdict {
    var verdict = Verdict.clean
    for index in 0..<guards.count {
      let guarded = guards[index]
      switch guarded.kind {
      case .key: if isMissing(guarded, record, cellCount) { return .nullKey }
      case .notNull: if isMissing(guarded, record, cellCount) { verdict = .alone }
      case .rowid:
        if guarded.cellIndex < cellCount {
          let kind = record[guarded.cellIndex].kind
          if kind != .integer && kind != .null && kind != .absent { verdict = .alone }
        }
      }
    }
    return verdict
  }

  @inline(__always)
  private func isMissing(_ guarded: Guard, _ record: UnsafeMutablePointer<Cell>, _ cellCount: Int) -> Bool {
    let kind = guarded.cellIndex < cellCount ? record[guarded.cellIndex].kind : .absent
    return kind == .null || (kind == .absent && !guarded.hasDefault)
  }
}
