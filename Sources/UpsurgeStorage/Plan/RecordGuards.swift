import UpsurgeRecords

/// What is looked at in each record before it goes into a statement of many rows.
///
/// Finds the records that SQLite may refuse, so that a statement of many rows cannot fail in the middle, and
/// those with NULL in the key, which SQLite would take and store anew with every run. A wrong type in a
/// STRICT table or an INTEGER PRIMARY KEY must be found here: SQLite 3.40 does not undo the rows that its
/// statement has stored before it.
final class RecordGuards {
  enum Verdict { case clean, alone, nullKey }

  /// The kinds of cells that a column surely takes, one bit each.
  private struct Guard {
    var cellIndex: Int
    var allowed: UInt8
    var isKey: Bool
  }

  private let guards: UnsafeMutableBufferPointer<Guard>

  init(_ plan: UpsertPlan) {
    var list: [Guard] = []
    for slot in plan.slots {
      let column = plan.schema.columns[slot.columnIndex]
      let isRowid = plan.schema.rowidAlias == slot.columnIndex
      let isKey = slot.isKey && plan.mode == .upsert && !isRowid
      var allowed =
        isRowid
        ? mask(.integer)
        : plan.schema.isStrict ? RecordGuards.strictKinds(column) : mask(.integer, .real, .text, .blob)
      if isRowid || !(isKey || column.isNotNull) { allowed |= mask(.null, .absent) }
      if column.defaultExpression != nil { allowed |= mask(.absent) }
      if allowed != everything {
        list.append(Guard(cellIndex: slot.cellIndex, allowed: allowed, isKey: isKey))
      }
    }
    guards = .allocate(capacity: list.count)
    _ = guards.initialize(from: list)
  }

  deinit { guards.deallocate() }

  /// The first key column that is NULL in a record, by cell index.
  func nullKeyCell(_ record: UnsafeMutablePointer<Cell>, cellCount: Int) -> Int? {
    guards.first { $0.isKey && isMissing($0, kind(of: $0, record, cellCount)) }?.cellIndex
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
