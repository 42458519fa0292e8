import UpsurgeRecords

/// Writes what a run does as plain SQL: no parameters, and nothing of ours that another program would lack.
///
/// Each record that is stored (or found to be stored already) becomes a tuple of an INSERT with its ON CONFLICT, in
/// input order; neighbours of one shape share a statement.
package final class StatementEmitter: RecordObserver {
  package let wantedRows = ObservedRows.none
  private let literals: LiteralWriter
  private var packer: StatementPacker
  private let sourceNames: [String]
  private let sink: ([UInt8]) throws(UpsurgeError) -> Void
  private let commit: () throws(UpsurgeError) -> Void
  private let rollBack: () -> Void
  private var plan: UpsertPlan?
  private var templates: [SlotShape: StatementTemplate] = [:]
  /// What the record in hand would add.
  private var tuple: [UInt8] = []
  private var template: StatementTemplate?

  /// - Parameters:
  ///   - connection: the database that the statements are for.
  ///   - setup: statements that come first.
  ///   - byteLimit: bounds each statement; never more than SQLite takes by itself.
  ///   - sink: takes finished statements, each with its semicolon and a line end.
  ///   - commit: what the sink took so far is there to stay.
  ///   - rollBack: what the sink took since has not happened.
  package init(
    connection: Connection, setup: [String] = [], byteLimit: Int, sourceNames: [String],
    sink: @escaping ([UInt8]) throws(UpsurgeError) -> Void,
    commit: @escaping () throws(UpsurgeError) -> Void, rollBack: @escaping () -> Void
  ) throws(UpsurgeError) {
    let encoding = try connection.text("PRAGMA encoding") ?? ""
    literals = try LiteralWriter(encoding: LiteralWriter.TextEncoding(rawValue: encoding) ?? .utf8)
    packer = StatementPacker(byteLimit: byteLimit)
    self.sourceNames = sourceNames
    self.sink = sink
    self.commit = commit
    self.rollBack = rollBack
    for statement in setup { packer.add(statement: statement) }
  }

  package func begin(_ plan: UpsertPlan) throws(UpsurgeError) {
    templates.removeAll()
    defer { self.plan = plan }
    guard let before = self.plan?.schema else { return }
    for column in plan.schema.columns where before.columnIndex(column.name) == nil {
      packer.add(
        statement: try TableDefinition.addColumnSQL(
          table: plan.schema.name, column: .init(name: column.name, declaredType: column.declaredType),
          isStrict: plan.schema.isStrict))
    }
  }

  package func refusal(of record: Int, in batch: borrowing Batch) throws(UpsurgeError) -> Reject? {
    guard let plan else { return nil }
    let cells = batch.cells + record * batch.columnCount
    let (template, slots) = try template(cells, cellCount: batch.columnCount, plan)
    tuple.removeAll(keepingCapacity: true)
    self.template = template
    // The closure cannot hold a batch that is only borrowed: the literals are made here, in parameter order.
    var literal: [UInt8] = []
    var ends: [Int] = []
    for slot in slots {
      let index = plan.slots[slot].cellIndex
      try literals.append(index < batch.columnCount ? cells[index] : .absent, of: batch, to: &literal)
      ends.append(literal.count)
    }
    try template.append(to: &tuple) { (parameter, sql) throws(UpsurgeError) in
      sql += literal[(parameter == 0 ? 0 : ends[parameter - 1])..<ends[parameter]]
    }
    if packer.fits(tuple, template) { return nil }
    let byteCount = template.head.count + tuple.count + template.tail.count + 1
    let source = batch.sourceIndex < sourceNames.count ? sourceNames[batch.sourceIndex] : "-"
    return Reject(
      .tooLarge, at: batch.position(of: record, file: source),
      reason: "the record's SQL statement takes \(byteCount) bytes, more than the \(packer.byteLimit) it may",
      hint: byteCount <= StatementPacker.sqliteByteLimit
        ? "--max-statement \(byteCount) would do, if the host takes it"
        : "no --max-statement helps: SQLite takes \(StatementPacker.sqliteByteLimit) bytes by default",
      raw: batch.rawBytes(of: record))
  }

  package func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError) {
    guard outcome != .rejected, outcome != .quarantined, let template else { return }
    packer.add(tuple, template)
    self.template = nil
    if packer.finished.count >= 64 << 10 { try sink(packer.take()) }
  }

  package func didCommit() throws(UpsurgeError) {
    packer.close()
    try sink(packer.take())
    try commit()
  }

  package func didRollBack() {
    packer.removeAll()
    rollBack()
  }

  // MARK: - Shapes

  /// The statement for a record that may leave columns out, and the slots it speaks of in parameter order.
  private func template(
    _ cells: UnsafeMutablePointer<Cell>, cellCount: Int, _ plan: UpsertPlan
  ) throws(UpsurgeError) -> (StatementTemplate, [Int]) {
    var shape = SlotShape(full: plan.slots.count)
    for (index, slot) in plan.slots.enumerated() {
      let isAbsent = slot.cellIndex >= cellCount || cells[slot.cellIndex].kind == .absent
      // Without a default, an insert that leaves a column out stores NULL.
      let isTold = plan.mode == .insert && plan.schema.columns[slot.columnIndex].defaultExpression == nil
      if isAbsent && !isTold { shape.remove(index) }
    }
    let present = plan.slots.indices.filter { shape.contains($0) }
    if let known = templates[shape] { return (known, present) }
    if templates.count >= 256 { templates.removeAll() }
    let made = StatementTemplate(try plan.sql(shape: shape, rowCount: 1, isPlain: true))
    templates[shape] = made
    return (made, present)
  }
}
