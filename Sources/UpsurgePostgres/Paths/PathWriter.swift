import UpsurgeRecords

/// Stores each batch by the path that is best for it: appended where the table has nothing in its key range, compared here where it
/// has the same rows, and what is left by the table's base path.
///
/// Each is stored within a transaction that the caller has begun and commits.
package struct PathWriter: ~Copyable {
  package let choice: PathChoice
  /// Whether the transactions must be ones of a snapshot (REPEATABLE READ) for the counts to be right.
  package let needsSnapshot: Bool
  /// How many batches took each path, at least in part.
  package private(set) var batchCounts: [PathChoice.Path: Int] = [:]

  private var steps: Steps
  private var rows: BatchRows

  /// - Parameter slots: the slot of each of the shape's columns in the records.
  package init(_ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities, slots: [Int]) {
    choice = PathChoice(shape, capabilities)
    needsSnapshot = choice.base.path != .delta && OrderedPlan(shape, capabilities).needsSnapshot
    rows = BatchRows(shape, slots: slots)
    steps = Steps(
      choice: choice, append: AppendStore(connection, overridesIdentity: shape.rules.overridesIdentity), walk: WalkStore(connection),
      base: StagedStore(connection, shape, capabilities), small: UnnestStore(connection, shape, capabilities))
  }

  /// - Parameter selection: only the records of these indexes; nil is all.
  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(
    _ batch: borrowing Batch, only selection: [Int32]? = nil
  ) throws(PostgresFailure) -> BatchOutcomes {
    var steps = steps
    let outcomes = try rows.store(batch, only: selection, in: .rounds) { rows, order, outcomes throws(PostgresFailure) in
      steps.paths = []
      try steps.store(rows, order, &outcomes)
    }
    for path in steps.paths { batchCounts[path, default: 0] += 1 }
    self.steps = steps
    return outcomes
  }

  private struct Steps {
    let choice: PathChoice
    var append: AppendStore
    var walk: WalkStore
    let base: StagedStore
    let small: UnnestStore
    var paths: [PathChoice.Path] = []

    mutating func store(
      _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
    ) throws(PostgresFailure) {
      if order.rows.isEmpty { return }
      if choice.appendObjection == nil, walk.wasWorthIt != true, try append.appendFree(rows, order, &outcomes) {
        return paths.append(.append)
      }
      var order = order
      if choice.walkObjection == nil, let rest = try walk.differing(rows, order, &outcomes) {
        if rest.rows.count < order.rows.count { paths.append(.walk) }
        order = rest
      }
      if order.rows.isEmpty { return }
      if order.rows.count < PathChoice.smallBatchCount, choice.unnestsSmall {
        paths.append(.unnest)
        try small.store(rows, order, &outcomes)
      } else {
        paths.append(choice.base.path)
        try base.store(rows, order, &outcomes)
      }
    }
  }
}
