import CSQLite
import UpsurgeRecords

/// A plan with what is compiled for it; another one takes its place when the input has other columns.
struct BoundPlan {
  let plan: UpsertPlan
  let guards: RecordGuards
  let statements: StatementCache
  /// The statements for records that speak of every column.
  let fullShape: ShapeStatements
  /// Cells whose absence changes the statement: (cell index, slot), the others are bound as NULL.
  let shapedSlots: [(cellIndex: Int, slot: Int)]
  /// The table's columns that are not hidden.
  let visibleColumns: [Int]
  /// A record larger than this goes alone, so that SQLite's length limit cannot break a statement in two.
  let largeRecordByteCount: Int
  /// When the columns were last found to be the plan's; nil for when that was made.
  var moment: SchemaMoment?

  init(_ plan: UpsertPlan, _ settings: WriterSettings, on connection: Connection) {
    let cache = StatementCache(
      connection: connection, plan: plan, settings: settings, allowsAbort: connection.durability != .off)
    let full = cache.statements(for: SlotShape(full: plan.slots.count))
    cache.pinned = full
    self.init(plan, cache, full, on: connection)
  }

  /// The same with the statements of another writer of the plan, which has ended.
  init(_ plan: UpsertPlan, takingOver other: BoundPlan, on connection: Connection) {
    self.init(plan, other.statements, other.fullShape, on: connection)
  }

  private init(
    _ plan: UpsertPlan, _ statements: StatementCache, _ fullShape: ShapeStatements, on connection: Connection
  ) {
    self.plan = plan
    self.statements = statements
    self.fullShape = fullShape
    guards = RecordGuards(plan)
    var shaped: [(cellIndex: Int, slot: Int)] = []
    for (index, slot) in plan.slots.enumerated() {
      let hasDefault = plan.schema.columns[slot.columnIndex].defaultExpression != nil
      // Without a default, an insert that leaves a column out stores NULL.
      if plan.mode == .upsert || plan.looksUp || hasDefault || plan.schema.kind != .table {
        shaped.append((slot.cellIndex, index))
      }
    }
    shapedSlots = shaped
    visibleColumns = plan.schema.columns.indices.filter { !plan.schema.columns[$0].isHidden }
    largeRecordByteCount = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, -1)) / 4
  }
}
