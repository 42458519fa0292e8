/// Stores rows by a table's base path, whichever it is.
struct StagedStore {
  private enum Kind {
    case delta(DeltaStore)
    case ordered(OrderedStore)
    case unnest(UnnestStore)
  }

  private let kind: Kind
  /// What takes rows of which the server's encoding has not all letters: a COPY fails with all others there. nil where arrays
  /// cannot.
  private let arrays: UnnestStore?

  init(_ connection: PostgresConnection, _ shape: RecordShape, _ capabilities: Capabilities) {
    let choice = PathChoice(shape, capabilities)
    arrays = choice.unnestsSmall && capabilities.encoding != "UTF8" ? UnnestStore(connection, shape, capabilities) : nil
    kind =
      switch choice.base.path {
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
    do {
      try storeByKind(rows, order, &savepoints, &outcomes)
    } catch {
      guard let arrays, savepoints.areUsed, ["22P05", "22021"].contains(error.sqlState) else { throw error }
      try arrays.store(rows, order, &savepoints, &outcomes)
    }
  }

  private func storeByKind(
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
