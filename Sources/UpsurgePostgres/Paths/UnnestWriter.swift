import UpsurgeRecords

/// Stores batches without a temporary table: the records are arrays beside a statement of the ordered path. For small batches, and
/// for roles and servers that make no temporary tables.
///
/// Each is stored within a transaction that the caller has begun and commits.
package struct UnnestWriter: ~Copyable {
  private let store: UnnestStore
  private var rows: BatchRows

  /// - Parameter slots: the slot of each of the shape's columns in the records.
  package init(_ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities, slots: [Int]) {
    store = UnnestStore(connection, shape, capabilities)
    rows = BatchRows(shape, slots: slots)
  }

  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> BatchOutcomes {
    let store = store
    return try rows.store(batch, in: .rounds) { rows, order, outcomes throws(PostgresFailure) in
      try store.store(rows, order, &outcomes)
    }
  }
}

/// Stores rows as arrays.
struct UnnestStore {
  private let connection: PostgresConnection
  private let plan: OrderedPlan
  private let keepsArrival: Bool
  /// Some servers know no SET CONSTRAINTS.
  private let head: String

  /// Rows and bytes of a statement, at most.
  private static let (rowLimit, byteLimit) = (10_000, 4 << 20)

  init(_ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities) {
    self.connection = connection
    plan = OrderedPlan(shape, capabilities)
    keepsArrival = PathChoice.objection(toDelta: shape, capabilities) != nil
    head = capabilities.family.defersConstraints ? Halving.head : "SAVEPOINT upsurge_part"
  }

  func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if order.rows.isEmpty { return }
    var plan = plan
    plan.shape.textColumns = rows.shape.textColumns
    let bounds = KeyBounds(rows, order)
    let order = keepsArrival ? order.arrived(rows) : order.isSorted && rows.shape.hasCountingDefaults ? order.byArrival : order
    var part = UnnestPart(connection: connection, plan: plan, head: head, bounds: bounds, order: order, rows: rows.view)
    part.parts = chunks(rows, order)
    if plan.key != nil, !plan.shape.hasComparableKey { try part.cut(&outcomes) }
    var halving = Halving(
      connection, records: order.rows.map { rows.records[Int($0)] }, filter: ConstraintFilter(connection, plan.shape))
    try halving.apply(order.rows.indices, with: &part, &outcomes)
  }

  /// The order's parts, cut to what a statement may hold.
  private func chunks(_ rows: borrowing EncodedRows, _ order: RowOrder) -> [Range<Int>] {
    var chunks: [Range<Int>] = []
    for part in order.parts {
      var (first, byteCount) = (part.lowerBound, 0)
      for place in part {
        let more = rows.row(Int(order.rows[place])).count
        if place > first, place - first == Self.rowLimit || byteCount + more > Self.byteLimit {
          chunks.append(first..<place)
          (first, byteCount) = (place, 0)
        }
        byteCount += more
      }
      chunks.append(first..<part.upperBound)
    }
    return chunks
  }
}

/// Stores a part of the rows.
private struct UnnestPart: PartStore {
  let connection: PostgresConnection
  let plan: OrderedPlan
  let head: String
  let bounds: KeyBounds?
  let order: RowOrder
  let rows: EncodedRows.View
  /// What goes into a statement; no key comes twice in it.
  var parts: [Range<Int>] = []
  private var isOut: Set<Int> = []
  private let arrays: RowArrays

  init(connection: PostgresConnection, plan: OrderedPlan, head: String, bounds: KeyBounds?, order: RowOrder, rows: EncodedRows.View) {
    (self.connection, self.plan, self.head, self.bounds, self.order, self.rows) = (connection, plan, head, bounds, order, rows)
    arrays = RowArrays(plan.shape)
  }

  private func parameters(_ part: Range<Int>) -> [PostgresParameter] {
    arrays.parameters(rows, order, isOut.isEmpty ? Array(part) : part.filter { !isOut.contains($0) })
  }

  /// Cuts the parts where a key comes again that only the server can compare.
  mutating func cut(_ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    guard let sql = plan.shape.repetitionsSQL(from: arrays.source) else { return }
    var cutParts: [Range<Int>] = []
    for part in parts {
      outcomes.statementCount += 1
      // A value that its type does not take fails here already; halving finds it, as long as the parts are small.
      try connection.run("SAVEPOINT upsurge_keys")
      var cuts = Array(part.dropFirst())
      do throws(PostgresFailure) {
        let pairs = try connection.run(sql, parameters(part)).rows.map { (Int($0.integer(0) ?? 0), Int($0.integer(1) ?? 0)) }
        cuts = KeySegments.cuts(of: pairs)
      } catch {
        guard error.kind == .record else { throw error }
        try connection.run("ROLLBACK TO upsurge_keys")
      }
      try connection.run("RELEASE upsurge_keys")
      let edges = [part.lowerBound] + cuts + [part.upperBound]
      cutParts += zip(edges, edges.dropFirst()).compactMap { $0 < $1 ? $0..<$1 : nil }
    }
    parts = cutParts
  }

  func store(_ range: Range<Int>, count: Int, _ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    var counts = StatementCounts()
    try connection.run(head)
    for part in parts where part.overlaps(range) {
      let part = part.clamped(to: range)
      outcomes.statementCount += 1
      let sql = plan.statement(RecordShape.everything, from: arrays.source, bounds: bounds)
      if let row = try connection.run(sql, parameters(part)).first {
        counts.add(row)
      }
    }
    try connection.run("RELEASE upsurge_part")
    outcomes.add(counts, of: count)
  }

  mutating func leaveOut(_ ords: [Int]) { isOut.formUnion(ords) }

  func places(
    in range: Range<Int>, _ query: (String, Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    var places: [Int] = []
    for part in parts where part.overlaps(range) {
      outcomes.statementCount += 1
      let part = part.clamped(to: range)
      let result = try connection.run(query(arrays.source, RecordShape.everything), parameters(part))
      places += result.rows.compactMap { $0.integer(0).map { Int($0) } }
    }
    return places
  }
}
