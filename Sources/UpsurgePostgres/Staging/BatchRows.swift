import UpsurgeRecords

/// The records of a batch, encoded and in the order in which they are sent.
struct BatchRows: ~Copyable {
  private var rows: EncodedRows
  private var order = RowOrder(count: 0)
  private var segments = KeySegments()

  init(_ shape: RecordShape, slots: [Int]) { rows = EncodedRows(shape, slots: slots) }

  /// Takes records of a batch, as often as it needs until a way of sending them is found.
  /// - Parameter selection: the indexes of the records that `records` counts; nil where these are indexes themselves.
  /// - Parameter savepoints: those of the transaction, which holds no more than they allow.
  /// - Returns: what became of them, or of those before `next`.
  mutating func store<Path: RowStore>(
    _ batch: borrowing Batch, _ records: Range<Int>, only selection: [Int32]? = nil,
    within savepoints: inout Savepoints, by path: inout Path
  ) throws(PostgresFailure) -> BatchOutcomes {
    var outcomes = BatchOutcomes()
    let limits = savepoints
    while true {
      savepoints = limits
      outcomes = BatchOutcomes(
        rejected: rows.fill(batch, records, only: selection), statementCount: outcomes.statementCount)
      arrange(path.arrangement)
      do {
        try path.store(rows, order, &savepoints, &outcomes)
        outcomes.arrangeRejects()
        return outcomes
      } catch {
        guard error.kind == .record, limits.areUsed, rows.castJSON() else { throw error }
      }
    }
  }

  private mutating func arrange(_ arrangement: RowArrangement) {
    if arrangement == .rounds, let compare = KeyOrder(rows.shape) {
      order = RowOrder(sorting: rows, by: compare)
    } else if arrangement != .none, rows.shape.hasComparableKey, let fields = rows.shape.keyFields {
      order = .segments(rows, (0..<Int32(truncatingIfNeeded: rows.count)).map { $0 }, fields, &segments)
    } else {
      order = RowOrder(count: rows.count)
    }
  }
}
