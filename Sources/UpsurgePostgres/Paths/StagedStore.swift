/// Stores rows by a table's base path, whichever it is.
struct StagedStore {
  private enum Kind {
    case delta(DeltaStore)
    case ordered(OrderedStore)
    case unnest(UnnestStore)
  }

  private let kind: Kind

  init(_ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities) {
    kind =
      switch PathChoice(shape, capabilities).base.path {
      case .delta: .delta(DeltaStore(connection, shape))
      case .unnest: .unnest(UnnestStore(connection, shape, capabilities))
      default: .ordered(OrderedStore(connection, OrderedPlan(shape, capabilities)))
      }
  }

  /// - Throws: after a failure of the class `record` nothing is stored.
  func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    switch kind {
    case .delta(let store): try store.store(rows, order, &savepoints, &outcomes)
    case .ordered(let store): try store.store(rows, order, &savepoints, &outcomes)
    case .unnest(let store): try store.store(rows, order, &savepoints, &outcomes)
    }
  }
}
