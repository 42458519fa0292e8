import UpsurgeRecords

/// Stores batches by the ordered path, each within a transaction that the caller has begun and commits.
///
/// A statement that fails because of a record is taken back to its savepoint and tried as two halves, until the record is found.
/// So rows, counts and rejects are those of storing the records one by one.
package struct OrderedWriter: ~Copyable {
  /// A record that was not stored.
  package struct Rejected: Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
      case nullKey(column: String)
      /// Its value has no binary form of the column's type.
      case fault(EncodingFault, column: String)
      /// What the server said.
      case failure(PostgresFailure)
    }

    /// Its index in the batch.
    package var record: Int
    package var cause: Cause
  }

  /// What became of the records of a batch.
  package struct Outcomes: Sendable, Equatable {
    package var inserted = 0
    package var updated = 0
    package var unchanged = 0
    /// Their row stayed because of the rules' condition.
    package var kept = 0
    package var rejected: [Rejected] = []
    /// Statements that were sent.
    package var statementCount = 0
  }

  private let connection: PostgresConnection
  private var plan: OrderedPlan
  /// The slot of each of the plan's columns in the records.
  private let slots: [Int]
  private var buffer = RowBuffer()
  private var segments = KeySegments()

  package init(_ connection: PostgresConnection, _ plan: OrderedPlan, slots: [Int]) {
    precondition(slots.count == plan.columns.count, "each column has a slot")
    self.connection = connection
    self.plan = plan
    self.slots = slots
  }

  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> Outcomes {
    var outcomes = Outcomes()
    try stage(batch, &outcomes)
    let cuts = try findCuts(batch, &outcomes)
    var run = OrderedRun(connection: connection, plan: plan, cuts: cuts, rejected: Set(outcomes.rejected.map(\.record)))
    try run.findBounds()
    try run.apply(0..<batch.recordCount, &outcomes)
    try connection.run("DROP TABLE pg_temp.\(OrderedPlan.stagingName)")
    outcomes.rejected.sort { $0.record < $1.record }
    return outcomes
  }

  // MARK: - Into the staging table

  /// Sends the records, without those that cannot be.
  private mutating func stage(_ batch: borrowing Batch, _ outcomes: inout Outcomes) throws(PostgresFailure) {
    while true {
      outcomes.rejected = encode(batch)
      try connection.run("SAVEPOINT upsurge_copy; \(plan.stagingSQL)")
      outcomes.statementCount += 1
      _ = try connection.beginCopy(plan.copySQL)
      do {
        try connection.put(buffer.bytes)
        _ = try connection.endCopy()
        try connection.run("RELEASE upsurge_copy")
        return
      } catch {
        // JSON is read by the server: as text it fails in a statement, which can be halved.
        let texts = plan.columns.filter { [.json, .jsonb].contains(BinaryColumn($0).form) }.map(\.name)
        guard error.kind == .record, !plan.textColumns.isSuperset(of: texts) else { throw error }
        plan.textColumns.formUnion(texts)
        try connection.run("ROLLBACK TO upsurge_copy; RELEASE upsurge_copy")
      }
    }
  }

  /// Fills the buffer.
  private mutating func encode(_ batch: borrowing Batch) -> [Rejected] {
    while true {
      buffer.count = 0
      buffer.appendCopyHeader()
      let fields = zip(plan.binaryColumns, slots).map { RowEncoder.Field($0, slot: $1) }
      let encoder = RowEncoder(fields, hasOrder: true)
      var rejected: [Rejected] = []
      var isWhole = true
      var records = 0..<batch.recordCount
      while isWhole, !records.isEmpty {
        // Records with a NULL in the key stand for no row.
        let next = nextNullKey(batch, from: records.lowerBound)
        var part = records.lowerBound..<(next?.record ?? records.upperBound)
        while let fault = encoder.encode(&part, of: batch, into: &buffer) {
          let name = plan.columns[fault.field].name
          if fault.fault == .undecided {
            plan.textColumns.insert(name)
            isWhole = false
            break
          }
          rejected.append(Rejected(record: part.lowerBound, cause: .fault(fault.fault, column: name)))
          part = part.dropFirst()
        }
        if let next { rejected.append(next) }
        records = min((next?.record ?? records.upperBound) + 1, records.upperBound)..<records.upperBound
      }
      if isWhole {
        buffer.appendCopyTrailer()
        return rejected
      }
    }
  }

  private func nextNullKey(_ batch: borrowing Batch, from first: Int) -> Rejected? {
    guard let key = plan.key, !key.treatsNullsAsEqual else { return nil }
    let parts = key.parts.compactMap { part in
      plan.columns.firstIndex { $0.name == part.column }.map { (name: plan.columns[$0].name, slot: slots[$0]) }
    }
    for record in first..<batch.recordCount {
      for part in parts {
        let kind = part.slot < batch.columnCount ? batch.cells[record * batch.columnCount + part.slot].kind : .null
        if kind == .null || kind == .absent { return Rejected(record: record, cause: .nullKey(column: part.name)) }
      }
    }
    return nil
  }

  // MARK: - Where a key comes again

  private mutating func findCuts(_ batch: borrowing Batch, _ outcomes: inout Outcomes) throws(PostgresFailure) -> [Int] {
    guard plan.key != nil else { return [] }
    if plan.hasComparableKey { return cutsByBytes(batch, outcomes.rejected) }
    guard let sql = plan.repetitionsSQL else { return [] }
    outcomes.statementCount += 1
    // A value that its type does not take fails here already; halving finds it, as long as the parts are small.
    try connection.run("SAVEPOINT upsurge_keys")
    do {
      let rows = try connection.run(sql, []).rows
      try connection.run("RELEASE upsurge_keys")
      return KeySegments.cuts(of: rows.map { (Int($0.integer(0) ?? 0), Int($0.integer(1) ?? 0)) })
    } catch {
      guard error.kind == .record else { throw error }
      try connection.run("ROLLBACK TO upsurge_keys; RELEASE upsurge_keys")
      return Array(1..<max(batch.recordCount, 1))
    }
  }

  /// Encodes the keys alone.
  private mutating func cutsByBytes(_ batch: borrowing Batch, _ rejected: [Rejected]) -> [Int] {
    let parts = plan.key?.parts.compactMap { part in plan.columns.firstIndex { $0.name == part.column } } ?? []
    let fields = parts.map { RowEncoder.Field(plan.binaryColumns[$0], slot: slots[$0]) }
    let encoder = RowEncoder(fields, hasOrder: false)
    var keys = RowBuffer()
    segments.reset()
    var numbers: [Int] = []
    let left = Set(rejected.map(\.record))
    for record in 0..<batch.recordCount where !left.contains(record) {
      let start = keys.count
      var one = record..<record + 1
      // Those that cannot be encoded were rejected before.
      if encoder.encode(&one, of: batch, into: &keys) != nil { continue }
      segments.add(start..<keys.count, of: keys.bytes)
      numbers.append(record)
    }
    return segments.cuts.map { numbers[$0] }
  }
}

/// The statements of one batch.
private struct OrderedRun {
  let connection: PostgresConnection
  let plan: OrderedPlan
  /// The first records of all segments but the first.
  let cuts: [Int]
  let rejected: Set<Int>
  private var bounds: (least: String, most: String)?

  init(connection: PostgresConnection, plan: OrderedPlan, cuts: [Int], rejected: Set<Int>) {
    (self.connection, self.plan, self.cuts, self.rejected) = (connection, plan, cuts, rejected)
  }

  mutating func findBounds() throws(PostgresFailure) {
    guard let sql = plan.boundsSQL, let row = try connection.run(sql).last?.first else { return }
    if let least = row.text(0), let most = row.text(1) { bounds = (least, most) }
  }

  /// Stores the records of a range, or finds those that cannot be.
  func apply(_ range: Range<Int>, _ outcomes: inout OrderedWriter.Outcomes) throws(PostgresFailure) {
    let count = range.count { !rejected.contains($0) }
    if count == 0 { return }
    do {
      let counts = try store(range, &outcomes.statementCount)
      outcomes.inserted += counts.inserted
      outcomes.updated += counts.updated
      outcomes.kept += counts.kept
      outcomes.unchanged += count - counts.inserted - counts.updated - counts.kept
    } catch {
      guard error.kind == .record else { throw error }
      try connection.run("ROLLBACK TO upsurge_part; RELEASE upsurge_part")
      if count == 1, let record = range.first(where: { !rejected.contains($0) }) {
        outcomes.rejected.append(OrderedWriter.Rejected(record: record, cause: .failure(error)))
        return
      }
      let middle = range.lowerBound + range.count / 2
      try apply(range.lowerBound..<middle, &outcomes)
      try apply(middle..<range.upperBound, &outcomes)
    }
  }

  private func store(
    _ range: Range<Int>, _ statementCount: inout Int
  ) throws(PostgresFailure) -> (inserted: Int, updated: Int, kept: Int) {
    var counts = (inserted: 0, updated: 0, kept: 0)
    // What is only checked at the end of the transaction would fail in its COMMIT, where no record can be found any more; and a
    // later record might mend what an earlier one has broken.
    try connection.run("SAVEPOINT upsurge_part; SET CONSTRAINTS ALL IMMEDIATE")
    var first = range.lowerBound
    for end in cuts.filter({ $0 > range.lowerBound && $0 < range.upperBound }) + [range.upperBound] {
      statementCount += 1
      let result = try connection.run(plan.statement(first..<end, bounds: bounds), [])
      if let row = result.first {
        counts.inserted += Int(row.integer(0) ?? 0)
        counts.updated += Int(row.integer(1) ?? 0)
        counts.kept += Int(row.integer(2) ?? 0)
      }
      first = end
    }
    try connection.run("RELEASE upsurge_part")
    return counts
  }
}
