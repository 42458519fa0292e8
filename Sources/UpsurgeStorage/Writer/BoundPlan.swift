import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

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
  /// When the columns were last found to be the plan's; nil for when that was made.
  var moment: SchemaMoment?

  init(_ plan: UpsertPlan, _ settings: WriterSettings, on connection: Connection) {
    let cache = StatementCache(
      connection: connection, plan: plan, settings: settings, allowsAbort: connection.durability != .off)
    let full = cache.statements(for: SlotShape(full: plan.slots.count))
    cache.pinned = full
    self.init(plan, cache, full)
  }

  /// Binds the plan to the statements of another writer of it, which has ended.
  init(_ plan: UpsertPlan, takingOver other: BoundPlan) {
    self.init(plan, other.statements, other.fullShape)
  }

  private init(_ plan: UpsertPlan, _ statements: StatementCache, _ fullShape: ShapeStatements) {
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
  }
}
