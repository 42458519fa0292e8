import CSQLite
import UpsurgeRecords

/// The compiled statements of one plan, by the shape of the records and the number of rows.
///
/// Bounded by the number of parameters in all statements together; the shape used longest ago goes first. A shape that
/// is rare gets no statements where the one for all shapes will do (see `UpsertPlan+Flagged.swift`).
final class StatementCache {
  private let connection: Connection
  private let plan: UpsertPlan
  private let rowsPerStatement: Int
  private let allowsAbort: Bool
  /// See `UpsertPlan.updatesFirst`.
  let updatesFirst: Bool
  /// See `UpsertPlan.needsSavepoint`.
  let needsSavepoint: Bool
  /// See `UpsertPlan.hasUnguardedKeys`.
  let hasUnguardedKeys: Bool
  private var shapes: [SlotShape: ShapeStatements] = [:]
  private var parameterCount = 0
  private var clock = 0
  /// The statement for all shapes; nil where the table allows none.
  let flagged: FlaggedStatement?
  private let flaggedRecordsPerShape: Int
  private let readyShapeCount: Int
  /// How often shapes without statements were met lately.
  private var sightings: [SlotShape: Int] = [:]
  private var bound: [ShapeStatements] = []
  /// Statements that are never let go: those the writer holds on to.
  var pinned: ShapeStatements?

  /// About 100 bytes of compiled code a parameter: 6 MiB.
  private static let parameterLimit = 64 << 10
  /// The gain is flat from 16 rows on; wider statements only cost memory.
  private static let parametersPerStatement = 4096
  private static let sightedShapeLimit = 1024

  /// - Parameter allowsAbort: whether SQLite can undo a statement of many rows.
  init(
    connection: Connection, plan: UpsertPlan, settings: WriterSettings, allowsAbort: Bool
  ) {
    flaggedRecordsPerShape = settings.flaggedRecordsPerShape
    readyShapeCount = settings.readyShapeCount
    flagged = flaggedRecordsPerShape == 0 ? nil : FlaggedStatement(plan)
    self.connection = connection
    self.plan = plan
    rowsPerStatement = settings.rowsPerStatement
    self.allowsAbort = allowsAbort
    updatesFirst = plan.updatesFirst
    needsSavepoint = plan.needsSavepoint
    hasUnguardedKeys = plan.hasUnguardedKeys
  }

  /// The statements for a shape; made when it is new.
  func statements(for shape: SlotShape) -> ShapeStatements {
    clock += 1
    if let known = shapes[shape] {
      known.lastUse = clock
      return known
    }
    let present = plan.present(shape)
    let made = ShapeStatements(
      shape: shape, cellIndexes: present.map { Int32($0.cellIndex) }, form: form(shape, present.count),
      rowCounts: rowCounts(columnCount: present.count))
    made.lastUse = clock
    shapes[shape] = made
    return made
  }

  /// The same for a shape that is known, or has been met often enough to be worth its statements.
  func usualStatements(for shape: SlotShape) -> ShapeStatements? {
    if shapes.count < readyShapeCount || shapes[shape] != nil { return statements(for: shape) }
    let count = sightings[shape, default: 0] + 1
    if count > flaggedRecordsPerShape {
      sightings[shape] = nil
      return statements(for: shape)
    }
    if sightings.count >= StatementCache.sightedShapeLimit { sightings.removeAll(keepingCapacity: true) }
    sightings[shape] = count
    return nil
  }

  /// The compiled statement for all shapes, ready to be bound.
  func handle(_ flagged: FlaggedStatement) throws(UpsurgeError) -> OpaquePointer {
    flagged.isBound = true
    if let handle = flagged.handle { return handle }
    let handle = try compile(try plan.flaggedSQL(flagged.mayLack))
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
    count(rowCount * statements.cellIndexes.count, statements)
    statements.handles[step] = handle
    evict(keeping: statements)
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
    count(statements.cellIndexes.count, statements)
    statements.byKey[role] = handle
    evict(keeping: statements)
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

  @inline(never)
  private func compile(_ sql: String) throws(UpsurgeError) -> OpaquePointer {
    guard let handle = try connection.compile(sql, isPersistent: true) else {
      throw UpsurgeError(.database, "SQLite compiled nothing", snippet: sql)
    }
    return handle
  }

  private func count(_ parameterCount: Int, _ statements: ShapeStatements) {
    statements.parameterCount += parameterCount
    self.parameterCount += parameterCount
  }

  private func evict(keeping current: ShapeStatements) {
    while parameterCount > StatementCache.parameterLimit || shapes.count > 256 {
      let unused = shapes.values.filter { $0 !== current && $0 !== pinned }
      guard let oldest = unused.min(by: { $0.lastUse < $1.lastUse }) else { return }
      if oldest.isBound { bound.removeAll { $0 === oldest } }
      parameterCount -= oldest.parameterCount
      shapes[oldest.shape] = nil
    }
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
    let most = max(1, min(rowsPerStatement, parameters / max(columnCount, 1)))
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

/// The statements for records of one shape.
final class ShapeStatements {
  /// What a statement that looks the row up does with it.
  enum Role: Hashable {
    case delete
    /// By the target of this index.
    case update(Int)
    /// Reads a row if the target of this index finds one.
    case exists(Int)
    /// Reads these columns.
    case find([Int])
    /// Reads these columns of the row with the record's PRIMARY KEY.
    case findByPrimaryKey([Int])
    /// Says whether a key's expressions are NULL.
    case nullKey

    /// The target that finds the row, by index.
    var target: Int {
      switch self {
      case .update(let target), .exists(let target): target
      default: 0
      }
    }
  }

  let shape: SlotShape
  let form: StatementForm
  /// The cells to bind, in parameter order.
  let cellIndexes: UnsafeMutableBufferPointer<Int32>
  /// Rows of each statement, falling, the last is 1.
  let rowCounts: [Int]
  fileprivate(set) var handles: [OpaquePointer?]
  fileprivate(set) var byKey: [Role: OpaquePointer] = [:]
  fileprivate var parameterCount = 0
  fileprivate var lastUse = 0
  /// Whether pointers may be bound to one of the statements.
  fileprivate(set) var isBound = false

  init(shape: SlotShape, cellIndexes: [Int32], form: StatementForm, rowCounts: [Int]) {
    self.shape = shape
    self.form = form
    self.cellIndexes = .allocate(capacity: cellIndexes.count)
    _ = self.cellIndexes.initialize(from: cellIndexes)
    self.rowCounts = rowCounts
    handles = Array(repeating: nil, count: rowCounts.count)
  }

  deinit {
    for case let handle? in handles { sqlite3_finalize(handle) }
    for handle in byKey.values { sqlite3_finalize(handle) }
    cellIndexes.deallocate()
  }
}
