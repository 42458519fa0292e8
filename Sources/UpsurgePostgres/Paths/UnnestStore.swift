/// Stores batches without a temporary table: the records are arrays beside a statement of the ordered path. For small batches, and
/// for roles and servers that make no temporary tables.
package typealias UnnestWriter = BatchWriter<UnnestStore>

extension BatchWriter<UnnestStore> {
  /// - Parameter slots: the slot of each of the shape's columns in the records.
  package init(
    _ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities, slots: [Int]
  ) {
    self.init(UnnestStore(connection, shape, capabilities), shape, slots: slots)
  }
}

/// Stores rows as arrays: all of them in the order that is best, and by `RejectSearch` in the order of arrival if that fails.
package struct UnnestStore: RowStore {
  private let connection: PostgresConnection
  private let plan: OrderedPlan
  private let keepsArrival: Bool
  private let knowsConstraints: Bool

  /// Rows and bytes of a statement, at most.
  private static let (rowLimit, byteLimit) = (10_000, 4 << 20)

  init(_ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities) {
    self.connection = connection
    plan = OrderedPlan(shape, capabilities)
    keepsArrival = PathChoice.objection(toDelta: shape, capabilities) != nil
    knowsConstraints = capabilities.family.defersConstraints
  }

  package var arrangement: RowArrangement { .rounds }

  package func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if order.rows.isEmpty { return }
    savepoints.knowsConstraints = knowsConstraints
    let bounds = KeyBounds(rows, order)
    let sent =
      keepsArrival
      ? order.arrived(rows) : order.isSorted && rows.shape.hasCountingDefaults ? order.byArrival : order
    var part = try part(rows, sent, bounds, savepoints, &outcomes)
    let before = outcomes.counts
    do throws(PostgresFailure) {
      try part.store(sent.rows.indices, count: sent.rows.count, after: savepoints.head(), &outcomes)
      savepoints.keep()
    } catch {
      guard error.kind == .record, savepoints.areUsed else { throw error }
      savepoints.takeBack()
      outcomes.counts = before
      try savepoints.settle(on: connection)
      // Comes again with JSON as text.
      if rows.shape.sendsJSON, error.sqlState.hasPrefix("22") { throw error }
      let arrived = order.arrived(rows)
      if order.isSorted { part = try self.part(rows, arrived, bounds, savepoints, &outcomes) }
      var search = RejectSearch(
        connection, part.plan.shape, records: arrived.rows.map { rows.records[Int($0)] }, savepoints)
      try search.apply(after: error, with: &part, &outcomes)
      savepoints = search.savepoints
    }
    try savepoints.settle(on: connection)
  }

  private func part(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ bounds: KeyBounds?, _ savepoints: Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> UnnestPart {
    var plan = plan
    plan.shape.textColumns = rows.shape.textColumns
    var part = UnnestPart(
      connection: connection, plan: plan, bounds: bounds, order: order, rows: rows.view)
    part.parts = chunks(rows, order)
    if plan.key != nil, !plan.shape.hasComparableKey { try part.cut(savepoints, &outcomes) }
    return part
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
  let bounds: KeyBounds?
  let order: RowOrder
  let rows: EncodedRows.View
  /// What goes into a statement; no key comes twice in it.
  var parts: [Range<Int>] = []
  private var isOut: Set<Int> = []
  private let arrays: RowArrays

  init(
    connection: PostgresConnection, plan: OrderedPlan, bounds: KeyBounds?, order: RowOrder,
    rows: EncodedRows.View
  ) {
    (self.connection, self.plan, self.bounds) = (connection, plan, bounds)
    (self.order, self.rows) = (order, rows)
    arrays = RowArrays(plan.shape)
  }

  private func parameters(_ part: Range<Int>) -> [PostgresParameter] {
    arrays.parameters(rows, order, isOut.isEmpty ? Array(part) : part.filter { !isOut.contains($0) })
  }

  /// Cuts the parts where a key comes again that only the server can compare.
  mutating func cut(_ savepoints: Savepoints, _ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    guard let sql = plan.shape.repetitionsSQL(from: arrays.source) else { return }
    var cutParts: [Range<Int>] = []
    for part in parts {
      outcomes.statementCount += 1
      // A value that its type does not take fails here already; the search finds it, as long as the parts are small.
      let (connection, parameters) = (connection, parameters(part))
      let cuts = try savepoints.attempt("upsurge_keys", on: connection) { () throws(PostgresFailure) in
        let pairs = try connection.run(sql, parameters).rows.map {
          (Int($0.integer(0) ?? 0), Int($0.integer(1) ?? 0))
        }
        return KeySegments.cuts(of: pairs)
      }
      let edges = [part.lowerBound] + (cuts ?? Array(part.dropFirst())) + [part.upperBound]
      cutParts += zip(edges, edges.dropFirst()).compactMap { $0 < $1 ? $0..<$1 : nil }
    }
    parts = cutParts
  }

  func store(
    _ range: Range<Int>, count: Int, after head: [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    var counts = StatementCounts()
    if !head.isEmpty { try connection.run(head.joined(separator: "; ")) }
    for part in parts where part.overlaps(range) {
      let part = part.clamped(to: range)
      outcomes.statementCount += 1
      let sql = plan.statement(RecordShape.everything, from: arrays.source, bounds: bounds)
      if let row = try connection.run(sql, parameters(part)).first {
        counts.add(row)
      }
    }
    outcomes.add(counts, of: count)
  }

  /// Each part has arrays of its own.
  func beginSearch() {}

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
