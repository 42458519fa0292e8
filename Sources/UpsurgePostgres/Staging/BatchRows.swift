import UpsurgeRecords

/// The records of a batch, encoded and in the order in which they are sent.
struct BatchRows: ~Copyable {
  private(set) var rows: EncodedRows
  private(set) var order = RowOrder(count: 0)
  private var segments = KeySegments()

  /// What rows are put in order for.
  enum Arrangement {
    /// Nothing compares their keys.
    case none
    /// Parts in which no key comes twice, as they arrived.
    case segments
    /// Rounds in the order of keys, where that is known, else segments.
    case rounds
  }

  init(_ shape: RecordShape, slots: [Int]) { rows = EncodedRows(shape, slots: slots) }

  var shape: RecordShape { rows.shape }

  /// Takes the records of a batch, as often as it needs until a way of sending them is found.
  /// - Parameters:
  ///   - selection: only the records of these indexes; nil is all.
  ///   - body: stores the rows. It may throw a failure of the class `record` only where nothing of its call stands; JSON is
  ///     sent as text then.
  /// - Returns: what became of them.
  mutating func store(
    _ batch: borrowing Batch, only selection: [Int32]? = nil, in arrangement: Arrangement,
    _ body: (borrowing EncodedRows, RowOrder, inout BatchOutcomes) throws(PostgresFailure) -> Void
  ) throws(PostgresFailure) -> BatchOutcomes {
    var outcomes = BatchOutcomes()
    while true {
      outcomes = BatchOutcomes(rejected: rows.fill(batch, only: selection), statementCount: outcomes.statementCount)
      arrange(arrangement)
      do {
        try body(rows, order, &outcomes)
        outcomes.rejected.sort { $0.record < $1.record }
        return outcomes
      } catch {
        guard error.kind == .record, rows.castJSON() else { throw error }
      }
    }
  }

  private mutating func arrange(_ arrangement: Arrangement) {
    if arrangement == .rounds, let compare = KeyOrder(rows.shape) {
      order = RowOrder(sorting: rows, by: compare)
    } else if arrangement != .none, rows.shape.hasComparableKey, let fields = rows.shape.keyFields {
      order = .segments(rows, (0..<Int32(truncatingIfNeeded: rows.count)).map { $0 }, fields, &segments)
    } else {
      order = RowOrder(count: rows.count)
    }
  }
}
