import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// The compiled statements of one plan, by the shape of the records and the number of rows.
///
/// Bounded by the memory that SQLite says they take (see `StatementMemory`). Of two shapes picked at random the one used
/// longer ago goes first: where more shapes take turns than have room, the oldest of all would always be the next that is
/// needed. A shape that is rare gets no statements where the one for all shapes will do (see
/// `UpsertPlan+Flagged.swift`).
final class StatementCache {
  let connection: Connection
  let plan: UpsertPlan
  private let rowsPerStatement: Int
  private let allowsAbort: Bool
  /// See `UpsertPlan.updatesFirst`.
  let updatesFirst: Bool
  /// See `UpsertPlan.looksBeforeInsert`.
  let looksBeforeInsert: Bool
  /// See `UpsertPlan.needsSavepoint`.
  let needsSavepoint: Bool
  /// See `UpsertPlan.hasUnguardedKeys`.
  let hasUnguardedKeys: Bool
  let facts: PlanFacts
  /// By `SlotShape.words`, whose hash is that of this module.
  var shapes: [[UInt64]: ShapeStatements] = [:]
  /// The statements in `shapes` as a list, to pick one of them.
  var pickable: [ShapeStatements] = []
  /// What the statements of all shapes take, as SQLite measures it.
  var byteCount = 0
  private var clock = 0
  var lastPick: UInt64 = 0x9E37_79B9_7F4A_7C15
  let memory: StatementMemory
  /// The statement for all shapes; nil where the table allows none, or it is too large for the memory.
  private(set) var flagged: FlaggedStatement?
  private let flaggedRecordsPerShape: Int
  private let readyShapeCount: Int
  /// Shapes that got statements, those that have gone included.
  private var madeShapeCount = 0
  /// How often shapes without statements were met lately.
  private var sightings: [[UInt64]: Int] = [:]
  var bound: [ShapeStatements] = []
  /// Statements that are never let go: those the writer holds on to.
  var pinned: ShapeStatements?

  /// The gain is flat from 16 rows on; wider statements only cost memory.
  private static let parametersPerStatement = 4096
  /// Rows with more columns go alone: two of them in a statement gain nothing.
  private static let mostColumnsOfMany = 1000
  static let shapeLimit = 256
  private static let sightedShapeLimit = 1024

  /// - Parameter allowsAbort: whether SQLite can undo a statement of many rows.
  init(
    connection: Connection, plan: UpsertPlan, settings: WriterSettings, allowsAbort: Bool
  ) {
    flaggedRecordsPerShape = settings.statements.flaggedRecordsPerShape
    readyShapeCount = settings.statements.readyShapeCount
    flagged = flaggedRecordsPerShape == 0 ? nil : FlaggedStatement(plan)
    memory = settings.statements.memory
    self.connection = connection
    self.plan = plan
    rowsPerStatement = settings.statements.rowCount
    self.allowsAbort = allowsAbort
    updatesFirst = plan.updatesFirst
    looksBeforeInsert = plan.looksBeforeInsert
    needsSavepoint = plan.needsSavepoint
    hasUnguardedKeys = plan.hasUnguardedKeys
    facts = PlanFacts(plan)
  }

  /// The statements for a shape; made when it is new.
  func statements(for shape: SlotShape) -> ShapeStatements {
    clock += 1
    if let known = shapes[shape.words] {
      known.lastUse = clock
      return known
    }
    let present = plan.present(shape)
    let made = ShapeStatements(
      shape: shape, cellIndexes: present.map { Int32($0.cellIndex) }, form: form(shape, present.count),
      rowCounts: rowCounts(columnCount: present.count))
    made.lastUse = clock
    shapes[shape.words] = made
    pickable.append(made)
    madeShapeCount += 1
    return made
  }

  /// The statements for a shape that is known, or has been met often enough to be worth them; nil for others.
  func usualStatements(for shape: SlotShape) -> ShapeStatements? {
    if madeShapeCount < readyShapeCount || shapes[shape.words] != nil { return statements(for: shape) }
    let count = sightings[shape.words, default: 0] + 1
    if count > flaggedRecordsPerShape {
      sightings[shape.words] = nil
      return statements(for: shape)
    }
    if sightings.count >= StatementCache.sightedShapeLimit { sightings.removeAll(keepingCapacity: true) }
    sightings[shape.words] = count
    return nil
  }

  /// The compiled statement for all shapes, ready to be bound; nil where it is too large for the memory.
  func handle(_ flagged: FlaggedStatement) throws(UpsurgeError) -> OpaquePointer? {
    flagged.isBound = true
    if let handle = flagged.handle { return handle }
    let sql = try plan.flaggedSQL(hasFlag: flagged.hasFlag)
    let cost = StatementCost(sql).compileByteCount
    if cost > memory.compileByteCount || sql.utf8.count > sqlByteLimit {
      self.flagged = nil
      return nil
    }
    // It comes when batches and cache are in use, and does the work of those that go for it.
    if cost > StatementCost.dearByteCount { finalizeShapes() }
    let handle = try compile(sql)
    flagged.handle = handle
    return handle
  }

  /// The compiled statement for `rowCounts[step]` rows, ready to be bound.
  @inline(__always)
  func handle(_ statements: ShapeStatements, step: Int) throws(UpsurgeError) -> OpaquePointer {
    if !statements.isBound {
      statements.isBound = true
      bound.append(statements)
    }
    if let handle = statements.handles[step] { return handle }
    let rowCount = statements.rowCounts[step]
    let sql = try plan.insertSQL(
      shape: statements.shape, rowCount: rowCount, rowCount == 1 ? .numbered : .parameters)
    let handle = try compile(sql)
    statements.handles[step] = handle
    count(handle, of: statements)
    return handle
  }

  /// The compiled statement that looks the row up, ready to be bound.
  func handle(_ statements: ShapeStatements, _ role: ShapeStatements.Role) throws(UpsurgeError)
    -> OpaquePointer
  {
    if !statements.isBound {
      statements.isBound = true
      bound.append(statements)
    }
    if let handle = statements.byKey[role] { return handle }
    let sql =
      switch role {
      case .update(let target): try plan.updateSQL(shape: statements.shape, target: target, .numbered)
      case .delete: try plan.deleteSQL(shape: statements.shape, .numbered)
      case .exists(let target):
        try plan.existsSQL(shape: statements.shape, target: target, .numbered)
      case .find(let columns): try plan.findSQL(shape: statements.shape, columns: columns, .numbered)
      case .findByPrimaryKey(let columns):
        try plan.findByPrimaryKeySQL(shape: statements.shape, columns: columns, .numbered)
      case .nullKey: try plan.nullKeySQL(shape: statements.shape, .numbered)
      }
    let handle = try compile(sql)
    statements.byKey[role] = handle
    count(handle, of: statements)
    return handle
  }

  /// Lets go of every pointer that was bound since the last call.
  func clearBindings() {
    for statements in bound {
      for case let handle? in statements.handles { sqlite3_clear_bindings(handle) }
      for handle in statements.byKey.values { sqlite3_clear_bindings(handle) }
      statements.isBound = false
    }
    bound.removeAll(keepingCapacity: true)
    if let flagged, flagged.isBound, let handle = flagged.handle {
      sqlite3_clear_bindings(handle)
      flagged.isBound = false
    }
  }

  private func finalizeShapes() {
    for statements in pickable { byteCount -= statements.finalize() }
  }

  /// Lets go of all statements, where there will be few records more; those that come compile theirs anew.
  func removeStatements() {
    clearBindings()
    finalizeShapes()
    flagged?.finalize()
  }

  private func form(_ shape: SlotShape, _ presentCount: Int) -> StatementForm {
    if presentCount == 0 || (plan.form == .manyRowsOrAbort && !allowsAbort) { return .singleRow }
    if plan.needsFilling(shape) { return .singleRow }
    for (index, slot) in plan.slots.enumerated() where !shape.contains(index) {
      // A default that calls a function may raise an error.
      if plan.schema.columns[slot.columnIndex].defaultExpression?.contains("(") == true { return .singleRow }
    }
    return plan.form
  }

  /// The row counts of a shape's statements, largest first: 64, 32, 16, 8, 4, 2, 1.
  private func rowCounts(columnCount: Int) -> [Int] {
    let variables = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    let parameters = min(variables, StatementCache.parametersPerStatement)
    let rows = columnCount > StatementCache.mostColumnsOfMany ? 1 : rowsPerStatement
    let most = max(1, min(rows, parameters / max(columnCount, 1)))
    var counts = [most]
    var next = 1
    while next * 2 < most { next *= 2 }
    while next >= 1 && most > 1 {
      counts.append(next)
      next /= 2
    }
    return counts
  }
}
