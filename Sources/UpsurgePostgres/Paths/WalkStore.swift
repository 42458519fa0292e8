/// Stores batches by the walk: rows of the key range come back and are compared here, and only records that differ go on to the
/// delta path. Nothing is written, and no table is made, for a batch that says what the table has.
package typealias WalkWriter = BatchWriter<WalkPath>

extension BatchWriter<WalkPath> {
  /// - Parameters:
  ///   - shape: as for `DeltaWriter`, with a key whose order the client knows; without that, all goes to the delta path.
  ///   - slots: the slot of each of the shape's columns in the records.
  package init(_ connection: PostgresConnection, _ shape: RecordShape, slots: [Int]) {
    self.init(
      WalkPath(walk: WalkStore(connection), delta: DeltaStore(connection, shape)), shape, slots: slots)
  }

  /// How many records were found to be the same as their row without the server's help.
  package var sameCount: Int { path.walk.sameCount }
}

/// The walk, and the delta path for what differs.
package struct WalkPath: RowStore {
  fileprivate var walk: WalkStore
  fileprivate let delta: DeltaStore

  package var arrangement: RowArrangement { .rounds }

  package mutating func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    let rest = try walk.differing(rows, order, &outcomes)
    try delta.store(rows, rest ?? order, &savepoints, &outcomes)
    if let rest { outcomes.forget(order, but: rest, of: rows) }
  }
}

extension BatchOutcomes {
  /// Counts only records before `next` as unchanged, of those that were walked along.
  /// - Parameter rest: those of the order that were left to others.
  mutating func forget(_ order: RowOrder, but rest: RowOrder, of rows: borrowing EncodedRows) {
    guard let next else { return }
    let records = rows.records
    func count(_ order: RowOrder) -> Int { order.rows.count { Int(records[Int($0)]) >= next } }
    unchanged -= count(order) - count(rest)
  }
}

/// Decides how much of a batch is walked along, and does it.
struct WalkStore {
  private let reader: WalkReader
  /// Whether the last batch was worth it; nil before the first.
  private(set) var wasWorthIt: Bool?
  private(set) var sameCount = 0

  /// A fiftieth of a batch is walked along first where nothing speaks for all of it.
  private static let probeShare = 50
  /// Rows that are read for each record, at most.
  private static let densityLimit = 2

  init(_ connection: PostgresConnection) { reader = WalkReader(connection) }

  /// Counts records that are the same as their row.
  /// - Returns: the others; nil where nothing was compared.
  mutating func differing(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> RowOrder? {
    guard order.isSorted, let round = order.parts.first else { return nil }
    var (next, rest, same) = (round.lowerBound, [Int32](), 0)
    if wasWorthIt != true {
      let end = min(round.upperBound, round.lowerBound + max(round.count / Self.probeShare, 16))
      guard let probe = try walk(rows, order, round.lowerBound..<end, &outcomes) else { return nil }
      (next, rest, same) = (end, probe.rest, probe.sameCount)
      wasWorthIt = isWorth(probe, end - round.lowerBound)
      if wasWorthIt != true {
        next = round.upperBound
        rest += (end..<round.upperBound).map { Int32(truncatingIfNeeded: $0) }
      }
    }
    if next < round.upperBound, let findings = try walk(rows, order, next..<round.upperBound, &outcomes) {
      wasWorthIt = isWorth(findings, round.upperBound - next)
      rest += findings.rest
      same += findings.sameCount
    }
    sameCount += same
    outcomes.unchanged += same
    // Records that say a key again are compared by the server, after those before them.
    rest += (round.upperBound..<order.rows.count).map { Int32(truncatingIfNeeded: $0) }
    return RowOrder(rest, of: order)
  }

  private func walk(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ places: Range<Int>, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> WalkReader.Findings? {
    try reader.walk(rows, order, places, limit: places.count * Self.densityLimit + 100, &outcomes)
  }

  private func isWorth(_ findings: WalkReader.Findings, _ count: Int) -> Bool {
    !findings.isCut && findings.sameCount * 2 >= count
  }
}
