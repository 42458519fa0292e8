import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Writes what a run does as plain SQL: no parameters, and nothing of ours that another program would lack.
///
/// Each record that is stored (or found to be stored already) becomes a tuple of an INSERT with its ON CONFLICT, in
/// input order; neighbours of one shape share a statement. Modes `update` and `delete`, tombstones and partial records
/// take a statement of their own; views and virtual tables two: an UPDATE, and an INSERT where there is no row.
package final class StatementEmitter: RecordObserver {
  package let wantedRows = ObservedRows.none
  private let literals: LiteralWriter
  private var packer: StatementPacker
  private let sourceNames: [String]
  private let sink: ([UInt8]) throws(UpsurgeError) -> Void
  private let sync: () throws(UpsurgeError) -> Void
  private let commit: () throws(UpsurgeError) -> Void
  private let rollBack: () -> Void
  private let mark: () -> Undo
  private var plan: UpsertPlan?
  private var templates: [Kind: [StatementTemplate]] = [:]
  /// What the record in hand adds when it is stored.
  private var pending: [StatementTemplate] = []
  private var shape = SlotShape(full: 0)
  /// The literals of the record in hand, one after the other, and where each ends.
  private var literal: [UInt8] = []
  private var ends: [Int] = []

  /// Takes back what the sink took since a place.
  package typealias Undo = () throws(UpsurgeError) -> Void

  /// Where the records begin that may come once more.
  private var held: (packer: StatementPacker, undo: Undo)?
  /// Statements after that place that no record brings once more.
  private var heldStatements: [String] = []

  private enum Kind: Hashable {
    case store(SlotShape)
    case delete(SlotShape)
    /// For records that go in by an UPDATE instead of their INSERT, by target.
    case update(SlotShape, Int)

    var isUpdate: Bool { if case .update = self { true } else { false } }
  }

  /// - Parameters:
  ///   - connection: the database that the statements are for.
  ///   - setup: statements that come first.
  ///   - byteLimit: bounds each statement; never more than SQLite takes by itself.
  ///   - sourceNames: the sources as the user named them, by `batch.sourceIndex`.
  ///   - sink: takes finished statements, each with its semicolon and a line end.
  ///   - sync: what the sink took so far is about to be committed.
  ///   - commit: what the sink took so far is there to stay.
  ///   - rollBack: what the sink took since has not happened.
  ///   - mark: makes what takes back all that the sink takes from now on, until the next `commit` or `rollBack`.
  package init(
    connection: Connection, setup: [String] = [], byteLimit: Int, sourceNames: [String],
    sink: @escaping ([UInt8]) throws(UpsurgeError) -> Void,
    sync: @escaping () throws(UpsurgeError) -> Void = {},
    commit: @escaping () throws(UpsurgeError) -> Void, rollBack: @escaping () -> Void,
    mark: @escaping () -> Undo = { {} }
  ) throws(UpsurgeError) {
    let encoding = try connection.text("PRAGMA encoding") ?? ""
    literals = try LiteralWriter(encoding: LiteralWriter.TextEncoding(rawValue: encoding) ?? .utf8)
    packer = StatementPacker(byteLimit: byteLimit)
    self.sourceNames = sourceNames
    self.sink = sink
    self.sync = sync
    self.commit = commit
    self.rollBack = rollBack
    self.mark = mark
    for statement in setup { packer.add(statement: statement) }
  }

  package func begin(_ plan: UpsertPlan, columns: [Int]) throws(UpsurgeError) {
    templates.removeAll()
    defer { self.plan = plan }
    guard let before = self.plan?.schema else { return }
    for column in plan.schema.columns where before.columnIndex(column.name) == nil {
      let statement = try TableDefinition.addColumnSQL(
        table: plan.schema.name, column: .init(name: column.name, declaredType: column.declaredType),
        isStrict: plan.schema.isStrict)
      packer.add(statement: statement)
      if held != nil { heldStatements.append(statement) }
    }
  }

  package func refusal(
    of record: Int, in batch: borrowing Batch, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject? {
    guard let plan else { return nil }
    let cells = batch.cells + record * batch.columnCount
    shape = shape(cells, cellCount: batch.columnCount, plan)
    literal.removeAll(keepingCapacity: true)
    ends = [0]
    for slot in plan.present(shape) {
      let cell = slot.cellIndex < batch.columnCount ? cells[slot.cellIndex] : .absent
      try literals.append(cell, of: batch, to: &literal)
      ends.append(literal.count)
    }
    pending = try templates(isTombstone ? .delete(shape) : .store(shape), plan)
    var possible = pending
    if !isTombstone && plan.mayUpdateInstead {
      for target in plan.targets.indices { possible += try templates(.update(shape, target), plan) }
    }
    for template in possible {
      let byteCount = template.byteCount { ends[$0 + 1] - ends[$0] }
      if byteCount > packer.byteLimit { return tooLarge(batch, record, byteCount: byteCount) }
    }
    return nil
  }

  package func willUpdate(byTarget target: Int) { pending = templates[.update(shape, target)] ?? pending }

  package func willIgnore() { pending = [] }

  package func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError) {
    defer { pending = [] }
    if outcome == .rejected || outcome == .quarantined { return }
    for template in pending {
      var text: [UInt8] = []
      template.append(to: &text) { $1 += literal[ends[$0]..<ends[$0 + 1]] }
      packer.add(text, template)
    }
    if packer.finished.count >= 64 << 10 { try sink(packer.take()) }
  }

  package func didHold() {
    held = (packer, mark())
    heldStatements = []
  }

  package func didTakeBack() throws(UpsurgeError) {
    guard let held else { return }
    packer = held.packer
    try held.undo()
    for statement in heldStatements { packer.add(statement: statement) }
  }

  package func willCommit() throws(UpsurgeError) {
    packer.close()
    try sink(packer.take())
    try sync()
  }

  package func didCommit() throws(UpsurgeError) {
    held = nil
    packer.close()
    try sink(packer.take())
    try commit()
  }

  package func didRollBack() {
    held = nil
    packer.removeAll()
    rollBack()
  }

  // MARK: - Statements

  /// What a record speaks of; what would be stored as NULL anyway counts as spoken of, so that fewer shapes share more.
  private func shape(
    _ cells: UnsafeMutablePointer<Cell>, cellCount: Int, _ plan: UpsertPlan
  ) -> SlotShape {
    var shape = SlotShape(full: plan.slots.count)
    for (index, slot) in plan.slots.enumerated() {
      let isAbsent = slot.cellIndex >= cellCount || cells[slot.cellIndex].kind == .absent
      let hasDefault = plan.schema.columns[slot.columnIndex].defaultExpression != nil
      if isAbsent && (plan.mode != .insert || hasDefault || plan.schema.kind != .table) {
        shape.remove(index)
      }
    }
    return shape
  }

  private func templates(_ kind: Kind, _ plan: UpsertPlan) throws(UpsurgeError) -> [StatementTemplate] {
    if let known = templates[kind] { return known }
    // Not while a record is in hand that has taken its first one.
    if templates.count >= 256, !kind.isUpdate { templates.removeAll() }
    let statements =
      switch kind {
      case .store(let shape): try plan.plainStatements(shape: shape, isTombstone: false)
      case .delete(let shape): try plan.plainStatements(shape: shape, isTombstone: true)
      case .update(let shape, let target): [try plan.updateSQL(shape: shape, target: target, .plain)]
      }
    let made = statements.map { StatementTemplate($0) }
    templates[kind] = made
    return made
  }

  private func tooLarge(_ batch: borrowing Batch, _ record: Int, byteCount: Int) -> Reject {
    let source = batch.origin.sourceIndex < sourceNames.count ? sourceNames[batch.origin.sourceIndex] : "-"
    let limit = StatementPacker.sqliteByteLimit
    return Reject(
      .tooLarge, at: batch.position(of: record, file: source),
      reason: "the record's SQL statement takes \(byteCount) bytes, more than the \(packer.byteLimit) it may",
      hint: byteCount <= limit
        ? "\(.maxStatement, byteCount) would do, if the host takes it"
        : "no \(.maxStatement) helps: SQLite takes \(limit) bytes by default",
      raw: batch.rawBytes(of: record))
  }
}
